"""The applications from Debian, built for its Open MPI: how each is run, which part of its output is a result."""

import dataclasses
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "demo"))

import lammps_output  # noqa: E402

DEMO = pathlib.Path(__file__).resolve().parents[2] / "examples" / "demo"
INPUTS = pathlib.Path(__file__).with_name("inputs")


@dataclasses.dataclass(frozen=True)
class Application:
    command: tuple
    results: object  # the directory it ran in, its standard output -> the lines that must be the same
    inputs: tuple = ()  # files it wants to find where it runs
    timeout: int = 300


def _espresso(_, output):
    """Everything but times: Quantum ESPRESSO says when it started and how long each routine took."""
    timing = re.compile(r"CPU|WALL|cpu time|secs|starts on|terminated on")
    return [line for line in output.splitlines() if line.strip() and not timing.search(line)]


def _hpcc(directory, _):
    """The checks that HPC Challenge does of its own results, with residuals and without rates."""
    lines = []
    for line in (directory / "hpccoutf.txt").read_text().splitlines():
        # A row of PTRANS: the sizes and the grid, its time, the verdict, its rate, the residual. The same by processor
        # time is there only if the clock has gone on meanwhile.
        if line.startswith("CPU "):
            continue
        line = re.sub(r"^(WALL .*) [0-9.]+ (PASSED|FAILED) +[0-9.]+ +([0-9.]+)$", r"\1 \2 \3", line)  # noqa: PLW2901
        # That of the fastest row, which is another one from run to run.
        if line.startswith("PTRANS_residual="):
            continue
        # DGEMM, which sends no message, draws its matrices by the clock: its residual is another one in every run.
        if re.search(r"PASSED|FAILED|[Ee]rr|[Rr]esid|Validates|Success", line) and "Scaled residual:" not in line:
            lines.append(line)
    return lines


def _lammps(source):
    command = ("/usr/bin/lmp", "-in", DEMO / source, "-log", "none", "-nocite")
    return Application(command, lambda _, output: lammps_output.without_timing(output))


APPLICATIONS = {
    "lammps_chute": _lammps("chute.in"),
    "lammps_melt": _lammps("melt.in"),
    "espresso_silicon": Application(("/usr/bin/pw.x", "-in", INPUTS / "silicon.in"), _espresso),
    "hpcc": Application(("/usr/bin/hpcc",), _hpcc, (INPUTS / "hpccinf.txt",)),
}
