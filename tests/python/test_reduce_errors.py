"""What reduce() says of wrong arguments, by the extension module and without it."""

import millrace
import numpy as np
import pytest
from millrace import _reduce

F4, F8 = np.ones(3, "f4"), np.ones(3)
SWAPPED = np.ones(3, ">f8")
PAIR = np.zeros(3, np.dtype([("value", "i4"), ("index", ">i4")]))


@pytest.fixture(params=["short", "general"])
def reduce(request):
    return millrace.reduce if request.param == "short" else _reduce._general_reduce


def read_only():
    array = np.ones(3)
    array.flags.writeable = False
    return array


CASES = [
    # which argument and which shape
    (("sum", F8, np.ones(4)), {}, ValueError, "shapes differ: arrays[0] is float64[3], arrays[1] is float64[4]"),
    (("sum", F8, F8, np.ones((3, 1))), {}, ValueError, "arrays[0] is float64[3], arrays[2] is float64[3, 1]"),
    (("sum", F8, F8), {"out": np.ones(2)}, ValueError, "arrays[0] is float64[3], out is float64[2]"),
    # which dtype
    (("sum", F8, F4), {}, TypeError, "dtypes differ: arrays[0] is float64[3], arrays[1] is float32[3]"),
    (("sum", F8, F8), {"out": F4.copy()}, TypeError, "arrays[0] is float64[3], out is float32[3]"),
    (("band", F8, F8), {}, TypeError, "band is not defined for dtype float64, arrays[0] is float64[3]"),
    (("sum", np.array(["a"]), np.array(["b"])), {}, TypeError, "arrays[0] is <U1[1]"),
    (("sum", np.array([None]), np.array([1])), {}, TypeError, "dtypes differ: arrays[0] is object[1]"),
    (
        ("maxloc", F8, F8),
        {},
        TypeError,
        "maxloc is not defined for dtype float64, arrays[0] is float64[3]: millrace.pair",
    ),
    # whose bytes are in which order
    (
        ("sum", SWAPPED, SWAPPED),
        {},
        TypeError,
        "arrays[0] is >f8[3], whose bytes are not in this machine's order (little",
    ),
    (("sum", SWAPPED, SWAPPED), {}, TypeError, ".astype('float64') makes a copy"),
    (("sum", F8, SWAPPED), {}, TypeError, "arrays[1] is >f8[3]: the bytes of arrays[1] are in the other order"),
    (("sum", SWAPPED, F8), {}, TypeError, "the bytes of arrays[0] are in the other order, .astype('float64')"),
    (("sum", F8, F8), {"out": SWAPPED.copy()}, TypeError, "the bytes of out are in the other order"),
    (("maxloc", PAIR, PAIR), {}, TypeError, "whose bytes are not in this machine's order"),
    # which lies how
    (
        ("sum", np.ones(6)[::2], F8),
        {},
        ValueError,
        "arrays[0] is float64[3] with strides (16,), not contiguous: numpy.asc",
    ),
    (("sum", F8, F8), {"out": np.ones(6)[::2]}, ValueError, "out is float64[3] with strides (16,), not contiguous"),
    (
        ("sum", np.ones((2, 3)), np.ones((3, 2)).T),
        {},
        ValueError,
        "arrays[0] row by row (C), arrays[1] column by column",
    ),
    # what is no argument
    (("plus", F8, F8), {}, ValueError, "no op 'plus'; there are sum, prod"),
    ((["sum"], F8, F8), {}, ValueError, "no op ['sum']"),
    (("sum", F8), {}, ValueError, "two arrays or more, not 1"),
    (("sum",), {}, ValueError, "two arrays or more, not 0"),
    ((), {}, TypeError, "op"),
    (("sum", F8, F8), {"into": F8}, TypeError, "into"),
    (("sum", F8, [1, 2, 3]), {}, TypeError, "arrays[1] is of type list, not a numpy array: numpy.asarray makes one"),
    (("sum", 1.0, F8), {}, TypeError, "arrays[0] is of type float"),
    (("sum", F8, F8), {"out": [0, 0, 0]}, TypeError, "out is of type list"),
    (("sum", F8, np.ma.masked_all(3)), {}, TypeError, "arrays[1] is a MaskedArray, whose mask would be ignored"),
    # what must not be written
    (("sum", F8, F8), {"out": read_only()}, ValueError, "out is read-only: out is float64[3]"),
]


@pytest.mark.parametrize("arguments,named,error,words", CASES, ids=[case[3] for case in CASES])
def test_errors_name_what_is_wrong(reduce, arguments, named, error, words):
    with pytest.raises(error) as caught:
        reduce(*arguments, **named)
    assert words in str(caught.value), caught.value


@pytest.mark.parametrize("count", [2, 3])
def test_an_output_that_overlaps_says_which_input(reduce, count):
    base = np.ones(10)
    arrays = [np.ones(8)] * (count - 1) + [base[:8]]
    with pytest.raises(ValueError, match=rf"out overlaps an input: arrays\[{count - 1}\] is float64\[8\]"):
        reduce("sum", *arrays, out=base[2:])
    assert np.all(base == 1)


def test_supported_names_the_ops():
    with pytest.raises(ValueError, match="no op 'mean'; there are sum"):
        millrace.supported("mean", "f8")
