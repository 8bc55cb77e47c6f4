"""What `cmake --install` makes, used from where it was moved to."""

import os
import re
import shutil
import subprocess
import sys

import hosts
import pytest
from usable import usable

PROGRAM = hosts.ROOT / "tests/hosts/programs/hello.c"


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def under(launcher, host, program, *options):
    """`program` on two ranks of a host with a launcher of our choice."""
    return hosts.run(host, 2, [launcher, *options, program] if launcher else [program])


@pytest.mark.parametrize("name", ["openmpi4", "mpich4"])
def test_a_program_runs_with_the_moved_launcher(moved, name, tmp_path):
    host = usable(name)
    program = hosts.compile(host, PROGRAM, tmp_path / "hello")
    plain = under(None, host, program).check()
    ours = under(moved / "bin/millrace", host, program, "--report").check()
    assert sorted(plain.stdout.splitlines()) == sorted(ours.stdout.splitlines())
    assert "millrace " in ours.stderr and "MPI_Init" in ours.stderr
    assert "millrace" not in plain.stderr
    said = hosts.run(host, 1, [moved / "bin/millrace", "--explain", program]).check().stdout
    assert str(moved) in said
    assert str(hosts.BUILD / "lib") not in said


def test_the_launcher_names_the_moved_preloads(moved, libraries):
    info = run(moved / "bin/millrace", "info")
    assert re.search(rf"^preloads +{re.escape(str(libraries / 'millrace'))}$", info, re.MULTILINE)


def test_check_finds_its_programs(moved):
    host = usable("openmpi4")
    help_ = run(moved / "bin/millrace", "check", "--help")
    assert str(host.compilers["c"]) and "--mpicc" in help_
    assert (moved / "share/millrace/check/driver.c").exists()


def test_the_python_package(moved, libraries):
    package = next(moved.rglob("python/millrace")).parent
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MILLRACE")}
    reduced = "millrace.reduce('sum', numpy.ones(3), numpy.ones(3))[0]"
    code = f"import millrace, numpy; print({reduced}, millrace._library.lib._name)"
    value, library = run(sys.executable, "-B", "-c", code, env={**kept, "PYTHONPATH": str(package)}).split()
    assert value == "2.0"
    assert library.startswith(str(libraries))


def test_the_python_package_where_debian_has_it(moved, libraries, tmp_path):
    """The library is in a directory for one kind of processor; its neighbours are found as well."""
    package, architecture = tmp_path / "lib/python3/dist-packages", tmp_path / "lib/any-linux-gnu"
    shutil.copytree(next(moved.rglob("python/millrace")), package / "millrace")
    (architecture / "millrace").mkdir(parents=True)
    for name in ("libmillrace.so.0", "millrace/_compiled.abi3.so"):
        shutil.copy(libraries / name, architecture / name)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MILLRACE")}
    code = "import millrace; print(millrace._library.lib._name, millrace._native.compiled.__file__)"
    said = run(sys.executable, "-B", "-c", code, env={**kept, "PYTHONPATH": str(package)}).split()
    assert said == [str(architecture / "libmillrace.so.0"), str(architecture / "millrace/_compiled.abi3.so")]


def test_what_an_installation_holds(moved):
    names = {str(path.relative_to(moved)) for path in moved.rglob("*")}
    for name in ("bin/millrace", "share/doc/millrace/LICENSE", "share/doc/millrace/docs/install.md",
                 "share/man/man1/millrace.1", "share/bash-completion/completions/millrace",
                 "include/millrace/version.h"):  # fmt: skip
        assert name in names
    assert len([name for name in names if re.search(r"/millrace/libmillrace-.*\.so$", name)]) >= 10
    assert not [name for name in names if "__pycache__" in name or "gtest" in name]


def test_no_file_remembers_where_it_was_made(moved):
    """Text that names the first prefix or the build would be wrong on every other machine."""
    made = str(moved.parent / "made").encode()
    places = {made, str(hosts.BUILD).encode(), str(hosts.ROOT).encode()}
    found = [
        path.relative_to(moved)
        for path in moved.rglob("*")
        if path.is_file() and any(place in path.read_bytes() for place in places)
    ]
    assert found == []


def test_libraries_are_found_without_a_path_in_them(moved):
    binaries = [moved / "bin/millrace", *moved.rglob("millrace-tools"), *moved.rglob("*.so")]
    assert len(binaries) > 10
    for path in binaries:
        said = run("readelf", "-d", path)
        assert "RPATH" not in said and "RUNPATH" not in said, path
