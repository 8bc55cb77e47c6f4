"""The arithmetic of bench/overhead, on made-up samples."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "bench" / "overhead"))

import figures  # noqa: E402

WOBBLE = [0, 1, -1, 2, -2, 0.5, -0.5, 1.5, -1.5, 0.2, -0.2, 0.7, -0.7, 1.2, -1.2]


def row(call, alone, off, on, noise=1.0):
    """15 rounds; the wobble of `off` and `on` runs the other way, as independent noise would at worst."""

    def around(middle, sign):
        return [middle + sign * noise * step for step in WOBBLE]

    return figures.Row("host", call, {"alone": around(alone, 1), "off": around(off, -1), "on": around(on, -1)})


def test_the_interval_of_a_median_is_that_of_the_sign_test():
    assert figures.median_interval(range(15)) == (3, 11)  # tables: ranks 4 and 12 of 15
    assert figures.median_interval(range(100)) == (39, 60)  # ranks 40 and 61
    assert figures.median_interval([5, 1, 3]) == (1, 5)  # too few for 95 %: everything seen


def test_differences_are_taken_within_a_round():
    drifting = {
        side: [100 * number + cost for number in range(15)]
        for side, cost in zip(figures.SIDES, (3, 5, 30), strict=True)
    }
    measured = figures.Row("host", "MPI_Comm_rank", drifting)
    assert measured.added("off") == 2
    assert measured.added("on") == 27
    assert figures.median_interval(measured.differences("on")) == (27, 27)


@pytest.mark.parametrize(
    "call, alone, off, on, noise, decision",
    [
        ("MPI_Comm_rank", 3, 5, 30, 1, "ok"),
        ("MPI_Comm_rank", 3, 40, 60, 1, "MISSED"),
        ("MPI_Comm_rank", 3, 5, 130, 1, "MISSED"),
        ("MPI_Comm_rank", 3, 27, 60, 10, "open"),
        ("MPI_Init", 1e9, 1.004e9, 1.005e9, 1e6, "ok"),
        ("MPI_Init", 1e9, 1.030e9, 1.005e9, 1e6, "MISSED"),
        ("MPI_Init", 1e9, 1.012e9, 1.005e9, 30e6, "open"),
        ("start", 1, 100, 100, 1, ""),
        ("MPI_Reduce_local", 50, 11, 200, 0.1, "ok"),
        ("MPI_Reduce_local", 50, 14, 10, 0.1, "MISSED"),
    ],
)
def test_bars(call, alone, off, on, noise, decision):
    assert figures.bar(row(call, alone, off, on, noise), best_taken_ns=12)[0] == decision


def test_the_fastest_host_sets_the_bar_of_the_taken_call():
    rows = [row("MPI_Reduce_local", 90, 10, 40), row("MPI_Reduce_local", 9, 10, 40), row("MPI_Init", 1, 1, 1)]
    assert figures.best_taken_ns(rows) == 9
    assert [missed.call for missed in figures.missed(rows)] == []  # 9 / 10 with this noise: not beyond doubt
    rows[0] = row("MPI_Reduce_local", 90, 30, 40)
    assert figures.missed(rows) == [rows[0]]


def test_table_and_csv_have_every_row():
    rows = [row("MPI_Init", 1e9, 1.001e9, 1.002e9), row("MPI_Reduce_local", 12, 11, 40)]
    lines = list(figures.table(rows))
    assert len(lines) == 4
    assert "1000.0 ±0.0" in lines[2] and "ok: adds <= 10 ms" in lines[2]
    assert len(list(figures.csv(rows))) == 1 + 2 * 3 * 15
