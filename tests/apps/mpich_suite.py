"""MPICH's own test programs, built for a host, with Millrace and, where one does not pass so, without.

    mpich_suite.py HOST [--directories coll,topo] [--most-ranks 8] [--env NAME=VALUE ...]

Each program says "No Errors" if it found none. Those that do not compile for a host are left out: they test what only
MPICH has.
"""

import argparse
import dataclasses
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "hosts"))

import hosts  # noqa: E402

SOURCE = hosts.ENVIRONMENTS / "mpich-source" / "test" / "mpi"
DIRECTORIES = ("coll", "topo", "comm", "datatype")
# Open MPI hides names of MPI 1 behind this; gfortran refuses two types for one argument, as these programs have.
FLAGS = {"CPPFLAGS": "-DOMPI_OMIT_MPI1_COMPAT_DECLS=0", "FFLAGS": "-fallow-argument-mismatch",
         "FCFLAGS": "-fallow-argument-mismatch"}  # fmt: skip
LONGEST_S = 180


@dataclasses.dataclass(frozen=True)
class Case:
    program: pathlib.Path
    ranks: int
    arguments: tuple
    limit_s: float

    def __str__(self):
        words = " ".join([f"{self.program.parent.name}/{self.program.name}", *self.arguments])
        return f"{words}, {self.ranks} ranks"


def build(host, directories=DIRECTORIES):
    """The directory with the programs, configured and made once."""
    host = hosts.get(host)
    tree = hosts.BUILD / "mpich-suite" / host.name
    tree.mkdir(parents=True, exist_ok=True)
    environment = hosts.environment(host)
    log = tree / "made.log"
    with log.open("a") as output:
        if not (tree / "config.status").exists():
            c, fortran = host.compilers["c"], host.compilers.get("fortran")
            words = [
                SOURCE / "configure",
                f"CC={c}",
                f"MPICC={c}",
                "--with-mpi=/usr",
                "--disable-cxx",
                "--disable-spawn",
            ]
            words += [f"{name}={value}" for name, value in FLAGS.items()]
            words += [f"MPIF77={fortran}", f"MPIFC={fortran}"] if fortran else ["--disable-fortran"]
            subprocess.run(words, cwd=tree, env=environment, stdout=output, stderr=output, check=True)
        for directory in ("dtpools", "util", *directories):
            words = ["make", "-k", "-j", str(os.cpu_count()), "-C", directory]  # -k: what only MPICH has stays out
            subprocess.run(words, cwd=tree, env=environment, stdout=output, stderr=output, check=False)
    return tree


def cases(tree, directories=DIRECTORIES, most_ranks=8):
    """Those of the lists that were built."""
    found = []
    for directory in directories:
        listed = next(
            path for path in (tree / directory / "testlist", SOURCE / directory / "testlist") if path.exists()
        )
        for line in listed.read_text().splitlines():
            name, *words = line.partition("#")[0].split() or [""]
            program = tree / directory / name
            if not name or not program.is_file():
                continue
            ranks = next((int(word) for word in words if word.isdigit()), 2)
            arguments = tuple(word.removeprefix("arg=") for word in words if word.startswith("arg="))
            limits = [float(word.removeprefix("timeLimit=")) for word in words if word.startswith("timeLimit=")]
            found.append(Case(program, min(ranks, most_ranks), arguments, min(LONGEST_S, max([60.0, *limits]))))
    return list(dict.fromkeys(found))


def outcome(host, case, millrace, env=None):
    """Empty if the program found no errors, else what it said."""
    words = [case.program, *case.arguments]
    finished = hosts.run(
        host, case.ranks, words, millrace, env=env, timeout=case.limit_s, directory=case.program.parent
    )
    assert "without Millrace" not in finished.stderr, finished.stderr[-2000:]
    if finished.timed_out:
        return f"ended after {case.limit_s:.0f} s"
    passed = finished.returncode == 0 and "No Errors" in finished.stdout
    return "" if passed else f"exit code {finished.returncode}: {finished.stdout[-500:]}{finished.stderr[-1000:]}"


def failures(host, chosen, env=None):
    """(case, what it said) of those that fail with Millrace and not without."""
    failed = []
    for case in chosen:
        said = outcome(host, case, True, env)
        if said and not outcome(host, case, False):
            said = outcome(host, case, True, env)  # a machine may be busy once
            if said:
                failed.append((case, said))
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("host")
    parser.add_argument("--directories", default=",".join(DIRECTORIES))
    parser.add_argument("--most-ranks", type=int, default=8)
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    options = parser.parse_args()
    directories = options.directories.split(",")
    chosen = cases(build(options.host, directories), directories, options.most_ranks)
    failed = failures(options.host, chosen, dict(text.split("=", 1) for text in options.env))
    for case, said in failed:
        print(f"{case}: passes without Millrace, with it: {said}")
    print(f"{options.host}: {len(chosen)} programs, {len(failed)} fail with Millrace only")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
