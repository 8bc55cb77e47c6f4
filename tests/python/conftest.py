"""The package of this tree, with the library of this build."""

import os
import pathlib
import sys

import hosts

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("MILLRACE_LIBRARY", str(hosts.BUILD / "lib" / "libmillrace.so.0"))
sys.path.insert(0, str(ROOT / "python"))
