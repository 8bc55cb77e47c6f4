"""What the generator says of parameters: where they stand, and which shape a collective that moves data has."""

import collections

import fortran
import pytest
import write_entries
import write_positions


def entry(table, name):
    return next(e for e in table.entries if e.name == name)


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("MPI_Gather", "gather, {one, false, 0, 1, 0, 2}, {each, false, 3, 4, 0, 5}, 7, 6, -1, false, false"),
        ("MPI_Gatherv_init", "gather, {one, false, 0, 1, 0, 2}, {array, false, 3, 4, 5, 6}, 8, 7, 10, false, true"),
        ("MPI_Iscatterv_c", "scatter, {array, false, 0, 1, 2, 3}, {one, false, 4, 5, 0, 6}, 8, 7, 9, false, false"),
        ("MPI_Alltoall", "alltoall, {each, false, 0, 1, 0, 2}, {each, false, 3, 4, 0, 5}, 6, -1, -1, false, false"),
        ("MPI_Alltoallw", "alltoall, {array, true, 0, 1, 2, 3}, {array, true, 4, 5, 6, 7}, 8, -1, -1, false, false"),
        ("MPI_Ibcast", "bcast, {one, false, 0, 1, 0, 2}, {one, false, 0, 1, 0, 2}, 4, 3, 5, false, false"),
        ("MPI_Neighbor_allgather",
         "neighbor_allgather, {one, false, 0, 1, 0, 2}, {each, false, 3, 4, 0, 5}, 6, -1, -1, false, false"),
        ("MPI_Ineighbor_alltoallw",
         "neighbor_alltoall, {array, true, 0, 1, 2, 3}, {array, true, 4, 5, 6, 7}, 8, -1, 9, true, false"),
        ("MPI_Bcast", None),
        ("MPI_Allreduce", None),
        ("MPI_Send", None),
    ],
)  # fmt: skip
def test_shapes_of_exchanges(table, name, shape):
    found = write_positions.shape(entry(table, name))
    assert (found and found[1:-1].replace("ExchangeKind::", "").replace("Blocks::", "")) == shape


def test_every_form_of_an_exchange_has_a_shape(table):
    """14 collectives, blocking, nonblocking and persistent as far as they exist, and bcast; and their twins."""
    shaped = {e.name for e in table.entries if write_positions.shape(e)}
    assert len([name for name in shaped if not name.endswith("_c")]) == 14 * 3 + 2
    assert {f"{name}_c" for name in shaped if not name.endswith("_c")} <= shaped
    numbers = [line for line in write_positions.shapes(table).splitlines() if "  // MPI_" in line]
    assert [line.endswith(e.name) for line, e in zip(numbers, table.entries, strict=True)] == [True] * len(numbers)
    with_shape = {line.split("// ")[1] for line in numbers if not line.strip().startswith("-1")}
    assert with_shape == shaped


def test_positions_are_those_of_the_parameters(table):
    header = write_positions.header(table)
    places = "buf = 0, count = 1, datatype = 2, dest = 3, tag = 4, comm = 5"
    assert f"struct Send {{\n  static constexpr std::size_t {places};\n}};" in header
    assert "struct Init " not in header  # argc and argv are not in Fortran


def test_positions_hold_for_twins_and_in_fortran(table):
    by_name = {e.name: e for e in table.entries}
    for e in filter(write_positions.has_positions, table.entries):
        names = [p.name for p in e.parameters]
        assert [p.name for p in fortran.parameters(e)] == names, e.name
        twin = by_name.get(f"{e.name}_c")
        assert not twin or [p.name for p in twin.parameters] == names, e.name


def test_entries_with_one_function_have_the_same_parameters(table):
    families = collections.defaultdict(set)
    for e in table.entries:
        if e.hook_function and e.hook_function != "begin_exchange":  # which asks for the shape
            families[e.hook_function].add(tuple((p.name, p.kind, p.dimensions) for p in e.parameters))
    assert len(families) > 20
    assert {name for name, parameters in families.items() if len(parameters) > 1} == set()


def test_constructors_end_with_what_they_make(table):
    for hook, kind in (("constructor", "comm"), ("window_constructor", "win")):
        made = [e.parameters[-1] for e in table.entries if e.hook == hook]
        assert len(made) >= 4
        assert {(p.kind, p.direction) for p in made} == {(kind, "out")}
    assert {e.parameters[0].kind for e in table.entries if e.hook == "constructor"} == {"comm"}


def test_datatypes_of_messages(table):
    expected = {
        "MPI_Send": "{2, -1}", "MPI_Sendrecv_c": "{2, 7}", "MPI_Ialltoall": "{2, 5}", "MPI_Iscatterv": "{3, 6}",
        "MPI_Ialltoallv": "{3, 7}", "MPI_Ialltoallw": "{-1, -1}", "MPI_Type_commit": "{-1, -1}",
    }  # fmt: skip
    assert {name: write_entries._datatypes(entry(table, name)) for name in expected} == expected
