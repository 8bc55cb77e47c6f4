"""Runs programs that take a seed with seeds that nobody has chosen, beside a process that keeps a core busy.

What a program is told to do, on how many ranks, by which settings and beside what, follows from its name, the host and
the seed (seeded_programs.py); the seeds follow from one master seed. What fails with Millrace is run by the host alone:
what it does wrong by itself is the host's own. One run again, ten times, or by the host alone:

    random_seeds.py PROGRAM HOST SEED [--times 10] [--alone]
"""

import argparse
import contextlib
import dataclasses
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "hosts"))

import hosts  # noqa: E402
import process  # noqa: E402
import seeded_programs  # noqa: E402

LIMIT_S = 120  # of one run, which takes seconds
TIMES_ALONE = 3
# All mistakes of a run are told, so that they can be compared with all those of the host alone.
TOLD = {"MOST_COMPLAINTS": 1000}
# Every process of a run has it in its environment, however it was started.
TOKEN = "RANDOM_SEEDS_RUN"
# One shell in a loop; it ends by itself soon after the process that it is told of.
BUSY = 'while kill -0 "$1" 2>/dev/null; do i=0; while [ $i -lt 50000 ]; do i=$((i + 1)); done; done'


@dataclasses.dataclass(frozen=True)
class Load:
    """A process that keeps a core busy: any, or always the same one; as eager as the ranks, or less."""

    core: int | None = None
    nice: int = 0

    def __str__(self):
        return f"a busy process on {'any core' if self.core is None else f'core {self.core}'}, nice {self.nice}"


@contextlib.contextmanager
def busy(load):
    words = ["nice", "-n", str(load.nice), "sh", "-c", BUSY, "sh", str(os.getpid())]
    child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        if load.core is not None:
            cores = sorted(os.sched_getaffinity(0))
            os.sched_setaffinity(child.pid, {cores[load.core % len(cores)]})
        yield child
    finally:
        child.kill()
        child.wait()


@dataclasses.dataclass(frozen=True)
class Run:
    program: str
    host: str
    seed: int
    load: Load
    asked: seeded_programs.Asked

    def __str__(self):
        settings = " ".join(f"{name}={value}" for name, value in self.asked.settings.items())
        words = " ".join(pathlib.Path(str(word)).name for word in self.asked.words)
        return f"{self.program} on {self.host}, seed {self.seed}: {self.asked.ranks} ranks of {words}" + (
            f", {settings}" if settings else ""
        )

    def again(self):
        """The one command that repeats it."""
        python, script = (os.path.relpath(path, hosts.ROOT) for path in (sys.executable, __file__))
        return f"{python} {script} {self.program} {self.host} {self.seed}"


def make(program, host, seed, programs=seeded_programs.PROGRAMS):
    draw = random.Random(f"{program} {host} {seed}")
    load = Load(draw.choice([None, 0, 1]), draw.choice([0, 0, 5]))
    return Run(program, host, seed, load, programs[program].ask(draw, host, seed))


def runs(master, host, programs=seeded_programs.PROGRAMS):
    """Those of one host without an end: every program once, then any of them."""
    draw = random.Random(f"{master} {host}")
    names = [name for name, program in programs.items() if host in program.hosts]
    draw.shuffle(names)
    for name in names:
        yield make(name, host, draw.randrange(1, 10**6), programs)
    while True:
        yield make(draw.choice(names), host, draw.randrange(1, 10**6), programs)


def _read(path):
    try:
        return path.read_bytes()
    except OSError:  # it has ended, or is somebody else's
        return b""


def _of_run(token):
    wanted = f"{TOKEN}={token}".encode()
    return [
        int(entry.name)
        for entry in pathlib.Path("/proc").iterdir()
        if entry.name.isdigit() and wanted in _read(entry / "environ").split(b"\0")
    ]


def _end(number):
    with contextlib.suppress(ProcessLookupError):
        os.kill(number, signal.SIGKILL)


def _end_left_over(token):
    """What of a run is there two seconds after its launcher's end: named, and ended."""
    deadline = time.monotonic() + 2
    while (left := _of_run(token)) and time.monotonic() < deadline:
        time.sleep(0.05)
    names = [f"{number} {_read(pathlib.Path(f'/proc/{number}/comm')).decode().strip()}" for number in left]
    for number in left:
        _end(number)
    return names


def _stacks(numbers):
    """Where the threads of processes that do not get on are, if there is a debugger."""
    told = []
    for number in numbers if shutil.which("gdb") else ():
        words = ["gdb", "-p", str(number), "-batch", "-ex", "thread apply all bt 25"]
        with contextlib.suppress(subprocess.TimeoutExpired):
            shown = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=20, check=False)
            told += [f"--- {number} {_read(pathlib.Path(f'/proc/{number}/comm')).decode().strip()}"]
            told += [line for line in shown.stdout.splitlines() if line.startswith(("#", "Thread"))]
    return "\n".join(told)


