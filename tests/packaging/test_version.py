"""The one version number, `project(millrace VERSION ...)`, wherever it comes to light."""

import os
import pathlib
import re
import subprocess
import sys

import hosts
import pytest

ROOT = hosts.ROOT
VERSION = re.search(r"^project\(millrace VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]


def output(*words, **options):
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=True, **options).stdout.strip()


def test_the_launcher(launcher):
    assert output(launcher, "--version") == f"millrace {VERSION}"


PROGRAM = """
#include <millrace/millrace.h>
#include <stdio.h>
#if MILLRACE_VERSION_NUMBER < MILLRACE_VERSION_OF({version}) || MILLRACE_VERSION_NUMBER >= MILLRACE_VERSION_OF({next})
#error the macros do not say {version}
#endif
int main(void) {{
  printf("%d.%d.%d %s %s", MILLRACE_VERSION_MAJOR, MILLRACE_VERSION_MINOR, MILLRACE_VERSION_PATCH,
         MILLRACE_VERSION_STRING, millrace_version());
}}
"""


def test_the_macros_of_the_header_and_the_library(tmp_path):
    major, minor, patch = VERSION.split(".")
    text = PROGRAM.format(version=f"{major}, {minor}, {patch}", next=f"{major}, {minor}, {int(patch) + 1}")
    (tmp_path / "version.c").write_text(text)
    directory = hosts.BUILD / "lib"
    output(
        "cc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{ROOT}/include", f"-I{hosts.BUILD}/include",
        tmp_path / "version.c", f"-L{directory}", f"-Wl,-rpath,{directory}", "-lmillrace", "-o", tmp_path / "version",
    )  # fmt: skip
    assert output(tmp_path / "version") == f"{VERSION} {VERSION} {VERSION}"


def test_the_python_package():
    library = hosts.BUILD / "lib/libmillrace.so"
    environment = dict(os.environ, PYTHONPATH=str(ROOT / "python"), MILLRACE_LIBRARY=str(library))
    said = output(sys.executable, "-c", "import millrace; print(millrace.__version__)", env=environment)
    assert said == VERSION


def test_a_wheel_of_the_python_package(tmp_path):
    """What pip would read: setup.py sees the number, and nothing else in python/ states one."""
    pytest.importorskip("setuptools")
    said = output(sys.executable, "setup.py", "-q", "--dry-run", "--version", cwd=ROOT / "python")
    assert said.splitlines()[-1] == VERSION
    assert "version = " not in (ROOT / "python/pyproject.toml").read_text()


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("CITATION.cff", r"^version: ([\d.]+)$"),
        ("CHANGELOG.md", r"^## ([\d.]+)"),
        ("packaging/spack/package.py", r'^    version\("([\d.]+)"'),
    ],
)
def test_files_that_state_a_number_state_this_one(name, pattern):
    """Spack's recipe and the citation are read where there is no CMake; of the changelog, the newest entry counts."""
    assert re.findall(pattern, pathlib.Path(ROOT / name).read_text(), re.MULTILINE)[:1] == [VERSION]
