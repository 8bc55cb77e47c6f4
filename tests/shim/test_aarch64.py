"""The whole path on 64-bit Arm, under qemu-user: real aarch64 builds of Open MPI and MPICH with our aarch64 preload.

What can go wrong here is what differs between the processors: kernels, stacks of fibers, clocks, layouts of structures,
system calls that are not there. How memory is ordered does not show under an emulator on x86-64:
docs/results/aarch64.md says what was read instead.
"""

import os
import pathlib
import subprocess

import hosts
import pytest
import test_background
import test_exchanges
import test_layouts_messages
import test_layouts_pack
import test_shared_matrix
from shim_programs import build, call, report, run
from usable import usable

pytestmark = pytest.mark.full

TREE = hosts.BUILD / "aarch64"
HOSTS = ["openmpi4-aarch64", "mpich4-aarch64"]
VECTOR_BITS = (128, 256, 512, 1024, 2048)
# QEMU_CPU: a processor without SVE, and one with vectors of each length.
CPUS = {"neon": "cortex-a72"} | {
    f"sve{bits}": f"max,sve-max-vq={bits // 128},sve-default-vector-length={bits // 8}" for bits in VECTOR_BITS
}
MIB = 1 << 20
# What an emulator says and does not do: programs and their tests of it.
BELOW_MPI = {"shared_memory_test": "Process.*", "node_test": "*Boards.*ZeroedMemory*:*Boards.KeepOneRecord*"}


@pytest.fixture(scope="module", autouse=True)
def cross_built():
    """The preloads for that processor; takes minutes the first time."""
    names = [f"lib/millrace/{hosts.get(name).preload.name}" for name in HOSTS]
    archives = [word for word in test_layouts_pack.layouts(TREE) if isinstance(word, pathlib.Path)]
    names += [archive.stem.removeprefix("lib") for archive in archives] + list(BELOW_MPI)
    for name in HOSTS:
        usable(name)
    for command in (
        ["cmake", "--preset", "aarch64", "-B", TREE, "-DMILLRACE_TESTS=ON", "-DMILLRACE_BENCH=OFF"],
        ["cmake", "--build", TREE, "-j", os.environ.get("JOBS", "2"), "--target", *names],
    ):
        done = subprocess.run(command, cwd=hosts.ROOT, capture_output=True, text=True, timeout=3000, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def unit(cpu):
    return cpu.rstrip("0123456789")


def on(cpu, **settings):
    return {"QEMU_CPU": CPUS[cpu], **settings}


def check_unit(result, cpu):
    assert {rank["isa"] for rank in result["by_rank"]} == {unit(cpu)}


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("host", HOSTS)
def test_reduce_local(host, cpu):
    finished, result = report(host, 1, build(host, "reduce_local.cpp", "-lm"), env=on(cpu), timeout=600)
    verdict, comparisons = finished.stdout.split()
    assert verdict == "same"
    entry = call(result, "MPI_Reduce_local")
    assert entry["taken"] == entry["calls"] == int(comparisons) > 1000
    check_unit(result, cpu)


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("host", HOSTS)
def test_pack(host, cpu):
    types = 400
    program = build(host, "layouts_pack.cpp", *test_layouts_pack.layouts(TREE))
    finished, result = report(host, 1, program, 11, types, env=on(cpu), timeout=600)
    test_layouts_pack.check_same(host.removesuffix("-aarch64"), finished.stdout, types)
    assert call(result, "MPI_Pack")["taken"] > types / 2
    check_unit(result, cpu)


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("host", HOSTS)
def test_messages(host, cpu):
    settings = on(cpu, **test_layouts_messages.ALWAYS)
    finished, result = report(host, 2, build(host, "layouts_messages.cpp"), 21, 12, "all", env=settings, timeout=600)
    test_layouts_messages.all_right(finished, 2)
    for name in test_layouts_messages.SENDS + test_layouts_messages.RECEIVES:
        assert call(result, f"MPI_{name}")["taken"] > 0, name


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("host", HOSTS)
def test_matrix(host, cpu):
    assert test_shared_matrix.check(host, 2, 10**6, 2 * MIB, on(cpu), timeout=600) > 100


@pytest.mark.parametrize("waiting", test_shared_matrix.WAITING)
@pytest.mark.parametrize("forced", test_shared_matrix.FORCED)
@pytest.mark.parametrize("ranks", [2, 3])
def test_matrix_with_every_algorithm(ranks, forced, waiting):
    # The host multiplies complex numbers in fused steps there, so small blocks that are its own have other bits.
    ours = {"MILLRACE_COLLECTIVES": "always", "MILLRACE_WAIT": waiting}
    settings = on("sve256", **{**test_shared_matrix.FORCED[forced], **ours})
    test_shared_matrix.check("openmpi4-aarch64", ranks, 10**6, 2 * MIB, settings, timeout=900)


@pytest.mark.parametrize("host", HOSTS)
def test_exchanges_between_all(host):
    program = test_exchanges.program(host)
    settings = on("sve256", **test_exchanges.EVERYTHING)
    finished, result = report(host, 2, program, test_exchanges.SEED, 300, env=settings, timeout=600)
    assert finished.stdout == "done\n"
    assert [name for name in test_exchanges.CALLS if call(result, name)["taken"] == 0] == []


@pytest.mark.parametrize("host", HOSTS)
def test_collectives_that_do_not_wait(host):
    program = test_background.program(host)
    settings = on("sve256", **test_background.ALWAYS)
    finished, result = report(host, 2, program, test_background.SEED, 80, 12, env=settings, timeout=600)
    assert finished.stdout == "done\n"
    assert [name for name in test_background.CALLS if call(result, name)["taken"] == 0] == []


@pytest.mark.parametrize("host", HOSTS)
def test_memory_of_freed_communicators_is_zero_when_it_is_used_again(host):
    """qemu-user says that it has removed pages and leaves them as they are."""
    settings = on("sve256", MILLRACE_COLLECTIVES="always")
    finished = run(host, 2, build(host, "many_communicators.c"), 200, 100, env=settings, timeout=600).check()
    assert finished.stdout.endswith("0 wrong\n")


def test_a_rank_that_is_long_in_coming_lives():
    """qemu-user makes up when a process was started: ranks once took each other for dead after 0.2 s."""
    program = build("openmpi4-aarch64", "shared_stress.c")
    finished = run("openmpi4-aarch64", 2, program, 5, 20, 400_000, env=on("sve256"), timeout=600)
    assert finished.check().stdout == "done\n"


@pytest.mark.parametrize("program", BELOW_MPI)
def test_an_emulator_is_not_believed(program):
    """Of pages that are said to be removed, and of when a process is said to have been started."""
    command = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", TREE / "bin" / program]
    done = subprocess.run(
        [*command, f"--gtest_filter={BELOW_MPI[program]}"], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " from 1 test suite ran." in done.stdout
