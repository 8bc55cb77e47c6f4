"""Packages: what is in them, and, in a root of Debian that holds nothing else, installing, using and removing one."""

import os
import pathlib
import shutil

import debian_root
import hosts
import pytest
from debian_root import run
from usable import usable

pytestmark = pytest.mark.full
KINDS = {"deb": "dpkg-deb", "rpm": "rpmbuild", "tgz": "tar"}


@pytest.fixture(scope="module")
def packages(launcher):
    """kind -> file. The build is left as it was; its launcher is linked anew, for another directory, in between."""
    kinds = [kind for kind, command in KINDS.items() if shutil.which(command)]
    environment = {**os.environ, "BUILD_DIR": str(hosts.BUILD)}
    said = run(hosts.ROOT / "scripts/package.sh", *kinds, timeout=1800, env=environment)
    run("cmake", "--build", hosts.BUILD, "--target", "install_parts", timeout=1800)
    made = [pathlib.Path(line) for line in said.splitlines() if line.startswith("/")]
    return dict(zip(kinds, made, strict=True))


def package(packages, kind):
    if kind not in packages:
        pytest.skip(f"no {KINDS[kind]} here: ./dev setup package")
    return packages[kind]


def test_deb_needs_glibc_alone(packages):
    fields = run("dpkg-deb", "-f", package(packages, "deb"), "Depends", "Package", "Version", "Architecture")
    depends = next(line for line in fields.splitlines() if line.startswith("Depends:"))
    assert depends.startswith("Depends: libc6 (>= 2.") and "," not in depends


def test_rpm_needs_glibc_alone(packages):
    needs = run("rpm", "-qp", "--requires", package(packages, "rpm")).split("\n")
    others = [
        line for line in needs
        if line and not line.startswith(("libc.so", "libm.so", "ld-linux", "rpmlib(", "rtld(", "/bin/sh"))
    ]  # fmt: skip
    assert others == []
    assert any("GLIBC_2." in line for line in needs)


def test_rpm_has_its_libraries_in_lib64(packages):
    names = run("rpm", "-qpl", package(packages, "rpm")).split("\n")
    assert "/usr/lib64/libmillrace.so.0" in names and "/usr/bin/millrace" in names
    assert [name for name in names if name.startswith("/usr/lib/")] == []
    provided = run("rpm", "-qp", "--provides", package(packages, "rpm"))
    assert "libmillrace.so.0" in provided and "libmillrace-openmpi" not in provided


def test_an_archive_is_unpacked_anywhere(packages, tmp_path):
    run("tar", "-xzf", package(packages, "tgz"), "-C", tmp_path)
    (root,) = tmp_path.iterdir()
    moved = root.rename(tmp_path / "elsewhere")
    host = usable("openmpi4")
    program = hosts.compile(host, hosts.ROOT / "tests/hosts/programs/hello.c", tmp_path / "hello")
    assert "MPI_Init" in hosts.run(host, 2, [moved / "bin/millrace", "--report", program]).check().stderr


def test_packages_leave_the_build_as_it_was(packages):
    cache = (hosts.BUILD / "CMakeCache.txt").read_text()
    assert "CMAKE_INSTALL_LIBDIR:PATH=lib\n" in cache
    assert str(hosts.BUILD / "lib/millrace") in run(hosts.MILLRACE, "info")
    manifest = hosts.BUILD / "install_manifest.txt"
    assert not manifest.exists() or "_CPack_Packages" not in manifest.read_text()


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    made = debian_root.make(tmp_path_factory.mktemp("debian") / "root", debian_root.own_release())
    yield made
    shutil.rmtree(made.path)


def test_deb_in_a_root_of_its_own(packages, root, tmp_path):
    """No compiler, no MPI of ours, no source: install, use, remove; nothing is left."""
    deb = package(packages, "deb")
    root.run("apt-get", "update", "-q")
    others = ["openmpi-bin", "openssh-client", "python3-numpy", "lmod"]
    root.run("apt-get", "install", "-yq", "--no-install-recommends", *others)
    shutil.copy(deb, root.path / "tmp/millrace.deb")
    before = root.names()
    root.run("apt-get", "install", "-yq", "/tmp/millrace.deb")
    assert root.run("millrace", "--version").startswith("millrace ")
    assert "libmillrace-openmpi-4.1.so" in root.run("millrace", "info", "--mpi", "openmpi", OMPI_COMM_WORLD_SIZE="1")

    program = hosts.compile(usable("openmpi4"), hosts.ROOT / "tests/hosts/programs/hello.c", tmp_path / "hello")
    shutil.copy(program, root.path / "tmp/hello")
    mpirun = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2"]
    plain = root.run(*mpirun, "/tmp/hello")
    ours = root.run(*mpirun, "millrace", "--report=/tmp/report.json", "/tmp/hello")
    assert sorted(plain.split("\n")) == sorted(ours.split("\n"))
    assert "MPI_Init" in (root.path / "tmp/report.json").read_text()

    reduced = "import millrace, numpy; print(millrace.reduce('sum', numpy.ones(3), numpy.ones(3))[0])"
    assert root.run("python3", "-c", reduced).strip() == "2.0"
    lua = 'eval "$(/usr/share/lmod/lmod/libexec/lmod sh use /usr/share/modulefiles)"; '
    lua += 'eval "$(/usr/share/lmod/lmod/libexec/lmod sh load millrace)"; echo "$CMAKE_PREFIX_PATH"'
    assert root.run("sh", "-c", lua).strip() == "/usr"

    root.run("apt-get", "purge", "-yq", "millrace")
    assert sorted(root.names() - before) == []
