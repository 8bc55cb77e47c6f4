"""The extension module of pack() and unpack(), compiled for one version of Python, beside libmillrace.so."""

import importlib.machinery
import importlib.util
import pathlib

from ._library import lib


def _candidates():
    """In the package, as in an installed wheel, or in the directory of the preloads next to the library."""
    for suffix in importlib.machinery.EXTENSION_SUFFIXES:
        for directory in (pathlib.Path(__file__).parent, pathlib.Path(lib._name).parent / "millrace"):
            yield directory / f"_copies{suffix}"


def load():
    """The module, or None where there is none for this Python and NumPy: then every call goes through ctypes."""
    for path in _candidates():
        if path.is_file():
            spec = importlib.util.spec_from_file_location("millrace._copies", path)
            try:
                module = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(module)
            except ImportError:  # another NumPy than it was made for
                continue
            return module
    return None
