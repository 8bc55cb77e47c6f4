"""./dev reproduce: its registry is whole, its pages are those of its data, one figure runs from end to end."""

import dataclasses
import pathlib
import sys

import hosts
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "reproduce"))

import data  # noqa: E402
import page  # noqa: E402
import run as reproduce  # noqa: E402
import runner  # noqa: E402
from papers import PAPERS  # noqa: E402

PLACE = ROOT / "docs" / "reproduction"
# Of each paper the figures that hold results, read off the papers by hand.
FIGURES = {
    "long-vectors": "6 7 8 9 10 11 12 13",
    "sve": "2 3 4 5 6 7 9 10 11 12",
    "gather-scatter": "6 7 8 10 11",
    "xeon-phi": "1 2",
    "sc18": "6 7 8 10 11 12 13",
}
EVERY = [(paper, figure) for paper in PAPERS for figure in paper.figures]
LOADED = reproduce.load(PLACE)


def name(value):
    return value.name if hasattr(value, "name") else value.number


def of(paper):
    return {number: found for (owner, number), found in LOADED.items() if owner == paper.name}


def test_every_figure_with_results_is_there():
    for paper in PAPERS:
        numbers = [figure.number for figure in paper.figures]
        assert set(FIGURES[paper.name].split()) <= set(numbers), paper.name
        assert len(set(numbers)) == len(numbers)
    assert {paper.name for paper in PAPERS} == set(FIGURES)


@pytest.mark.parametrize("paper, figure", EVERY, ids=name)
def test_a_figure_is_measured_or_says_why_not(paper, figure):
    assert figure.comparisons
    assert all(each.published.source and each.published.value and each.why for each in figure.comparisons)
    if figure.measure:
        assert figure.seconds > 0
        assert figure.drawing
        assert figure.conditions
        assert (PLACE / "pictures" / f"{page.stem(paper, figure)}.svg").exists()
        assert LOADED[paper.name, figure.number].points
    else:
        assert figure.instead


@pytest.mark.parametrize("paper", PAPERS, ids=name)
def test_pages_are_made_of_the_data(paper):
    assert (PLACE / f"{paper.name}.md").read_text() == page.page(paper, of(paper))


def test_the_index_is_made_of_the_registry():
    assert (PLACE / "README.md").read_text() == "\n".join(page.index(PAPERS, LOADED)) + "\n"


@pytest.mark.parametrize("paper, figure", [each for each in EVERY if each[1].measure], ids=name)
def test_other_data_make_another_page(paper, figure):
    """No number of ours is written by hand: each line of the comparison follows the data."""
    found = LOADED[paper.name, figure.number]
    own = "\n".join(page.section(paper, figure, found))
    assert own in (PLACE / f"{paper.name}.md").read_text()
    for series in dict.fromkeys(point.series for point in found.points):
        changed = [dataclasses.replace(point, value=3 * point.value + 1) if point.series == series else point
                   for point in found.points]  # fmt: skip
        if figure.drawing.kind != "trees":
            assert "\n".join(page.section(paper, figure, data.Data(changed, found.about))) != own, series


def test_data_survive_the_file(tmp_path):
    points = [data.Point("ours", 1024, 1.5, 1.25, 2.0, "a panel"), data.Point("host", "a word", 3.0)]
    data.Data(points, {"date": "2026-11-25"}).store(tmp_path / "some.csv")
    found = data.load(tmp_path / "some.csv")
    assert found.points == points
    assert found.about == {"date": "2026-11-25"}


def test_one_figure_from_end_to_end(tmp_path):
    """Measured by a program of the build, stored, loaded, and on its page."""
    program = hosts.BUILD / "bench" / "tree_edges"
    assert program.exists(), f"{program} is missing: ./dev build"
    paper, figure = next(each for each in EVERY if (each[0].name, each[1].number) == ("sc18", "7"))
    said = []
    reproduce.make(paper, figure, tmp_path, runner.Runner(tmp_path / "scratch", say=said.append), None)
    reproduce.write_pages(tmp_path)
    assert said == ["leaders first: kary:2,socket", "leaders last: kary:2,socket,leaders-last"]
    assert "| rank 0 serves 4, 8, 1, 2 |" in (tmp_path / "sc18.md").read_text()


def test_a_piece_that_fails_is_told(tmp_path):
    with pytest.raises(runner.Failed, match="a piece: false"):
        runner.Runner(tmp_path, say=lambda _: None).run("a piece", 1, "false")


def test_what_is_timed_runs_under_the_command_and_what_is_not_does_not(tmp_path):
    pieces = runner.Runner(tmp_path, under="echo under", say=lambda _: None)
    assert pieces.run("a piece", 1, "echo", "it") == "under echo it\n"
    assert pieces.run("a piece", 1, "echo", "it", timed=False) == "it\n"


def test_a_point_with_a_range_shows_it():
    found = data.Data([data.Point("ours", "a step", 0.5, 0.25, 0.75), data.Point("ours", "another", 2.0)], {})
    assert page.with_range(found, "", "ours", "a step", 0.5) == "0.5000 (0.2500 to 0.7500)"
    assert page.with_range(found, "", "ours", "another", 2.0) == "2"


def test_what_is_not_there_is_named():
    with pytest.raises(SystemExit, match="there is no 'sc18/99'"):
        reproduce.chosen(["sc18/99"])
    own = [figure.number for paper in PAPERS for figure in paper.figures if paper.name == "sc18"]
    found = [figure.number for _, figure in reproduce.chosen(["sc18/7", "sc18"])]
    assert found == ["7", *(number for number in own if number != "7")]
