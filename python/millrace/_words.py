"""What is wrong with an argument, in words: which one, its shape, its dtype, the order of its bytes."""

import sys

import numpy as np


def described(name, array):
    """'arrays[1] is float64[3, 4]'"""
    return f"{name} is {array.dtype}{list(array.shape)}"


def check_array(name, given):
    if not isinstance(given, np.ndarray):
        raise TypeError(f"{name} is of type {type(given).__name__}, not a numpy array: numpy.asarray makes one")
    if isinstance(given, np.ma.MaskedArray):
        raise TypeError(f"{name} is a {type(given).__name__}, whose mask would be ignored: its .data has none")


def check_same_shape(name, array, other_name, other):
    if array.shape != other.shape:
        raise ValueError(f"shapes differ: {described(other_name, other)}, {described(name, array)}")


def _other_order(dtype):
    """Whether numbers of it lie in the order of bytes that this machine does not have."""
    return not dtype.isnative


def check_same_dtype(name, array, other_name, other, error=TypeError):
    if array.dtype == other.dtype:
        return
    text = f"dtypes differ: {described(other_name, other)}, {described(name, array)}"
    if array.dtype.newbyteorder() == other.dtype:
        swapped = name if _other_order(array.dtype) else other_name
        text += f": the bytes of {swapped} are in the other order, .astype({_native(array.dtype)!r}) makes a copy"
    raise error(text)


def check_native(name, array):
    if _other_order(array.dtype):
        raise TypeError(
            f"{described(name, array)}, whose bytes are not in this machine's order ({sys.byteorder}-endian): "
            f".astype({_native(array.dtype)!r}) makes a copy whose bytes are"
        )


def _native(dtype):
    native = dtype.newbyteorder("=")
    return native.name if native.names is None else native


def check_writeable(name, array):
    if not array.flags.writeable:
        raise ValueError(f"{name} is read-only: {described(name, array)}")
