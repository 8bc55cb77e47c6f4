"""Whose functions the predefined ops hold, and how a site or a user makes them ours."""

import component
import pytest

OURS, AVX = "mca_op_millrace.so", "mca_op_avx.so"


def functions(env=None):
    """(op, type index) -> the objects of its two-buffer and of its three-buffer function, and an address."""
    finished = component.run(component.build_with_internals("whose_functions.c"), env=env).check()
    assert finished.stderr == ""
    rows = [line.split() for line in finished.stdout.splitlines()]
    assert not [row for row in rows if "must-be-empty" in row]
    return {(op, int(index)): rest for op, index, *rest in rows}


def objects(env=None):
    return {name for two, three, _ in functions(env).values() for name in (two, three)}


def test_every_function_is_ours():
    with_it = functions(component.environment())
    without = functions()
    assert with_it.keys() == without.keys()
    assert len(with_it) >= 200
    assert {(two, three) for two, three, _ in with_it.values()} == {(OURS, OURS)}


def test_each_kernel_has_a_function_of_its_own():
    found = functions(component.environment())
    addresses = {address for _, _, address in found.values()}
    same_layout = {"MPI_SUM": [(6, 12, 38)], "MPI_BXOR": [(1, 28)]}  # INT64_T INTEGER8 LONG; UINT8_T BYTE
    for op, groups in same_layout.items():
        for group in groups:
            assert len({found[op, index][2] for index in group}) == 1
    assert len(addresses) > 120


def test_without_its_directory_nothing_changes():
    assert OURS not in objects()


def test_a_lower_priority_fills_what_others_leave():
    found = functions(component.environment(op_millrace_priority=40))
    assert {two for two, _, _ in found.values()} == {OURS, AVX}
    assert found["MPI_LAND", 4][:2] == [OURS, OURS]
    assert found["MPI_SUM", 4][:2] == [AVX, AVX]


@pytest.mark.parametrize("off", [{"op_millrace_priority": -1}, {"op": "^millrace"}])
def test_turned_off(off):
    assert OURS not in objects(component.environment(**off))


def test_installed_for_one_user(tmp_path):
    components = tmp_path / ".openmpi/components"
    components.mkdir(parents=True)
    (components / OURS).symlink_to(component.OBJECT)
    assert objects({"HOME": tmp_path}) == {OURS}


def test_by_a_parameter_file(tmp_path):
    (tmp_path / ".openmpi").mkdir()
    path = f"{component.DIRECTORY}:SYSTEM_DEFAULT:USER_DEFAULT"
    (tmp_path / ".openmpi/mca-params.conf").write_text(f"mca_base_component_path = {path}\nop_millrace_priority = 40\n")
    assert objects({"HOME": tmp_path}) == {OURS, AVX}
