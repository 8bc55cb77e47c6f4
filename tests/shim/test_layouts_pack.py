"""MPI_Pack and MPI_Unpack of derived datatypes: the bytes of the host, gaps untouched, errors the host's own."""

import hosts
import pytest
from shim_programs import build, call, report, run

EVERY_HOST = list(hosts.HOSTS)
LARGE_HOSTS = ["mpich4", "mpich5", "intel", "abi"]
FULL = pytest.param(20000, marks=pytest.mark.full)


def layouts(tree):
    """Flags: segments are no part of MPI, so the program has the layouts of that build tree in itself, too."""
    return [
        "-std=c++20", "-pthread", f"-I{hosts.ROOT}/src", f"-I{hosts.ROOT}/tests/layout",
        *(tree / f"src/{part}/libmillrace_{part}.a" for part in ("layout", "threads")),
        tree / "src/threads/libmillrace_threads_decision.a",
        *(tree / f"src/{part}/libmillrace_{part}.a" for part in ("kernel", "base")),
        tree / "src/base/libmillrace_fmt.a",
    ]  # fmt: skip


LAYOUTS = layouts(hosts.BUILD)


def check_same(host, stdout, types):
    verdict, compiled, comparisons, host_errors, segments = stdout.splitlines()[-1].split()
    assert (verdict, int(compiled)) == ("same", types)
    assert int(comparisons) > types
    assert int(segments) > 2 * int(comparisons)
    if host in ("mpich4", "mpich5", "abi"):
        assert host_errors == "0"
    elif host != "intel":  # docs/results/layouts_random.md
        assert int(host_errors) <= types / 1000


@pytest.mark.parametrize("host", EVERY_HOST)
@pytest.mark.parametrize("types", [400, FULL])
def test_random_datatypes_pack_and_unpack_as_the_host_does(host, types):
    finished, result = report(host, 1, build(host, "layouts_pack.cpp", *LAYOUTS), 11, types, timeout=600)
    check_same(host, finished.stdout, types)
    pack, unpack = call(result, "MPI_Pack"), call(result, "MPI_Unpack")
    assert 3 * types >= pack["calls"] > 2.99 * types  # not those whose bounds the host gets wrong
    assert pack["forwarded_why"]["first_use"] == pack["calls"] / 3
    if host != "intel":  # whose darrays stay its own
        assert "type_not_covered" not in pack["forwarded_why"]  # there is no datatype that we cannot express
    assert pack["taken"] > types / 2
    assert unpack["taken"] > unpack["calls"] / 4


@pytest.mark.parametrize("host", LARGE_HOSTS)
def test_large_count_forms(host):
    program = build(host, "layouts_pack.cpp", "-DLARGE", *LAYOUTS, name="layouts_pack_c")
    finished, result = report(host, 1, program, 12, 400)
    check_same(host, finished.stdout, 400)
    assert call(result, "MPI_Pack_c")["taken"] > 200
    if host != "intel":
        assert "type_not_covered" not in call(result, "MPI_Pack_c")["forwarded_why"]
    assert call(result, "MPI_Unpack_c")["taken"] > 100


@pytest.mark.parametrize("host", EVERY_HOST)
def test_errors_and_reused_handles_are_the_hosts_own(host):
    program = build(host, "layouts_errors.c")
    plain = run(host, 1, program, millrace=False)
    ours = run(host, 1, program)
    assert "round 5: 0 1 7 8 14 15 21 22" in plain.stdout
    assert ours.stdout == plain.stdout
    assert ours.returncode == plain.returncode == 0
