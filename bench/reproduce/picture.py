"""Draws the data of a figure. On white, so that it can be read on light and on dark pages."""

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot, ticker  # noqa: E402

MARKERS = "osD^vPX*<>"
# Okabe and Ito: told apart by people who see few colours.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6BB1", "#666666", "#A6761D")
UNITS = ("", " Ki", " Mi", " Gi")
pyplot.rcParams.update({"svg.hashsalt": "millrace", "svg.fonttype": "none", "font.size": 9})


def bytes_in_words(value, _position=None):
    power = 0
    while value >= 1024 and value % 1024 == 0 and power < 3:
        value, power = value / 1024, power + 1
    return f"{value:g}{UNITS[power]}"


def lines(axis, drawing, found, panel, colours):
    for name in found.series(panel):
        points = [point for point in found.points if (point.panel, point.series) == (panel, name)]
        at, colour = [point.x for point in points], colours[name]
        marker = MARKERS[list(colours).index(name) % len(MARKERS)]
        axis.plot(at, [point.value for point in points], marker=marker, markersize=3.5, linewidth=1.2, color=colour,
                  label=name)  # fmt: skip
        if all(point.low is not None for point in points):
            axis.fill_between(at, [point.low for point in points], [point.high for point in points], color=colour,
                              alpha=0.15, linewidth=0)  # fmt: skip
    if drawing.log_x:
        axis.set_xscale("log", base=2)
        axis.xaxis.set_major_formatter(ticker.FuncFormatter(bytes_in_words))
    else:
        axis.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
    if drawing.log_y:
        axis.set_yscale("log")
    else:
        axis.set_ylim(bottom=0)


def bars(axis, drawing, found, panel, colours):
    names = found.series(panel)
    words = list(dict.fromkeys(point.x for point in found.points if point.panel == panel))
    width = 0.8 / len(names)
    for i, name in enumerate(names):
        own = found.line(name, panel)
        at = [words.index(x) + (i - (len(names) - 1) / 2) * width for x in own]
        axis.bar(at, own.values(), width, color=colours[name], label=name)
        for place, x in zip(at, own, strict=True):
            low, high = found.range_of(name, x, panel)
            if low is not None:
                axis.vlines(place, low, high, color="#333333", linewidth=1)
    axis.set_xticks(range(len(words)), [str(word) for word in words], rotation=25 if len(words) > 4 else 0)
    if drawing.log_y:
        axis.set_yscale("log")


def trees(axis, found, panel):
    """Leaves side by side, parents above the middle of their children."""
    children = {}
    for point in found.points:
        if point.panel == panel:
            children.setdefault(int(point.value), []).append(int(point.x))
    places, width = {}, 0

    def place(rank, depth):
        nonlocal width
        own = [place(child, depth + 1) for child in children.get(rank, [])]
        if not own:
            width += 1
        places[rank] = ((own[0] + own[-1]) / 2 if own else width - 1, -depth)
        return places[rank][0]

    place(0, 0)
    for parent, own in children.items():
        for child in own:
            axis.plot(*zip(places[parent], places[child], strict=True), color="#888888", linewidth=0.8, zorder=1)
    for rank, (x, y) in places.items():
        axis.text(x, y, str(rank), ha="center", va="center", size=7,
                  bbox={"boxstyle": "circle,pad=0.2", "facecolor": "#DCE9F5", "edgecolor": "#0072B2"})  # fmt: skip
    axis.set_axis_off()
    axis.margins(0.08, 0.2)


def draw(figure, found, path):
    drawing, panels = figure.drawing, found.panels()
    names = list(dict.fromkeys(point.series for point in found.points))
    colours = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(names)}
    columns = min(len(panels), 1 if drawing.kind == "trees" else 2 if len(panels) % 2 == 0 else 3)
    rows = -(-len(panels) // columns)
    size = (7.2, 1.5 * rows) if drawing.kind == "trees" else (max(6.2, 3.7 * columns), 3.4 * rows)
    picture, axes = pyplot.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
    for axis in axes.flat[len(panels) :]:
        axis.set_axis_off()
    for axis, panel in zip(axes.flat, panels, strict=False):
        axis.set_title(panel, size=9)
        if drawing.kind == "trees":
            trees(axis, found, panel)
            continue
        (lines if drawing.kind == "lines" else bars)(axis, drawing, found, panel, colours)
        axis.set_xlabel(drawing.x)
        axis.grid(True, which="major", color="#DDDDDD", linewidth=0.6)
        axis.set_axisbelow(True)
    if drawing.kind != "trees":
        for row in axes:
            row[0].set_ylabel(drawing.y)
        if len(names) > 1:
            handles = {}  # a panel may not have all series
            for axis in axes.flat:
                handles.update((label, handle) for handle, label in zip(*axis.get_legend_handles_labels(), strict=True))
            picture.legend(handles.values(), handles.keys(), fontsize=7, ncols=min(len(handles), 3),
                           loc="outside upper center")  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.savefig(path, metadata={"Date": None, "Creator": None})
    pyplot.close(picture)
    # matplotlib ends lines of paths with blanks.
    path.write_text("".join(f"{line.rstrip()}\n" for line in path.read_text().splitlines()))
