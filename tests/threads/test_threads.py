"""Threaded MPI_Reduce_local, ops made of tasks and the settings, on real hosts."""

import os

import hosts
import pytest
from threads_programs import ROOT, build, report, run
from usable import usable

EVERY_HOST = list(hosts.HOSTS)


@pytest.mark.parametrize("name", EVERY_HOST)
def test_threads_give_the_bits_of_one_thread(name):
    """The program compares with PMPI_Reduce_local, the host's own; the report says who did it."""
    program = build(usable(name), "large_reductions.c")
    for threads, kernel in (("3", "sum_f32_threads"), ("1", "sum_f32")):
        env = {"MILLRACE_THREADS": threads, "MILLRACE_THREADS_BYTES": "1000"}
        finished, result = report(name, 1, program, env=env)
        assert finished.stdout == "same\n"
        entry = next(call for call in result["calls"] if call["name"] == "MPI_Reduce_local")
        counted = {algorithm["name"]: algorithm["calls"] for algorithm in entry["algorithms"]}
        assert counted == {kernel: 7, kernel.replace("sum_f32", "maxloc_f64_i32"): 7}


def test_a_small_reduction_has_one_thread():
    program = build(usable("openmpi4"), "large_reductions.c")
    env = {"MILLRACE_THREADS": "3", "MILLRACE_THREADS_BYTES": str(1 << 40)}
    _, result = report("openmpi4", 1, program, env=env)
    entry = next(call for call in result["calls"] if call["name"] == "MPI_Reduce_local")
    assert {algorithm["name"] for algorithm in entry["algorithms"]} == {"sum_f32", "maxloc_f64_i32"}


@pytest.mark.parametrize("name", ["openmpi4", "mpich4"])
def test_two_ranks_that_share_their_cores_have_one_thread_each(name):
    """As many unbound ranks as there are processors: nobody has a core to spare, and auto knows it."""
    program = build(usable(name), "large_reductions.c")
    ranks = max(2, len(os.sched_getaffinity(0)))
    _, result = report(name, ranks, program, env={"MILLRACE_THREADS_BYTES": "1000"})
    entry = next(call for call in result["calls"] if call["name"] == "MPI_Reduce_local")
    assert {algorithm["name"] for algorithm in entry["algorithms"]} == {"sum_f32", "maxloc_f64_i32"}


@pytest.mark.parametrize("value", ["0", "-2", "many", "2.5", "1e9"])
def test_a_wrong_number_is_said_once_and_not_used(value):
    program = build(usable("openmpi4"), "large_reductions.c")
    env = {"MILLRACE_THREADS": value, "MILLRACE_THREADS_BYTES": "4XB"}
    finished = run("openmpi4", 2, program, env=env).check()
    said = [line for line in finished.stderr.splitlines() if line.startswith("millrace")]
    assert len(said) == 2, said
    assert any(f"MILLRACE_THREADS={value} is not one of auto|N: using auto" in line for line in said)
    assert any("MILLRACE_THREADS_BYTES=4XB is not one of" in line for line in said)


@pytest.mark.parametrize("name", ["openmpi4", "mpich4"])
def test_every_op_made_of_tasks_is_the_predefined_one(name):
    program = build(usable(name), "task_ops.c", "-fopenmp", "-DMILLRACE_TASK_BYTES=4096", library=True)
    finished = run(name, 2, program, env={"OMP_NUM_THREADS": "3"}, millrace=False).check()
    assert finished.stdout == "same 48\n"
    alone = build(usable(name), "task_ops.c", library=True, name="task_ops_without_openmp")
    assert run(name, 2, alone, millrace=False).check().stdout == "same 48\n"


@pytest.mark.parametrize("name", ["openmpi4", "mpich4"])
@pytest.mark.parametrize("millrace", [False, True])
def test_the_overlap_example_is_right(name, millrace):
    """The answer, not the time."""
    source = ROOT / "examples" / "overlap" / "overlap.c"
    program = build(usable(name), source, "-fopenmp", "-Wall", "-Wextra", "-Werror", library=True)
    env = {"OMP_NUM_THREADS": "2", "OMP_MAX_TASK_PRIORITY": "1"}
    finished = run(name, 2, program, 2, 8, 2, env=env, millrace=millrace).check()
    lines = finished.stdout.splitlines()
    assert lines[0].startswith("reduction_ms ")
    assert lines[1] == "right"
