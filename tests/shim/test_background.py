"""Nonblocking collectives in shared memory: right whatever ends them, and whatever the ranks do meanwhile."""

import hosts
import pytest
from shim_programs import OUT, SOURCES, build, call, check_done, report, run
from test_shared_collectives import RANK

pytestmark = pytest.mark.sampled_hosts

KINDS = (
    "barrier", "bcast", "reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan", "gather",
    "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw",
)  # fmt: skip
CALLS = [f"MPI_I{kind}" for kind in KINDS]
SHARED_ALGORITHMS = {
    f"shared_{kind}"
    for kind in ("barrier", "bcast", "reduce", "allreduce", "reduce_scatter", "scan", "gather", "scatter", "allgather",
                 "alltoall")
}  # fmt: skip
CASES = (
    "inside_the_host", "messages_beside", "while_computing", "freed", "hundred", "truncated", "different", "handles",
    "threads",
)  # fmt: skip
SEED = 4711
# Persistent collectives, as far as each host alone gets them right (docs/hosts.md), which does the first starts of
# each: MPICH fails in completions of an array, Open MPI 5 crashes where a datatype was freed after it was given.
PERSISTENT = {
    "openmpi5": ("plain", 30, "orders"), "mpich5": ("all", 30, "orders,one_or_all"),
    "abi": ("all", 30, "orders,one_or_all"),
}  # fmt: skip
# Also what the tables leave to the host, as an Ibarrier where ranks share cores.
ALWAYS = {"MILLRACE_COLLECTIVES": "always"}
FORTRAN = [
    (name, interface)
    for name, host in hosts.HOSTS.items()
    for interface in ("mpi", "mpi_f08")
    if interface in host.fortran_interfaces
]


def program(host):
    return build(host, "background.cpp", "-std=c++20")


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("host", list(hosts.HOSTS))
def test_random_calls(host, ranks):
    finished, result = report(host, ranks, program(host), SEED + ranks, 80, 12, env=ALWAYS, timeout=240)
    assert finished.stdout == "done\n"
    assert [name for name in CALLS if call(result, name)["taken"] == 0] == []


def test_random_calls_by_the_tables():
    for host, ranks in ("openmpi4", 3), ("openmpi5", 4), ("intel", 2), ("intel", 3), ("openmpi4", 5), ("openmpi4", 7):
        check_done(host, ranks, program(host), SEED * ranks, 60, 12, timeout=240)


# Without a report: where calls are recorded each is looked at anew.
@pytest.mark.parametrize("threads", ["single", "multiple"])
@pytest.mark.parametrize("ranks", [2, 3, 5])
@pytest.mark.parametrize("host", list(hosts.HOSTS))
def test_begun_again_with_the_same_words(host, ranks, threads):
    freeing = [] if host.startswith("openmpi") else ["freeing"]  # Open MPI alone dies of it
    arguments = [build(host, "begun_again.c"), threads, 400, *freeing]
    assert run(host, ranks, *arguments, env=ALWAYS).check().stdout == "0 wrong\n" * ranks


# Where the tables leave blocks from some length on to the host, on Intel MPI alone, and words alone say so.
def test_begun_again_by_the_tables():
    program = build("intel", "begun_again.c", "-DLONGEST=40000", name="begun_again_long")
    for ranks in 2, 3:
        assert run("intel", ranks, program, "single", 150).check().stdout == "0 wrong\n" * ranks


def test_a_hundred_at_once():
    for host in ("openmpi5", "mpich4", "intel"):
        check_done(host, 2, program(host), SEED, 30, 100, timeout=240)


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("host", list(PERSISTENT))
def test_random_persistent_calls(host, ranks):
    finished, result = report(
        host, ranks, program(host), SEED + ranks, 120, 6, *PERSISTENT[host], env=ALWAYS, timeout=240
    )
    assert finished.stdout == "done\n"
    started = {one["name"] for name in ("MPI_Start", "MPI_Startall") for one in call(result, name)["algorithms"]}
    assert started >= SHARED_ALGORITHMS


@pytest.mark.full
@pytest.mark.parametrize("ranks", [2, 3, 4, 5])
@pytest.mark.parametrize("host", list(PERSISTENT))
def test_many_random_persistent_calls(host, ranks):
    """With more of them at a time than memory in the node is given to."""
    rounds = 1500 if ranks == 2 or host.startswith("openmpi") else 100
    kinds, _, how = PERSISTENT[host]
    for persistent in (30, 150):
        check_done(host, ranks, program(host), ranks, rounds, 100, kinds, persistent, how, timeout=1800)


