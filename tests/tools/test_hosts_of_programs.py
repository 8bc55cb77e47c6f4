"""The launcher finds the MPI of a program, on each of the six hosts, and chooses the preload that fits it."""

import os
import pathlib
import re
import subprocess
import time

import hosts
import pytest
from usable import usable

HELLO = pathlib.Path(hosts.ROOT) / "tests/hosts/programs/hello.c"

# The fullest list that each host covers.
FULLEST = {
    "openmpi4": "openmpi-4.1",
    "mpich4": "mpich-4.0",
    "openmpi5": "openmpi-5.0",
    "mpich5": "mpich-5.0",
    "intel": "mpich-impi",
    "abi": "abi-mpich",
    "abi-intel": "abi-impi",
}


def field(text, name):
    found = re.search(rf"^{name} +(.*)$", text, re.M)
    assert found, text
    return found.group(1)


def explained(launcher, *words, env):
    finished = subprocess.run(
        [launcher, "--explain", *words], env=env, capture_output=True, text=True, timeout=60, check=True
    )
    return finished.stdout


def list_of(text):
    return pathlib.Path(field(text, "preload")).name.removeprefix("libmillrace-").removesuffix(".so")


@pytest.mark.parametrize("name", FULLEST)
def test_a_compiled_program(name, launcher, tmp_path):
    host = usable(name)
    program = hosts.compile(host, HELLO, tmp_path / "hello")
    environment = hosts.environment(host, host.run_environment)
    text = explained(launcher, program, env=environment)
    assert list_of(text) == FULLEST[name]
    assert os.path.samefile(field(text, "MPI").split(", ")[1].split(" (")[0], host.library)


def test_it_runs_through_the_preload(host, launcher, tmp_path):
    program = hosts.compile(host, HELLO, tmp_path / "hello")
    finished = hosts.run(host, 2, program, millrace="--report").check()
    assert finished.stdout == "2 ranks, sum 1\n"
    assert f"preload {FULLEST[host.name]}" in finished.stderr


def test_a_shell_script_is_known_by_its_launcher(host, launcher, tmp_path):
    program = hosts.compile(host, HELLO, tmp_path / "hello")
    script = tmp_path / "run.sh"
    script.write_text(f"#!/bin/sh\nexec {program}\n")
    script.chmod(0o755)
    options = "--report" if host.name != "abi" else "--report --mpi=abi"  # hydra starts both of MPICH's interfaces
    finished = hosts.run(host, 2, script, millrace=options).check()
    assert finished.stdout == "2 ranks, sum 1\n"
    expected = FULLEST[host.name] if host.name != "abi" else "abi"
    assert f"preload {expected}" in finished.stderr


def test_it_starts_quickly(launcher, tmp_path):
    """The bar is 15 ms. The fastest of many, because tests share their cores."""
    host = usable("openmpi5")
    program = hosts.compile(host, HELLO, tmp_path / "hello")
    environment = hosts.environment(host)
    seconds = []
    for _ in range(30):
        start = time.perf_counter()
        explained(launcher, program, env=environment)
        seconds.append(time.perf_counter() - start)
    assert min(seconds) < 0.015, sorted(seconds)


@pytest.mark.parametrize("name", [name for name in FULLEST if hosts.get(name).python])
def test_mpi4py_is_known_by_its_launcher(name, launcher):
    host = usable(name)
    command = [launcher, "--explain", host.python, "program.py"]
    finished = hosts.run(host, 1, command, env=host.python_environment).check()
    assert list_of(finished.stdout) == FULLEST[name]


def test_mpi4py_without_a_launcher_finds_the_one_beside_it(launcher):
    for name in ("openmpi5", "mpich5", "intel"):
        host = usable(name)
        text = explained(launcher, host.python, "program.py", env={"PATH": "/usr/bin:/bin"})
        assert list_of(text) == FULLEST[name]


def test_mpi4pys_variables_are_obeyed(launcher):
    host = usable("mpich5")
    library = host.library.parent / "libmpi_abi.so.1"
    text = explained(launcher, host.python, env={"MPI4PY_LIBMPI": str(library)})
    assert list_of(text) == "abi-mpich"
    text = explained(launcher, host.python, env={"MPI4PY_MPIABI": "mpiabi"})
    assert list_of(text) == "abi-mpich"


def test_the_option_overrules_what_is_found(launcher, tmp_path):
    host = usable("mpich4")
    program = hosts.compile(host, HELLO, tmp_path / "hello")
    environment = hosts.environment(host)
    assert list_of(explained(launcher, "--mpi=openmpi", program, env=environment)) == "openmpi"
    text = explained(launcher, f"--mpi={usable('intel').library}", program, env=environment)
    assert list_of(text) == "mpich-impi"


