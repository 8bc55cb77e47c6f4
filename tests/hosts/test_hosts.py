"""Each host compiles, launches and ends as the helper says."""

import os
import pathlib
import re
import subprocess

import hosts
import pytest
from usable import usable

PROGRAMS = pathlib.Path(__file__).parent / "programs"


def fortran_pairs():
    return [(host.name, interface) for host in hosts.HOSTS.values() for interface in host.fortran_interfaces]


def alive(process):
    """A process that has ended may wait for init to take note of it: that does not count."""
    try:
        return pathlib.Path("/proc", process, "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_c(host, tmp_path):
    program = hosts.compile(host, PROGRAMS / "hello.c", tmp_path / "hello")
    assert hosts.run(host, 2, program).check().stdout == "2 ranks, sum 1\n"


def test_what_was_compiled_is_compiled_again_where_something_changed(tmp_path):
    source, out = tmp_path / "answer.c", tmp_path / "answer"
    text = '#include <stdio.h>\n#ifndef N\n#define N 1\n#endif\nint main(void) { return !printf("%d", N); }\n'
    source.write_text(text)

    def answer(*flags):
        hosts.compile("openmpi4", source, out, flags=flags)
        return subprocess.run([out], capture_output=True, text=True, check=True).stdout

    assert answer() == "1"
    made = out.stat().st_mtime_ns
    assert answer() == "1" and out.stat().st_mtime_ns == made
    assert answer("-DN=2") == "2"
    assert answer() == "1"
    out.unlink()
    assert answer() == "1"
    source.write_text(text.replace("N 1", "N 3"))
    assert answer() == "3"
    source.write_text("no program")
    with pytest.raises(AssertionError):
        answer()
    source.write_text(text.replace("N 1", "N 3"))
    assert answer() == "3"


def test_a_program_of_the_abi_host_runs_on_intels_library(tmp_path):
    host = usable("abi-intel")
    program = hosts.compile(host, PROGRAMS / "hello.c", tmp_path / "hello")
    finished = hosts.run(host, 2, program, env={"LD_DEBUG": "files"}).check()
    assert "2 ranks, sum 1\n" in finished.stdout
    assert re.search(r"calling init: .*intel/lib/libmpi_abi\.so\.1", finished.stderr)


@pytest.mark.parametrize(("name", "interface"), fortran_pairs())
def test_fortran(name, interface, tmp_path):
    host = usable(name)
    source = PROGRAMS / f"hello_{interface.removesuffix('.h')}.f90"
    program = hosts.compile(host, source, tmp_path / "hello")
    assert hosts.run(host, 2, program).check().stdout == "2 ranks, sum 1\n"


@pytest.mark.parametrize(
    ("name", "library"),
    [("openmpi4", "Open MPI v4"), ("mpich4", "MPICH Version:\t4.0"), ("openmpi5", "Open MPI v5"),
     ("mpich5", "MPICH Version:      5.0"), ("intel", "Intel(R) MPI Library 2021")],
)  # fmt: skip
def test_mpi4py(name, library):
    host = usable(name)
    finished = hosts.run(host, 2, [host.python, PROGRAMS / "hello.py"]).check()
    first, second = finished.stdout.splitlines()[:2]
    assert first == "2 ranks, sum 1"
    assert " ".join(second.split()).startswith(" ".join(library.split()))


def test_more_ranks_than_cores(host, tmp_path):
    ranks = min(os.cpu_count() + 1, 8)
    program = hosts.compile(host, PROGRAMS / "hello.c", tmp_path / "hello")
    finished = hosts.run(host, ranks, program).check()
    assert finished.stdout == f"{ranks} ranks, sum {ranks * (ranks - 1) // 2}\n"


def test_a_hanging_run_is_ended_with_all_its_ranks(host, tmp_path):
    program = hosts.compile(host, PROGRAMS / "sleeper.c", tmp_path / "sleeper")
    for timeout in 3, 20:  # a busy machine may not have started them after three seconds
        finished = hosts.run(host, 2, program, timeout=timeout)
        assert finished.timed_out
        ranks = re.findall(r"pid (\d+)", finished.stdout)
        if len(ranks) == 2:
            break
    assert len(ranks) == 2, finished
    assert [rank for rank in ranks if alive(rank)] == []


def test_the_callers_settings_do_not_leak(host, monkeypatch):
    for name in ("OMPI_MCA_coll", "I_MPI_FABRICS", "MPICH_OFI_DEBUG", "MILLRACE_REPORT", "LD_PRELOAD", "PYTHONPATH"):
        monkeypatch.setenv(name, "leaked")
    assert "leaked" not in hosts.environment(host).values()
    assert hosts.environment(host, {"MILLRACE_REPORT": "1"})["MILLRACE_REPORT"] == "1"


def test_the_command_line_with_millrace(host):
    line = hosts.command(host, 3, ["./app", "x"], millrace="--mpi=mpich")
    assert line[-6:] == ["-n", "3", str(hosts.MILLRACE), "--mpi=mpich", "./app", "x"]
    assert hosts.command(host, 3, "./app", millrace=True)[-4:] == ["-n", "3", str(hosts.MILLRACE), "./app"]


def test_an_unknown_host_is_named():
    with pytest.raises(ValueError, match="no host 'lam'; there are openmpi4, mpich4"):
        hosts.get("lam")
