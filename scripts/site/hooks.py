"""What MkDocs does not find in docs/: the README as first page, other pages of the tree, the reference that the
launcher prints, and files of the tree that pages link to. Pages keep the links that are right where they lie; here they
become links of the site, and MkDocs, which is strict, complains of those that lead nowhere."""

import os
import pathlib
import posixpath
import re
import sys

from mkdocs.structure.files import File, InclusionLevel

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools/manual"))
import generate  # noqa: E402
import reference  # noqa: E402

LINK = re.compile(r"\[([^\]]*)\]\(([^)\s#]+)?(#[^)\s]*)?\)")
# Pages of the tree outside docs/, and what they are on the site.
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "SECURITY.md": "project/security.md",
    "examples/README.md": "project/examples.md",
    "bench/README.md": "project/benchmarks.md",
}
PLACES = {place: path for path, place in PAGES.items()}
LANGUAGES = {".c": "c", ".h": "c", ".cpp": "cpp", ".py": "python", ".sh": "sh", ".txt": "text"}


def repository_path(place):
    """Where the page of the site lies in the tree."""
    return PLACES.get(place, f"docs/{place}")


def target_of(path, link):
    """The file of the tree that a link on the page `path` names; of a folder, its first page."""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), link))
    return f"{target}/README.md" if (ROOT / target / "README.md").exists() else target


def place_of(path):
    """Where on the site a file of the tree is."""
    if path in PAGES:
        return PAGES[path]
    return path.removeprefix("docs/") if path.startswith("docs/") else f"source/{path}.md"


def local_links(text):
    return [target for _, target, _ in LINK.findall(text) if target and not re.match(r"[a-z]+:", target)]


def title_of(path):
    return (ROOT / path).read_text().split("\n")[0].removeprefix("# ").replace("`", "")


def rewritten(text, path, place):
    """The page's text with the links that it needs on the site; where they show the name of a page, with its title."""

    def link(found):
        shown, target, anchor = found.groups(default="")
        if not target or re.match(r"[a-z]+:", target):
            return found[0]
        file = target_of(path, target)
        if file.endswith(".md") and (ROOT / file).is_file() and re.fullmatch(r"[\w./-]+(\.md|/results)", shown):
            shown = title_of(file)
        moved = posixpath.relpath(place_of(file), posixpath.dirname(place) or ".")
        return f"[{shown}]({moved}{anchor})"

    return LINK.sub(link, text)


def source_page(path):
    language = LANGUAGES.get(pathlib.Path(path).suffix, "text")
    text = (ROOT / path).read_text()
    head = "---\nsearch: {exclude: true}\nhide: [navigation, toc]\n---\n"
    return f"{head}# {path}\n\n~~~~~~~~{language}\n{text}\n~~~~~~~~\n"


def launcher():
    built = pathlib.Path(os.environ.get("BUILD_DIR", ROOT / "build")) / "millrace"
    if not built.exists():
        raise SystemExit(f"{built} is not there, and the reference comes from it: ./dev docs builds it")
    return [str(built)]


def references():
    """The generated pages, by their place."""
    main = generate.describe(launcher())
    commands = {each["name"]: generate.describe(launcher(), each["name"]) for each in main["commands"]}
    texts = {path: path.read_text() for path in sorted((ROOT / "docs").glob("*.md")) if path.name != "decisions.md"}

    def pages(variable):
        found = [path for path, text in texts.items() if re.search(rf"\b{variable}\b", text)]
        return [(title_of(path), f"../{path.name}") for path in found]

    return {
        "reference/settings.md": reference.settings_page(main, pages),
        "reference/commands.md": reference.commands_page(main, commands),
    }


def on_files(files, config):
    for path, place in PAGES.items():
        files.append(File.generated(config, place, content=rewritten((ROOT / path).read_text(), path, place)))
    for place, text in references().items():
        files.append(File.generated(config, place, content=text))
    texts = {repository_path(file.src_uri): file.content_string for file in files if file.src_uri in PLACES}
    texts |= {path: (ROOT / path).read_text() for path in PAGES}
    texts |= {
        f"docs/{file.src_uri}": file.content_string for file in files.documentation_pages() if not file.generated_by
    }
    wanted = {target_of(path, link) for path, text in texts.items() for link in local_links(text)}
    for path in sorted(wanted):
        if not path.startswith("docs/") and path not in PAGES and (ROOT / path).is_file():
            page = File.generated(
                config, place_of(path), content=source_page(path), inclusion=InclusionLevel.NOT_IN_NAV
            )
            files.append(page)
    return files


def on_page_markdown(markdown, page, config, files):
    return markdown if page.file.generated_by else rewritten(markdown, f"docs/{page.file.src_uri}", page.file.src_uri)