@dataclasses.dataclass(frozen=True)
class Outcome:
    kind: str  # right, wrong (the program says what), crashed, hung, or left (the ranks are still there)
    finished: process.Finished
    detail: str = ""

    def complaints(self):
        """What the program says is wrong, without what differs from rank to rank and from time to time."""
        lines = [line for line in self.finished.stdout.splitlines() if re.match(r"rank \d+: ", line)]
        lines = [re.sub(r"^rank \d+: | differ from byte .*|, digest .*", "", line) for line in lines]
        return {line for line in lines if line != "0 wrong"}

    def comes_to_its_end(self):
        """The program, whatever it has to say there: a launcher does not tell its exit code from an abort's."""
        lines = self.finished.stdout.splitlines()
        return self.kind in ("right", "wrong") and (
            self.finished.returncode == 0 or bool(lines and re.fullmatch(r"\d+ wrong", lines[-1]))
        )

    def __str__(self):
        end = f"{self.kind} after {self.finished.seconds:.1f} s, exit code {self.finished.returncode}"
        parts = [end, f"--- standard output\n{self.finished.stdout[-4000:]}"]
        parts += [f"--- standard error\n{self.finished.stderr[-4000:]}", self.detail]
        return "\n".join(part for part in parts if part)


def launch(run, millrace, limit_s=LIMIT_S):
    """Runs it once, with Millrace or by the host alone, and leaves nothing of it behind."""
    token = uuid.uuid4().hex
    asked, host = run.asked, hosts.get(run.host)
    words = asked.words if millrace else asked.alone
    settings = {name: value for name, value in asked.settings.items() if millrace or not name.startswith("MILLRACE_")}
    line = hosts.command(host, asked.ranks, words, millrace)
    environment = hosts.environment(host, {**host.run_environment, **TOLD, **settings, TOKEN: token})
    stacks = []

    def before_end(numbers):
        """What has gone into a session of its own holds the launcher's output open."""
        stacks.append(_stacks(numbers))
        for number in set(_of_run(token)) - set(numbers):
            _end(number)

    try:
        with busy(run.load):
            finished = process.run(line, environment, limit_s, before_end=before_end)
    finally:
        left = _end_left_over(token)
    if finished.timed_out:
        return Outcome("hung", finished, "\n".join(stacks))
    if left:
        return Outcome("left", finished, f"still there: {', '.join(left)}")
    if finished.returncode == 0 and asked.is_right(finished.stdout):
        return Outcome("right", finished)
    outcome = Outcome("wrong", finished)
    return outcome if outcome.complaints() else dataclasses.replace(outcome, kind="crashed")


@dataclasses.dataclass(frozen=True)
class Verdict:
    run: Run
    outcome: Outcome
    alone: tuple = ()  # outcomes of the host by itself
    is_hosts_own: bool = False

    @property
    def is_failure(self):
        return self.outcome.kind != "right" and not self.is_hosts_own

    def __str__(self):
        kinds = ", ".join(each.kind for each in self.alone) or "not run"
        command = shlex.join(self.outcome.finished.command)
        settings = " ".join(f"{name}={value}" for name, value in self.run.asked.settings.items())
        ended_badly = "".join(f"\n  the host alone: {each}" for each in self.alone if not each.comes_to_its_end())
        return (
            f"{self.run}\n  beside {self.run.load}; the host alone: {kinds}\n  again: {self.run.again()}\n"
            f"  which runs: {settings} {command}\n  {self.outcome}{ended_badly}"
        )


def judge(run, limit_s=LIMIT_S):
    """Host's own is what the host alone does not end, and mistakes that are known or that it makes alone as well."""
    outcome = launch(run, True, limit_s)
    alone, known = [], run.asked.hosts_own
    complaints = {line for line in outcome.complaints() if not (known and re.match(known, line))}
    if outcome.kind == "wrong" and not complaints:
        return Verdict(run, outcome, is_hosts_own=True)
    while outcome.kind != "right" and run.asked.alone and len(alone) < TIMES_ALONE:
        alone.append(launch(run, False, limit_s))
        complaints -= alone[-1].complaints()
        if not alone[-1].comes_to_its_end() or (outcome.kind == "wrong" and not complaints):
            return Verdict(run, outcome, tuple(alone), True)
    return Verdict(run, outcome, tuple(alone))


def go_on(master, host, budget_s, log, programs=seeded_programs.PROGRAMS, limit_s=LIMIT_S):
    """All programs of a host at least once, and on until `budget_s` seconds have passed: the verdicts. `log` gets a
    line for each as soon as it is there."""
    end, verdicts = time.monotonic() + budget_s, []
    at_least = sum(host in program.hosts for program in programs.values())
    with open(log, "w") as file:
        file.write(f"MILLRACE_TEST_SEED={master}\n")
        for run in runs(master, host, programs):
            if len(verdicts) >= at_least and time.monotonic() >= end:
                return verdicts
            verdicts.append(verdict := judge(run, limit_s))
            word = "the host's own" if verdict.is_hosts_own else verdict.outcome.kind
            file.write(f"{word}, {verdict.outcome.finished.seconds:.1f} s: {run}, beside {run.load}\n")
            if verdict.is_failure:
                file.write(f"{verdict}\n")
            file.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("program", choices=seeded_programs.PROGRAMS)
    parser.add_argument("host", choices=hosts.HOSTS)
    parser.add_argument("seed", type=int)
    parser.add_argument("--times", type=int, default=1, help="how often (1)")
    parser.add_argument("--alone", action="store_true", help="by the host alone")
    words = parser.parse_args()
    run, failed = make(words.program, words.host, words.seed), 0
    if words.alone and not run.asked.alone:
        parser.error(f"{run}: by the host alone its end would say nothing")
    print(f"{run}\nbeside {run.load}", flush=True)
    for _ in range(words.times):
        outcome = launch(run, not words.alone)
        failed += outcome.kind != "right"
        print(outcome, flush=True)
    print(f"{failed} of {words.times} failed")
    return failed != 0


if __name__ == "__main__":
    raise SystemExit(main())
