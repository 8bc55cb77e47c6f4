"""reduce() by the extension module, through ctypes and by NumPy: the same results whichever way is taken."""

import functools
import inspect
import pickle
import sys
import threading
import warnings

import millrace
import numpy as np
import pytest
from millrace import _native, _reduce
from millrace._library import OPS, lib

SEED = 20260102
FOLDS = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum, "bxor": np.bitwise_xor}
ALIKE = [
    (op, np.dtype(f"{kind}{size}"))
    for op, (_, kinds) in _reduce._NUMPY.items()
    for kind in kinds
    for size in _reduce._NUMPY_ITEM_BYTES[kind]
]


@pytest.fixture(params=["short", "general"])
def reduce(request):
    return millrace.reduce if request.param == "short" else _reduce._general_reduce


def test_the_short_way_is_there_for_every_python():
    assert millrace.reduce is _native.compiled.reduce
    assert _native.compiled.__file__.endswith(".abi3.so")


def test_the_short_way_looks_like_the_general_one():
    for short, general in ((millrace.reduce, _reduce._general_reduce), (millrace.pack, millrace._layout._general_pack)):
        assert inspect.signature(short) == inspect.signature(general)
        assert inspect.getdoc(short) == inspect.getdoc(general)


def test_functions_can_be_sent_to_other_processes():
    add = pickle.loads(pickle.dumps(functools.partial(millrace.reduce, "sum")))
    assert add(np.ones(3), np.ones(3)).tolist() == [2, 2, 2]


def random_arrays(rng, count):
    """Arrays of any shape, contiguous in the same order, and what they are."""
    dtype = rng.choice(["i1", "u2", "i4", "u8", "f4", "f8"])
    shape = tuple(int(n) for n in rng.integers(0, 7, rng.integers(0, 4)))
    order = rng.choice(["C", "F"])
    values = [rng.integers(-3, 4, shape).astype(dtype) for _ in range(count)]
    return [np.asarray(value, order=order) for value in values], dtype


def test_shapes_orders_and_outputs_of_all_kinds(reduce):
    rng = np.random.default_rng(SEED)
    counts = set()
    for _ in range(600):
        count = int(rng.choice([2, 2, 2, 3, 4, 9, 70]))
        arrays, dtype = random_arrays(rng, count)
        op = rng.choice([op for op in FOLDS if millrace.supported(op, dtype)])
        expected = functools.reduce(FOLDS[op], arrays)
        kind = rng.choice(["new", "own", "left", "right"])
        out = {"new": None, "own": np.empty_like(arrays[0]), "left": arrays[0], "right": arrays[1]}[kind]
        if count > 2 and kind in ("left", "right"):
            out = None
        result = reduce(str(op), *arrays, out=out)
        assert out is None or result is out
        assert result.dtype == dtype and result.shape == arrays[0].shape
        assert result.flags.c_contiguous == arrays[0].flags.c_contiguous
        assert np.array_equal(result, expected), (op, dtype, count, kind)
        counts.add((count, kind))
    assert len(counts) > 12


def test_names_that_are_not_literals(reduce):
    for name in ("".join(["s", "um"]), type("Text", (str,), {})("sum")):
        assert reduce(name, np.ones(2), np.ones(2)).tolist() == [2, 2]


def test_arrays_of_subclasses_are_read_as_plain_ones(reduce):
    class Own(np.ndarray):
        pass

    result = reduce("sum", np.ones(3).view(Own), np.ones(3))
    assert result.tolist() == [2, 2, 2] and type(result) is np.ndarray


def test_dtypes_that_are_equal_but_not_the_same_object(reduce):
    left, right = (np.ones(3, np.dtype([("value", "f8"), ("index", "i4")], align=True)) for _ in range(2))
    assert left.dtype is not right.dtype
    assert reduce("minloc", left, right).tolist() == [(1, 1)] * 3


