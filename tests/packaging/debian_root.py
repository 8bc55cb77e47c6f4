"""A Debian of its own below a directory, by debootstrap."""

import os
import pathlib
import shutil
import subprocess

import hosts
import pytest

MINUTES = 5  # from nothing to a verdict
RELEASES = ("bullseye", "bookworm", "trixie")
PROGRAM = """
import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
data = numpy.full(20000, world.rank + 1.0)
total = numpy.empty_like(data)
for _ in range(2000):
    world.Allreduce(data, total)
    world.Barrier()
if world.rank == 0:
    print("sum", total.sum())
"""
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def run(*command, timeout=600, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=timeout, **more)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


class Root:
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


def make(path, release):
    """A Root at `path`, or a skipped test."""
    if os.geteuid() != 0:
        pytest.skip("debootstrap needs root")
    if not shutil.which("debootstrap"):
        pytest.skip("no debootstrap here: ./dev setup full")
    archive = subprocess.run([hosts.ROOT / "scripts/debian_archive.sh"], capture_output=True, text=True, check=False)
    if archive.returncode != 0:
        pytest.skip(archive.stderr.strip())
    done = subprocess.run(
        ["debootstrap", "--variant=minbase", "--include=ca-certificates", release, path, archive.stdout.strip()],
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        pytest.skip(f"debootstrap cannot run here: {done.stdout.strip().splitlines()[-1:]} {done.stderr[-200:]}")
    # Whatever this system needs to reach archives.
    for name in (
        "/etc/apt/apt.conf.d",
        "/etc/resolv.conf",
        "/etc/hosts",
        "/etc/pip.conf",
        "/etc/ssl/certs/ca-certificates.crt",
    ):
        if pathlib.Path(name).is_dir():
            shutil.copytree(name, f"{path}{name}", dirs_exist_ok=True)
        elif pathlib.Path(name).exists():
            shutil.copy(name, f"{path}{name}")
    return Root(path)
