"""The site of the documentation: built strictly, complete, without the network."""

import json
import os
import re
import subprocess

import hosts
import pytest
import site_pages

ROOT = hosts.ROOT
DOCS = sorted(ROOT.glob("docs/**/*.md"))


def build(target, *configuration):
    command = [ROOT / "scripts/site/build.sh", target, *configuration]
    environment = dict(os.environ, BUILD_DIR=str(hosts.BUILD))
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, check=False)


@pytest.fixture(scope="module")
def site(launcher, tmp_path_factory):
    directory = tmp_path_factory.mktemp("docs") / "site"
    done = build(directory)
    assert done.returncode == 0, done.stdout + done.stderr
    return directory


def page_of(path):
    place = path.relative_to(ROOT / "docs").with_suffix(".html")
    return str(place.with_name("index.html") if place.name == "README.html" else place)


def test_every_page_is_in_the_menu(site):
    menu = site_pages.Page(site / "index.html").menu
    assert len(DOCS) > 40
    assert [page_of(path) for path in DOCS if page_of(path) not in menu] == []
    assert [page_of(path) for path in DOCS if not (site / page_of(path)).exists()] == []


def test_no_link_leads_nowhere(site):
    assert site_pages.lead_nowhere(site) == []


def test_nothing_comes_from_the_network(site):
    assert site_pages.loaded_from_elsewhere(site) == []


def test_lists_tables_and_code_are_what_they_are_meant_to_be(site):
    """MkDocs wants an empty line before a list or a table, where others do not: else hyphens stand in a paragraph."""
    for path in DOCS:
        text = re.sub(r"<pre.*?</pre>", "", (site / page_of(path)).read_text(), flags=re.DOTALL)
        plain = [line for line in text.split("\n") if re.match(r"(<p>)?(- |\* |\| |\d+\. |```)", line)]
        assert plain == [], path.name


def test_the_reference_has_every_setting_and_command(site, launcher):
    main = json.loads(subprocess.run([launcher, "--describe"], capture_output=True, text=True, check=True).stdout)
    settings, commands = (site_pages.Page(site / f"reference/{name}.html") for name in ("settings", "commands"))
    assert len(main["settings"]) > 10 and len(main["commands"]) > 5
    for setting in main["settings"]:
        assert setting["variable"].lower() in settings.identifiers
        assert setting["doc"] in settings.text and setting["values"] in settings.text
    for command in main["commands"]:
        assert f"millrace-{command['name']}" in commands.identifiers
        words = [launcher, command["name"], "--describe"]
        described = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
        for option in described["options"]:
            assert " ".join(option["doc"].split()) in commands.text, (command["name"], option)


@pytest.mark.parametrize(
    ("markup", "loads"),
    [
        ('<script src="https://example.org/a.js"></script>', 1),
        ('<link rel="stylesheet" href="//fonts.example.org/css">', 1),
        ('<link rel="canonical" href="https://example.org/">', 0),
        ('<a href="https://example.org/">a link</a>', 0),
        ('<img src="a.png" srcset="b.png 1x, http://example.org/c.png 2x">', 1),
        ("<style>@import 'https://example.org/a.css'; p { background: url(b.png) }</style>", 1),
        ('<p style="background: url(https://example.org/a.png)">', 1),
        ('<pre class="mermaid">', 1),
    ],
)
def test_what_a_browser_would_load_is_seen(tmp_path, markup, loads):
    (tmp_path / "index.html").write_text(f"<html><body>{markup}</body></html>")
    assert len(site_pages.loaded_from_elsewhere(tmp_path)) == loads


def test_links_without_an_end_are_seen(tmp_path):
    (tmp_path / "there.html").write_text('<h1 id="title">there</h1>')
    good = '<a href="there.html#title">1</a><a href="#top" id="top">2</a><a href="https://example.org">3</a>'
    (tmp_path / "index.html").write_text(f'{good}<a href="gone.html">4</a><a href="there.html#gone">5</a>')
    assert sorted(site_pages.lead_nowhere(tmp_path)) == ["index.html -> gone.html", "index.html -> there.html#gone"]


CONFIGURATION = f"""
INHERIT: {ROOT}/mkdocs.yml
docs_dir: pages
hooks: []
theme: {{custom_dir: {ROOT}/scripts/site/theme}}
nav: [index.md, more.md]
"""


@pytest.mark.parametrize(
    ("text", "name", "says"),
    [
        ("[more](more.md#title)", "more.md", ""),
        ("[more](nowhere.md)", "more.md", "'nowhere.md'"),
        ("[more](more.md#nowhere)", "more.md", "'#nowhere'"),
        ("nothing", "forgotten.md", "more.md"),
        ("nothing", "more.md forgotten.md", "forgotten.md"),
    ],
)
def test_the_build_is_strict(tmp_path, text, name, says):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages/index.md").write_text(f"# Index\n\n{text}\n")
    for each in name.split():
        (tmp_path / "pages" / each).write_text("# Title\n")
    (tmp_path / "mkdocs.yml").write_text(CONFIGURATION)
    done = build(tmp_path / "site", tmp_path / "mkdocs.yml")
    assert (done.returncode == 0) == (not says), done.stderr
    assert says in done.stderr + done.stdout