def test_dtypes_that_come_and_go_are_never_taken_for_one_another():
    """More than the short way remembers, from several threads."""
    wrong = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(3000):
            value = str(rng.choice(["i4", "f4", "f8"]))
            dtype = millrace.pair_dtype(value, "i4")
            a, b = np.zeros(2, dtype), np.ones(2, dtype)
            if millrace.reduce("maxloc", a, b).tolist() != [(1, 1)] * 2:
                wrong.append(value)

    threads = [threading.Thread(target=work, args=(SEED + i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_nothing_is_kept_alive_but_dtypes():
    a, b, out = np.ones(5), np.ones(5), np.ones(5)
    before = [sys.getrefcount(array) for array in (a, b, out)]
    for _ in range(100):
        millrace.reduce("sum", a, b)
        millrace.reduce("sum", a, b, out=out)
        with pytest.raises(ValueError):
            millrace.reduce("sum", a, b[:2], out=out)
    assert [sys.getrefcount(array) for array in (a, b, out)] == before


def test_bfloat16(reduce):
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    a, b = (np.array(values, bfloat16) for values in ([1, 2, 3], [0.5, 256, -3]))
    assert reduce("sum", a, b).tolist() == (a.astype("f4") + b.astype("f4")).astype(bfloat16).tolist()
    assert reduce("max", a, a, b).dtype == bfloat16


def test_half_precision_is_rounded_once_a_step(reduce):
    rng = np.random.default_rng(SEED)
    arrays = [rng.normal(size=1000).astype("f2") for _ in range(4)]
    step = functools.partial(
        functools.reduce, lambda left, right: (left.astype("f4") + right.astype("f4")).astype("f2")
    )
    assert reduce("sum", *arrays).tobytes() == step(arrays).tobytes()


def corner_values(dtype, elements):
    """Every pair of values at which functions like to differ, then random bits."""
    rng = np.random.default_rng(SEED)
    bits = rng.integers(0, 256, elements * dtype.itemsize, np.uint8)
    array = bits.view(dtype).copy()
    if dtype.kind in "fc":
        part = np.finfo(dtype)
        numbers = [0.0, -0.0, 1, -1, part.max, part.min, part.tiny, part.smallest_subnormal, np.inf, -np.inf]
        flat = array.view(part.dtype)
        flat[~np.isfinite(flat)] = 1  # which NaN an operation makes is left open
        values = np.array(numbers, part.dtype)
    else:
        values = np.array([0, 1, np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
    return array, values


def by_kernel(op, a, b):
    out = np.empty_like(a)
    value = _reduce._type_value(a.dtype)
    assert lib.millrace_reduce3(OPS[op], value, a.ctypes.data, b.ctypes.data, out.ctypes.data, a.size) == 0
    return out


def nan_as_one(array):
    """The bits, with every NaN the same."""
    parts = array.view(np.finfo(array.dtype).dtype) if array.dtype.kind in "fc" else array
    return np.where(parts != parts, parts.dtype.type(0) / parts.dtype.type(1), parts), parts != parts


@pytest.mark.parametrize("op,dtype", ALIKE, ids=[f"{op}-{dtype}" for op, dtype in ALIKE])
def test_numpy_has_the_bits_of_the_kernels_where_it_is_asked(op, dtype):
    array, values = corner_values(dtype, 4096)
    flat = array.view(values.dtype)
    a = np.concatenate([flat, np.repeat(values, len(values))])
    b = np.concatenate([flat[::-1], np.tile(values, len(values))])
    a, b = (side[: side.size // 2 * 2].view(dtype) for side in (a, b))
    out = np.empty_like(a)
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        _reduce._quiet_numpy(op, a, b, out)
    (ours, our_nans), (numpys, numpy_nans) = nan_as_one(by_kernel(op, a, b)), nan_as_one(out)
    assert np.array_equal(our_nans, numpy_nans) and ours.tobytes() == numpys.tobytes()


def test_what_numpy_does_otherwise_is_not_asked_of_it():
    assert not _reduce._numpy_is_alike("prod", np.dtype("c8"))
    assert not _reduce._numpy_is_alike("max", np.dtype("f8"))
    assert not _reduce._numpy_is_alike("sum", np.dtype("f2"))
    assert not _reduce._numpy_is_alike("land", np.dtype("i4"))
    assert not _reduce._numpy_is_alike("sum", np.dtype(">f8"))


@pytest.fixture
def asked(monkeypatch):
    """Sizes of the arrays that NumPy was asked to add."""
    sizes = []

    def add(a, b, out):
        sizes.append(a.nbytes)
        return np.add(a, b, out=out)

    monkeypatch.setitem(_reduce._NUMPY, "sum", (add, "iufc"))
    return sizes


def test_numpy_is_asked_where_a_call_through_ctypes_takes_longer(asked, reduce):
    for nbytes in (65528, 65536, 8 << 20):
        array = np.ones(nbytes // 8)
        assert np.all(reduce("sum", array, array) == 2)
    assert asked == ([] if reduce is millrace.reduce else [65528])
    asked.clear()
    reduce("sum", *[np.ones(10)] * 3)
    assert asked == []  # three arrays in one pass: nobody does that faster


def test_a_failing_way_by_numpy_is_an_error_and_not_a_result(monkeypatch):
    def fail(a, b, out):
        raise MemoryError("no room")

    monkeypatch.setitem(_reduce._NUMPY, "sum", (fail, "iufc"))
    with pytest.raises(MemoryError, match="no room"):
        _reduce._general_reduce("sum", np.ones(10), np.ones(10))


@pytest.mark.parametrize("elements", [10, 1 << 19])
def test_sums_beyond_the_range_warn_of_nothing(reduce, elements):
    before = np.geterr()
    largest = np.full(elements, np.finfo("f8").max)
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        assert np.all(np.isinf(reduce("sum", largest, largest)))
    assert np.geterr() == before


@pytest.mark.parametrize("elements", [10, 1 << 20])
def test_several_threads_at_a_time(reduce, elements):
    array, right = np.ones(elements), []

    def work():
        for _ in range(20):
            right.append(reduce("sum", array, array)[-1] == 2)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 80
