"""Arrays with any strides, and bytes at any places, packed and unpacked."""

import collections
import contextlib
import ctypes
import operator
import sys

import numpy as np

from . import _native
from ._library import check, lib
from ._words import check_array, check_same_dtype, check_same_shape, check_writeable, described

_MANY_LAYOUTS = 256  # kept by pack() and unpack()
# A call through ctypes takes longer than NumPy takes for less, and than its inner loops take for long rows. The way by
# the extension module (_native.py) has no such limits (docs/results/layouts_numpy.md).
_WORTH_BYTES = 65536
_SHORT_ROW_ITEMS = 16
_SMALL_ITEM_BYTES = 2
_MANY_SHOWN = 8  # blocks or layouts, in a repr
_PARTS = {"blocks": "blocks", "join": "layouts"}


def _signed(value):
    """An integer as C gets it: ctypes would cut one that is too large."""
    value = operator.index(value)
    if not -sys.maxsize - 1 <= value <= sys.maxsize:
        raise OverflowError(f"{value} does not fit into 63 bits")
    return value


def _counted(value, what):
    value = _signed(value)
    if value < 0:
        raise ValueError(f"{what} is negative: {value}")
    return value


class Layout:
    """Which bytes of memory are packed one after the other, in which order (docs/layouts.md). Immutable; any number of
    threads may use one.

        >>> column = Layout.strided((1000,), (8000,), 8)             # of a 1000 x 1000 matrix of doubles
        >>> structs = Layout.blocks([0, 8], [4, 11]).repeat(10, 24)  # an array of ten
        >>> view = Layout.of(np.zeros((100, 100))[::2, 5:7])         # what it shows

    Layouts that pack the same bytes in the same order are equal, however they were made. A layout is pickled as the
    calls that made it, and shown as them if they are short.
    Raises ValueError for lists of different lengths, MemoryError, OverflowError for layouts beyond 63 bits.
    """

    __slots__ = ("_address", "_as_parameter_", "_high", "_low", "_made", "_nbytes")

    def __init__(self):
        raise TypeError("Layout.of(array), Layout.strided(...), Layout.blocks(...) or Layout.join(...) make a layout")

    # made: name of the method below that was called, and its arguments.
    @classmethod
    def _make(cls, made, function, *arguments):
        handle = ctypes.c_void_p()
        check(function(*arguments, ctypes.byref(handle)))
        layout = object.__new__(cls)
        layout._as_parameter_ = handle
        layout._address = handle.value
        layout._made = made
        layout._nbytes = lib.millrace_layout_bytes(handle)
        low, high = ctypes.c_ssize_t(), ctypes.c_ssize_t()
        lib.millrace_layout_reach(handle, ctypes.byref(low), ctypes.byref(high))
        layout._low, layout._high = low.value, high.value
        return layout

    def __del__(self):
        handle = getattr(self, "_as_parameter_", None)
        if handle is not None:
            del self._as_parameter_  # before: nobody finds it afterwards
            lib.millrace_layout_free(handle)

    # A second object with the same address would free it a second time. What never changes is its own copy.
    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    # An address means nothing in another process.
    def __reduce__(self):
        return _remake, self._made

    def __eq__(self, other):
        if not isinstance(other, Layout):
            return NotImplemented
        return bool(lib.millrace_layout_equal(self, other))

    def __hash__(self):
        return hash((self._nbytes, self._low, self._high))

    def __repr__(self):
        how, *arguments = self._made
        if how == "repeat":
            layout, count, stride = arguments
            return f"{layout!r}.repeat({count}, {stride})"
        if how == "strided":
            shape, strides, itemsize = arguments
            return f"Layout.strided({shape}, {strides}, {itemsize})"
        parts, displacements = arguments if how == "join" else arguments[::-1]
        if len(displacements) > _MANY_SHOWN:
            return f"<Layout.{how} of {len(displacements)} {_PARTS[how]}, {self._nbytes} bytes packed>"
        if how == "join":
            return f"Layout.join({list(parts)!r}, {list(displacements)})"
        return f"Layout.blocks({displacements.tolist()}, {parts.tolist()})"

    # What is checked before memory is touched, and so cannot be set.
    @property
    def nbytes(self):
        """Bytes when packed."""
        return self._nbytes

    @property
    def low(self):
        """The first byte that is touched, counted from displacement 0."""
        return self._low

    @property
    def high(self):
        """Where the last byte that is touched ends."""
        return self._high

    @classmethod
    def strided(cls, shape, strides, itemsize):
        """Items of `itemsize` bytes at all multiples of the strides (bytes) in the shape, the last index fastest."""
        if len(shape) != len(strides):
            raise ValueError(f"{len(shape)} dimensions have {len(strides)} strides")
        shape = tuple(_counted(count, "a dimension") for count in shape)
        strides = tuple(map(_signed, strides))
        itemsize = _counted(itemsize, "the item size")
        counts = (ctypes.c_size_t * len(shape))(*shape)
        steps = (ctypes.c_ssize_t * len(strides))(*strides)
        made = "strided", shape, strides, itemsize
        return cls._make(made, lib.millrace_layout_strided, len(shape), counts, steps, itemsize)

    @classmethod
    def of(cls, array):
        """The items of an array in C order."""
        return cls.strided(array.shape, array.strides, array.itemsize)

    @classmethod
    def blocks(cls, displacements, lengths):
        """Block i: lengths[i] bytes at displacements[i]."""
        displacements, lengths = np.array(displacements, np.intp), np.array(lengths, np.intp)  # ours, to keep
        if displacements.shape != lengths.shape or displacements.ndim != 1:
            raise ValueError(f"displacements {displacements.shape} and lengths {lengths.shape} are not two equal lists")
        if lengths.size and lengths.min() < 0:
            raise ValueError("a length is negative")
        made = "blocks", displacements, lengths
        places, sizes = displacements.ctypes.data, lengths.ctypes.data
        return cls._make(made, lib.millrace_layout_blocks, displacements.size, places, sizes)

    def repeat(self, count, stride):
        """This layout `count` times, `stride` bytes apart."""
        count, stride = _counted(count, "the count"), _signed(stride)
        return self._make(("repeat", self, count, stride), lib.millrace_layout_repeat, self, count, stride)

    @classmethod
    def join(cls, layouts, displacements):
        """layouts[0] at displacements[0], then layouts[1] at displacements[1], and so on."""
        if len(layouts) != len(displacements):
            raise ValueError(f"{len(layouts)} layouts have {len(displacements)} displacements")
        layouts = tuple(layouts)  # they live until the call is over, whatever becomes of the list
        if not all(isinstance(layout, Layout) for layout in layouts):
            raise TypeError("join takes layouts")
        handles = (ctypes.c_void_p * len(layouts))(*(layout._as_parameter_ for layout in layouts))
        displacements = tuple(map(_signed, displacements))
        places = (ctypes.c_ssize_t * len(layouts))(*displacements)
        made = "join", layouts, displacements
        return cls._make(made, lib.millrace_layout_join, len(layouts), handles, places)

    def pack(self, buffer, offset=0, *, start=0, stop=None):
        """The packed bytes start:stop (all of them, unless said) of a contiguous buffer, as an array of uint8.
        Displacement 0 lies `offset` bytes into the buffer."""
        memory = self._memory(buffer, offset, writable=False)
        start, length = self._segment(start, stop)
        packed = np.empty(length, np.uint8)
        check(lib.millrace_layout_pack_segment(self, memory.ctypes.data + offset, start, length, packed.ctypes.data))
        return packed

    def unpack(self, packed, buffer, offset=0, *, start=0):
        """Puts packed bytes, the first of which is byte `start` of all, where they belong in a contiguous buffer, which
        does not overlap them. Bytes that are not in the layout are not written."""
        packed = np.frombuffer(packed, np.uint8)
        start, length = self._segment(start, start + packed.size)
        if length != packed.size:
            raise ValueError(f"{packed.size} bytes from {start} on are more than the {self.nbytes} bytes of the layout")
        memory = self._memory(buffer, offset, writable=True)
        base, source = memory.ctypes.data + offset, packed.ctypes.data
        if length and source < base + self.high and base + self.low < source + length:
            raise ValueError("the packed bytes overlap the buffer")
        check(lib.millrace_layout_unpack_segment(self, source, start, length, base))

    def __str__(self):
        text = ctypes.create_string_buffer(lib.millrace_layout_text(self, None, 0))
        lib.millrace_layout_text(self, text, len(text))
        return text.value.decode()

    def _segment(self, start, stop):
        if not 0 <= start <= self.nbytes:
            raise ValueError(f"there is no byte {start} in a layout of {self.nbytes} bytes")
        stop = self.nbytes if stop is None else min(stop, self.nbytes)
        return start, max(stop - start, 0)

    def _memory(self, buffer, offset, writable):
        """An array in the place of the buffer. While that lives nobody can resize the buffer or unmap it."""
        view = memoryview(buffer)
        if not view.c_contiguous and not view.f_contiguous:
            raise ValueError("the buffer is not contiguous")
        if writable and view.readonly:
            raise ValueError("the buffer is read-only")
        if writable and "O" in view.format and np.asarray(view).dtype.hasobject:
            raise TypeError("the buffer holds references to objects")
        if offset + self.low < 0 or offset + self.high > view.nbytes:
            raise ValueError(
                f"bytes {offset + self.low} to {offset + self.high} are not all in a buffer of {view.nbytes} bytes"
            )
        if view.nbytes == 0:
            return np.empty(0, np.uint8)
        return buffer if isinstance(buffer, np.ndarray) else np.frombuffer(view.cast("B"), np.uint8)


