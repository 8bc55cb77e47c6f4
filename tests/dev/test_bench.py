"""./dev bench: options belong to one benchmark, and an unknown host is one line."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNS = sorted(path for path in ROOT.glob("bench/*/run.py") if '"--hosts"' in path.read_text())


@pytest.mark.parametrize("words", [["--hosts", "mpich4"], ["turns", "overhead", "--hosts", "mpich4"]])
def test_options_without_one_benchmark_are_refused_before_anything_is_built(words):
    done = subprocess.run([ROOT / "dev", "bench", *words], capture_output=True, text=True, timeout=20, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "dev: --hosts is an option of one benchmark: ./dev bench NAME --hosts mpich4\n"


def test_every_list_of_hosts_is_checked():
    assert len(RUNS) > 10
    assert [path.parent.name for path in RUNS if "hosts.host_names" not in path.read_text()] == []


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.parent.name)
def test_its_own_hosts_are_known(path):
    """argparse looks at what it takes by default before it finds the option that there is not."""
    command = [sys.executable, path, "--no-such-option"]
    environment = {"PYTHONPATH": f"{ROOT / 'tests/hosts'}", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith("error: unrecognized arguments: --no-such-option")


def test_an_unknown_host_is_named():
    environment = {"PYTHONPATH": str(ROOT / "tests/hosts"), "PATH": "/usr/bin:/bin"}
    command = [sys.executable, ROOT / "bench/turns/run.py", "--hosts", "mpich4,lam"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].endswith(
        "no host 'lam'; there are openmpi4, mpich4, openmpi5, mpich5, intel, abi, abi-intel, openmpi4-aarch64, "
        "mpich4-aarch64"
    )
