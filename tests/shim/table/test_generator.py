"""What the generator makes of the table, and of a table that is wrong."""

import pathlib
import subprocess

import fortran
import fortran_types
import kinds
import pytest
import symbols as shim_symbols
import table as shim_table
import write_entries
import write_exports
import write_forwards

HEAD = "generation one-1 openmpi lib.so One\ngeneration two-1 mpich lib.so Two\nchapter c.txt\n"


def small_table(tmp_path, chapter):
    (tmp_path / "entries.txt").write_text(HEAD)
    (tmp_path / "c.txt").write_text(chapter)
    return shim_table.load(tmp_path / "entries.txt")


def entry(table, name):
    return next(e for e in table.entries if e.name == name)


@pytest.mark.parametrize(
    ("chapter", "complaint"),
    [
        ("MPI_X(int a\n    since 1.0; on all; c only\n", "not MPI_Name"),
        ("MPI_X(int)\n    since 1.0; on all; c only\n", "not a parameter"),
        ("MPI_X(int a)\n    since 1.0; on nowhere; c only\n", "unknown host generation nowhere"),
        ("MPI_X(int a)\n    since 1.0; on all; sometimes\n", "unknown fact: sometimes"),
        ("MPI_X(int a)\n    since 1.0; on all; c only\n    bytes buf a b\n", "not a bytes rule"),
        ("MPI_X()\n    since 1.0; on all; c only\n" * 2, "twice"),
    ],
)
def test_a_wrong_table_is_refused_with_its_place(tmp_path, chapter, complaint):
    with pytest.raises(shim_table.TableError, match=complaint) as error:
        small_table(tmp_path, chapter)
    assert "c.txt:" in str(error.value)


def test_a_generation_and_those_after_it(tmp_path):
    names = {"a-1": "one", "b-1": "two", "a-2": "one", "a-3": "one"}
    head = "".join(f"generation {name} {abi} lib.so Host\n" for name, abi in names.items())
    (tmp_path / "entries.txt").write_text(head + "chapter c.txt\n")
    (tmp_path / "c.txt").write_text("MPI_X(int a)\n    since 1.0; on a-2..; c only\n")
    assert entry(shim_table.load(tmp_path / "entries.txt"), "MPI_X").hosts == {"a-2", "a-3"}
    (tmp_path / "c.txt").write_text("MPI_X(int a)\n    since 1.0; on a-4..; c only\n")
    with pytest.raises(shim_table.TableError, match="unknown host generation a-4"):
        shim_table.load(tmp_path / "entries.txt")


def test_every_kind_is_known(table):
    used = {p.kind for e in table.entries for p in e.parameters if not p.is_callback}
    assert used - kinds.ALL == set()


def test_twins_widen_counts_and_take_extra_parameters(table):
    assert kinds.c_prototype(entry(table, "MPI_Scatterv_c")) == (
        "int MPI_Scatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], "
        "MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)"
    )
    extra = {p.name for p in entry(table, "MPI_Type_get_contents_c").parameters if p.large_only}
    assert extra == {"max_large_counts", "array_of_large_counts"}
    assert not any(p.large_only for p in entry(table, "MPI_Type_get_contents").parameters)


def test_only_two_functions_return_a_double(table):
    assert [e.name for e in table.entries if e.returns == "seconds"] == ["MPI_Wtick", "MPI_Wtime"]


@pytest.mark.parametrize("abi", ["openmpi", "mpich", "abi"])
def test_symbols_start_with_the_entries_and_are_unique(table, abi):
    symbols = shim_symbols.of_abi(table, abi)
    assert [s.name for s in symbols[: len(table.entries)]] == [e.name for e in table.entries]
    names = [s.name for s in symbols]
    assert len(names) == len(set(names))
    assert len(table.entries) < 1024  # record::max_entries


@pytest.mark.parametrize("abi", ["openmpi", "mpich", "abi"])
def test_the_base_list_is_what_every_generation_has(table, abi):
    symbols = shim_symbols.of_abi(table, abi)
    generations = shim_symbols.export_lists(table, abi)
    lists = {name: {s.name for s in shim_symbols.exported(symbols, g)} for name, g in generations.items()}
    base = lists.pop(abi)
    assert base == set.intersection(*lists.values())
    assert "MPI_Init" in base


def test_bytes_rules_point_at_parameters(table):
    assert write_entries._rule(entry(table, "MPI_Alltoallw")) == (
        "{{Shape::array, 0, 1, 3, -1, true}, {Shape::array, 4, 5, 7, -1, true}, 8, -1, -1, false}"
    )
    send = "{{Shape::whole, 0, 1, 2, 3, false}, none, 5, -1, -1, false}"
    assert write_entries._rule(entry(table, "MPI_Send_c")) == send
    assert write_entries._rule(entry(table, "MPI_Barrier")) == "{none, none, 0, -1, -1, false}"
    reduce = "{{Shape::whole, 0, 2, 3, -1, false}, {Shape::whole, 1, 2, 3, -1, false}, 6, 5, 4, false}"
    assert write_entries._rule(entry(table, "MPI_Reduce")) == reduce
    for e in table.entries:
        for posted in e.posted:
            assert e.parameters[e.index(posted.buffer)].kind == "buffer", e.name
            assert e.parameters[e.index(posted.datatype)].kind == "datatype", e.name
            assert posted.count is None or e.parameters[e.index(posted.count)].kind == "count", e.name


