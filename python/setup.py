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
    "bin": ["bin/*"],
    "lib": ["lib/libmillrace.so.?"],
    "lib/millrace": ["lib/millrace/millrace-tools", "lib/millrace/*.so"],
    "lib/millrace/check": ["share/millrace/check/*"],
}


def installed():
    prefix = pathlib.Path(os.environ["MILLRACE_INSTALLED"])
    return [
        (to, sorted(str(path) for pattern in patterns for path in prefix.glob(pattern)))
        for to, patterns in PARTS.items()
    ]


setuptools.setup(
    version=re.search(r"^project\(millrace VERSION ([\d.]+)", LISTS.read_text(), re.MULTILINE)[1],
    data_files=installed() if "MILLRACE_INSTALLED" in os.environ else [],
)
