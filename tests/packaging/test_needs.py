"""What the machine of a user must have: read from the symbols, and said in docs/install.md."""

import platform
import re
import subprocess

import hosts
import pytest


def said(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="session")
def binaries(moved):
    found = [*moved.rglob("millrace-tools"), *(path for path in moved.rglob("*.so*") if not path.is_symlink())]
    assert len(found) > 12
    return found


def versions(path):
    return [tuple(map(int, text.split("."))) for text in re.findall(r"GLIBC_([\d.]+)", said("readelf", "-V", path))]


def test_nothing_but_glibc_is_needed(binaries):
    """No C++ library, no MPI, no hwloc: those of the program's must be the only ones in the process."""
    allowed = re.compile(r"(libc|libm|ld-linux-[\w-]+|libdl|libpthread|librt)\.so\.\d+$")
    for path in binaries:
        needed = re.findall(r"NEEDED.*\[(.*)\]", said("readelf", "-d", path))
        assert needed, path
        assert [name for name in needed if not allowed.match(name)] == [], path


def test_what_starts_each_rank_needs_nothing(moved):
    """To find, map and bind a library takes longer than all that it does."""
    assert "INTERP" not in said("readelf", "-l", moved / "bin/millrace")


def test_the_page_says_which_glibc(binaries):
    """An installation needs at most the glibc of the system that compiled it; the page says it of Debian 12."""
    newest = max(version for path in binaries for version in versions(path))
    ours = tuple(map(int, platform.libc_ver()[1].split(".")))
    assert newest <= ours
    text = (hosts.ROOT / "docs/install.md").read_text()
    stated = re.search(r"compiled it, (\d+)\.(\d+) on Debian 12", text)
    if ours == (2, 36):
        assert newest == tuple(map(int, stated.groups()))
    else:
        pytest.skip(f"made with glibc {ours}, the page speaks of Debian 12's")
