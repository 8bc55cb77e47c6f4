"""Runs mpi4py's own tests on every rank and writes what became of each: OUT_DIRECTORY [ARGUMENTS].

Lines go to OUT_DIRECTORY/rank-N.txt as they happen ("started NAME", "passed NAME", ...), so that a suite that hangs or
is aborted still tells where.
"""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True


class Recorder(unittest.TextTestResult):
    log = None

    def say(self, outcome, test, why=""):
        if Recorder.log is None:
            from mpi4py import MPI

            path = pathlib.Path(sys.argv[1], f"rank-{MPI.COMM_WORLD.rank}.txt")
            Recorder.log = path.open("a", buffering=1)  # noqa: SIM115
        name = test.id() if isinstance(test, unittest.TestCase) else str(test)
        Recorder.log.write(f"{outcome} {name}{' # ' + ' '.join(why.split()) if why else ''}\n")

    def startTest(self, test):
        self.say("started", test)
        super().startTest(test)

    def addSuccess(self, test):
        self.say("passed", test)
        super().addSuccess(test)

    def addFailure(self, test, err):
        self.say("failed", test, f"{err[0].__name__}: {err[1]}"[:200])
        super().addFailure(test, err)

    def addError(self, test, err):
        self.say("failed", test, f"{err[0].__name__}: {err[1]}"[:200])
        super().addError(test, err)

    def addSubTest(self, test, subtest, err):
        if err:
            self.say("failed", test, f"{err[0].__name__}: {err[1]}"[:200])
        super().addSubTest(test, subtest, err)

    def addSkip(self, test, reason):
        self.say("skipped", test, reason)
        super().addSkip(test, reason)

    def addExpectedFailure(self, test, err):
        self.say("passed", test, "an expected failure")
        super().addExpectedFailure(test, err)

    def addUnexpectedSuccess(self, test):
        self.say("failed", test, "an unexpected success")
        super().addUnexpectedSuccess(test)


def run(arguments):
    import main  # mpi4py's

    class Program(main.TestProgram):
        def createTests(self, from_discovery=False, Loader=None):  
            super().createTests(from_discovery, Loader)
            self.testRunner = unittest.TextTestRunner(resultclass=Recorder, verbosity=0)

    Program(module=None, argv=["main.py", *arguments])


# The workers of mpi4py.futures, too, import this file, without its arguments.
if __name__ == "__main__":
    run(sys.argv[2:])
