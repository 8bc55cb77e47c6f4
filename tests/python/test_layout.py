"""Layouts in Python against NumPy's own indexing."""

import copy
import os
import pathlib
import subprocess
import sys
import threading

import millrace
import numpy as np
import pytest
from millrace import _layout, _native

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEED = 20260101


@pytest.fixture(params=["kernels", "kernels by ctypes", "as shipped", "as shipped by ctypes"])
def threshold(request, monkeypatch):
    """All arrays go through the kernels, or those that do for users; by either way into the library."""
    if "kernels" in request.param:
        monkeypatch.setattr(_layout, "_is_ours", lambda array: not array.dtype.hasobject)
        monkeypatch.setattr(_layout, "_is_worth_ctypes", lambda array: True)
    if "ctypes" in request.param:
        monkeypatch.setattr(millrace, "pack", _layout._general_pack)
        monkeypatch.setattr(millrace, "unpack", _layout._general_unpack)
    _native.compiled.forget_copies()
    yield
    _native.compiled.forget_copies()


def test_the_short_way_is_there():
    assert millrace.pack is _native.compiled.pack and millrace.unpack is _native.compiled.unpack


def test_views_that_come_and_go_never_get_the_layout_of_another():
    """More views than the short way remembers, in a random order, from several threads."""
    array = np.arange(40 * 40 * 4, dtype="i4").reshape(40, 40, 4)
    wrong = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(4000):
            a, b, step = (int(n) for n in rng.integers(1, 40, 3))
            view = array[:a, ::step, 1:3] if a % 2 else array[:a, :b, ::3].T
            if not np.array_equal(millrace.pack(view), view):
                wrong.append(view.shape)

    threads = [threading.Thread(target=work, args=(SEED + i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("arguments", [(), (1, 2, 3)])
def test_wrong_numbers_of_arguments(arguments):
    with pytest.raises(TypeError):
        millrace.pack(*arguments)
    with pytest.raises(TypeError):
        millrace.unpack(*arguments)


def test_a_small_array_is_planned_when_it_comes_again_and_a_large_one_at_once(monkeypatch):
    planned = []
    plan = _layout._layout_of
    monkeypatch.setattr(_layout, "_layout_of", lambda array: planned.append(array.nbytes) or plan(array))
    _native.compiled.forget_copies()
    small, large = np.zeros((60, 60), "f8").T, np.zeros((400, 400), "f8").T
    millrace.pack(small)
    assert planned == []
    millrace.pack(small)
    millrace.pack(small)
    assert planned == [small.nbytes]
    millrace.pack(large)
    millrace.pack(large)
    assert planned == [small.nbytes, large.nbytes]


def test_nothing_is_kept_alive_but_dtypes():
    array = np.zeros((64, 64, 3), "u1")
    before = sys.getrefcount(array)
    for _ in range(100):
        millrace.unpack(millrace.pack(array[:, :, 1]), array[:, :, 1])
    assert sys.getrefcount(array) == before


def random_view(rng):
    """An array of random dtype and some view of it: sliced, stepped, reversed, transposed."""
    dtype = rng.choice(["i1", "u2", "i4", "f4", "f8", "c16", "S3", "f4,i8"])
    shape = rng.integers(1, 14, rng.integers(1, 5))
    data = rng.integers(0, 256, int(np.prod(shape)) * np.dtype(dtype).itemsize, np.uint8)
    array = data.view(dtype).reshape(shape)
    steps = [int(rng.choice([1, 1, 2, 3, -1, -2])) for _ in shape]
    view = array[tuple(slice(None, None, step) for step in steps)]
    return array, view.transpose(rng.permutation(view.ndim))


@pytest.mark.usefixtures("threshold")
def test_views_of_all_kinds():
    rng = np.random.default_rng(SEED)
    for _ in range(400):
        array, view = random_view(rng)
        packed = millrace.pack(view)
        assert packed.flags.c_contiguous and packed.tobytes() == view.tobytes()
        out = np.empty_like(packed)
        assert millrace.pack(view, out=out) is out and out.tobytes() == view.tobytes()
        expected = array.copy()
        new = np.frombuffer(rng.bytes(view.nbytes), view.dtype).reshape(view.shape)
        _view_of(expected, array, view)[...] = new
        millrace.unpack(new, view)
        assert array.tobytes() == expected.tobytes()


def _view_of(other, array, view):
    """The view that is to `other` what `view` is to `array`."""
    offset = view.ctypes.data - array.ctypes.data
    return np.ndarray(view.shape, view.dtype, other, offset, view.strides)


def test_layouts_of_views_and_segments():
    rng = np.random.default_rng(SEED)
    for _ in range(100):
        array, view = random_view(rng)
        layout = millrace.Layout.of(view)
        offset = view.ctypes.data - array.ctypes.data
        expected = view.tobytes()
        assert layout.nbytes == len(expected)
        assert layout.pack(array, offset).tobytes() == expected
        cut = int(rng.integers(0, len(expected) + 1))
        assert layout.pack(array, offset, start=cut).tobytes() == expected[cut:]
        assert layout.pack(array, offset, stop=cut).tobytes() == expected[:cut]
        other = np.zeros_like(array)
        layout.unpack(expected[cut:], other, offset, start=cut)
        layout.unpack(expected[:cut], other, offset)
        wanted = np.zeros_like(array)
        _view_of(wanted, array, view)[...] = view
        assert other.tobytes() == wanted.tobytes()


def test_blocks_repeat_and_join():
    memory = bytes(range(250))
    struct = millrace.Layout.blocks([0, 8], [4, 11])
    row = struct.repeat(3, 24)
    both = millrace.Layout.join([row, struct], [2, 150])
    expected = b"".join(memory[at : at + 4] + memory[at + 8 : at + 19] for at in (2, 26, 50, 150))
    assert both.pack(memory).tobytes() == expected
    assert (both.nbytes, both.low, both.high) == (60, 2, 169)
    assert "11 bytes at 8" in str(row)


@pytest.mark.parametrize(
    "make,error,words",
    [
        (lambda: millrace.Layout(), TypeError, ["Layout.of"]),
        (lambda: millrace.Layout.strided((1, 2), (3,), 4), ValueError, ["2 dimensions", "1 strides"]),
        (lambda: millrace.Layout.blocks([0, 1], [1]), ValueError, ["(2,)", "(1,)"]),
        (lambda: millrace.Layout.blocks([0], [-1]), ValueError, ["negative"]),
        (lambda: millrace.Layout.blocks([0], [8]).repeat(-1, 8), ValueError, ["-1"]),
        (lambda: millrace.Layout.strided((2**62, 4), (8, 8), 8), OverflowError, ["63 bits"]),
        (lambda: millrace.Layout.blocks([0], [8]).pack(bytes(7)), ValueError, ["0 to 8", "7 bytes"]),
        (lambda: millrace.Layout.blocks([0], [8]).pack(bytes(9), -1), ValueError, ["-1 to 7"]),
        (lambda: millrace.Layout.blocks([0], [8]).pack(np.ones(9)[::2]), ValueError, ["contiguous"]),
        (lambda: millrace.Layout.blocks([0], [8]).pack(bytes(8), start=9), ValueError, ["byte 9"]),
        (lambda: millrace.Layout.blocks([0], [8]).unpack(bytes(8), bytes(8)), ValueError, ["read-only"]),
        (lambda: millrace.Layout.blocks([0], [8]).unpack(bytes(9), bytearray(9)), ValueError, ["9 bytes", "8 bytes"]),
        (lambda: millrace.pack(np.ones(3), out=np.ones(4)), ValueError, ["array is float64[3]", "out is float64[4]"]),
        (lambda: millrace.pack(np.ones(3), out=np.ones(3, "f4")), ValueError, ["array is float64", "out is float32"]),
        (lambda: millrace.pack(np.ones(3), out=np.ones(3, ">f8")), ValueError, ["out is >f8", "bytes of out", "order"]),
        (lambda: millrace.pack([1.0]), TypeError, ["array", "list", "numpy.asarray"]),
        (lambda: millrace.pack(np.ma.masked_all((3, 3)).T), TypeError, ["array", "mask"]),
        (lambda: millrace.pack(np.ones(3), into=None), TypeError, ["into"]),
        (lambda: millrace.unpack(np.ones(3), np.ones(4)), ValueError, ["packed is float64[3]", "array is float64[4]"]),
        (lambda: millrace.unpack(np.ones(6)[::2], np.ones(3)), ValueError, ["packed is", "(16,)", "C-contiguous"]),
        (lambda: millrace.pack(np.ones(3), out=np.ones(6)[::2]), ValueError, ["C-contiguous"]),
        (lambda: millrace.unpack(np.ones(3), np.broadcast_to(1.0, 3)), ValueError, ["read-only"]),
        (lambda: millrace.pack(np.ones(3), out=[1.0, 1.0, 1.0]), TypeError, ["list"]),
        (lambda: millrace.unpack(b"abc", np.ones(3)), TypeError, ["packed", "bytes"]),
        (lambda: millrace.unpack(np.ones(3), [1.0]), TypeError, ["array", "list"]),
        (lambda: millrace.Layout.strided((2**64 + 2,), (8,), 8), OverflowError, ["63 bits"]),
        (lambda: millrace.Layout.strided((2,), (2**64 + 8,), 8), OverflowError, ["63 bits"]),
        (lambda: millrace.Layout.strided((-1,), (0,), 8), ValueError, ["negative"]),
        (lambda: millrace.Layout.strided((1,), (8,), -8), ValueError, ["negative"]),
        (lambda: millrace.Layout.blocks([0], [8]).repeat(2, 2**64), OverflowError, ["63 bits"]),
        (lambda: millrace.Layout.join([millrace.Layout.blocks([0], [8])], [2**64]), OverflowError, ["63 bits"]),
        (lambda: millrace.Layout.join([object()], [0]), TypeError, ["layouts"]),
    ],
)
def test_errors_name_what_is_wrong(make, error, words):
    with pytest.raises(error) as caught:
        make()
    assert all(word in str(caught.value) for word in words), caught.value


def test_overlap_is_refused():
    base = np.zeros((100000, 4), "i4")
    with pytest.raises(ValueError, match="overlaps"):
        millrace.pack(base[:, 1:3], out=base.reshape(-1)[:200000].reshape(100000, 2))


def test_bytes_that_overlap_their_own_place_are_refused():
    buffer = bytearray(range(32))
    layout = millrace.Layout.strided((4,), (2,), 1)
    with pytest.raises(ValueError, match="overlap"):
        layout.unpack(memoryview(buffer)[4:8], buffer)
    layout.unpack(memoryview(buffer)[7:11], buffer)  # behind the last byte of the layout
    assert buffer[:8] == bytes([7, 1, 8, 3, 9, 5, 10, 7])


def read_only_views(nbytes):
    yield np.frombuffer(bytes(nbytes), np.uint8)
    array = np.zeros(nbytes, np.uint8)
    array.flags.writeable = False
    yield array


@pytest.mark.usefixtures("threshold")
@pytest.mark.parametrize("items", [4, 200])
def test_nothing_is_written_into_read_only_memory(items):
    view = np.full((2 * items, items), 7, np.uint8).T[:, ::2]
    for out in read_only_views(view.size):
        for _ in range(3):  # seen, planned, known
            with pytest.raises(ValueError, match="read-only"):
                millrace.pack(view, out=out.reshape(view.shape))
        assert not out.any()


def test_a_read_only_mapping_is_an_error_and_not_a_crash(tmp_path):
    file = tmp_path / "zeros"
    file.write_bytes(bytes(400 * 400 * 8))
    out = np.memmap(file, "f8", "r", shape=(400, 400))
    for function in (millrace.pack, _layout._general_pack):
        with pytest.raises(ValueError, match="read-only"):
            function(np.ones((400, 400)).T, out)


def test_a_copy_of_a_layout_is_the_layout():
    layout = millrace.Layout.blocks([0, 8], [4, 4])
    assert copy.copy(layout) is layout and copy.deepcopy([layout])[0] is layout
    layout.__del__()  # and it is freed once
    with pytest.raises(Exception):  # noqa: B017 (ctypes says what it likes, but it does not call)
        layout.pack(bytes(16))
    del layout


def test_what_is_checked_before_memory_is_touched_cannot_be_set():
    layout = millrace.Layout.blocks([0], [8])
    for name in ("low", "high", "nbytes"):
        with pytest.raises(AttributeError):
            setattr(layout, name, 0)


def test_references_are_not_overwritten():
    array = np.full(4, object(), object)
    with pytest.raises(TypeError, match="references"):
        millrace.Layout.blocks([0], [8]).unpack(bytes(8), array)
    with pytest.raises((TypeError, ValueError)):
        millrace.Layout.blocks([0], [8]).unpack(bytes(8), memoryview(array))


def test_a_buffer_is_not_resized_while_it_is_read():
    """One thread packs a bytearray, another makes it longer and shorter, which moves it: an exception there."""
    script = """
import sys, threading, millrace
sys.setswitchinterval(1e-6)
size = 1 << 22
buffer, refused, ended = bytearray(size), [], threading.Event()
layout = millrace.Layout.strided((size // 2,), (2,), 1)

def resize():
    while not ended.is_set():
        try:
            buffer.extend(bytes(size * 8))
            del buffer[size:]
        except BufferError as error:
            refused.append(error)

thread = threading.Thread(target=resize)
thread.start()
for _ in range(300):
    try:
        layout.unpack(bytes(size // 2), buffer)
    except ValueError:
        pass
ended.set()
thread.join()
print("ended", len(refused) > 0)
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    ended = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (0, "ended True\n"), ended


def test_objects_keep_their_references():
    thing = object()
    array = np.full((90, 90), thing, object)
    before = sys.getrefcount(thing)
    packed = millrace.pack(array.T)
    assert sys.getrefcount(thing) == before + packed.size


def test_many_layouts_in_many_threads(monkeypatch):
    monkeypatch.setattr(_layout, "_is_ours", lambda array: True)
    monkeypatch.setattr(_layout, "_MANY_LAYOUTS", 5)
    array = np.arange(40000).reshape(200, 200)
    wrong = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(300):
            rows, columns = rng.integers(1, 40, 2)
            view = array[::rows, ::columns]
            if not np.array_equal(millrace.pack(view), view):
                wrong.append((rows, columns))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and len(_layout._layouts) <= 5 + 4
