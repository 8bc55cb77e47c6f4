"""bench/python: its table and its list of points that are slower."""

import csv
import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

RUN = pathlib.Path(__file__).resolve().parents[2] / "bench" / "python" / "run.py"


@pytest.fixture(scope="module")
def bench():
    spec = importlib.util.spec_from_file_location("python_bench", RUN)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(*options):
    builds = {name: value for name, value in os.environ.items() if name == "BUILD_DIR"}
    environment = {"PYTHONPATH": str(RUN.parents[2] / "tests" / "hosts"), **builds}
    return subprocess.run([sys.executable, RUN, *options], env=environment, capture_output=True, text=True, timeout=60)


def test_every_dtype_of_the_op_and_every_form_is_measured(bench, tmp_path):
    table = tmp_path / "table.csv"
    done = run("--most-elements", "100", "--turns", "1", "--op", "band", "--op", "sum", "--csv", str(table))
    assert done.returncode == 0, done
    with table.open() as file:
        rows = list(csv.DictReader(file))
    seen = {(row["op"], row["dtype"], row["elements"], row["form"]) for row in rows}
    integers = ["int8", "int16", "int32", "int64"]
    floats = ["float16", "float32", "float64", "complex64", "complex128"]
    wanted = [("band", dtype) for dtype in integers] + [("sum", dtype) for dtype in integers + floats]
    assert seen == {(*kind, size, form) for kind in wanted for size in ("10", "100") for form in bench.FORMS}
    assert all(float(row["ratio"]) > 0 and int(row["numpy_ns"]) > 0 for row in rows)
    assert f"{len(rows)} points" in done.stdout


def test_sizes_between_the_powers_of_ten(bench):
    assert bench.sizes(1000, False) == [10, 100, 1000]
    assert bench.sizes(130, True) == [10, 16, 20, 32, 50, 64, 100, 128]
    assert bench.sizes(10**7, True)[-3:] == [5 * 10**6, 2**23, 10**7]


def test_only_slower_points_are_measured_again(bench, tmp_path):
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    row = {"op": "sum", "dtype": "int8", "elements": 10, **{form: (2.0, 50, 100) for form in bench.FORMS}}
    row["3 out"] = row["5 new"] = (0.96, 100, 96)
    bench.write_csv(first, [row])
    done = run("--again", str(first), "--turns", "1", "--csv", str(second))
    assert done.returncode == 0, done
    with second.open() as file:
        again = [(point["op"], point["dtype"], point["elements"], point["form"]) for point in csv.DictReader(file)]
    assert again == [("sum", "int8", "10", "3 out"), ("sum", "int8", "10", "5 new")]
    assert run("--again", str(first), "--below", "0.9").stdout.rstrip().endswith("no point")


def test_each_form_adds_as_many_arrays_as_it_says(bench):
    arrays = [bench.np.full(3, 10.0**k) for k in range(bench.MOST_ARRAYS)]
    out = bench.np.empty(3)
    for form, sides in bench.works("sum", arrays, out).items():
        count = int(form.split()[0]) if form[0].isdigit() else 2
        for side in sides:
            result = side()
            assert result.tolist() == [sum(10.0**k for k in range(count))] * 3
            assert (result is out) == form.endswith("out")


def test_points_that_are_slower_are_named(bench, capsys):
    row = {"op": "sum", "dtype": "int8", "elements": 10, **{form: (2.0, 50, 100) for form in bench.FORMS}}
    row["out"] = (0.5, 100, 50)
    bench.summary([row], 0.97)
    said = capsys.readouterr().out
    assert "8 points, geometric mean 1.68, least 0.50, 1 below 0.97:" in said
    assert "0.50  sum int8 10, out" in said
    row["out"] = (1.0, 50, 50)
    bench.summary([row], 0.97)
    assert "0 below 0.97\n" in capsys.readouterr().out


def test_ratios_are_those_of_neighbours_in_time(bench, monkeypatch):
    """A machine that is three times as slow for a while slows both sides: the ratio of medians would be another."""
    slow = iter([1, 1, 1, 1, 3, 3, 1, 1, 3, 3])  # two calls to find the repeats, then four turns

    def turn(work, repeats):
        return work() * next(slow)

    monkeypatch.setattr(bench, "one_turn_ns", turn)
    ratio, ours_ns, numpys_ns = bench.in_turns(lambda: 100.0, lambda: 150.0, 4)
    assert (ratio, ours_ns, numpys_ns) == (1.5, 200.0, 300.0)


def test_an_unknown_op_is_reported():
    done = run("--op", "mean")
    assert done.returncode == 2 and "invalid choice: 'mean'" in done.stderr
