"""Runs real programs with and without Millrace on 2 ranks and compares what they print. Called by `./dev demo`."""

import dataclasses
import difflib
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests" / "hosts"))

import hosts  # noqa: E402
import lammps_output  # noqa: E402

HOST = hosts.get("openmpi4")  # Debian's LAMMPS is built for it
RANKS = 2


@dataclasses.dataclass(frozen=True)
class Program:
    title: str
    command: tuple
    essence: object  # the lines of the output that must be the same
    show: object  # those that are worth showing


def lammps(title, source):
    command = ("/usr/bin/lmp", "-in", HERE / source, "-log", "none", "-nocite")
    return Program(title, command, lammps_output.without_timing, lammps_output.thermodynamics)


def programs(directory):
    yield lammps("LAMMPS: granular chute flow (C++)", "chute.in")
    yield lammps("LAMMPS: Lennard-Jones melt (C++)", "melt.in")
    yield Program("Pi, in Python with mpi4py", (HOST.python, HERE / "pi.py"), str.splitlines, str.splitlines)
    heat = hosts.compile(HOST, HERE / "heat.f90", directory / "heat")
    yield Program("Heat in a rod, in Fortran with mpi_f08", (heat,), str.splitlines, str.splitlines)


def compare(program, directory):
    """Runs one program both ways; returns whether its output was the same."""
    print(f"== {program.title}", flush=True)
    options = {"timeout": 300, "directory": directory}
    plain = hosts.run(HOST, RANKS, program.command, **options).check()
    ours = hosts.run(HOST, RANKS, program.command, millrace=True, env={"MILLRACE_REPORT": "1"}, **options).check()
    print("\n".join(f"   {line}" for line in program.show(plain.stdout)))

    before, after = program.essence(plain.stdout), program.essence(ours.stdout)
    same = before == after and len(program.show(plain.stdout)) > 0
    if same:
        print(f"   with Millrace: the same, line for line ({len(after)} lines)")
    else:
        print("   with Millrace: DIFFERENT")
        print("\n".join(difflib.unified_diff(before, after, "without", "with", lineterm="")))
    seconds = f"   {plain.seconds:.1f} s without, {ours.seconds:.1f} s with Millrace"
    print(f"{seconds} (start-up of {RANKS} ranks and the report included)\n")
    print(ours.stderr.rstrip() + "\n", flush=True)
    # Without the report nothing shows that Millrace was there at all.
    if not re.search(rf"^ *millrace \S+: {RANKS} ranks", ours.stderr, re.MULTILINE):
        print("   with Millrace: NO REPORT on standard error")
        return False
    return same


def main():
    with tempfile.TemporaryDirectory(prefix="millrace-demo-") as scratch:
        directory = pathlib.Path(scratch)
        results = [(program.title, compare(program, directory)) for program in programs(directory)]
    print("== Summary")
    for title, same in results:
        print(f"   {'same     ' if same else 'DIFFERENT'}  {title}")
    return 0 if all(same for _, same in results) else 1


if __name__ == "__main__":
    raise SystemExit(main())
