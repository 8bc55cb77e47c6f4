"""Packages: what is in them, and, in a root of Debian that holds nothing else, installing, using and removing one."""

import os
import pathlib
import shutil
import subprocess

import hosts
import pytest
from usable import usable

pytestmark = pytest.mark.full
KINDS = {"deb": "dpkg-deb", "rpm": "rpmbuild", "tgz": "tar"}


def run(*command, timeout=600, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=timeout, **more)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


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


class Root:
    """A system of its own, below a directory."""

    def __init__(self, path):
        self.path = path

    def run(self, *words, **more):
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive"}
        environment |= {"LC_ALL": "C.UTF-8", "HOME": "/root", **more}
        # Mounts of its own, so that nothing has to be unmounted whatever happens.
        mounts = 'mount -t proc proc "$0/proc" && mount -t tmpfs tmpfs "$0/dev/shm" && exec chroot "$0" "$@"'
        return run("unshare", "--mount", "sh", "-c", mounts, self.path, *words, env=environment)

    def names(self):
        """All files but what apt and the dynamic loader keep for themselves."""
        said = self.run("find", "/usr", "/etc", "/opt", "/root", "-not", "-name", "__pycache__")
        return {name for name in said.split("\n") if "/ld.so.cache" not in name}


def mirror():
    targets = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(SITE) $(RELEASE)", "Created-By: Packages"],
        capture_output=True, text=True, check=False,
    ).stdout.split("\n")  # fmt: skip
    release = run("sh", "-c", '. /etc/os-release; echo "$VERSION_CODENAME"').strip()
    sites = [line.split()[0] for line in targets if line.endswith(f" {release}")]
    return (sites[0], release) if sites else (None, release)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    if os.geteuid() != 0:
        pytest.skip("debootstrap needs root")
    if not shutil.which("debootstrap"):
        pytest.skip("no debootstrap here: ./dev setup full")
    site, release = mirror()
    if not site:
        pytest.skip(f"apt knows no archive of {release}")
    path = tmp_path_factory.mktemp("debian") / "root"
    done = subprocess.run(
        ["debootstrap", "--variant=minbase", "--include=ca-certificates", release, path, site],
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        pytest.skip(f"debootstrap cannot run here: {done.stdout.strip().splitlines()[-1:]} {done.stderr[-200:]}")
    # Whatever this system's apt needs to reach its archive.
    for name in ("/etc/apt/apt.conf.d", "/etc/resolv.conf", "/etc/hosts"):
        if pathlib.Path(name).is_dir():
            shutil.copytree(name, f"{path}{name}", dirs_exist_ok=True)
        elif pathlib.Path(name).exists():
            shutil.copy(name, f"{path}{name}")
    yield Root(path)
    shutil.rmtree(path)


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
