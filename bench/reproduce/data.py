"""The data of a figure: a CSV file of points, with what they were measured on in front of them."""

import csv
import dataclasses
import math
import statistics

FIELDS = ("panel", "series", "x", "value", "low", "high")


@dataclasses.dataclass(frozen=True)
class Point:
    series: str
    x: object  # a number, or a word
    value: float
    low: float | None = None
    high: float | None = None
    panel: str = ""


def _number(text):
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value.is_integer() and "." not in text and "e" not in text else value


def in_words(value):
    """A number with four digits that count, or a word."""
    if not isinstance(value, float) or value.is_integer():
        return str(int(value) if isinstance(value, float) else value)
    digits = max(0, 3 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:.{digits}f}"


class Data:
    def __init__(self, points, about):
        self.points, self.about = list(points), dict(about)

    def panels(self):
        return list(dict.fromkeys(point.panel for point in self.points))

    def series(self, panel=""):
        return list(dict.fromkeys(point.series for point in self.points if point.panel == panel))

    def line(self, series, panel=""):
        """x -> value"""
        found = {point.x: point.value for point in self.points if (point.panel, point.series) == (panel, series)}
        if not found:
            raise KeyError(f"no series '{series}' in panel '{panel}'")
        return found

    def range_of(self, series, x, panel=""):
        """(low, high) of a point; None, None without them"""
        return next((point.low, point.high) for point in self.points
                    if (point.panel, point.series, point.x) == (panel, series, x))  # fmt: skip

    def ratios(self, above, below, panel="", only=None):
        """x -> how many times `below` is `above`, where both have a value (and `only`, a function of x, says so)."""
        over, under = self.line(above, panel), self.line(below, panel)
        return {x: over[x] / under[x] for x in over if x in under and (only is None or only(x))}

    def store(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="") as file:
            for key, value in self.about.items():
                file.write(f"# {key}: {value}\n")
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(FIELDS)
            for point in self.points:
                row = (getattr(point, field) for field in FIELDS)
                writer.writerow(
                    "" if value is None else f"{value:.6g}" if isinstance(value, float) else value for value in row
                )


def load(path):
    about, lines = {}, []
    for line in path.read_text().splitlines():
        if line.startswith("# "):
            key, _, value = line[2:].partition(": ")
            about[key] = value
        else:
            lines.append(line)
    points = []
    for row in csv.DictReader(lines):
        low, high = (None if row[end] == "" else float(row[end]) for end in ("low", "high"))
        points.append(Point(row["series"], _number(row["x"]), float(row["value"]), low, high, row["panel"]))
    return Data(points, about)


def times(ratios):
    """The range of the values of a dictionary, as "2.1 to 3.5 times"."""
    values = sorted(ratios.values())
    if not values:
        raise ValueError("nothing to compare")
    low, high = (f"{value:.2f}" if value < 10 else f"{value:.0f}" for value in (values[0], values[-1]))
    return f"{low} times" if low == high else f"{low} to {high} times"


def median_times(ratios):
    spread = times(ratios)
    return f"{statistics.median(ratios.values()):.2f} times, {spread} over the points" if " to " in spread else spread
