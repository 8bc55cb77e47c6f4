"""Applications from Debian give the same results, line for line, with and without Millrace."""

import json
import shutil

import hosts
import programs
import pytest

HOST = "openmpi4"


def run(application, directory, millrace):
    directory.mkdir()
    for name in application.inputs:
        shutil.copy(name, directory)
    report = directory / "report.json"
    finished = hosts.run(
        HOST, 2, application.command, millrace=millrace, env={"MILLRACE_REPORT": report} if millrace else None,
        timeout=application.timeout, directory=directory,
    ).check()  # fmt: skip
    calls = json.loads(report.read_text())["calls"] if millrace else []
    return application.results(directory, finished.stdout), calls


def same_results(name, tmp_path):
    application = programs.APPLICATIONS[name]
    without, _ = run(application, tmp_path / "without", False)
    with_, calls = run(application, tmp_path / "with", True)
    assert len(without) > 10, without
    assert with_ == without
    # Without this the test would also pass if Millrace had stepped aside.
    assert {"MPI_Init", "MPI_Init_thread"} & {call["name"] for call in calls}
    assert sum(call["calls"] for call in calls) > 20


@pytest.mark.parametrize("name", ["lammps_chute"])
def test_the_same_results(name, tmp_path, launcher):
    same_results(name, tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("name", sorted(programs.APPLICATIONS.keys() - {"lammps_chute"}))
def test_the_same_results_of_more_applications(name, tmp_path, launcher):
    same_results(name, tmp_path)
