"""libmillrace.so through ctypes, which releases the interpreter's lock during each call."""

import ctypes
import ctypes.util
import os
import pathlib


class LibraryNotFound(ImportError):
    """libmillrace.so is not where it was looked for."""


def _candidates():
    """MILLRACE_LIBRARY, the build tree that this package lies in, an installation around it, the system's own."""
    if named := os.environ.get("MILLRACE_LIBRARY"):
        yield named
        return
    here = pathlib.Path(__file__).resolve()
    for above in here.parents:
        for directory in ("lib", "lib64", "build/lib", "lib/*-linux-gnu*"):  # the last is Debian's
            yield from above.glob(f"{directory}/libmillrace.so.0")
    if found := ctypes.util.find_library("millrace"):
        yield found
    yield "libmillrace.so.0"


def _load():
    errors = []
    for candidate in _candidates():
        try:
            return ctypes.CDLL(str(candidate))
        except OSError as error:
            errors.append(str(error))
    reason = errors[0] if errors else "no candidates"
    raise LibraryNotFound(f"libmillrace.so.0: {reason}; name its path in MILLRACE_LIBRARY")


lib = _load()
_buffer, _size = ctypes.c_void_p, ctypes.c_size_t
lib.millrace_reduce3.argtypes = [ctypes.c_int, ctypes.c_int, _buffer, _buffer, _buffer, _size]
lib.millrace_reduce_n.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.POINTER(_buffer), _size, _buffer, _size]
lib.millrace_supported.argtypes = [ctypes.c_int, ctypes.c_int]
lib.millrace_type_bytes.argtypes = [ctypes.c_int]
lib.millrace_type_bytes.restype = _size
lib.millrace_use_isa.argtypes = [ctypes.c_char_p]
_layout, _made = ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)
lib.millrace_layout_strided.argtypes = [_size, ctypes.POINTER(_size), ctypes.POINTER(ctypes.c_ssize_t), _size, _made]
lib.millrace_layout_blocks.argtypes = [_size, _buffer, _buffer, _made]
lib.millrace_layout_repeat.argtypes = [_layout, _size, ctypes.c_ssize_t, _made]
lib.millrace_layout_join.argtypes = [_size, ctypes.POINTER(_layout), ctypes.POINTER(ctypes.c_ssize_t), _made]
lib.millrace_layout_free.argtypes = [_layout]
lib.millrace_layout_free.restype = None
lib.millrace_layout_bytes.argtypes = [_layout]
lib.millrace_layout_bytes.restype = _size
lib.millrace_layout_reach.argtypes = [_layout, ctypes.POINTER(ctypes.c_ssize_t), ctypes.POINTER(ctypes.c_ssize_t)]
lib.millrace_layout_reach.restype = None
for _name in ("millrace_layout_pack", "millrace_layout_unpack"):
    getattr(lib, _name).argtypes = [_layout, _buffer, _buffer]
lib.millrace_layout_pack_segment.argtypes = [_layout, _buffer, _size, _size, _buffer]
lib.millrace_layout_unpack_segment.argtypes = [_layout, _buffer, _size, _size, _buffer]
lib.millrace_layout_equal.argtypes = [_layout, _layout]
lib.millrace_layout_text.argtypes = [_layout, ctypes.c_char_p, _size]
lib.millrace_layout_text.restype = _size
lib.millrace_use_threads.argtypes = [ctypes.c_uint, _size]
lib.millrace_threads.argtypes = [_size, ctypes.POINTER(ctypes.c_char_p)]
lib.millrace_threads.restype = ctypes.c_uint
for _name in ("millrace_op_name", "millrace_type_name", "millrace_status_text"):
    getattr(lib, _name).argtypes = [ctypes.c_int]
for _name in ("millrace_op_name", "millrace_type_name", "millrace_status_text", "millrace_isa", "millrace_version"):
    getattr(lib, _name).restype = ctypes.c_char_p


def _names(function):
    """name -> value of an enumeration that counts from 0."""
    found = {}
    while name := function(len(found)):
        found[name.decode()] = len(found)
    return found


OPS = _names(lib.millrace_op_name)
TYPES = _names(lib.millrace_type_name)


_TOO_LARGE, _NO_MEMORY = 8, 9  # millrace_status


def check(status):
    if status == _TOO_LARGE:
        raise OverflowError("libmillrace: the layout needs more than 63 bits")
    if status == _NO_MEMORY:
        raise MemoryError("libmillrace")
    if status != 0:
        raise RuntimeError(f"libmillrace: {lib.millrace_status_text(status).decode()}")


def version():
    """Version of the library."""
    return lib.millrace_version().decode()


def isa():
    """The instruction set in use: 'avx512', 'sve', ..."""
    return lib.millrace_isa().decode()


def use_isa(setting):
    """Chooses the instruction set: 'auto', a name as isa() gives it, or '128', '256', '512' as a limit in bits."""
    if lib.millrace_use_isa(setting.encode()) != 0:
        raise ValueError(f"instruction set {setting!r} is unknown or cannot run here; in use: {isa()}")


def use_threads(threads, least_bytes=0):
    """Threads of reductions of `least_bytes` (0: 8 MiB) and more: 0 uses idle cores, 1 never splits, else that many."""
    if not 0 <= threads <= 1024 or least_bytes < 0:
        raise ValueError(f"threads must be 0 to 1024, not {threads}, and least_bytes not negative, not {least_bytes}")
    check(lib.millrace_use_threads(threads, least_bytes))


def threads(array_bytes):
    """How many threads a reduction of arrays of so many bytes would use now, and why."""
    why = ctypes.c_char_p()
    return lib.millrace_threads(array_bytes, ctypes.byref(why)), why.value.decode()
