"""reduce(): checks what NumPy knows and the C library cannot, then hands over addresses."""

import ctypes

import numpy as np

from ._library import OPS as _OP_VALUES
from ._library import TYPES, check, lib

OPS = tuple(_OP_VALUES)

_LONG_DOUBLE = "f80" if TYPES and np.finfo(np.longdouble).nmant == 63 else "f128"
_KINDS = {"i": "i{}", "u": "u{}", "f": "f{}"}


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


def _described(arrays):
    return ", ".join(f"{array.dtype}{list(array.shape)}" for array in arrays)


def _order(arrays):
    """'C' or 'F': the order in which all arrays are contiguous, so that elements correspond."""
    for order, flag in (("C", "c_contiguous"), ("F", "f_contiguous")):
        if all(getattr(array.flags, flag) for array in arrays):
            return order
    strides = ", ".join(str(array.strides) for array in arrays)
    raise ValueError(
        f"arrays must be contiguous, all in the same order; shape {arrays[0].shape} with strides {strides}: "
        "numpy.ascontiguousarray makes a copy that is"
    )


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
    for array in (*arrays, *(() if out is None else (out,))):
        if not isinstance(array, np.ndarray):
            raise TypeError(f"reduce works on numpy arrays, not {type(array).__name__}")
    first = arrays[0]
    everything = (*arrays, *(() if out is None else (out,)))
    if any(array.shape != first.shape for array in everything):
        raise ValueError(f"shapes differ: {_described(everything)}")
    if any(array.dtype != first.dtype for array in everything):
        raise TypeError(f"dtypes differ: {_described(everything)}")
    type_value = _type_value(first.dtype)
    if type_value is None or not lib.millrace_supported(value, type_value):
        raise TypeError(f"{op} is not defined for dtype {first.dtype}")
    order = _order(everything)
    if out is None:
        out = np.empty(first.shape, first.dtype, order=order)
    elif not out.flags.writeable:
        raise ValueError("out is read-only")
    same_allowed = len(arrays) == 2
    for array in arrays:
        if _overlap_partly(array, out) or (not same_allowed and np.may_share_memory(array, out)):
            raise ValueError(f"out overlaps an input of {_described([array])}")
    if first.size == 0:
        return out
    if same_allowed:
        a, b = (array.ctypes.data for array in arrays)
        check(lib.millrace_reduce3(value, type_value, a, b, out.ctypes.data, out.size))
    else:
        inputs = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
        check(lib.millrace_reduce_n(value, type_value, inputs, len(arrays), out.ctypes.data, out.size))
    return out
