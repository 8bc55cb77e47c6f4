"""The JSON report, as the code writes it, against docs/report.schema.json, and the schema against itself."""

import copy
import json
import pathlib
import random
import subprocess

import hosts
import jsonschema
import pytest

SCHEMA = json.loads((pathlib.Path(__file__).parents[2] / "docs" / "report.schema.json").read_text())
SAMPLE_REPORT = hosts.BUILD / "bin" / "sample_report"


def sample(seed, ranks):
    done = subprocess.run([SAMPLE_REPORT, str(seed), str(ranks)], capture_output=True, check=True, timeout=60)
    return json.loads(done.stdout)


def problems(report):
    return [error.message for error in jsonschema.Draft202012Validator(SCHEMA).iter_errors(report)]


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("ranks", [0, 1, 2, 7, 64])
def test_reports_follow_the_schema(ranks):
    seed = random.randrange(2**32)
    print("seed", seed)
    report = sample(seed, ranks)
    assert problems(report) == []
    assert report["ranks"] == len(report["by_rank"]) == ranks


def test_numbers_of_a_report_fit_together():
    report = sample(1, 5)
    for call in report["calls"]:
        assert call["calls"] == call["taken"] + call["forwarded"]
        assert call["forwarded"] == sum(call["forwarded_why"].values())
        assert call["rank_time_ns"]["min"] <= call["rank_time_ns"]["median"] <= call["rank_time_ns"]["max"]
    for column in ("calls", "bytes", "time_ns", "taken", "forwarded"):
        assert report["total"][column] == sum(call[column] for call in report["calls"])


def test_who_waited_for_whom_fits_together():
    report = sample(3, 9)
    assert report["waits"]
    late = report["late_ranks"]
    assert sum(rank["caused_ns"] for rank in late) == sum(rank["wait_ns"] for rank in late)
    assert sum(rank["wait_ns"] for rank in late) == sum(wait["wait_ns"] for wait in report["waits"])
    assert late == sorted(late, key=lambda rank: -rank["caused_ns"])


def spoil(report, path, value):
    spoilt = copy.deepcopy(report)
    place = spoilt
    for step in path[:-1]:
        place = place[step]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return spoilt


@pytest.mark.parametrize(
    "path, value",
    [
        (("schema_version",), 2),
        (("calls", 0, "taken"), -1),
        (("calls", 0, "algorithms"), None),
        (("calls", 0, "forwarded_why", "bad_weather"), 1),
        (("by_rank", 0, "host"), 7),
        (("late_ranks", 0, "caused_ns"), None),
        (("waits", 0, "communicator"), 7),
        (("surprise",), 1),
    ],
)
def test_the_schema_refuses_other_shapes(path, value):
    assert problems(spoil(sample(2, 2), path, value)) != []
