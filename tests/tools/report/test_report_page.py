"""The page of `millrace report` in a real browser."""

import json
import subprocess

import hosts
import pytest
from browser import browser, shown
from made_reports import made_report

pytestmark = pytest.mark.full


@pytest.fixture
def page(tmp_path):
    browser()

    def make(*reports):
        files = []
        for index, report in enumerate(reports):
            files.append(tmp_path / f"run{index}.json")
            files[-1].write_text(json.dumps(report))
        out = tmp_path / "page.html"
        subprocess.run(
            [hosts.MILLRACE, "report", *files, "--html", out], check=True, timeout=60, stdout=subprocess.DEVNULL
        )
        return out

    return make


def test_two_ranks_are_bars_as_long_as_their_shares(page, tmp_path):
    report = made_report(2)
    seen = shown(page(report), tmp_path, width=1000)
    shares = [rank["mpi_share"] for rank in report["by_rank"]]
    assert seen["bars"] == pytest.approx(shares, abs=0.01)
    assert seen["cells"] == []
    assert "2 ranks on 1 host, Open MPI v5.0.11" in seen["text"]
    for call in report["calls"]:
        assert call["name"] in seen["text"]
    assert "forwarded: ranks not agreed" in seen["text"]
    assert not seen["is_too_wide"]
    assert seen["scrolled_tables"] == 0
    assert seen["fetched"] == []


def test_512_ranks_are_a_map_in_which_the_late_one_is_faintest(page, tmp_path):
    report = made_report(512)
    seen = shown(page(report), tmp_path, width=1000)
    assert len(seen["cells"]) == seen["cell_boxes"] == 2 * 512  # and who was waited for
    seen["cells"] = seen["cells"][:512]
    shares = [rank["mpi_share"] for rank in report["by_rank"]]
    late = shares.index(min(shares))
    assert seen["cells"].index(min(seen["cells"])) == late
    assert seen["cells"].index(max(seen["cells"])) == shares.index(max(shares))
    assert f"least: rank {late} on node{late // 64:02}" in seen["text"]
    assert not seen["is_too_wide"]
    assert seen["scrolled_tables"] == 0


@pytest.mark.parametrize("ranks", [2, 512])
def test_the_rank_that_all_wait_for_stands_out(page, tmp_path, ranks):
    report = made_report(ranks)
    late = report["late_ranks"][0]["rank"]
    seen = shown(page(report), tmp_path, width=1000)
    assert "Waiting for the last rank" in seen["text"]
    if ranks == 2:
        assert seen["late_bars"] == pytest.approx([1, 1 / 9], abs=0.01)
        assert seen["late_rows"][0].startswith(f"rank {late}")
    else:
        assert len(seen["cells"]) == 2 * ranks
        assert seen["cells"][ranks:].index(max(seen["cells"][ranks:])) == late
    # Half of the time is waiting, and the longest bar is as wide as it may be.
    assert seen["wait_parts"][0] == pytest.approx([0.5, 0.5], abs=0.01)


def test_sizes_are_columns_as_high_as_their_share_of_the_time(page, tmp_path):
    seen = shown(page(made_report(2)), tmp_path)
    assert "sizes: 8 KiB 57 % of the time" in seen["text"]
    # From the eighth to the quadruple there are six powers of two.
    for strip in seen["size_strips"]:
        assert [place for place, _ in strip] == pytest.approx([0, 3 / 6, 5 / 6], abs=0.01)
        assert [height for _, height in strip] == pytest.approx([1 / 10, 17 / 30, 1 / 3], abs=0.02)
    assert seen["highest_strip"] <= 40
    assert len(seen["size_strips"]) == 3  # the fourth call with bytes has one size


@pytest.mark.parametrize("ranks", [2, 3, 64, 512])
def test_who_sends_to_whom_is_a_matrix(page, tmp_path, ranks):
    report = made_report(ranks)
    peers = report["peers"]
    seen = shown(page(report), tmp_path, width=1000)
    x, y, width, height = seen["frame"]
    blocks = -(-ranks // peers["block_ranks"])
    assert width == pytest.approx(height, abs=0.1)
    places = [
        (round((left - x) / width * blocks), round((top - y) / height * blocks)) for left, top, _ in seen["pairs"]
    ]
    block = peers["block_ranks"]
    assert places == [(pair["to"] // block, pair["from"] // block) for pair in peers["matrix"]]
    shades = [shade for _, _, shade in seen["pairs"]]
    sizes = [pair["bytes"] for pair in peers["matrix"]]
    assert shades[sizes.index(max(sizes))] == max(shades) == 1
    assert shades[sizes.index(min(sizes))] == min(shades) > 0.05
    assert seen["touching_labels"] == 0
    assert seen["least_label"] >= 11
    assert not seen["is_too_wide"]


@pytest.mark.parametrize("is_dark", [False, True])
def test_the_page_is_as_light_as_the_readers_system(page, tmp_path, is_dark):
    seen = shown(page(made_report(2)), tmp_path, is_dark=is_dark)
    levels = [int(level) for level in seen["paper"].removeprefix("rgb(").removesuffix(")").split(",")]
    assert max(levels) < 64 if is_dark else min(levels) > 192


def test_two_reports_stand_beside_each_other_and_a_missing_rank_is_a_hole(page, tmp_path):
    first, second = made_report(512), made_report(512, seed=7)
    del second["by_rank"][40]
    second["settings"]["MILLRACE_COLLECTIVES"] = "never"
    second["notes"] = ["1 rank is <missing>"]
    seen = shown(page(first, second), tmp_path)
    assert (len(seen["cells"]), seen["holes"]) == (1023, 1)
    assert "MILLRACE_COLLECTIVES: A auto, B never" in seen["text"]
    assert "1 rank is <missing>" in seen["text"]
    assert not seen["is_too_wide"]
    assert seen["scrolled_tables"] == 0


def test_on_a_telephone_only_tables_scroll(page, tmp_path):
    seen = shown(page(made_report(512), made_report(2)), tmp_path, width=520)
    assert not seen["is_too_wide"]
