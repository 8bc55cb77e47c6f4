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


def _nwchem(_, output):
    """Energies and iterations without their times; what is zero but for rounding differs from run to run."""
    energies = [line for line in output.splitlines() if re.search(r"[Ee]nergy|No\. of|correlation|iterations", line)]
    return [line for line in energies if "time" not in line.lower()]


def _cp2k(_, output):
    """The steps of each self-consistent solution without their times, all energies, and what the run conserves."""
    lines = []
    for line in output.splitlines():
        if "OT DIIS" in line:
            lines.append(re.sub(r"^( +\d+ OT DIIS +\S+) +\S+ ", r"\1 ", line))
        elif re.search(r"ENERGY\||energy|CONSERVED|CONS\.", line) and "per" not in line:
            lines.append(line)
    return lines


def _mumps(type_, input_):
    """A solver that reads its standard input, through a shell. All of its output but times."""
    command = f"/usr/lib/mumps/{type_}simpletest < /usr/lib/mumps/input_simpletest_{input_}"
    return Application(
        ("/bin/sh", "-c", command), lambda _, output: [s for s in output.splitlines() if "time" not in s.lower()]
    )


APPLICATIONS = {
    "lammps_chute": _lammps("chute.in"),
    "lammps_melt": _lammps("melt.in"),
    "espresso_silicon": Application(("/usr/bin/pw.x", "-in", INPUTS / "silicon.in"), _espresso),
    "hpcc": Application(("/usr/bin/hpcc",), _hpcc, (INPUTS / "hpccinf.txt",)),
    "nwchem_water": Application(("/usr/bin/nwchem.openmpi", INPUTS / "water.nw"), _nwchem),
    "cp2k_water": Application(("/usr/bin/cp2k.popt", "-i", INPUTS / "water.inp"), _cp2k),
    "mumps_real": _mumps("d", "real"),
    "mumps_complex": _mumps("z", "cmplx"),
}
