"""scripts/test.sh --analyse: the analysis runs beside pytest, counts, and ends with the script. All that it calls is a
stand-in here."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PASSED = "<testsuite><testcase name='a' status='run'/></testsuite>"
FAILED = "<testsuite><testcase name='clang'><failure/></testcase></testsuite>"
# Waits until the analysis has begun, and says so: each waits for the other.
PYTEST = """#!/bin/sh
case "$*" in *"-m pytest"*) ;; *) exec {python} "$@" ;; esac
until [ -s began ]; do sleep 0.05; done
touch met
[ ! -e hang ] || sleep 60
echo "{passed}" >build/test-results/pytest.xml
"""
CTEST = f"""#!/bin/sh
while [ "$1" != --output-junit ]; do shift; done
echo "{PASSED}" >"$2"
"""
ANALYSE = """#!/bin/sh
shift
xml=$1
shift
echo "$$ $(chrt -p $$ | head -n 1) $*" >began.new && mv began.new began
until [ -e met ]; do sleep 0.05; done
[ ! -e hang ] || sleep 60
cat result >"$xml"
! grep -q failure result
"""


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def tree(tmp_path):
    script(tmp_path / "scripts/analyse.sh", ANALYSE)
    script(tmp_path / "bin/ctest", CTEST)
    script(tmp_path / "build/env/tools/bin/python", PYTEST.format(python=sys.executable, passed=PASSED))
    for name in ("test.sh", "summarise.py"):
        shutil.copy(ROOT / "scripts" / name, tmp_path / "scripts")
    (tmp_path / "result").write_text(PASSED)
    return tmp_path


def start(tree, *words):
    kept = {name: value for name, value in os.environ.items() if name != "BUILD_DIR"}
    environment = {**kept, "PATH": f"{tree}/bin:{os.environ['PATH']}"}
    return subprocess.Popen(
        [tree / "scripts/test.sh", *words], env=environment, cwd=tree, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def test_the_analysis_runs_beside_pytest_and_gives_way(tree):
    child = start(tree, "--analyse")
    said, _ = child.communicate(timeout=30)
    assert child.returncode == 0, said
    assert said.splitlines()[-1] == "4 passed, 0 failed"
    began = (tree / "began").read_text()
    has_idle_class = subprocess.run(["chrt", "--idle", "0", "true"], capture_output=True, check=False).returncode == 0
    assert ("SCHED_IDLE" in began) == has_idle_class
    assert began.endswith(" --fewer-paths\n")


def test_all_of_it_takes_all_paths(tree):
    child = start(tree, "--full", "--analyse")
    said, _ = child.communicate(timeout=30)
    assert child.returncode == 0, said
    assert "--fewer-paths" not in (tree / "began").read_text()


def test_what_the_analysis_finds_is_a_failure(tree):
    (tree / "result").write_text(FAILED)
    child = start(tree, "--analyse")
    said, _ = child.communicate(timeout=30)
    assert child.returncode == 1, said
    assert said.splitlines()[-1] == "3 passed, 1 failed"


def test_an_interrupted_run_ends_its_analysis(tree):
    (tree / "hang").touch()
    child = start(tree, "--analyse")
    deadline = time.monotonic() + 20
    while not (tree / "met").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    analysis = int((tree / "began").read_text().split()[0])
    os.killpg(child.pid, signal.SIGTERM)
    child.communicate(timeout=30)
    assert child.returncode == 130
    stat = pathlib.Path(f"/proc/{analysis}/stat")
    while time.monotonic() < deadline and stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.05)
    assert not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"
