"""millrace simulate: what it prints, draws and refuses."""

import os
import pathlib
import subprocess
import xml.etree.ElementTree as ElementTree

import hosts
import pytest

TOPOLOGY = ["--topology", "pack:2 l3:2 core:4"]


def simulate(*words):
    command = [str(pathlib.Path(hosts.BUILD) / "millrace"), "simulate", *words]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MILLRACE")}
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)


def test_every_rank_has_its_line():
    done = simulate(*TOPOLOGY, "allreduce", "64KiB")
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()[1:-1]] == [str(rank) for rank in range(16)]
    assert "allreduce of 65536 bytes by slices, 16 ranks on 16 cores" in done.stdout


def test_few_ranks_show_for_whom_they_waited():
    done = simulate(*TOPOLOGY, "--ranks", "2", "--line", "100,200,300", "--call-ns", "7", "barrier")
    assert "7 to 107: waited for rank 1" in done.stdout


def test_an_algorithm_is_forced():
    assert " by tree," in simulate(*TOPOLOGY, "--algorithm", "tree", "allreduce").stdout


def test_others_are_asked_in_the_same_way():
    done = simulate(*TOPOLOGY, "--other", "binomial", "allreduce", "1MiB")
    assert done.returncode == 0, done.stderr
    assert "allreduce of 1048576 bytes by binomial, 16 ranks on 16 cores" in done.stdout


def test_several_nodes_take_longer_than_one():
    def ns(*words):
        done = simulate(*TOPOLOGY, "--brief", *words, "allreduce", "64KiB")
        assert done.returncode == 0, done.stderr
        return float(done.stdout.split("cores: ")[1].split(" ns")[0]), done.stdout

    one, _ = ns()
    four, said = ns("--nodes", "4", "--wire", "2000,10")
    assert four > one + 2 * 2000
    assert "by nodes, 4 nodes of 16 ranks on 16 cores" in said
    slower, _ = ns("--nodes", "4", "--wire", "3000,10")
    assert slower > four
    theirs, _ = ns("--nodes", "4", "--wire", "2000,10", "--other", "binomial")
    assert theirs > 2 * 2000


def test_many_ranks_and_bytes_end():
    done = simulate("--topology", "pack:2 l3:12 core:8", "--brief", "bcast", "16MiB")
    assert "192 ranks on 192 cores" in done.stdout


def test_what_is_measured_can_be_said():
    """What --calibrate prints is understood."""
    costs = simulate("--calibrate").stdout.split()
    assert [word for word in costs if word.startswith("--")][:2] == ["--line", "--next-line"]
    assert all(0 < float(number) < 1e12 for word in costs if word[0] != "-" for number in word.split(","))
    done = simulate(*TOPOLOGY, *costs, "--brief", "barrier")
    assert done.returncode == 0, done.stderr


def test_the_drawing_has_a_row_for_each_rank(tmp_path):
    path = tmp_path / "allreduce.svg"
    assert simulate(*TOPOLOGY, "--svg", str(path), "allreduce", "64KiB").returncode == 0
    titles = [each.text for each in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}title")]
    assert {title.split()[1] for title in titles} == {str(rank) for rank in range(16)}
    assert any("waited for" in title for title in titles)


@pytest.mark.parametrize(
    "words, said",
    [
        (["--topology", "pack:2 kern:8", "barrier"], "kern:8"),
        (["--topology", "pack:2", "barrier"], "no cores"),
        ([*TOPOLOGY, "neighbor"], "'neighbor' is none of barrier, bcast, "),
        ([*TOPOLOGY, "alltoall", "1MiB"], "mailboxes"),
        ([*TOPOLOGY, "--nodes", "2", "--brief", "scan"], "over several nodes"),
        ([*TOPOLOGY, "--other", "sc18", "--brief", "gather"], "no such algorithm"),
        ([*TOPOLOGY, "bcast", "lots"], "lots"),
        ([*TOPOLOGY, "bcast", "7"], "4 bytes"),
        ([*TOPOLOGY, "--algorithm", "oak", "bcast"], "oak"),
        ([*TOPOLOGY, "--ranks", "0", "bcast"], "--ranks"),
        ([*TOPOLOGY, "--lines", "1,2,3", "bcast"], "--lines"),
        ([*TOPOLOGY, "allreduce", "16GiB"], "fewer"),
        ([*TOPOLOGY, "--other", "oak", "bcast"], "oak"),
        ([*TOPOLOGY, "--other", "ring", "barrier"], "no such algorithm"),
        ([*TOPOLOGY, "--other", "ring", "--algorithm", "tree", "bcast"], "--algorithm"),
        ([*TOPOLOGY, "--nodes", "2", "--ranks", "17", "bcast"], "needs a core"),
        ([*TOPOLOGY, "--nodes", "2", "--other", "ring", "bcast"], "flat, binomial and sc18"),
        ([*TOPOLOGY, "--nodes", "2", "--wire", "0,1", "bcast"], "--wire"),
        ([*TOPOLOGY, "--nodes", "2", "--wire", "1000", "--brief", "bcast"], "two numbers"),
        ([*TOPOLOGY, "--line", "60,110", "--brief", "bcast"], "three numbers"),
        (["bcast"], "--topology"),
    ],
)
def test_what_cannot_be_done_is_named(words, said):
    done = simulate(*words)
    assert done.returncode == 2
    assert said in done.stderr
    assert not done.stdout


def test_a_drawing_that_cannot_be_written():
    done = simulate(*TOPOLOGY, "--svg", "/nowhere/there.svg", "barrier")
    assert done.returncode == 1
    assert "/nowhere/there.svg" in done.stderr
