"""Programs that survive failed ranks (Open MPI's ULFM) are told the same with Millrace as without."""

import json
import pathlib
import re
import uuid

import hosts
import pytest

HERE = pathlib.Path(__file__).resolve().parent
OUT = hosts.BUILD / "tests" / "transparency"
WITH_ULFM = ("--with-ft", "ulfm")
SETTINGS = {"MILLRACE_LAYOUTS": "always", "MILLRACE_COLLECTIVES": "always"}


def run(how, ranks, millrace, env=None):
    """The lines of the program, sorted; what it ended with is the launcher's to say, as a rank was killed."""
    host = hosts.get("openmpi5")
    program = hosts.compile(host, HERE / "programs" / "failed_ranks.c", OUT / host.name / "failed_ranks")
    ours = [hosts.MILLRACE] if millrace else []
    # hosts.run puts options of Open MPI's launcher before the program.
    finished = hosts.run(host, ranks, [*WITH_ULFM, *ours, program, how], env=env, timeout=60)
    assert not finished.timed_out, finished.stdout + finished.stderr
    lines = sorted(line for line in finished.stdout.splitlines() if re.match(r"\d+: ", line))
    return lines, finished.stderr


@pytest.mark.parametrize("how", ["revoke", "kill"])
def test_errors_are_the_hosts(how):
    alone, _ = run(how, 3, False)
    assert any("revoked" in line for line in alone)
    assert any("the rest has" in line for line in alone)
    assert not any("wrong" in line or "another" in line for line in alone)
    ours, _ = run(how, 3, True, SETTINGS)
    assert ours == alone


def test_reason_is_said_and_counted():
    path = OUT / f"report-{uuid.uuid4().hex}.json"
    try:
        _, errors = run("revoke", 2, True, {**SETTINGS, "MILLRACE_LOG": "info", "MILLRACE_REPORT": path})
        calls = {call["name"]: call for call in json.loads(path.read_text())["calls"]}
    finally:
        path.unlink(missing_ok=True)
    assert "told to survive ranks that fail" in errors
    for name in ("MPI_Barrier", "MPI_Bcast", "MPI_Sendrecv", "MPI_Irecv"):
        assert calls[name]["forwarded_why"]["fault_tolerance"] > 0, name


@pytest.mark.full
@pytest.mark.parametrize("repeat", range(10))
def test_killed_rank_many_times(repeat):
    assert run("kill", 4, True, SETTINGS)[0] == run("kill", 4, False)[0]
