"""Where reports go: names made of the job, the node and the process, both forms at once, places that cannot be
written, files that were there before."""

import json
import socket

import hosts
import pytest
from shim_programs import build

pytestmark = pytest.mark.sampled_hosts
HOSTS = list(hosts.HOSTS)


def end(host, directory, report, *, ranks=2, how="finalize"):
    program = build(host, "endings.c")
    # Of batch systems; those that come before it are not here.
    env = {"MILLRACE_REPORT": report, "OAR_JOB_ID": "77/x"}
    return hosts.run(host, ranks, [program, how], millrace=True, env=env, directory=directory)


def names(directory):
    return sorted(path.name for path in directory.iterdir())


@pytest.mark.parametrize("host", HOSTS)
def test_names_tell_job_node_and_process(host, tmp_path):
    directory = tmp_path / "100%h"  # stands for itself
    directory.mkdir()
    finished = end(host, directory, "1,run.%j.%h.%p.%%.json").check()
    assert any(line.startswith("total") for line in finished.stderr.splitlines()), "no table"
    (name,) = names(directory)
    pids = {str(rank["pid"]) for rank in json.loads((directory / name).read_text())["by_rank"]}
    assert len(pids) == 2
    assert name in {f"run.77_x.{socket.gethostname()}.{pid}.%.json" for pid in pids}


@pytest.mark.parametrize("host", HOSTS)
def test_a_percent_sign_that_means_nothing_is_one_line(host, tmp_path):
    finished = end(host, tmp_path, "run.%x.json").check()
    assert finished.stderr.count("means nothing in the name of a file") == 1
    assert names(tmp_path) == []


@pytest.mark.parametrize("host", HOSTS)
def test_a_place_that_cannot_be_written_is_said_at_the_start(host, tmp_path):
    finished = end(host, tmp_path, "no/such/run.json").check()
    lines = finished.stderr.splitlines()
    warnings = [index for index, line in enumerate(lines) if "cannot be written at the end" in line]
    failures = [index for index, line in enumerate(lines) if "cannot write the report" in line]
    assert len(warnings) == len(failures) == 1
    assert warnings < failures
    assert any(line.startswith("total") for line in lines), "the figures are lost"
    assert names(tmp_path) == []


@pytest.mark.parametrize("host", HOSTS)
def test_an_older_report_is_kept_and_that_is_said(host, tmp_path):
    (tmp_path / "run.json").write_text("older")
    finished = end(host, tmp_path, "run.json").check()
    assert names(tmp_path) == ["run.1.json", "run.json"]
    assert (tmp_path / "run.1.json").read_text() == "older"
    assert finished.stderr.count("run.json was there: it is now") == 1
    assert json.loads((tmp_path / "run.json").read_text())["ranks"] == 2