def _remake(how, *arguments):
    """For pickle: the layout that this call makes."""
    if how not in ("strided", "blocks", "repeat", "join"):
        raise ValueError(f"no layout is made by {how!r}")
    return getattr(Layout, how)(*arguments)


# By shape, strides and item size; the first made is the first to go.
_layouts: "collections.OrderedDict[tuple, Layout]" = collections.OrderedDict()


def _layout_of(array):
    key = (array.shape, array.strides, array.itemsize)
    layout = _layouts.get(key)
    if layout is None:
        layout = _layouts[key] = Layout.strided(*key)
        while len(_layouts) > _MANY_LAYOUTS:
            with contextlib.suppress(KeyError):  # another thread was faster
                _layouts.popitem(last=False)
    return layout


def _is_ours(array):
    """Whether the kernels may be used: not for references, nor for what memcpy does."""
    return not (array.dtype.hasobject or array.flags.c_contiguous)


def _is_worth_ctypes(array):
    if array.nbytes < _WORTH_BYTES:
        return False
    has_short_rows = array.ndim > 1 and array.shape[-1] <= _SHORT_ROW_ITEMS
    is_transposed = array.ndim > 1 and abs(array.strides[-1]) > min(map(abs, array.strides))
    return has_short_rows or is_transposed or array.itemsize <= _SMALL_ITEM_BYTES


