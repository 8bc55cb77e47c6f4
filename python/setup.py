"""Gives the package the project's one version number; everything else is in pyproject.toml."""

import pathlib
import re

import setuptools

LISTS = pathlib.Path(__file__).resolve().parent.parent / "CMakeLists.txt"

setuptools.setup(version=re.search(r"^project\(millrace VERSION ([\d.]+)", LISTS.read_text(), re.MULTILINE)[1])
