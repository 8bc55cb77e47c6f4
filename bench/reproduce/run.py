"""The figures of the five papers, made again: data, pictures, and a page for each paper.

    ./dev reproduce [PAPER[/FIGURE] ...]
    bench/reproduce/run.py [--list] [--pages] [--under COMMAND] [--to DIRECTORY] [PAPER[/FIGURE] ...]

Without a name, all of them. Data and pictures go to docs/reproduction; pages are made of all the data that are there.
A figure that fails leaves its data as they were; the others go on, and the exit status is 1.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "hosts"))

import data  # noqa: E402
import hosts  # noqa: E402
import page  # noqa: E402
import runner  # noqa: E402
from papers import PAPERS  # noqa: E402

PLACE = hosts.ROOT / "docs" / "reproduction"


def chosen(words):
    """(paper, figure) of each that the words name; a word that names nothing ends the program."""
    every = [(paper, figure) for paper in PAPERS for figure in paper.figures]
    found = []
    for word in words:
        name, _, number = word.partition("/")
        own = [(paper, figure) for paper, figure in every
               if paper.name == name and number in ("", figure.number.replace(" ", "_"))]  # fmt: skip
        if not own:
            names = ", ".join(paper.name for paper in PAPERS)
            sys.exit(f"reproduce: there is no '{word}'; papers: {names}; --list shows their figures")
        found += [each for each in own if each not in found]
    return found if words else every


def load(place):
    """(paper, figure) -> Data of all that have some"""
    found = {}
    for paper in PAPERS:
        for figure in paper.figures:
            path = place / "data" / f"{page.stem(paper, figure)}.csv"
            if path.exists():
                found[paper.name, figure.number] = data.load(path)
    return found


def write_pages(place):
    place.mkdir(parents=True, exist_ok=True)
    loaded = load(place)
    for paper in PAPERS:
        own = {number: found for (name, number), found in loaded.items() if name == paper.name}
        (place / f"{paper.name}.md").write_text(page.page(paper, own))
    (place / "README.md").write_text("\n".join(page.index(PAPERS, loaded)) + "\n")


def make(paper, figure, place, pieces, draw):
    """Measures one figure, stores its data and draws them; `draw` may be None."""
    found = runner.measure(figure, pieces)
    path = place / "data" / f"{page.stem(paper, figure)}.csv"
    found.store(path)
    if draw:
        draw(figure, data.load(path), place / "pictures" / f"{page.stem(paper, figure)}.svg")


def make_all(wanted, place, under, draw):
    """With a progress line; returns what failed, in words."""
    import rich.console
    import rich.progress

    console = rich.console.Console(stderr=True)
    columns = (rich.progress.TextColumn("{task.description}"), rich.progress.BarColumn(bar_width=24),
               rich.progress.TaskProgressColumn(), rich.progress.TimeElapsedColumn(),
               rich.progress.TimeRemainingColumn())  # fmt: skip
    failed = []
    with rich.progress.Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=sum(figure.seconds for _, figure in wanted) or 1)
        foreseen, rows = 0, {}
        for paper, figure in wanted:
            name = f"{paper.name}/{figure.number}"

            def say(what, name=name):
                progress.update(task, description=f"{name}: {what}")
                if not console.is_terminal:
                    console.print(f"{name}: {what}", markup=False)

            pieces = runner.Runner(hosts.BUILD / "bench" / "reproduce", under, say,
                                   lambda seconds: progress.advance(task, seconds))  # fmt: skip
            pieces.rows = rows
            try:
                make(paper, figure, place, pieces, draw)
            except (runner.Failed, KeyError, ValueError) as error:
                failed.append(f"{name}: {error}")
                console.print(f"{name} FAILED: {error}", markup=False)
            foreseen += figure.seconds
            progress.update(task, completed=foreseen)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", metavar="PAPER[/FIGURE]")
    parser.add_argument("--list", action="store_true", help="the papers, their figures, and about how long each takes")
    parser.add_argument(
        "--pages", action="store_true", help="only make pages and pictures again, of the data there are"
    )
    parser.add_argument("--under", default="", help="a command in front of each piece that measures")
    parser.add_argument("--to", type=pathlib.Path, default=PLACE, help="directory of pages, data and pictures")
    options = parser.parse_args()
    wanted = chosen(options.what)
    if options.list:
        for paper, figure in wanted:
            takes = f"{figure.seconds:4} s" if figure.measure else "     -"
            print(f"{paper.name}/{figure.number.replace(' ', '_'):14} {takes}  {figure.title}")
        return 0
    import picture

    failed = []
    if options.pages:
        for (name, number), found in load(options.to).items():
            paper, figure = next((p, f) for p, f in wanted if (p.name, f.number) == (name, number))
            picture.draw(figure, found, options.to / "pictures" / f"{page.stem(paper, figure)}.svg")
    else:
        failed = make_all([each for each in wanted if each[1].measure], options.to, options.under, picture.draw)
    write_pages(options.to)
    for words in failed:
        print(f"reproduce: {words}", file=sys.stderr)
    print(f"pages: {options.to}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
