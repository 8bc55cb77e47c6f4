"""Packages: what is in them, and installing, using and removing them in bare Debians, older and newer than this one."""

import os
import pathlib
import re
import shutil
import time

import debian_root
import hosts
import pytest
from debian_root import AS_ROOT, MINUTES, PROGRAM, RELEASES, run
from test_needs import versions

pytestmark = pytest.mark.full
KINDS = {"deb": "dpkg-deb", "rpm": "rpmbuild", "tgz": "tar"}
GLIBC = ("libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so", "ld-linux")


@pytest.fixture(scope="module")
def packages(launcher):
    """kind -> file."""
    kinds = [kind for kind, command in KINDS.items() if shutil.which(command)]
    environment = {**os.environ, "BUILD_DIR": str(hosts.BUILD)}
    said = run(hosts.ROOT / "scripts/package.sh", *kinds, timeout=3000, env=environment)
    made = [pathlib.Path(line) for line in said.splitlines() if line.startswith("/")]
    return dict(zip(kinds, made, strict=True))


def package(packages, kind):
    if kind not in packages:
        pytest.skip(f"no {KINDS[kind]} here: ./dev setup package")
    return packages[kind]


def test_deb_needs_glibc_alone_and_none_newer_than_its_symbols(packages, tmp_path):
    depends = run("dpkg-deb", "-f", package(packages, "deb"), "Depends").strip()
    assert depends == "libc6 (>= {}.{})".format(*newest(packages, "deb", tmp_path))


def test_rpm_needs_glibc_alone(packages):
    needs = run("rpm", "-qp", "--requires", package(packages, "rpm")).split("\n")
    others = [
        line for line in needs
        if line and not line.startswith((*GLIBC, "rpmlib(", "rtld(", "/bin/sh"))
    ]  # fmt: skip
    assert others == []
    assert any("GLIBC_2." in line for line in needs)


def test_rpm_has_its_libraries_in_lib64(packages):
    names = run("rpm", "-qpl", package(packages, "rpm")).split("\n")
    assert "/usr/lib64/libmillrace.so.0" in names and "/usr/bin/millrace" in names
    assert [name for name in names if name.startswith("/usr/lib/")] == []
    provided = run("rpm", "-qp", "--provides", package(packages, "rpm"))
    assert "libmillrace.so.0" in provided and "libmillrace-openmpi" not in provided


def unpacked(packages, kind, to):
    file = package(packages, kind)
    how = {"deb": 'dpkg-deb -x "$0" .', "rpm": 'rpm2archive - <"$0" | tar -xz', "tgz": 'tar -xzf "$0"'}
    run("sh", "-c", how[kind], file, cwd=to)


def newest(packages, kind, work):
    """The newest glibc that a symbol of any file in the package asks for."""
    unpacked(packages, kind, work)
    found = [path for path in work.rglob("*") if path.is_file() and not path.is_symlink()]
    binaries = [path for path in found if path.read_bytes()[:4] == b"\x7fELF"]
    assert len(binaries) > 12
    return max(version for path in binaries for version in versions(path))


@pytest.mark.parametrize("kind", KINDS)
def test_no_package_needs_a_newer_glibc_than_the_page_says(packages, kind, tmp_path):
    stated = re.search(r"Packages need glibc (\d+)\.(\d+)", (hosts.ROOT / "docs/install.md").read_text())
    assert newest(packages, kind, tmp_path) == tuple(map(int, stated.groups()))


def test_packages_leave_the_build_as_it_was(packages):
    assert "CMAKE_INSTALL_LIBDIR:PATH=lib\n" in (hosts.BUILD / "CMakeCache.txt").read_text()
    assert str(hosts.BUILD / "lib/millrace") in run(hosts.MILLRACE, "info")
    manifest = hosts.BUILD / "install_manifest.txt"
    assert not manifest.exists() or "_CPack_Packages" not in manifest.read_text()