@pytest.mark.full
@pytest.mark.parametrize("ranks", [2, 3, 4, 5, 6, 7, 8, 9])
@pytest.mark.parametrize("host", list(hosts.HOSTS))
def test_many_random_calls(host, ranks):
    """MPICH by itself needs tens of milliseconds a call when ranks outnumber cores."""
    rounds = 2000 if ranks == 2 or host.startswith("openmpi") else 100
    for most in (10, 100):
        check_done(host, ranks, program(host), ranks * most, rounds, most, timeout=1800)


def test_the_host_alone_passes_the_same_test():
    assert run("openmpi4", 3, program("openmpi4"), SEED, 60, 12, millrace=False).check().stdout == "done\n"
    alone = run("openmpi5", 3, program("openmpi5"), SEED, 60, 6, *PERSISTENT["openmpi5"], millrace=False)
    assert alone.check().stdout == "done\n"


def cases_program(host):
    return build(host, "background_cases.c", "-pthread")


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("host", list(hosts.HOSTS))
def test_cases(host, case):
    finished, result = report(host, 3, cases_program(host), case, env=ALWAYS, timeout=60)
    assert finished.stdout == "done\n", finished.stderr
    assert call(result, "MPI_Iallreduce")["taken"] > 0


@pytest.mark.parametrize("host", [*PERSISTENT, "mpich4", "intel"])
def test_persistent(host):
    finished, result = report(host, 3, cases_program(host), "persistent", env=ALWAYS, timeout=60)
    assert finished.stdout == "done\n", finished.stderr
    assert call(result, "MPI_Startall")["taken"] == 3 * 91  # from the ninth start on; the last is by MPI_Start


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("host", [*PERSISTENT, "mpich4", "intel"])
def test_persistent_gathers_of_new_data(host, ranks):
    """By the tables: MPICH 4.0 and Intel MPI send what they sent at the first start, whatever is there."""
    assert run(host, ranks, build(host, "persistent_gathers.c")).check().stdout == "done\n"


@pytest.mark.parametrize("host", ["mpich5", "abi"])
def test_persistent_of_a_type_that_is_freed(host):
    finished, result = report(host, 3, cases_program(host), "persistent_type", env=ALWAYS, timeout=60)
    assert finished.stdout == "done\n", finished.stderr
    assert call(result, "MPI_Start")["taken"] == 3 * 32


@pytest.mark.parametrize("case", ["inside_the_host", "freed", "hundred"])
def test_cases_where_every_rank_has_a_core(case):
    check_done("openmpi4", 2, cases_program("openmpi4"), case, timeout=60)
    check_done("mpich5", 2, cases_program("mpich5"), case, timeout=60)


@pytest.mark.parametrize("host, interface", FORTRAN)
def test_fortran(host, interface):
    flags = ["-cpp", "-fallow-argument-mismatch"] + (["-DF08"] if interface == "mpi_f08" else [])
    fortran = build(host, "background_fortran.F90", *flags, name=f"background_fortran_{interface}")
    for ranks in (2, 3):
        finished, result = report(host, ranks, fortran, env=ALWAYS)
        assert finished.stdout.strip() == "done"
        for name in ("MPI_Iallreduce", "MPI_Ibcast", "MPI_Ialltoall", "MPI_Igather", "MPI_Iscan", "MPI_Ibarrier"):
            assert call(result, name)["taken"] > 100, name


@pytest.mark.parametrize("host", list(hosts.HOSTS))
def test_a_rank_without_millrace_is_never_waited_for(host):
    script = f'if [ "${RANK.get(host, "PMI_RANK")}" = 0 ]; then exec "$@"; else exec {hosts.MILLRACE} "$@"; fi'
    words = ["sh", "-c", script, "sh", program(host), SEED, 20, 8]
    assert hosts.run(host, 3, words, timeout=120).check().stdout == "done\n"


def test_left_to_the_host():
    for settings in {"MILLRACE_COLLECTIVES": "never"}, {"MILLRACE_DISABLE": "Iallreduce"}:
        finished, result = report("openmpi4", 2, cases_program("openmpi4"), "hundred", env=settings)
        assert finished.stdout == "done\n"
        assert call(result, "MPI_Iallreduce")["taken"] == 0


def test_a_program_that_completes_behind_us():
    """PMPI_Wait in its symbol table: what it completes there we would never hear of."""
    path = OUT / "behind.c"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = (SOURCES / "background_cases.c").read_text()
    path.write_text(text.replace("MPI_Wait(&request, MPI_STATUS_IGNORE)", "PMPI_Wait(&request, MPI_STATUS_IGNORE)"))
    behind = hosts.compile("openmpi4", path, OUT / "openmpi4" / "behind", flags=["-pthread"])
    finished, result = report("openmpi4", 2, behind, "hundred")
    assert finished.stdout == "done\n"
    assert call(result, "MPI_Iallreduce")["taken"] == 0
