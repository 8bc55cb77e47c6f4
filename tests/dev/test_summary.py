"""The last line of ./dev test, and its exit code, for every way in which tests can end."""

import pathlib
import subprocess
import sys

import pytest

SUMMARISE = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "summarise.py"
PASSED = '<testcase name="a" classname="a" status="run"/>'
FAILED = '<testcase name="b" classname="b" status="fail"><failure message="no"/></testcase>'
SKIPPED = '<testcase name="c" classname="t"><skipped message="no such processor"/></testcase>'
PART = (
    '<testcase name="p" classname="p" status="run"><system-out>Running main()\n'
    "[  PASSED  ] 246 tests.\n</system-out></testcase>"
)
PART_FAILED = PART.replace('"run"', '"fail"')
GTEST_SKIPPED = (
    '<testcase name="d" classname="d" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>'
    "<system-out>[ RUN ]\nx.cpp:5: Skipped\nthis processor has no AVX-512\n[ SKIPPED ]</system-out></testcase>"
)


def summary(tmp_path, *files):
    arguments = []
    for number, (cases, status) in enumerate(files):
        path = tmp_path / f"{number}.xml"
        path.write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
        arguments.append(f"{path}={status}")
    done = subprocess.run([sys.executable, SUMMARISE, *arguments], capture_output=True, text=True, check=False)
    return done.stdout.splitlines(), done.returncode


@pytest.mark.parametrize(
    ("files", "last", "code"),
    [
        ([(PASSED, 0), (PASSED * 2, 0)], "3 passed, 0 failed", 0),
        ([(PASSED, 0), (PASSED + SKIPPED, 0)], "2 passed, 0 failed, 1 skipped", 0),
        ([(PASSED + PART, 0)], "247 passed, 0 failed", 0),
        ([(PASSED + PART_FAILED, 8)], "1 passed, 1 failed", 1),
        ([(PASSED + FAILED, 8), (PASSED, 0)], "2 passed, 1 failed", 1),
        ([("", 0), ("", 5)], "0 passed, 1 failed", 1),
        ([("", 0)], "0 passed, 0 failed", 1),
        ([(SKIPPED, 0)], "0 passed, 0 failed, 1 skipped", 1),
        ([(PASSED, 0), (PASSED, 3)], "2 passed, 1 failed", 1),  # a runner that broke down is a failure
    ],
)
def test_the_last_line(tmp_path, files, last, code):
    lines, status = summary(tmp_path, *files)
    assert (lines[-1], status) == (last, code)


def test_a_runner_without_results_is_a_failure(tmp_path):
    done = subprocess.run([sys.executable, SUMMARISE, f"{tmp_path}/none.xml=0"], capture_output=True, check=False)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == b"0 passed, 1 failed"


def test_what_was_skipped_says_why(tmp_path):
    lines, _ = summary(tmp_path, (PASSED + SKIPPED + GTEST_SKIPPED, 0))
    assert "skipped: t.c: no such processor" in lines
    assert "skipped: d: this processor has no AVX-512" in lines


def test_what_failed_is_named(tmp_path):
    lines, _ = summary(tmp_path, (PASSED, 0), (FAILED, 1))
    assert "failed:  1: b" in lines
