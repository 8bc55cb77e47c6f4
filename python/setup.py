"""Gives the package the project's one version number, and a wheel what is not Python; the rest is in pyproject.toml."""

import os
import pathlib
import re

import setuptools

LISTS = pathlib.Path(__file__).resolve().parent.parent / "CMakeLists.txt"

# `./dev package wheel` names an installation. The launcher, the preloads and the library lie in an environment as they
# do there, so that they find each other. Manual pages stay out: pip would leave their empty directories behind. A wheel
# can hold no links: the library has the name that programs ask for, and nothing to compile with is there.
PARTS = {
    "bin/*": "bin",
    "lib/libmillrace.so.?": "lib",
    "lib/millrace/*.so": "lib/millrace",
    "share/millrace/check/*": "lib/millrace/check",
}


def installed():
    prefix = pathlib.Path(os.environ["MILLRACE_INSTALLED"])
    return [(to, sorted(str(path) for path in prefix.glob(pattern))) for pattern, to in PARTS.items()]


setuptools.setup(
    version=re.search(r"^project\(millrace VERSION ([\d.]+)", LISTS.read_text(), re.MULTILINE)[1],
    data_files=installed() if "MILLRACE_INSTALLED" in os.environ else [],
)
