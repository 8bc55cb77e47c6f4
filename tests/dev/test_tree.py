"""What is under version control: nothing that a run has left."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOMS = {
    ".ci",
    "bench",
    "cmake",
    "docs",
    "examples",
    "fuzz",
    "include",
    "packaging",
    "python",
    "scripts",
    "src",
    "tests",
}
ROOMS |= {"tools"}


def tracked(*words):
    return subprocess.run(
        ["git", "ls-files", *words], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    ).stdout.splitlines()


def test_only_rooms_of_the_house_stand_under_its_root():
    assert {name.split("/")[0] for name in tracked() if "/" in name} == ROOMS


def test_only_pictures_and_what_fuzzers_found_are_binary():
    binary = [line.rsplit("\t", 1)[1] for line in tracked("--eol") if line.startswith("i/-text")]
    allowed = [name for name in binary if name.startswith("fuzz/corpus/") or name.endswith(".png")]
    assert allowed
    assert binary == allowed
