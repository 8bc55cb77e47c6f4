"""A hostile user of the machine: takes what a job of USER might look for, says "ready", holds it until its input ends.

squatter.py names JOB USER        listens on the abstract sockets that ranks of the job JOB were once known by
squatter.py full JOB USER         likewise, rank 0's, with the queue filled: who connects is told to try again
squatter.py directories JOB USER  makes the directories of USER below the places that anybody may write to, open to all
squatter.py links JOB USER        likewise, as links to a directory of its own
"""

import contextlib
import os
import shutil
import socket
import sys
import tempfile

VERSIONS = [f"{major}.{minor}.{patch}" for major in range(2) for minor in range(12) for patch in range(4)]
PLACES = ("/dev/shm", "/tmp", "/var/tmp")


def take_names(job, is_full):
    """All of them, or only rank 0's, so that the other ranks take it for this process."""
    held = []
    for version in VERSIONS:
        for rank in range(1 if is_full else 4):
            for what in ("present",) if is_full else ("present", "threads"):
                name = f"\0millrace/{version}/2/pmix-{job}/{rank}/{what}"
                listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                with contextlib.suppress(OSError):
                    listener.bind(name)
                    listener.listen(0)
                    if is_full:
                        held += [fill(name), fill(name)]
                    held.append(listener)
    return held


def fill(name):
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.setblocking(False)
    with contextlib.suppress(OSError):
        client.connect(name)
    return client


def take_directories(user, make):
    made = []
    for place in PLACES:
        for suffix in ("", ".0", ".1", ".2", ".3"):
            path = f"{place}/millrace-{user}{suffix}"
            with contextlib.suppress(OSError):
                make(path)
                made.append(path)
    return made


def main():
    how, job, user = sys.argv[1:]
    made, own = [], None
    if how in ("names", "full"):
        held = take_names(job, how == "full")  # noqa: F841
    elif how == "directories":
        made = take_directories(user, lambda path: (os.mkdir(path), os.chmod(path, 0o777)))
    else:
        own = tempfile.mkdtemp()
        os.chmod(own, 0o777)
        made = take_directories(user, lambda path: os.symlink(own, path))
    print("ready", flush=True)
    sys.stdin.read()
    for path in made:
        shutil.rmtree(path) if not os.path.islink(path) else os.unlink(path)
    if own:
        shutil.rmtree(own)


if __name__ == "__main__":
    main()