def pack(array, out=None):
    """A C-contiguous copy, as numpy.ascontiguousarray makes of an array that is not contiguous; into `out` if given
    (C-contiguous, same shape and dtype, not overlapping), which is returned.

    Arrays that NumPy copies as fast, and those of objects, are left to it. Thread-safe; the interpreter's lock is
    released.
    """
    check_array("array", array)
    if out is None:
        out = np.empty(array.shape, array.dtype)
    else:
        check_array("out", out)
        _check_pair("out", out, "array", array)
        check_writeable("out", out)
    if _is_ours(array) and _is_worth_ctypes(array):
        _check_apart("out", out, "array", array)
        check(lib.millrace_layout_pack(_layout_of(array), array.ctypes.data, out.ctypes.data))
    else:
        np.copyto(out, array)
    return out


def unpack(packed, array):
    """array[...] = packed, for a C-contiguous `packed` of the same shape and dtype that does not overlap the array. The
    bytes between the items of the array are not written. Otherwise as pack()."""
    check_array("packed", packed)
    check_array("array", array)
    _check_pair("packed", packed, "array", array)
    check_writeable("array", array)
    if _is_ours(array) and _is_worth_ctypes(array):
        _check_apart("packed", packed, "array", array)
        check(lib.millrace_layout_unpack(_layout_of(array), packed.ctypes.data, array.ctypes.data))
    else:
        np.copyto(array, packed)


def _plan(array):
    """The layout of an array that the kernels copy; None for NumPy's."""
    return _layout_of(array) if _is_ours(array) else None


_general_pack, _general_unpack = pack, unpack
if _native.compiled:
    _native.compiled.prepare_copies(
        _native.address(lib.millrace_layout_pack),
        _native.address(lib.millrace_layout_unpack),
        _plan,
        _general_pack,
        _general_unpack,
    )
    pack, unpack = _native.short(pack), _native.short(unpack)


def _check_pair(packed_name, packed, name, array):
    check_same_shape(packed_name, packed, name, array)
    check_same_dtype(packed_name, packed, name, array, ValueError)
    if not packed.flags.c_contiguous:
        raise ValueError(f"{described(packed_name, packed)} with strides {packed.strides}, which must be C-contiguous")


def _check_apart(packed_name, packed, name, array):
    if np.may_share_memory(packed, array):
        raise ValueError(f"{packed_name} overlaps {name}, {described(name, array)}")
