"""./dev, where asking is enough."""

import subprocess

import hosts
import pytest


@pytest.mark.parametrize("command", ["setup", "build", "test", "demo", "reproduce", "fuzz", "lint", "package"])
def test_help_about_a_command_does_not_do_it(command):
    """It did: `./dev reproduce --help` made every figure first."""
    done = subprocess.run(
        [hosts.ROOT / "dev", command, "--help"], capture_output=True, text=True, timeout=20, check=True
    )
    assert done.stdout.startswith("./dev COMMAND"), done.stdout
