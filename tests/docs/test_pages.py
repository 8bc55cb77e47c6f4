"""What the documentation refers to exists."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
# Where what is not a setting is defined: macros of headers, variables of the build and of the Python package.
LISTS = [ROOT / "CMakeLists.txt", *ROOT.glob("cmake/*.cmake"), *ROOT.glob("src/**/CMakeLists.txt")]
DEFINITIONS = [*LISTS, ROOT / "python/millrace/_library.py", *ROOT.glob("include/**/*.h")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#\s]+)", page.read_text())
    missing = [t for t in targets if not re.match(r"[a-z]+:", t) and not (page.parent / t).exists()]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_of_dev_exist(page):
    known = set(re.findall(r"^  ([a-z]+)\b", (ROOT / "dev").read_text(), re.MULTILINE))
    used = set(re.findall(r"\./dev ([a-z]+)", page.read_text()))
    assert used <= known


def prose(page):
    """(number, line) of what is neither a table nor something printed."""
    printed = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        printed ^= line.startswith("```")
        if not printed and not line.startswith(("|", "    ", "```")):
            yield number, line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_prose_has_lines_of_120_characters(page):
    assert [f"{page.name}:{number}" for number, line in prose(page) if len(line) > 120] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_are_named_exist(page):
    """Names in backquotes that begin with a folder of the tree; `a.*` and `a/` as well."""
    folders = "|".join(sorted(path.name for path in ROOT.iterdir() if path.is_dir() and path.name[0] not in ".b"))
    names = re.findall(rf"`((?:{folders}|bench)/[^`\s]*)`", page.read_text())
    assert [name for name in names if not list(ROOT.glob(name.rstrip("/")))] == []


def named_settings(text):
    """MILLRACE_ variables; those of tests and of the build are no settings."""
    return set(re.findall(r"\bMILLRACE_(?!TEST_|VERSION)[A-Z_]+", text))


def test_settings_that_are_named_exist():
    known = set(re.findall(r'^    \{"(MILLRACE[A-Z_]*)"', (ROOT / "src/base/settings.cpp").read_text(), re.MULTILINE))
    named = {name: page.name for page in PAGES for name in named_settings(page.read_text())}
    others = {name for path in DEFINITIONS for name in named_settings(path.read_text())}
    assert {name: page for name, page in named.items() if name not in known | others} == {}
    assert known - set(named) == {"MILLRACE"}, "every setting is explained on some page"


def begins_with_an_answer(page):
    """A title, then the answer in bold."""
    lines = page.read_text().split("\n")
    return lines[0].startswith("# ") and lines[1] == "" and re.match(r"\*\*\S", lines[2]) is not None


@pytest.mark.parametrize("page", sorted((ROOT / "docs/results").glob("[a-z]*.md")), ids=lambda page: page.name)
def test_results_begin_with_their_answer_and_are_in_the_index(page):
    assert begins_with_an_answer(page)
    assert f"]({page.name})" in (ROOT / "docs/results/README.md").read_text()


def test_a_page_without_an_answer_is_seen(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Title\n\nTwo cores of a shared machine.\n")
    assert not begins_with_an_answer(page)


def test_benchmarks_that_are_named_exist():
    programs = {
        name
        for path in ROOT.glob("bench/**/CMakeLists.txt")
        for name in re.findall(r"add_executable\((\w+)", path.read_text())
    }
    scripts = {path.parent.name for path in ROOT.glob("bench/*/run.py")}
    named = {name for page in PAGES for name in re.findall(r"\./dev bench (\w+)", page.read_text())} - {"NAME"}
    assert len(named) > 10
    assert named - programs - scripts == set()


def test_every_benchmark_is_in_the_list():
    text = (ROOT / "bench/README.md").read_text()
    for path in (ROOT / "bench").iterdir():
        if path.is_dir() and path.name != "__pycache__":  # which those that import from bench/ leave
            assert f"`{path.name}`" in text, path.name
