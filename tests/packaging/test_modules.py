"""The module files: what loading and unloading them does to an environment."""

import os
import pathlib
import shutil
import subprocess

import pytest

TCL = next(iter(sorted(pathlib.Path("/usr").glob("lib*/**/modulecmd.tcl"))), None)
LMOD = pathlib.Path("/usr/share/lmod/lmod/libexec/lmod")


def shell(moved, *lines):
    """Output of lines of sh with a `module` in front."""
    if TCL:
        function = f"module() {{ eval \"$('{shutil.which('tclsh') or '/usr/bin/tclsh'}' '{TCL}' sh \"$@\")\"; }}"
    elif LMOD.exists():
        function = f"module() {{ eval \"$('{LMOD}' sh \"$@\")\"; }}"
    else:
        pytest.skip("neither environment-modules nor lmod here")
    start = [function, f"module use '{moved}/share/modulefiles'"]
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    done = subprocess.run(
        ["sh", "-c", "\n".join([*start, *lines])], capture_output=True, text=True, timeout=60, env=kept, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_loading_finds_everything(moved, libraries):
    said = shell(
        moved, "module load millrace", "command -v millrace", "millrace --version", "pkg-config --modversion millrace",
        "man -w millrace-info", 'echo "$LD_LIBRARY_PATH"', 'ls "$PYTHONPATH"',
    ).split("\n")  # fmt: skip
    assert said[0] == str(moved / "bin/millrace")
    assert said[1] == f"millrace {said[2]}"
    assert said[3] == str(moved / "share/man/man1/millrace-info.1")
    assert said[4] == str(libraries)
    assert said[5] == "millrace"


def test_unloading_leaves_nothing(moved):
    lines = ["module load millrace", "module unload millrace", "env"]
    assert [line for line in shell(moved, *lines).split("\n") if str(moved) in line and "MODULEPATH" not in line] == []


def test_lua(moved):
    """Without Lmod, Lua itself at least reads the file."""
    compiler = shutil.which("luac") or shutil.which("luac5.3") or shutil.which("luac5.4")
    if not compiler:
        pytest.skip("no luac here")
    for path in moved.glob("share/modulefiles/millrace/*.lua"):
        done = subprocess.run([compiler, "-p", path], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
