"""Buffers in memory that the processor cannot touch, with a stand-in of a GPU runtime and of a GPU-aware host MPI."""

import json
import pathlib
import uuid

import hosts
import process
import pytest

HERE = pathlib.Path(__file__).resolve().parent
OUT = hosts.BUILD / "tests" / "transparency" / "device"
# Name of the library and what it is compiled with: HIP's memory types have other numbers from ROCm 6 on.
RUNTIMES = {
    "cuda": ("libcuda.so.1", "-DCUDA"),
    "hip5": ("libamdhip64.so.6", "-DHIP=50221153"),
    "hip6": ("libamdhip64.so.6", "-DHIP=60032831"),
    "level-zero": ("libze_loader.so.1", "-DZE"),
}
DEVICE, MANAGED, PINNED = "1", "2", "3"
ALWAYS = {"MILLRACE_LAYOUTS": "always", "MILLRACE_COLLECTIVES": "always"}


def runtime(name):
    """The library of a stand-in of a GPU runtime."""
    library, flag = RUNTIMES[name]
    out = OUT / name / library
    out.parent.mkdir(parents=True, exist_ok=True)
    source = HERE / "device" / "runtime.c"
    line = ["cc", "-O2", "-shared", "-fPIC", f"-Wl,-soname,{library}", flag, "-o", str(out), str(source), "-lpthread"]
    process.run(line, hosts.environment("openmpi4"), 60).check()
    return out


def programs(host):
    """The program, and what is loaded in front of the host."""
    stand_in = hosts.compile(
        host, HERE / "device" / "host.c", OUT / host / "host.so", flags=["-shared", "-fPIC", "-Wl,--as-needed", "-ldl"]
    )
    return hosts.compile(host, HERE / "programs" / "device_memory.c", OUT / host / "device_memory"), stand_in


def run(host, program, stand_in, arguments, ranks=2, millrace=False, env=None):
    ours = [hosts.MILLRACE] if millrace else []
    line = ["env", f"LD_PRELOAD={stand_in}", *ours, program, *arguments]
    finished = hosts.run(host, ranks, line, env=env, timeout=60)
    finished.check()
    return sorted(line for line in finished.stdout.splitlines() if ": " in line)


# Intel MPI alone gives other bytes than all other hosts (and than itself with 2 ranks).
WRONG_ALONE = {("intel", 4): "allgather 12 "}


def without_what_is_wrong_alone(host, ranks, lines):
    wrong = WRONG_ALONE.get((host, ranks))
    return [line for line in lines if not (wrong and line.startswith(wrong))]


def compare(host, name, kind, when="early", ranks=2, settings=ALWAYS):
    """What the program prints alone and with Millrace is the same; the report of the run with Millrace."""
    program, stand_in = programs(host)
    arguments = [runtime(name), kind, when]
    alone = run(host, program, stand_in, arguments, ranks)
    path = OUT / f"report-{uuid.uuid4().hex}.json"
    env = {"MILLRACE_REPORT": path, **settings}
    try:
        ours = run(host, program, stand_in, arguments, ranks, True, env)
        compared = [without_what_is_wrong_alone(host, ranks, lines) for lines in (ours, alone)]
        assert compared[0] == compared[1]
        # Calls that are not recorded go by what is remembered of the last ones.
        unrecorded = run(host, program, stand_in, arguments, ranks, True, settings)
        assert without_what_is_wrong_alone(host, ranks, unrecorded) == compared[1]
        calls = {call["name"]: call for call in json.loads(path.read_text())["calls"]}
    finally:
        path.unlink(missing_ok=True)
    assert len(alone) == ranks * 4 * 32 - 8  # of an Exscan in place rank 0 says nothing
    return calls


def left_for_device_memory(calls, name):
    return calls[name]["forwarded_why"].get("device_memory", 0)


def taken(calls, name):
    return sum(algorithm["calls"] for algorithm in calls[name]["algorithms"])


SHARED = ["MPI_Allreduce", "MPI_Reduce", "MPI_Bcast", "MPI_Gather", "MPI_Scatter", "MPI_Allgather", "MPI_Alltoall",
          "MPI_Scan", "MPI_Exscan", "MPI_Reduce_scatter", "MPI_Reduce_scatter_block"]  # fmt: skip
LEFT = ["MPI_Reduce_local", "MPI_Pack", "MPI_Unpack", "MPI_Send", "MPI_Recv", "MPI_Irecv", "MPI_Send_init"]
COMBINATIONS = [("openmpi4", "cuda"), ("mpich5", "cuda"), ("intel", "level-zero"), ("abi", "hip6"), ("mpich4", "hip5")]


@pytest.mark.parametrize(("host", "name"), COMBINATIONS)
def test_device_memory(host, name):
    calls = compare(host, name, DEVICE)
    for call in LEFT:
        assert left_for_device_memory(calls, call) > 0, call
    for call in SHARED:
        assert taken(calls, call) > 0, call
        assert left_for_device_memory(calls, call) == 0, call


def test_four_ranks():
    compare("openmpi5", "cuda", DEVICE, ranks=4)


@pytest.mark.full
@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("name", RUNTIMES)
def test_every_host(host, name, ranks):
    for kind in (DEVICE, MANAGED, PINNED):
        compare(host.name, name, kind, "early", ranks)
    compare(host.name, name, DEVICE, "late", ranks)


@pytest.mark.parametrize(("kind", "name"), [(MANAGED, "cuda"), (PINNED, "level-zero"), (MANAGED, "hip5")])
def test_memory_that_can_be_touched_is_taken(kind, name):
    calls = compare("mpich5", name, kind)
    for call in LEFT:
        assert left_for_device_memory(calls, call) == 0, call
        assert taken(calls, call) > 0, call


def test_ops_of_the_host_stay():
    settings = {"MILLRACE_COLLECTIVES": "never", "MILLRACE_SUBSTITUTE": "always"}
    calls = compare("openmpi4", "cuda", DEVICE, settings=settings)
    assert left_for_device_memory(calls, "MPI_Allreduce") > 0
    assert taken(calls, "MPI_Allreduce") > 0  # where both buffers of a rank can be touched


def test_runtime_that_comes_late():
    calls = compare("openmpi4", "cuda", DEVICE, "late")
    for call in LEFT:
        assert left_for_device_memory(calls, call) > 0, call