def test_a_preload_forced_on_the_wrong_host_steps_aside(host, launcher, tmp_path):
    program = hosts.compile(host, HELLO, tmp_path / "hello")
    wrong = "mpich" if host.variant != "mpich" else "openmpi"
    finished = hosts.run(host, 2, program, millrace=f"--mpi={wrong}").check()
    assert finished.stdout == "2 ranks, sum 1\n"
    said = [line for line in finished.stderr.splitlines() if "millrace" in line]
    assert len(said) == 1, finished.stderr


def test_a_library_that_is_no_mpi_is_refused(launcher):
    finished = subprocess.run([launcher, "--mpi=/bin/true", "/bin/true"], capture_output=True, text=True, timeout=60)
    assert finished.returncode == 0
    assert "--mpi /bin/true: no MPI library" in finished.stderr


def build_library(directory, name, source, *flags):
    directory.mkdir(exist_ok=True)
    library = directory / name
    subprocess.run(["gcc", "-x", "c", "-", "-shared", "-fPIC", f"-Wl,-soname,{name}", "-o", library, *flags],
                   input=source, text=True, check=True)  # fmt: skip
    return library


def program_with(tmp_path, *libraries):
    program = tmp_path / "program"
    flags = ["-Wl,--no-as-needed", f"-Wl,-rpath,{tmp_path}"]
    command = ["gcc", "-x", "c", "-", "-x", "none", *flags, *libraries, "-o", program]
    subprocess.run(command, input="int main(void) { return 4; }", text=True, check=True)
    return program


INIT = "int MPI_Init(void) { return 0; } int PMPI_Init(void) { return 0; }"


@pytest.mark.parametrize(
    ("name", "source", "says"),
    [
        ("libmpi.so.40", INIT, "none that Millrace knows"),  # no ompi_ symbols: not Open MPI, whatever its name
        ("libmpi.so.12", INIT + "int ompi_mpi_comm_world;", "too old, it lacks MPI_"),  # Open MPI 1.10
        ("libmpt.so", INIT, "none that Millrace knows"),
    ],
)
def test_unknown_and_old_hosts_run_without(launcher, tmp_path, name, source, says):
    program = program_with(tmp_path, build_library(tmp_path, name, source))
    finished = subprocess.run([launcher, program], capture_output=True, text=True, timeout=60, env={"PATH": "/bin"})
    assert finished.returncode == 4
    assert len(finished.stderr.splitlines()) == 1
    assert says in finished.stderr


def test_fortran_with_integers_of_8_bytes_runs_without(launcher, tmp_path):
    mpi = build_library(tmp_path, "libmpi.so.12", INIT + "int MPIR_Dup_fn;")
    wide = build_library(tmp_path, "libmpi_ilp64.so.4", "int mpi_init_;")
    finished = subprocess.run([launcher, program_with(tmp_path, wide, mpi)], capture_output=True, text=True, timeout=60)
    assert finished.returncode == 4
    assert "INTEGERs of 8 bytes" in finished.stderr


def test_fortran_with_integers_of_8_bytes_in_a_library_of_the_program(launcher, tmp_path):
    """Intel's libmpi stands in a directory of its own, and the program itself needs nothing else."""
    intel = INIT + "int MPIR_Dup_fn, I_MPI_Check_image_status;"
    mpi = build_library(tmp_path / "release", "libmpi.so.12", intel)
    wide = build_library(tmp_path, "libmpi_ilp64.so.4", "int mpi_init_;")
    needs_wide = ["-Wl,--no-as-needed", "-x", "none", wide, f"-Wl,-rpath,{tmp_path}"]
    below = build_library(tmp_path, "libbelow.so", "int below;", *needs_wide)
    program = program_with(tmp_path, mpi, below, f"-Wl,-rpath,{tmp_path / 'release'}")
    finished = subprocess.run([launcher, program], capture_output=True, text=True, timeout=60)
    assert finished.returncode == 4
    assert "INTEGERs of 8 bytes" in finished.stderr


def test_a_tool_above_the_host_is_not_taken_for_it(launcher, tmp_path):
    host = usable("mpich4")
    tool = build_library(tmp_path, "libmpiP.so", "int MPI_Init(void) { return 0; }")
    text = explained(launcher, program_with(tmp_path, tool, host.library), env={"PATH": "/bin"})
    assert list_of(text) == "mpich-4.0"
