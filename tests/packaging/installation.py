"""What `cmake --install` has made somewhere."""

import pathlib
import shutil
import subprocess

import hosts

MEMORIES = ("install_manifest.txt", "install_prefix_made.txt")  # of `uninstall`: whoever installed from here needs them


class Installation:
    """PREFIX as `cmake --install` made it, and what the build remembers of it."""

    def __init__(self, prefix, memories, environment=None):
        kept = {name: (hosts.BUILD / name).read_bytes() for name in MEMORIES if (hosts.BUILD / name).exists()}
        try:
            self.said = subprocess.run(
                ["cmake", "--install", hosts.BUILD, "--prefix", prefix],
                capture_output=True, text=True, timeout=120, check=True, env=environment,
            ).stdout  # fmt: skip
            memories.mkdir(parents=True)
            for name in MEMORIES:
                if (hosts.BUILD / name).exists():
                    shutil.copy(hosts.BUILD / name, memories)
        finally:
            for name in MEMORIES:
                (hosts.BUILD / name).unlink(missing_ok=True)
                if name in kept:
                    (hosts.BUILD / name).write_bytes(kept[name])
        self.prefix, self.memories = pathlib.Path(prefix), memories

    def uninstall(self):
        return subprocess.run(
            ["cmake", "-D", f"BUILD={self.memories}", "-P", hosts.ROOT / "cmake/uninstall.cmake"],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    def files(self):
        return sorted(path.relative_to(self.prefix) for path in self.prefix.rglob("*") if not path.is_dir())
