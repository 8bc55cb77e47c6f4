"""Machines that hwloc's authors recorded, beside what machines.txt says of them."""

import pathlib
import shutil
import subprocess

import hosts
import pytest

TABLE = pathlib.Path(__file__).with_name("machines.txt")
SOURCES = "deb-src http://deb.debian.org/debian bookworm main\n"


def recorded():
    rows = [line.split("|") for line in TABLE.read_text().splitlines() if line and line[0] != "#"]
    return [(name.strip(), text.strip(), file.strip()) for name, text, _, file in rows if file.strip() != "-"]


@pytest.fixture(scope="module")
def machines(tmp_path_factory):
    """tests/hwloc of Debian's source of hwloc."""
    if not shutil.which("apt-get") or not shutil.which("lstopo-no-graphics"):
        pytest.skip("needs apt-get, and lstopo of hwloc")
    where = tmp_path_factory.mktemp("hwloc")
    (where / "sources.list").write_text(SOURCES)
    (where / "lists/partial").mkdir(parents=True)
    options = {"Dir::Etc::SourceList": where / "sources.list", "Dir::Etc::SourceParts": "/dev/null"}
    options |= {"Dir::State::Lists": where / "lists", "APT::Sandbox::User": "root"}
    apt = ["apt-get", *(word for name, value in options.items() for word in ("-o", f"{name}={value}"))]
    for words in (["update"], ["source", "--download-only", "hwloc"]):
        done = subprocess.run([*apt, *words], cwd=where, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            pytest.skip(f"Debian's source of hwloc cannot be had: {done.stderr[-200:]}")
    archive = next(where.glob("hwloc_*.orig.tar.*"))
    subprocess.run(["tar", "-xf", archive], cwd=where, check=True, timeout=60)
    return next(where.glob("hwloc-*/tests/hwloc"))


def machine_of(topology):
    command = [pathlib.Path(hosts.BUILD) / "millrace", "simulate", "--machine", "--topology", topology]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.strip()


@pytest.mark.full
@pytest.mark.parametrize("name, text, file", recorded(), ids=[row[0] for row in recorded()])
def test_a_recorded_machine_is_as_written_down(name, text, file, machines, tmp_path):
    if file.startswith("xml/"):
        assert machine_of(machines / f"{file}.xml") == text
        return
    subprocess.run(["tar", "-xf", machines / f"{file}.tar.bz2"], cwd=tmp_path, check=True, timeout=60)
    root = next(tmp_path.iterdir())
    if (root / "fsroot").is_dir():  # recorded in both ways
        root = root / "fsroot"
    kind = "fsroot" if "linux" in file else "cpuid"
    written = tmp_path / "machine.xml"
    command = ["lstopo-no-graphics", "--no-io", "--input", root, "--if", kind, "--of", "xml", written]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    assert machine_of(written) == text
    # What the library itself sees there.
    if kind == "fsroot":
        assert machine_of(root) == text
