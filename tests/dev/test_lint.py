"""What is under version control is formatted and passes the linters; all but clang-tidy, which takes too long."""

import json
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINT = ROOT / "scripts" / "lint.sh"


def run(script, *words):
    return subprocess.run([script, *words], capture_output=True, text=True, timeout=120, check=False)


def test_everything_is_formatted_and_clean():
    done = run(LINT, "--quick")
    assert done.returncode == 0, done.stdout + done.stderr
    for what in ("clang-format", "shellcheck", "ruff"):
        assert f"lint: {what}: good" in done.stdout


def test_each_linter_finds_something_to_complain_of(tmp_path):
    """In a tree of three files."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / ".ci").mkdir()
    shutil.copy(LINT, tmp_path / "scripts")
    for name in (".clang-format", "ruff.toml", "dev", ".ci/run"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "build").mkdir()
    (tmp_path / "build/env").symlink_to(ROOT / "build/env")
    (tmp_path / "loose.cpp").write_text("int  main( ) {return 0;}\n")
    (tmp_path / "loose.py").write_text("import os\n")
    (tmp_path / "loose.sh").write_text("#!/bin/sh\nrm $1\n")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "loose.cpp", "loose.py", "loose.sh"], cwd=tmp_path, check=True)
    done = run(tmp_path / "scripts/lint.sh", "--quick")
    assert done.returncode == 1
    for what in ("clang-format", "shellcheck", "ruff"):
        assert f"lint: {what}: see above" in done.stdout


def test_an_unknown_option_is_refused():
    done = run(LINT, "--quickly")
    assert done.returncode == 2
    assert "'--quickly'?" in done.stderr


def test_clang_tidy_reads_each_unit_once_and_the_headers_of_every_abi(tmp_path):
    for unit in ("a.cpp", "b.cpp", "c.cpp", "other_processor.cpp"):
        (tmp_path / unit).touch()
    commands = [
        {"directory": str(tmp_path), "file": str(tmp_path / unit), "command": f"c++ -I{abi} {unit}"}
        for abi in ("openmpi", "mpich")
        for unit in ("a.cpp", "b.cpp", "c.cpp")
    ]
    (tmp_path / "all.json").write_text(json.dumps(commands))
    units = ["b.cpp", "a.cpp", "other_processor.cpp"]
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/tidy_database.py", "all.json", "tidy", *units],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["a.cpp", "b.cpp"]
    chosen = json.loads((tmp_path / "tidy/compile_commands.json").read_text())
    assert [entry["command"] for entry in chosen] == ["c++ -Iopenmpi a.cpp", "c++ -Impich b.cpp"]
