"""The Python package against NumPy's own arithmetic."""

import os
import pathlib
import subprocess
import sys
import threading
import time

import millrace
import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEED = 20260101
INTEGERS = [f"{sign}{size}" for sign in "iu" for size in (1, 2, 4, 8)]
FLOATS = ["f4", "f8", np.longdouble]
NUMPY = {
    "sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum,
    "band": np.bitwise_and, "bor": np.bitwise_or, "bxor": np.bitwise_xor,
}  # fmt: skip


def random_array(rng, shape, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype, endpoint=True)
    if dtype.kind == "c":
        return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)
    return rng.normal(size=shape).astype(dtype)


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
@pytest.mark.parametrize("op", list(NUMPY))
def test_same_as_numpy(op, dtype):
    if np.dtype(dtype).kind == "f" and op.startswith("b"):
        assert not millrace.supported(op, dtype)
        return
    rng = np.random.default_rng(SEED)
    for count in (2, 3, 7):
        for size in (1, 5, 64, 1001):
            arrays = [random_array(rng, size, dtype) for _ in range(count)]
            expected = arrays[0]
            for array in arrays[1:]:
                expected = NUMPY[op](expected, array)
            assert np.array_equal(millrace.reduce(op, *arrays), expected)


def test_logical_and_bool():
    a, b = np.array([0, 2, 0, 5], "i4"), np.array([0, 0, 7, 9], "i4")
    assert millrace.reduce("land", a, b).tolist() == [0, 0, 0, 1]
    assert millrace.reduce("lor", a, b).tolist() == [0, 1, 1, 1]
    assert millrace.reduce("lxor", a != 0, b != 0).tolist() == [False, True, True, False]


def test_pairs_take_the_lower_index():
    dtype = millrace.pair_dtype("f8", "i4")
    a, b = np.array([(1, 7), (2, 3)], dtype), np.array([(1, 4), (5, 9)], dtype)
    assert millrace.reduce("maxloc", a, b).tolist() == [(1, 4), (5, 9)]
    assert millrace.reduce("minloc", a, b).tolist() == [(1, 4), (2, 3)]


def test_complex_and_half():
    rng = np.random.default_rng(SEED)
    a, b = (random_array(rng, 100, "c16") for _ in range(2))
    assert np.allclose(millrace.reduce("prod", a, b), a * b)
    h, k = (random_array(rng, 100, "f2") for _ in range(2))
    assert np.array_equal(millrace.reduce("sum", h, k), (h.astype("f4") + k.astype("f4")).astype("f2"))


def test_out_is_written_in_place_and_returned():
    a, b = np.arange(12.0).reshape(3, 4), np.ones((3, 4))
    assert millrace.reduce("sum", a, b, out=a) is a
    assert a[2, 3] == 12
    f = np.asfortranarray(b)
    assert millrace.reduce("sum", f, f).flags.f_contiguous


def test_overlap_and_read_only_out():
    base = np.ones(10)
    with pytest.raises(ValueError, match="overlaps"):
        millrace.reduce("sum", base[:8], np.ones(8), out=base[2:])
    with pytest.raises(ValueError, match="overlaps"):
        millrace.reduce("sum", base, np.ones(10), np.ones(10), out=base)
    base.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        millrace.reduce("sum", base, base, out=base)


def test_the_lock_is_released():
    """Another thread makes progress while one long reduction runs."""
    arrays = [np.ones(1 << 24) for _ in range(4)]
    out = np.empty(1 << 24)
    ticks, during, stop = [0], [], threading.Event()

    def count():
        while not stop.is_set():
            ticks[0] += 1
            time.sleep(0)

    counter = threading.Thread(target=count)
    counter.start()
    try:
        for _ in range(5):
            before = ticks[0]
            millrace.reduce("sum", *arrays, out=out)
            during.append(ticks[0] - before)
    finally:
        stop.set()
        counter.join()
    assert max(during) > 1, during


def test_a_missing_library_says_how_to_name_it():
    env = {**os.environ, "MILLRACE_LIBRARY": "/nowhere/libmillrace.so.0", "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run([sys.executable, "-c", "import millrace"], env=env, capture_output=True, text=True)
    assert done.returncode != 0 and "MILLRACE_LIBRARY" in done.stderr


def test_threads_give_the_same_bits():
    rng = np.random.default_rng(SEED)
    a, b, c = (random_array(rng, 100_003, "f4") for _ in range(3))
    results = []
    try:
        for threads in (1, 3):
            millrace.use_threads(threads, 1000)
            results.append((millrace.reduce("sum", a, b), millrace.reduce("sum", a, b, c)))
        assert millrace.threads(1000) == (3, "as MILLRACE_THREADS says")
        assert millrace.threads(999)[0] == 1
    finally:
        millrace.use_threads(0)
    assert all(np.array_equal(one, three) for one, three in zip(*results, strict=True))
    with pytest.raises(ValueError, match="1025"):
        millrace.use_threads(1025)
