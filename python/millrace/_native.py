"""The extension module: the short ways of reduce(), pack() and unpack(), for any Python with the stable ABI."""

import ctypes
import importlib.machinery
import importlib.util
import inspect
import pathlib

from ._library import lib


def _candidates():
    """In the package, as in an installed wheel, or in the directory of the preloads next to the library."""
    for suffix in importlib.machinery.EXTENSION_SUFFIXES:
        for directory in (pathlib.Path(__file__).parent, pathlib.Path(lib._name).parent / "millrace"):
            yield directory / f"_compiled{suffix}"


def _load():
    for path in _candidates():
        if path.is_file():
            spec = importlib.util.spec_from_file_location("millrace._compiled", path)
            try:
                module = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(module)
            except ImportError:  # another NumPy than it was made for
                continue
            return module  # importing has put it where pickle looks for its functions
    return None


# None where there is no module for this Python and NumPy: then every call goes through ctypes.
compiled = _load()


def address(function):
    return ctypes.cast(function, ctypes.c_void_p).value


def short(general):
    """The short way of a function, with its signature and words; the function itself where there is none."""
    if compiled is None:
        return general
    name = general.__name__
    compiled.describe(name, f"{name}{inspect.signature(general)}\n--\n\n{inspect.getdoc(general)}".encode())
    return getattr(compiled, name)
