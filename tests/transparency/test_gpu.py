"""Buffers in the memory of a real GPU, where there is one: with Millrace as without. Of our hosts only Intel MPI is
made for GPUs; what is done with those of others is tested with stand-ins (test_device_memory.py)."""

import ctypes
import json
import pathlib

import hosts
import pytest

HERE = pathlib.Path(__file__).resolve().parent
OUT = hosts.BUILD / "tests" / "transparency" / "gpu"
OWN, DEVICE, MANAGED, PINNED = range(4)
ALWAYS = {"MILLRACE_COLLECTIVES": "always", "MILLRACE_LAYOUTS": "always"}
FOR_GPUS = {"intel": {"I_MPI_OFFLOAD": "1", "I_MPI_OFFLOAD_MODE": "cuda", "I_MPI_OFFLOAD_CUDA_LIBRARY": "libcuda.so.1"}}
RANKS, SIZES, REPEATS = 3, 4, 80
CHECKS = {"collectives": 11 * SIZES * RANKS, "all": 15 * SIZES * RANKS, "repeated": 11 * REPEATS * RANKS}
COLLECTIVES = ["MPI_Allreduce", "MPI_Reduce", "MPI_Bcast", "MPI_Scan", "MPI_Allgather", "MPI_Gather", "MPI_Scatter",
               "MPI_Reduce_scatter_block", "MPI_Alltoall"]  # fmt: skip


def has_gpu():
    try:
        return ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
    except OSError:
        return False


def run(host, kind, what, ours, tmp_path, reports=True):
    program = hosts.compile(host, HERE / "programs" / "gpu_calls.c", OUT / host.name / "gpu_calls", flags=["-ldl"])
    report = tmp_path / "report.json"
    env = {**(FOR_GPUS.get(host.name, {}) if kind else {}), **(ALWAYS if ours else {})}
    if ours and reports:
        env["MILLRACE_REPORT"] = report
    done = hosts.run(host, RANKS, [program, kind, what], millrace=ours, env=env, timeout=100)
    calls = {call["name"]: call for call in json.loads(report.read_text())["calls"]} if report.exists() else {}
    return done, calls


def test_own_memory(host, tmp_path):
    done, calls = run(host, OWN, "all", True, tmp_path)
    assert done.stdout.split() == [str(CHECKS["all"]), "checks,", "0", "wrong"], done.stderr
    assert all(calls[name]["taken"] > 0 for name in COLLECTIVES)
    done, _ = run(host, OWN, "repeated", True, tmp_path, reports=False)
    assert done.stdout.split() == [str(CHECKS["repeated"]), "checks,", "0", "wrong"], done.stderr


@pytest.mark.skipif(not has_gpu(), reason="no GPU with CUDA here")
@pytest.mark.parametrize(("kind", "what"), [(DEVICE, "collectives"), (MANAGED, "all"), (PINNED, "all")])
def test_memory_of_the_gpu(host, kind, what, tmp_path):
    if kind != PINNED and host.name not in FOR_GPUS:
        pytest.skip(f"{host.title} is not made for GPUs")
    done, calls = run(host, kind, what, True, tmp_path)
    assert done.stdout.split() == [str(CHECKS[what]), "checks,", "0", "wrong"], done.stderr
    assert all(calls[name]["taken"] > 0 for name in COLLECTIVES)


@pytest.mark.skipif(not has_gpu(), reason="no GPU with CUDA here")
@pytest.mark.parametrize("kind", [DEVICE, MANAGED, PINNED])
def test_calls_that_are_remembered(host, kind, tmp_path):
    """Small calls over and over, unrecorded: only the buffers are looked at, in whose memory they lie."""
    if kind != PINNED and host.name not in FOR_GPUS:
        pytest.skip(f"{host.title} is not made for GPUs")
    done, _ = run(host, kind, "repeated", True, tmp_path, reports=False)
    assert done.stdout.split() == [str(CHECKS["repeated"]), "checks,", "0", "wrong"], done.stderr


@pytest.mark.skipif(not has_gpu(), reason="no GPU with CUDA here")
@pytest.mark.parametrize("what", ["collectives", "messages"])
def test_what_a_host_cannot_do_stays_its_failure(host, what, tmp_path):
    """Where the host alone ends with an error, so it does with us."""
    alone, _ = run(host, DEVICE, what, False, tmp_path)
    ours, _ = run(host, DEVICE, what, True, tmp_path)
    assert (ours.returncode == 0) == (alone.returncode == 0), ours.stderr
