"""Runs a command with an explicit environment and a deadline, and leaves nothing of it behind."""

import contextlib
import dataclasses
import os
import pathlib
import signal
import subprocess
import time


@dataclasses.dataclass(frozen=True)
class Finished:
    command: tuple
    returncode: int
    stdout: str
    stderr: str
    seconds: float
    timed_out: bool = False

    def check(self):
        """Returns self, or raises an AssertionError that shows all there is to know."""
        if self.returncode == 0 and not self.timed_out:
            return self
        why = f"no end after {self.seconds:.0f} s" if self.timed_out else f"exit code {self.returncode}"
        raise AssertionError(
            f"{why}: {' '.join(self.command)}\n--- standard output\n{self.stdout}\n--- standard error\n{self.stderr}"
        )


def _members(session):
    """The processes of a session: launchers give their ranks process groups of their own, but not sessions."""
    members = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            members.append(int(entry.name))
    return members


def _signal(process, number):
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


def _end(child):
    """Asks the launcher to end its ranks, then ends whatever is left of the session that we opened."""
    _signal(child.pid, signal.SIGTERM)
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and _members(child.pid):
        child.poll()
        time.sleep(0.05)
    while members := _members(child.pid):
        for member in members:
            _signal(member, signal.SIGKILL)
        time.sleep(0.05)


def run(command, environment, timeout, directory=None, stdin=subprocess.DEVNULL, before_end=None):
    """Runs `command` with exactly `environment`. After `timeout` seconds it is ended, and so are its ranks; before that
    `before_end` is called with the numbers of all its processes."""
    command = tuple(str(word) for word in command)
    start = time.monotonic()
    child = subprocess.Popen(
        command,
        env={name: str(value) for name, value in environment.items()},
        cwd=directory,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    timed_out = False
    try:
        stdout, stderr = child.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        timed_out = True
        try:
            if before_end:
                before_end(_members(child.pid))
        finally:
            _end(child)
        stdout, stderr = child.communicate()
    except BaseException:  # an interrupted test run must not leave ranks behind either
        _end(child)
        raise
    return Finished(command, child.returncode, stdout, stderr, time.monotonic() - start, timed_out)
