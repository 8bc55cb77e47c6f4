"""`python -m millrace`: the launcher, also where its directory is not in PATH.

`millrace` itself starts sooner, which counts in front of the program of each rank: this way NumPy is loaded first.
"""

import os
import pathlib
import sys


def _launcher():
    """That of the build tree that this package lies in, or of the installation around it."""
    for above in pathlib.Path(__file__).resolve().parents:
        for name in ("bin/millrace", "build/millrace"):
            if os.access(above / name, os.X_OK) and (above / name).is_file():
                return str(above / name)
    return sys.exit("python -m millrace: the launcher, bin/millrace, is in no directory above the package")


if __name__ == "__main__":
    os.execv(_launcher(), [_launcher(), *sys.argv[1:]])
