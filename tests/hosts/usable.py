"""Whether a host can be tested on this machine."""

import os
import subprocess

import hosts
import pytest

NOBODY = 65534


def usable(name):
    """The host, if it can exist on this machine. A host that was merely not installed is a failure, not a skip."""
    host = hosts.get(name)
    why = host.missing()
    if why and "exists for" in why:
        pytest.skip(why)
    assert why is None, why
    return host


def _said_by(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    return None if done.returncode == 0 else done.stderr.strip() or f"{command[0]} ended with {done.returncode}"


def why_no_mounts_of_its_own():
    """Why a program cannot have mounts of its own here, or None. In a chroot the root has to be one."""
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    why = _said_by("unshare", "--mount", *as_root, "true")
    return f"no mounts of one's own here: {why}" if why else None


def why_no_other_user():
    """Why a program cannot run as another user here, or None: a checkout within /root is hidden from others."""
    if os.geteuid() != 0:
        return "other users need root"
    others = [f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    why = _said_by("setpriv", *others, "test", "-x", str(hosts.ROOT / "dev"))
    return f"other users cannot read the checkout: {why}" if why else None