def test_conversions_of_handles_are_not_counted(table):
    for e in table.entries:
        is_conversion = e.name.endswith(("_c2f", "_f2c", "_toint", "_fromint")) and "Status" not in e.name
        assert (e.hook == "uncounted") == is_conversion, e.name


def test_tools_are_asked_where_calls_may_be_ours(table):
    """The hooks that are said to call the host once exist; of what is only passed on, questions may be asked twice."""
    assert {e.hook for e in table.entries} >= shim_symbols.AROUND_THE_HOST
    symbols = {s.name: s for s in shim_symbols.of_abi(table, "openmpi")}
    ours = ["MPI_Allreduce", "mpi_allreduce_", "MPI_Wait", "MPI_Send", "MPI_Iprobe", "MPI_Reduce_local", "MPI_Pack"]
    assert all(symbols[name].may_be_ours for name in ours)
    hosts = ["MPI_Init", "MPI_Comm_dup", "MPI_Comm_rank", "MPI_Type_commit", "MPI_Wtime", "MPI_Comm_f2c"]
    assert not any(symbols[name].may_be_ours for name in hosts)
    files = write_forwards.sources(list(symbols.values()), parts=1)
    assert "tool_before(Symbol::MPI_Allreduce)" in files["forwards_c_0.cpp"]
    assert "tool_before(Symbol::MPI_Comm_dup)" not in files["forwards_c_0.cpp"]
    names = [line.split('"')[1] for line in files["tool_entries.cpp"].splitlines() if line.startswith('    {"')]
    assert names == sorted(s.name for s in symbols.values() if s.may_be_ours)


def test_transfers_have_a_bytes_rule(table):
    """A buffer with a count and a datatype is a transfer, but for what only describes memory or ends an operation."""
    partitioned = {"MPI_Psend_init", "MPI_Precv_init"}
    for e in table.entries:
        found = {p.kind for p in e.parameters}
        if {"buffer", "count", "datatype"} <= found and e.name not in partitioned:
            assert e.posted, e.name


def test_fortran_passes_a_length_for_each_string(table):
    assert fortran.words(entry(table, "MPI_Send")) == 7
    assert fortran.words(entry(table, "MPI_Info_get")) == 6 + 2
    assert fortran.words(entry(table, "MPI_Init")) == 1
    assert fortran.words(entry(table, "MPI_Wtime")) == 0
    assert fortran.words(entry(table, "MPI_Comm_spawn")) == 9 + 2


def test_twins_that_are_the_same_in_fortran_are_not_called_twice(table):
    assert not fortran_types.is_in(entry(table, "MPI_Type_get_extent_c"), "f08")
    assert fortran_types.is_in(entry(table, "MPI_Send_c"), "f08")
    assert fortran_types.called_name(entry(table, "MPI_Send_c")) == "MPI_Send"
    assert fortran_types.called_name(entry(table, "MPI_Op_create_c")) == "MPI_Op_create_c"


def test_hidden_versions_and_dropped_wrappers(table, tmp_path):
    """What the design rests on: index 2, hidden, and nothing that the list does not name."""
    chapter = "MPI_A(int a)\n    since 1.0; on all; c only\nMPI_B(int a)\n    since 1.0; on two-1 one-1; c only\n"
    small = small_table(tmp_path, chapter)
    symbols = shim_symbols.of_abi(small, "openmpi")
    (tmp_path / "shim/bind").mkdir(parents=True)
    (tmp_path / "shim/bind/forward.h").write_text(
        "#include <cstdint>\n"
        "namespace millrace::shim { using Word = std::uintptr_t; enum class Symbol { MPI_A, MPI_B };\n"
        "template <Symbol, class... W> Word forward(W...) { return 0; } }\n"
    )
    (tmp_path / "f.cpp").write_text(write_forwards.sources(symbols, 1)["forwards_c_0.cpp"])
    (tmp_path / "f.map").write_text(write_exports.script([s for s in symbols if s.name == "MPI_A"], ["one-1"]))
    library = tmp_path / "f.so"
    subprocess.run(
        ["c++", "-std=c++20", "-fPIC", "-fvisibility=hidden", "-shared", f"-I{tmp_path}", str(tmp_path / "f.cpp"), "-o",
         str(library), f"-Wl,--version-script={tmp_path / 'f.map'}"], check=True,
    )  # fmt: skip
    listed = subprocess.run(["readelf", "-W", "--dyn-syms", library], capture_output=True, text=True, check=True).stdout
    versions = subprocess.run(["readelf", "-W", "-V", library], capture_output=True, text=True, check=True).stdout
    assert "MPI_A@MILLRACE_1" in listed
    assert "MPI_A@@" not in listed
    assert "MPI_B" not in listed and "shim_MPI" not in listed
    assert "2h(MILLRACE_1)" in versions.replace(" ", "")


def test_generated_files_are_left_alone_when_nothing_changed(tmp_path):
    generator = pathlib.Path(shim_table.__file__).parent
    line = ["python3", "-B", generator, "--abi", "abi", "--out", tmp_path]
    subprocess.run(line, check=True)
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    subprocess.run(line, check=True)
    assert before == {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
