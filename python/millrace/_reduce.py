"""reduce(): checks what NumPy knows and the C library cannot, then hands over addresses."""

import ctypes

import numpy as np

from . import _native
from ._library import OPS as _OP_VALUES
from ._library import TYPES, check, lib
from ._words import check_array, check_native, check_same_dtype, check_same_shape, check_writeable, described

OPS = tuple(_OP_VALUES)

_LONG_DOUBLE = "f80" if TYPES and np.finfo(np.longdouble).nmant == 63 else "f128"
_KINDS = {"i": "i{}", "u": "u{}", "f": "f{}"}
# Through ctypes: below, a call takes longer than all that NumPy does.
_WORTH_CTYPES_BYTES = 65536
# What NumPy does in the same bits, by kind of dtype: not its maximum of floating point (which of two zeros?), nor its
# product of complex numbers (fused operations), nor logical ops of numbers (which give bool).
_NUMPY = {
    "sum": (np.add, "iufc"),
    "prod": (np.multiply, "iuf"),
    "max": (np.maximum, "iu"),
    "min": (np.minimum, "iu"),
    "band": (np.bitwise_and, "iu"),
    "bor": (np.bitwise_or, "iu"),
    "bxor": (np.bitwise_xor, "iu"),
}
_NUMPY_ITEM_BYTES = {"i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (4, 8), "c": (8, 16)}


def pair_dtype(value, index):
    """The dtype of MINLOC/MAXLOC elements as C lays them out: pair_dtype('f8', 'i4') is MPI_DOUBLE_INT."""
    return np.dtype([("value", value), ("index", index)], align=True)


def _scalar_type(dtype):
    """Name of the kernel type of a plain dtype, or None."""
    if not dtype.isnative:
        return None
    if dtype.name == "bfloat16":  # of the package ml_dtypes
        return "bf16"
    if dtype.kind == "b":
        return "bool8"
    if dtype == np.dtype(np.longdouble):
        return _LONG_DOUBLE if dtype.itemsize == 16 else "f64"
    if dtype == np.dtype(np.clongdouble):
        return _LONG_DOUBLE.replace("f", "c") if dtype.itemsize == 32 else "c64"
    if dtype.kind == "c":
        return f"c{dtype.itemsize * 4}"
    return _KINDS[dtype.kind].format(dtype.itemsize * 8) if dtype.kind in _KINDS else None


def _type_value(dtype):
    """Value of the kernel type of any dtype, or None."""
    name = _scalar_type(dtype)
    if dtype.names is not None and len(dtype.names) == 2:
        value, index = (dtype[field] for field in dtype.names)
        parts = _scalar_type(value), _scalar_type(index)
        laid_out_as_c = dtype == np.dtype([(dtype.names[0], value), (dtype.names[1], index)], align=True)
        name = "{}_{}".format(*parts) if all(parts) and laid_out_as_c else None
    found = TYPES.get(name)
    return found if found is not None and lib.millrace_type_bytes(found) == dtype.itemsize else None


def _op_value(op):
    try:
        return _OP_VALUES[op]
    except (KeyError, TypeError):
        raise ValueError(f"no op {op!r}; there are {', '.join(OPS)}") from None


def supported(op, dtype):
    """Whether reduce() does this op on arrays of this dtype."""
    value = _type_value(np.dtype(dtype))
    return value is not None and bool(lib.millrace_supported(_op_value(op), value))


def _numpy_is_alike(op, dtype):
    """Whether NumPy's function gives the bits of docs/semantics.md."""
    kinds = _NUMPY[op][1] if op in _NUMPY else ""
    return dtype.isnative and dtype.kind in kinds and dtype.itemsize in _NUMPY_ITEM_BYTES[dtype.kind]


def _kind(dtype):
    """Value of the kernel type, and a bit for each op that it has (none where there is no kernel)."""
    value = _type_value(dtype)
    if value is None:
        return 0, 0
    return value, sum(1 << bit for bit in _OP_VALUES.values() if lib.millrace_supported(bit, value))


def _quiet_numpy(op, a, b, out):
    """Without warnings of overflow: what a reduction says must not depend on its size."""
    with np.errstate(all="ignore"):
        _NUMPY[op][0](a, b, out=out)


def _check_dtype(op, value, name, array):
    type_value = _type_value(array.dtype)
    if type_value is not None and lib.millrace_supported(value, type_value):
        return type_value
    check_native(name, array)
    pairs = ": millrace.pair_dtype makes dtypes that have it" if op in ("maxloc", "minloc") else ""
    raise TypeError(f"{op} is not defined for dtype {array.dtype}, {described(name, array)}{pairs}")


def _orders(array):
    return [order for order, flag in (("C", "c_contiguous"), ("F", "f_contiguous")) if getattr(array.flags, flag)]


def _order(named):
    """'C' or 'F': the order in which all arrays are contiguous, so that elements correspond."""
    for order in ("C", "F"):
        if all(order in _orders(array) for _, array in named):
            return order
    for name, array in named:
        if not _orders(array):
            raise ValueError(
                f"{described(name, array)} with strides {array.strides}, not contiguous: "
                "numpy.ascontiguousarray makes a copy that is"
            )
    words = {"C": "row by row (C)", "F": "column by column (Fortran)"}
    orders = ", ".join(f"{name} {words[_orders(array)[0]]}" for name, array in named)
    raise ValueError(f"arrays must be contiguous in the same order, not {orders}: numpy.asarray(..., order='C') helps")


def _overlap_partly(left, right):
    same = left.ctypes.data == right.ctypes.data and left.nbytes == right.nbytes
    return not same and np.may_share_memory(left, right)


def reduce(op, *arrays, out=None):
    """arrays[0] op arrays[1] op ..., element by element, from the left, in one pass over all of them.

    op      one of OPS: "sum", "prod", "max", "min", "land", "lor", "lxor", "band", "bor", "bxor", "maxloc", "minloc"
    arrays  two or more of one shape and dtype, contiguous in the same order; they are not copied
    out     receives the result and is returned; a new array if None. With two arrays it may be one of them.

    Thread-safe as long as nobody writes to the arrays meanwhile; the interpreter's lock is released.
    Raises ValueError for an op, shapes or overlaps that do not fit, TypeError for dtypes without a kernel.
    """
    value = _op_value(op)
    if len(arrays) < 2:
        raise ValueError(f"reduce needs two arrays or more, not {len(arrays)}")
    inputs = [(f"arrays[{index}]", array) for index, array in enumerate(arrays)]
    named = inputs if out is None else [*inputs, ("out", out)]
    for name, array in named:
        check_array(name, array)
    first = arrays[0]
    for name, array in named[1:]:
        check_same_shape(name, array, *named[0])
    for name, array in named[1:]:
        check_same_dtype(name, array, *named[0])
    type_value = _check_dtype(op, value, *named[0])
    order = _order(named)
    if out is None:
        out = np.empty(first.shape, first.dtype, order=order)
    check_writeable("out", out)
    same_allowed = len(arrays) == 2
    for name, array in inputs:
        if _overlap_partly(array, out) or (not same_allowed and np.may_share_memory(array, out)):
            raise ValueError(f"out overlaps an input: {described(name, array)} and shares memory with out")
    if first.size == 0:
        return out
    if first.nbytes < _WORTH_CTYPES_BYTES and same_allowed and _numpy_is_alike(op, first.dtype):
        _quiet_numpy(op, *arrays, out)
        return out
    if same_allowed:
        a, b = (array.ctypes.data for array in arrays)
        check(lib.millrace_reduce3(value, type_value, a, b, out.ctypes.data, out.size))
    else:
        addresses = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
        check(lib.millrace_reduce_n(value, type_value, addresses, len(arrays), out.ctypes.data, out.size))
    return out


_general_reduce = reduce
if _native.compiled:
    _native.compiled.prepare_reductions(
        *map(_native.address, (lib.millrace_reduce3, lib.millrace_reduce_n)),
        OPS,
        _kind,
        _general_reduce,
    )
    reduce = _native.short(reduce)
