"""Layouts as values: shown, compared, hashed, pickled."""

import pickle

import millrace
import numpy as np
import pytest
from millrace import Layout, _layout

STRUCT = Layout.blocks([0, 8], [4, 11])
LAYOUTS = [
    Layout.strided((1000,), (8000,), 8),
    Layout.strided((), (), 8),
    Layout.strided((0, 3), (8, -8), 8),
    STRUCT,
    Layout.blocks([], []),
    STRUCT.repeat(10, 24),
    STRUCT.repeat(10, 24).repeat(3, -1000),
    Layout.join([STRUCT, Layout.strided((2,), (6,), 3)], [100, -7]),
    Layout.of(np.zeros((20, 30), "f4")[::-2, 3:9]),
]


@pytest.mark.parametrize("layout", LAYOUTS, ids=repr)
def test_what_is_shown_makes_the_layout(layout):
    again = eval(repr(layout), {"Layout": Layout})
    assert again is not layout and again == layout and repr(again) == repr(layout)


def test_what_is_shown():
    assert repr(STRUCT.repeat(10, 24)) == "Layout.blocks([0, 8], [4, 11]).repeat(10, 24)"
    assert repr(Layout.strided((2, 3), (24, 8), 4)) == "Layout.strided((2, 3), (24, 8), 4)"
    assert repr(Layout.join([STRUCT], [5])) == "Layout.join([Layout.blocks([0, 8], [4, 11])], [5])"
    assert repr(Layout.blocks(range(0, 900, 9), [4] * 100)) == "<Layout.blocks of 100 blocks, 400 bytes packed>"
    assert repr(Layout.join([STRUCT] * 9, range(9))) == "<Layout.join of 9 layouts, 135 bytes packed>"


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("layout", [*LAYOUTS, Layout.blocks(range(0, 900, 9), [4] * 100)], ids=repr)
def test_a_pickled_layout_packs_the_same_bytes(layout, protocol):
    again = pickle.loads(pickle.dumps(layout, protocol))
    assert again is not layout and again == layout
    memory = np.random.default_rng(1).integers(0, 256, layout.high - min(layout.low, 0), np.uint8)
    offset = max(0, -layout.low)
    assert again.pack(memory, offset).tobytes() == layout.pack(memory, offset).tobytes()


def test_what_was_pickled_makes_layouts_only():
    with pytest.raises(ValueError, match="'pack'"):
        _layout._remake("pack", b"")


def test_lists_that_change_afterwards_change_nothing():
    places, lengths = np.array([0, 8]), np.array([4, 4])
    layout = Layout.blocks(places, lengths)
    places[0] = lengths[0] = 2
    assert pickle.loads(pickle.dumps(layout)) == layout == Layout.blocks([0, 8], [4, 4])


def test_equal_is_what_packs_the_same_bytes_in_the_same_order():
    rows = Layout.strided((2, 3), (24, 8), 4)
    same = [
        Layout.strided((6,), (8,), 4),
        Layout.blocks(range(0, 48, 8), [4] * 6),
        Layout.blocks([0], [4]).repeat(6, 8),
    ]
    other = [rows.repeat(2, 48), Layout.blocks([8, 0, 16, 24, 32, 40], [4] * 6), Layout.strided((6,), (8,), 3)]
    other.append(Layout.join([rows], [8]))
    for layout in same:
        assert rows == layout and hash(rows) == hash(layout)
    for layout in other:
        assert rows != layout
    assert len({rows, *same, *other}) == 1 + len(other)


def test_a_layout_equals_no_other_thing():
    assert (STRUCT == 1, STRUCT != 1, repr(STRUCT) == STRUCT) == (False, True, False)


def test_equal_views_have_equal_layouts():
    a, b = np.zeros((40, 50))[3:9, ::7], np.ones((90, 50))[5:11, 2:49:7]
    assert Layout.of(a[:, :6]) == Layout.of(b[:, :6])
    assert millrace.pack(a).shape == a.shape
