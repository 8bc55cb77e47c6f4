"""Runs mpi4py's own tests on every rank and writes what became of each: TEST_DIRECTORY OUT_DIRECTORY [ARGUMENTS].

Lines go to OUT_DIRECTORY/rank-N.txt as they happen ("started NAME", "passed NAME", ...), so that a suite that hangs or
is aborted still tells where.
"""

import pathlib
import sys
import unittest

tests, out = [*sys.argv, "", ""][1:3]
sys.dont_write_bytecode = True
sys.path.insert(0, tests)

import main  # noqa: E402  mpi4py's


class Recorder(unittest.TextTestResult):
    log = None

    def say(self, outcome, test, why=""):
        if Recorder.log is None:
            from mpi4py import MPI

            path = pathlib.Path(out, f"rank-{MPI.COMM_WORLD.rank}.txt")
            Recorder.log = path.open("a", buffering=1)  # noqa: SIM115
        name = test.id() if isinstance(test, unittest.TestCase) else str(test)
        Recorder.log.write(f"{outcome} {name}{' # ' + ' '.join(why.split()) if why else ''}\n")

    def startTest(self, test):  # noqa: N802
        self.say("started", test)
        super().startTest(test)

    def addSuccess(self, test):  # noqa: N802
        self.say("passed", test)
        super().addSuccess(test)

    def addFailure(self, test, err):  # noqa: N802
        self.say("failed", test, f"{err[0].__name__}: {err[1]}"[:200])
        super().addFailure(test, err)

    def addError(self, test, err):  # noqa: N802
        self.say("failed", test, f"{err[0].__name__}: {err[1]}"[:200])
        super().addError(test, err)

    def addSubTest(self, test, subtest, err):  # noqa: N802
        if err:
            self.say("failed", test, f"{err[0].__name__}: {err[1]}"[:200])
        super().addSubTest(test, subtest, err)

    def addSkip(self, test, reason):  # noqa: N802
        self.say("skipped", test, reason)
        super().addSkip(test, reason)

    def addExpectedFailure(self, test, err):  # noqa: N802
        self.say("passed", test, "an expected failure")
        super().addExpectedFailure(test, err)

    def addUnexpectedSuccess(self, test):  # noqa: N802
        self.say("failed", test, "an unexpected success")
        super().addUnexpectedSuccess(test)


class Program(main.TestProgram):
    def createTests(self, from_discovery=False, Loader=None):  # noqa: N802, N803
        super().createTests(from_discovery, Loader)
        self.testRunner = unittest.TextTestRunner(resultclass=Recorder, verbosity=0)


if __name__ == "__main__":  # the workers of mpi4py.futures import this file, too
    Program(module=None, argv=["main.py", *sys.argv[3:]])