@pytest.fixture(scope="module", params=RELEASES)
def root(request, tmp_path_factory):
    """A release of Debian with its own Open MPI and Python, without a compiler."""
    made = debian_root.make(tmp_path_factory.mktemp("debian") / "root", request.param)
    made.run("apt-get", "update", "-q")
    others = ["openmpi-bin", "python3-mpi4py", "python3-numpy", "lmod"]
    made.run("apt-get", "install", "-yq", "--no-install-recommends", *others)
    made.run("sh", "-c", "! command -v cc gcc g++ c++ clang")
    (made.path / "tmp/app.py").write_text(PROGRAM)
    yield made
    shutil.rmtree(made.path)


@pytest.fixture
def verdict_reached(packages, root, request, capsys):
    """To be called then: the time since the test began is said, and judged."""
    began = time.monotonic()

    def stop():
        took_s = time.monotonic() - began
        with capsys.disabled():
            print(f"\n{request.node.name}: verdict after {took_s:.0f} s")
        assert took_s < MINUTES * 60

    return stop


def use(root, millrace, python, verdict_reached):
    """A job compared and reported, and a reduction in Python."""
    assert root.run(millrace, "--version").startswith("millrace ")
    job = ["mpirun", "--oversubscribe", "-n", "2"]
    program = ["python3", "/tmp/app.py"]
    said = root.run(millrace, "compare", "--", *job, *program, **AS_ROOT)
    assert "output: the same" in said and "exit codes: the same (0)" in said
    verdict_reached()
    root.run(*job, millrace, "--report=/tmp/run.json", *program, **AS_ROOT)
    calls = re.search(r"MPI_Allreduce\S* +(\d+)", root.run(millrace, "report", "/tmp/run.json"))
    assert calls, "no calls in the report"
    assert int(calls.group(1)) > 3000
    reduced = "import millrace, numpy; print(millrace.reduce('sum', numpy.ones(3), numpy.ones(3))[0])"
    path = {"PYTHONPATH": python} if python else {}
    assert root.run("python3", "-c", f"{reduced}; assert millrace._native.compiled", **path).strip() == "2.0"
    (root.path / "tmp/run.json").unlink()


def test_deb_in_a_root(packages, root, verdict_reached):
    shutil.copy(package(packages, "deb"), root.path / "tmp/millrace.deb")
    before = root.names()
    root.run("apt-get", "install", "-yq", "/tmp/millrace.deb")
    use(root, "millrace", None, verdict_reached)
    lua = 'eval "$(/usr/share/lmod/lmod/libexec/lmod sh use /usr/share/modulefiles)"; '
    lua += 'eval "$(/usr/share/lmod/lmod/libexec/lmod sh load millrace)"; echo "$CMAKE_PREFIX_PATH"'
    assert root.run("sh", "-c", lua).strip() == "/usr"
    root.run("apt-get", "purge", "-yq", "millrace")
    assert sorted(root.names() - before) == []


def test_archive_in_a_root(packages, root, verdict_reached):
    before = root.names()
    (root.path / "opt/tools").mkdir()
    run("tar", "-xzf", package(packages, "tgz"), "-C", root.path / "opt/tools", "--strip-components=1")
    use(root, "/opt/tools/bin/millrace", "/opt/tools/lib/millrace/python", verdict_reached)
    shutil.rmtree(root.path / "opt/tools")
    assert sorted(root.names() - before) == []


def test_rpm_in_a_root(packages, root, verdict_reached):
    """Debian has no rpm that manages a system: what is needed is not asked, and all else is as on one that has."""
    database = ["rpm", "--root", root.path, "--dbpath", "/var/lib/rpm"]
    file = package(packages, "rpm")
    before = root.names()
    run(*database, "--nodeps", "-i", file)
    use(root, "/usr/bin/millrace", "/usr/lib64/millrace/python", verdict_reached)
    assert run(*database, "-V", "--nodeps", "millrace") == ""
    run(*database, "-e", "millrace")
    assert sorted(root.names() - before) == []
