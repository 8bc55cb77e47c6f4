"""The page of a paper, made of the registry and of the data alone: no number is written by hand."""

import textwrap

import data


def wrapped(text):
    return textwrap.fill(" ".join(text.split()), 120, break_long_words=False, break_on_hyphens=False)


def cell(text):
    return " ".join(text.split()).replace("|", "\\|")


def stem(paper, figure):
    return f"{paper.name}-{figure.number.replace(' ', '_')}"


def heading(figure):
    return f"{'Figure ' if figure.number[0].isdigit() else ''}{figure.number}: {figure.title}"


def published_table(figure, found):
    yield "| published | here | why they differ |"
    yield "|---|---|---|"
    for each in figure.comparisons:
        says = each.published
        here = each.here(found) if found else "cannot be had"
        yield f"| {cell(says.what)}: **{cell(says.value)}** ({cell(says.source)}) | {cell(here)} | {cell(each.why)} |"


def with_range(found, panel, series, x, value):
    low, high = found.range_of(series, x, panel)
    return data.in_words(value) + ("" if low is None else f" ({data.in_words(low)} to {data.in_words(high)})")


def number_table(figure, found, panel):
    """A line for each x, a column for each series."""
    drawing, names = figure.drawing, found.series(panel)
    lines = {name: found.line(name, panel) for name in names}
    more = [name for name in names if drawing.reference in lines and name != drawing.reference]
    head = [drawing.x, *names, *(f"{drawing.reference} / {name}" for name in more)]
    yield ": ".join(word for word in (drawing.y, panel) if word)
    yield ""
    yield "| " + " | ".join(map(cell, head)) + " |"
    yield "|---" + "|---:" * (len(head) - 1) + "|"
    for x in dict.fromkeys(point.x for point in found.points if point.panel == panel):
        cells = [with_range(found, panel, name, x, lines[name][x]) if x in lines[name] else "" for name in names]
        for name in more:
            both = x in lines[name] and x in lines[drawing.reference]
            cells.append(f"{lines[drawing.reference][x] / lines[name][x]:.2f}" if both else "")
        yield "| " + " | ".join([str(x), *cells]) + " |"
    yield ""


def tree_table(found):
    yield "| tree | parent: its children, in the order in which they are served |"
    yield "|---|---|"
    for panel in found.panels():
        children = {}
        for point in found.points:
            if point.panel == panel:
                children.setdefault(int(point.value), []).append(str(point.x))
        served = (f"{parent}: {', '.join(own)}" for parent, own in children.items())
        yield f"| {cell(panel)} | {'; '.join(served)} |"
    yield ""


def section(paper, figure, found):
    yield f"## {heading(figure)}"
    yield ""
    yield wrapped(f"Published: {figure.published_on}")
    yield ""
    if found:
        yield f"![{heading(figure)}](pictures/{stem(paper, figure)}.svg)"
        yield ""
    if figure.instead:
        yield wrapped(f"Cannot be had here: {figure.instead}" if not found else f"Instead: {figure.instead}")
        yield ""
    if figure.comparisons:
        yield from published_table(figure, found)
        yield ""
    if not found:
        return
    if figure.drawing.kind == "trees":
        yield from tree_table(found)
    else:
        for panel in found.panels():
            yield from number_table(figure, found, panel)
    on = "; ".join(f"{key} {value}" for key, value in found.about.items() if key != "date")
    yield wrapped(
        f"{figure.conditions} Made on {found.about['date']}, {on}, by `./dev reproduce {paper.name}/"
        f"{figure.number.replace(' ', '_')}`. [The data](data/{stem(paper, figure)}.csv)."
    )
    yield ""


def answer(paper, loaded):
    measured = [each.number for each in paper.figures if loaded.get(each.number) and not each.instead]
    replaced = [each.number for each in paper.figures if loaded.get(each.number) and each.instead]
    missing = [each.number for each in paper.figures if not loaded.get(each.number)]
    parts = [f"{len(measured)} of {len(paper.figures)} made again: {', '.join(measured) or 'none'}"]
    parts += [f"something else in place of {', '.join(replaced)}"] if replaced else []
    parts += [f"cannot be had here: {', '.join(missing)}"] if missing else []
    return "; ".join(parts) + "."


def page(paper, loaded):
    """loaded: number of a figure -> its Data"""
    lines = [f"# Made again: {paper.title}", "", wrapped(f"**{answer(paper, loaded)}**"), ""]
    lines += [wrapped(f"{paper.source} Made by `./dev reproduce {paper.name}`; numbers of the paper are those of its "
                      "text and its captions, for its pictures were not at hand."), ""]  # fmt: skip
    for figure in paper.figures:
        lines += section(paper, figure, loaded.get(figure.number))
    return "\n".join(lines).rstrip() + "\n"


def index(papers, loaded):
    """loaded: (paper, figure) -> Data"""
    minutes = sum(figure.seconds for paper in papers for figure in paper.figures) / 60
    made = sum(bool(data_) for data_ in loaded.values())
    every = sum(len(paper.figures) for paper in papers)
    yield "# The papers' figures, made again"
    yield ""
    yield wrapped(f"**{made} of {every} figures have data of this tree beside them.**")
    yield ""
    yield wrapped(
        "Five papers are the roots of Millrace. `./dev reproduce` makes their figures again: data, a picture, and a "
        "page for each paper, with what was published, what came out here, and why the two differ. "
        f"All of it is foreseen to take {minutes:.0f} minutes on two cores once everything is built; "
        "`./dev reproduce PAPER` makes those of one paper, `./dev reproduce PAPER/FIGURE` one figure, and each piece "
        "has a deadline (four times what is foreseen, and a minute). Pages are made of the data in "
        "`docs/reproduction/data/`, and a test makes them again."
    )
    yield ""
    yield "| paper | figure | shows | here | about |"
    yield "|---|---|---|---|---:|"
    for paper in papers:
        for figure in paper.figures:
            has = loaded.get((paper.name, figure.number))
            state = "cannot be had" if not has else "something else in its place" if figure.instead else "made again"
            takes = f"{figure.seconds} s" if figure.measure else ""
            yield f"| [{paper.name}]({paper.name}.md) | {figure.number} | {cell(figure.title)} | {state} | {takes} |"
