"""`millrace report` in a terminal: what it says of two ranks, of 512, of two runs, and of files that it cannot read."""

import json
import pathlib
import subprocess

import hosts
import jsonschema
import pytest
from made_reports import made_report

SCHEMA = json.loads((pathlib.Path(__file__).parents[3] / "docs" / "report.schema.json").read_text())


def with_peers(ranks=2, **changed):
    """A report of two ranks with messages of more, or otherwise wrong."""
    value = made_report(2 if ranks == 65 else ranks)
    value["peers"] = made_report(ranks)["peers"] | changed
    return value


def report(*words):
    return subprocess.run([hosts.MILLRACE, "report", *words], capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def write(tmp_path):
    def to_file(value, name="run.json"):
        path = tmp_path / name
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        return path

    return to_file


def lines(done):
    assert (done.returncode, done.stderr) == (0, "")
    found = done.stdout.splitlines()
    assert max(map(len, found)) <= 80
    return found


@pytest.mark.parametrize("ranks", [1, 2, 512])
def test_made_reports_are_as_those_that_runs_write(ranks):
    jsonschema.validate(made_report(ranks), SCHEMA, jsonschema.Draft202012Validator)


def test_two_ranks_have_a_bar_each(write, monkeypatch):
    value = made_report(2)
    path = write(value)
    monkeypatch.chdir(path.parent)
    found = lines(report("run.json"))
    assert found[0] == "run.json: 2 ranks on 1 host, Open MPI v5.0.11"
    bars = [line.split("|")[1] for line in found if line.lstrip()[:1].isdigit() and "|" in line]
    assert [len(bar) for bar in bars] == [int(40 * rank["mpi_share"]) for rank in value["by_rank"]]
    rows = {line.split()[0]: line.split() for line in reversed(found) if line.startswith("MPI_")}
    assert rows["MPI_Allreduce"][1:4] == ["8000", "62.5", "MiB"]
    assert rows["MPI_Allreduce"][-2:] == ["97", "%"]
    assert rows["MPI_Waitall"][-1] == "-"
    assert "    forwarded: ranks not agreed 240" in found


def test_512_ranks_have_a_digit_each(write):
    value = made_report(512)
    found = lines(report(write(value)))
    first = next(index for index, line in enumerate(found) if "'.' no record" in line) + 1
    digits = "".join(line.split()[1] for line in found[first : first + 8])
    assert len(digits) == 512
    shares = [rank["mpi_share"] for rank in value["by_rank"]]
    assert digits[shares.index(min(shares))] == "0"
    assert digits[shares.index(max(shares))] == "9"


@pytest.mark.parametrize("ranks", [2, 512])
def test_the_rank_that_all_wait_for_is_named(write, ranks):
    value = made_report(ranks)
    late, after = value["late_ranks"][:2]
    found = lines(report(write(value)))
    row = next(line for line in found if line.startswith("MPI_Barrier") and "rank" in line)
    assert f"rank {late['rank']}, 90 %" in row
    assert f"ranks 0-{ranks - 1}" in row
    start = next(index for index, line in enumerate(found) if line.startswith("    waited for: "))
    named = " ".join(line.strip() for line in found[start:])
    assert named.split(": ")[1].startswith(f"rank {late['rank']} ")
    assert f"rank {after['rank']} " in named


def test_a_report_that_says_nothing_of_waiting_is_shown(write):
    value = made_report(2)
    del value["late_ranks"], value["waits"]
    jsonschema.validate(value, SCHEMA, jsonschema.Draft202012Validator)
    assert not any("wait" in line.lower().replace("mpi_waitall", "") for line in lines(report(write(value))))


@pytest.mark.parametrize("ranks", [2, 512])
def test_the_foremost_pairs_are_named(write, ranks):
    value = made_report(ranks)
    found = lines(report(write(value)))
    first = next(index for index, line in enumerate(found) if line.split()[:2] == ["from", "to"]) + 1
    rows = [line.split()[:2] for line in found[first:]]
    foremost = [[str(pair["from"]), str(pair["to"])] for pair in value["peers"]["foremost"][:10]]
    assert rows[: len(foremost)] == foremost
    assert rows[len(foremost)] == ["any", "others"]
    assert (rows[len(foremost) + 1 :] == [["all", "the"]]) == (ranks == 512)


def test_a_report_that_says_nothing_of_messages_is_shown(write):
    value = made_report(2)
    del value["peers"]
    jsonschema.validate(value, SCHEMA, jsonschema.Draft202012Validator)
    assert not any("whom" in line for line in lines(report(write(value))))


def test_sizes_are_named_by_what_they_took(write):
    text = " ".join(line.strip() for line in lines(report(write(made_report(2)))))
    assert " sizes: 8 KiB 57 % of the time (4000 calls), 32 KiB 33 % (200), 1 KiB 10.0 % (400) taken:" in text
    value = made_report(2)
    for call in value["calls"]:
        del call["sizes"]
    jsonschema.validate(value, SCHEMA, jsonschema.Draft202012Validator)
    assert not any("sizes:" in line for line in lines(report(write(value))))


def test_many_sizes_and_one(write):
    value = made_report(2)
    call = next(call for call in value["calls"] if call["name"] == "MPI_Allreduce")
    call["sizes"] = [{"least_bytes": 0 if k < 0 else 1 << k, "calls": 1, "taken": 0, "bytes": 0, "time_ns": 10 + k}
                     for k in range(-1, 41)]  # fmt: skip
    text = " ".join(line.strip() for line in lines(report(write(value))))
    assert "sizes: 1 TiB 4.0 % of the time (1 call), 512 GiB 4.0 % (1), 256 GiB 3.9 % (1), 39 more 88 %" in text
    call["sizes"] = call["sizes"][-1:]
    assert not any("1 TiB" in line for line in lines(report(write(value))))
    call["sizes"][0]["least_bytes"] = 3
    done = report(write(value))
    assert done.returncode == 3 and "a size is no power of two" in done.stderr


@pytest.mark.parametrize("ranks", [2, 512])
def test_regions_are_listed_with_the_longest_rank(write, ranks):
    value = made_report(ranks)
    found = lines(report(write(value)))
    first = next(index for index, line in enumerate(found) if line.startswith("region,")) + 1
    rows = [line.split() for line in found[first : first + 3]]
    assert [row[0] for row in rows] == ["step", "solver", "exchange"]
    assert [row[-1] for row in rows] == [str(ranks // 2)] * 3
    assert "Begun and ended regions do not match in 2 places." in found


def test_the_page_has_regions_with_bars_by_the_longest(write, tmp_path):
    page = tmp_path / "page.html"
    lines(report(write(made_report(2)), "--html", page))
    rows = page.read_text().split("<h2>Regions</h2>")[1].split("</table>")[0].split("<tr>")[2:]
    assert ["width:100.0%" in row for row in rows] == [True, False, False]
    assert "width:66.7%" in rows[1]
    assert "exchange &lt;halo&gt; &amp; more" in rows[2]


def test_a_report_that_says_nothing_of_regions_is_shown(write):
    value = made_report(2)
    del value["regions"]
    jsonschema.validate(value, SCHEMA, jsonschema.Draft202012Validator)
    assert not any("egion" in line for line in lines(report(write(value))))


@pytest.mark.parametrize("ranks", [1, 512])
def test_over_time_a_digit_stands_for_a_slice(write, ranks):
    value = made_report(ranks)
    found = lines(report(write(value)))
    first = next(index for index, line in enumerate(found) if line.startswith("over time, 64 slices of "))
    rows = dict(line.rstrip("|").split("|") for line in found[first + 1 : first + (3 if ranks == 1 else 4)])
    rows = {name.strip(): digits for name, digits in rows.items()}
    assert set(rows) == {"inside MPI", "bytes", *(["most a rank"] if ranks > 1 else [])}
    shares = [slice_["mpi_share"]["mean"] for slice_ in value["phases"]["slices"]]
    assert rows["inside MPI"] == "".join(str(int(9 * share + 0.5)) for share in shares)
    assert rows["bytes"].startswith(".0") and rows["bytes"].endswith("9")


def test_the_page_has_a_column_for_each_slice(write, tmp_path):
    page = tmp_path / "page.html"
    value = made_report(2)
    lines(report(write(value), "--html", page))
    part = page.read_text().split("<h2>Over time</h2>")[1].split("</svg>")[0]
    assert part.count('class="mean"') == part.count('class="range"') == part.count('class="volume"') == 64
    assert "95 % inside MPI, from 48 % to 100 % on rank 1; " in part.rsplit("<title>", 1)[1]
    del value["phases"]  # of an older version
    jsonschema.validate(value, SCHEMA, jsonschema.Draft202012Validator)
    assert not any(line.startswith("over time") for line in lines(report(write(value), "--html", page)))
    assert "Over time" not in page.read_text()


def with_phase(**changed):
    value = made_report(2)
    value["phases"]["slices"][3] |= changed
    return value


@pytest.mark.parametrize("ranks", [2, 512])
def test_communicators_are_listed_with_the_longest_rank(write, ranks):
    value = made_report(ranks)
    found = lines(report(write(value)))
    first = next(index for index, line in enumerate(found) if line.startswith("communicator,")) + 1
    shown = min(12, len(value["communicators"]))
    rows = [line.split() for line in found[first : first + shown]]
    assert rows[0][0] == "MPI_COMM_WORLD" and rows[1][:2] == ["row", "<x>"]
    assert [row[-3] for row in rows] == [str(ranks // 2)] * shown
    assert {tuple(row[-2:]) for row in rows} == {("83", "%")}
    rest = len(value["communicators"]) - shown
    assert (f"and {rest} more" in found) == (rest > 0)


def test_the_page_has_communicators_with_bars_by_the_longest(write, tmp_path):
    page = tmp_path / "page.html"
    lines(report(write(made_report(2)), "--html", page))
    rows = page.read_text().split("<h2>Communicators</h2>")[1].split("</table>")[0].split("<tr>")[2:]
    assert ["width:100.0%" in row for row in rows] == [True, False, False, False, False]
    assert "row &lt;x&gt; &amp; more of it (ranks 0-0)" in rows[1]
    assert ">1000<" in rows[3] and "ranks 0-1" in rows[3]


def test_one_communicator_alone_is_not_listed(write, tmp_path):
    value = made_report(2)
    del value["communicators"][1:]
    page = tmp_path / "page.html"
    assert not any(line.startswith("communicator") for line in lines(report(write(value), "--html", page)))
    assert "<h2>Communicators</h2>" not in page.read_text()
    del value["communicators"]  # of an older version
    jsonschema.validate(value, SCHEMA, jsonschema.Draft202012Validator)
    lines(report(write(value)))


def with_communicator(**changed):
    value = made_report(2)
    value["communicators"][0] |= changed
    return value


def with_regions(**changed):
    value = made_report(2)
    value["regions"]["all"][0] |= changed
    return value


def test_two_reports_are_set_side_by_side(write):
    first, second = made_report(2), made_report(4)
    second["calls"] = [call for call in second["calls"] if call["name"] != "MPI_Barrier"]
    for call in second["calls"]:
        if call["name"] == "MPI_Allreduce":
            call["time_ns"] = 10 * 2 * next(c["time_ns"] for c in first["calls"] if c["name"] == "MPI_Allreduce")
    found = lines(report(write(first), write(second, "other.json")))
    assert "differs: ranks: A 2, B 4" in found
    rows = {line.split()[0]: line for line in found if line.startswith("MPI_")}
    assert "x 10" in rows["MPI_Allreduce"]  # the mean of a rank, of twice as many ranks
    assert "gone" in rows["MPI_Barrier"]


def test_the_page_measures_by_the_longest_call_within_the_wall_time(write, tmp_path):
    value = made_report(2)
    start = dict(value["calls"][-1], name="MPI_Init", time_ns=10**12)
    start["rank_time_ns"] = {"min": 10**11, "median": 10**11, "max": 10**11, "max_rank": 0}
    value["calls"].insert(0, start)
    path, page = write(value), tmp_path / "page.html"
    for words in ([path], [path, path]):
        lines(report(*words, "--html", page))
        rows = page.read_text().split("<tr")
        assert "width:100.0%" in next(row for row in rows if "MPI_Allreduce" in row)
        assert 'class="bar"' not in next(row for row in rows if "MPI_Init<" in row)


def test_names_from_a_report_cannot_steer_the_terminal(write):
    value = made_report(2)
    value["by_rank"][0]["host"] = "a\x1b[2J"
    value["notes"] = ["b\x1b]0;c\x07"]
    done = report(write(value))
    lines(done)
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("{", "is no report: MILLRACE_REPORT=FILE.json writes one"),
        (json.dumps(made_report(2))[:2000], "begins as a report and is cut short or damaged"),
        ("[1]", "is no report: MILLRACE_REPORT=FILE.json writes one"),
        ({"schema": "another"}, "is no report: MILLRACE_REPORT=FILE.json writes one"),
        (made_report(2) | {"schema_version": 2}, "is a report of version 2, this millrace reads version 1: "),
        (made_report(2) | {"ranks": -1}, "is not as docs/report.schema.json has it: a count is no whole number"),
        (made_report(2) | {"calls": 7}, "is not as docs/report.schema.json has it: "),
        (with_peers(block_ranks=0), "is not as docs/report.schema.json has it: a matrix of messages is larger "),
        (with_peers(ranks=65), "is not as docs/report.schema.json has it: a rank that is none"),
        (with_peers(ranks=512, block_ranks=1), "is not as docs/report.schema.json has it: a matrix of messages "),
        (with_phase(calls=-1), "is not as docs/report.schema.json has it: a count is no whole number"),
        (
            with_phase(mpi_share={"mean": -1, "min": 0, "max": 1, "max_rank": 0}),
            "is not as docs/report.schema.json has it: a share of time is none",
        ),
        (
            with_phase(mpi_share={"mean": 1, "min": 0, "max": 1, "max_rank": 2}),
            "is not as docs/report.schema.json has it: a rank that is none",
        ),
        (with_communicator(calls=-1), "is not as docs/report.schema.json has it: a count is no whole number"),
        (with_communicator(calls=1, taken=2), "is not as docs/report.schema.json has it: more calls are taken than "),
        (with_communicator(longest={"time_ns": 1, "rank": 2}), "is not as docs/report.schema.json has it: a rank that"),
        (with_regions(entered=-1), "is not as docs/report.schema.json has it: a count is no whole number"),
        (with_regions(longest={"wall_ns": 1, "rank": 2}), "is not as docs/report.schema.json has it: a rank that is n"),
        ({"schema": "millrace-report", "schema_version": 1}, "is not as docs/report.schema.json has it: "),
    ],
)
def test_what_is_no_report_is_said_in_one_line(write, value, says):
    path = write(value)
    for words in ([path], [write(made_report(2), "good.json"), path]):
        done = report(*words)
        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr.startswith(f"millrace: error: report: {path} {says}")
        assert done.stderr.count("\n") == 1


def test_a_missing_file_and_a_directory_are_said_in_one_line(tmp_path):
    for path, why in ((tmp_path / "none.json", "No such file or directory"), (tmp_path, "Is a directory")):
        done = report(path)
        assert (done.returncode, done.stderr) == (3, f"millrace: error: report: {path} cannot be read: {why}\n")


def test_mistakes_in_words(write, tmp_path):
    good = write(made_report(2))
    for words in ([], [good, good, good], [good, "--htm", "x"], [good, "--html"]):
        assert report(*words).returncode == 2, words
    done = report(good, "--html", tmp_path / "no" / "page.html")
    assert done.returncode == 2
    assert "No such file or directory; name another file" in done.stderr
