"""millrace.mpi: what a process knows of the preload, on the hosts and without any."""

import json
import os
import pathlib
import subprocess
import sys

import hosts
import pytest
from millrace import mpi
from usable import usable

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUMS = 200
PROGRAM = f"""
import json, sys
import mpi4py
mpi4py.rc.initialize = False
from mpi4py import MPI
import numpy as np
from millrace import mpi

before = mpi.state(), mpi.statistics()
MPI.Init()
early = mpi.statistics()
total, one = np.zeros(4), np.ones(4)
for _ in range({SUMS}):
    MPI.COMM_WORLD.Allreduce(one, total)
MPI.COMM_WORLD.Barrier()
during = mpi.state(), mpi.is_active(), mpi.statistics()
rank = MPI.COMM_WORLD.Get_rank()
MPI.Finalize()
text = json.dumps(dict(rank=rank, total=total[0], before=before, early=early, during=during,
                       after=(mpi.state(), mpi.is_active(), mpi.statistics())))
with open(sys.argv[1] + "." + str(rank), "w") as file:
    file.write(text)
"""
WITH_PYTHON = [name for name, host in hosts.HOSTS.items() if host.python]


def run(host, program, *arguments, ranks=2, millrace=True, **environment):
    environment |= {"PYTHONPATH": str(ROOT / "python"), "MILLRACE_LIBRARY": os.environ["MILLRACE_LIBRARY"]}
    command = [str(hosts.HOSTS[host].python), "-c", program, *arguments]
    done = hosts.run(host, ranks, command, millrace=millrace, env=environment, timeout=60)
    assert done.returncode == 0, done
    return done.stdout


def said(host, directory, **how):
    """What each of two ranks wrote."""
    run(host, PROGRAM, str(directory / "said"), **how)
    return [json.loads((directory / f"said.{rank}").read_text()) for rank in range(2)]


@pytest.fixture(params=WITH_PYTHON)
def host(request):
    return usable(request.param).name


def calls_of(name, statistics):
    """(calls, of which taken) by the name of a call, with large counts, which mpi4py prefers, or without."""
    rows = [call for call in statistics["calls"] if call["name"] in (name, name + "_c")]
    return sum(call["calls"] for call in rows), sum(call["taken"] for call in rows)


def test_a_program_sees_that_it_is_active_and_what_was_done(host, tmp_path):
    for rank, process in enumerate(said(host, tmp_path, MILLRACE_REPORT=str(tmp_path / "report.json"))):
        assert process["total"] == 2
        assert process["before"][0] == "idle" and process["after"][:2] == ["idle", False]
        assert process["during"][:2] == ["active", True]
        counted = process["during"][2]
        assert [row["rank"] for row in counted["by_rank"]] == [rank] and counted["ranks"] == 2
        assert counted["schema"] == "millrace-report" and counted["notes"] == []
        made, taken = calls_of("MPI_Allreduce", counted)
        assert made == SUMS and taken > SUMS / 2
        assert calls_of("MPI_Allreduce", process["early"]) == (0, 0)
        assert calls_of("MPI_Finalize", process["after"][2])[0] == 1
    whole = json.loads((tmp_path / "report.json").read_text())
    assert calls_of("MPI_Allreduce", whole)[0] == 2 * SUMS  # asking changes nothing


def test_without_a_report_nothing_is_counted(tmp_path):
    host = usable("openmpi4").name
    for process in said(host, tmp_path):
        assert process["during"] == ["active", True, None]


def test_a_program_sees_that_millrace_is_switched_off(tmp_path):
    host = usable("openmpi4").name
    # The launcher would leave the preload out; whoever sets LD_PRELOAD for a whole session has it all the same.
    preload = hosts.BUILD / "lib" / "millrace" / "libmillrace-openmpi.so"
    for process in said(host, tmp_path, millrace=False, LD_PRELOAD=str(preload), MILLRACE="0", MILLRACE_REPORT="1"):
        assert process["before"][0] == process["during"][0] == "off"
        assert process["during"][1:] == [False, None]


def test_a_program_sees_that_the_preload_is_for_another_mpi():
    host = usable("openmpi4").name
    preload = hosts.BUILD / "lib" / "millrace" / "libmillrace-mpich.so"
    program = "from mpi4py import MPI; from millrace import mpi; print(mpi.state(), mpi.is_active(), mpi.statistics())"
    said = run(host, program, ranks=1, millrace=False, LD_PRELOAD=str(preload), MILLRACE_REPORT="1")
    assert said == "other_mpi False None\n"


def test_a_program_sees_that_millrace_is_absent(tmp_path):
    host = usable("openmpi4").name
    for process in said(host, tmp_path, millrace=False):
        assert process["before"] == ["absent", None] and process["during"] == ["absent", False, None]


def test_a_process_without_mpi():
    assert (mpi.state(), mpi.is_active(), mpi.statistics()) == ("absent", False, None)


def test_counters_that_go_on_between_two_questions(monkeypatch):
    """The text has become longer than the room that was asked for."""
    texts = [b'{"calls": []}', b'{"calls": [1, 2, 3]}', b'{"calls": [1, 2, 3]}']

    def ask(text, room):
        whole = texts.pop(0) if len(texts) > 1 else texts[0]
        if text is not None:
            text.value = whole[: room - 1]
        return len(whole) + 1

    monkeypatch.setattr(mpi, "_statistics", ask)
    assert mpi.statistics() == {"calls": [1, 2, 3]}


def test_the_preload_is_asked_in_a_process_that_has_it_without_mpi():
    preload = hosts.BUILD / "lib" / "millrace" / "libmillrace-mpich.so"
    environment = {**os.environ, "LD_PRELOAD": str(preload), "PYTHONPATH": str(ROOT / "python"), "MILLRACE_REPORT": "1"}
    script = "from millrace import mpi; print(mpi.state(), mpi.statistics()['calls'])"
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "idle []\n"), done
