"""What the documentation refers to exists."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


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
