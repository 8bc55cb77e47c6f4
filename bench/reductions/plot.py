"""plot.py REDUCTIONS.csv OUT.png: ours / best host for every op, type, size and mode, as one picture."""

import csv
import sys

import matplotlib

matplotlib.use("agg")
from matplotlib import colors, pyplot  # noqa: E402

SIZES = {1 << 10: "1 KiB", 16 << 10: "16 KiB", 256 << 10: "256 KiB", 4 << 20: "4 MiB", 64 << 20: "64 MiB"}
OPS = "sum prod max min land lor lxor band bor bxor maxloc minloc".split()


def main():
    source, target = sys.argv[1:]
    with open(source, newline="") as file:
        rows = list(csv.DictReader(file))
    worst = {}  # (mode, bytes, op, type) -> the host that comes closest
    for row in rows:
        op, type_ = row["kernel"].split("_", 1)
        key = row["mode"], int(row["bytes"]), op, type_
        worst[key] = min(worst.get(key, float("inf")), float(row["ratio"]))
    types = list(dict.fromkeys(key[3] for key in worst))
    figure, axes = pyplot.subplots(len(SIZES), 2, figsize=(11, 15), sharex=True, sharey=True, layout="constrained")
    norm = colors.LogNorm(1 / 8, 8)  # 1 is in the middle
    for line, (size, size_name) in zip(axes, SIZES.items(), strict=True):
        for axis, mode in zip(line, ("hot", "cold"), strict=True):
            cells = [[worst.get((mode, size, op, type_), float("nan")) for type_ in types] for op in OPS]
            image = axis.imshow(cells, norm=norm, cmap="RdYlGn", aspect="auto", interpolation="none")
            for y, values in enumerate(cells):
                for x, value in enumerate(values):
                    if value == value:
                        text = f"{value:.1f}" if value < 9.95 else f"{value:.0f}"
                        color = "white" if value > 4 else "black"
                        axis.text(x, y, text, ha="center", va="center", size=5, color=color)
            axis.set_title(f"{size_name}, {mode}", size=9)
            axis.set_xticks(range(len(types)), types, rotation=90, size=7)
            axis.set_yticks(range(len(OPS)), OPS, size=7)
    figure.colorbar(image, ax=axes, shrink=0.3, label="best host's time / ours")
    figure.savefig(target, dpi=90, metadata={"Software": None})


if __name__ == "__main__":
    main()
