"""What bench/overhead makes of its samples: medians, differences with their uncertainty, and whether the bars hold."""

import dataclasses
import math
import statistics

SIDES = ("alone", "off", "on")  # the host; with Millrace, report off; with Millrace, report on
TAKEN = "MPI_Reduce_local"
START = ("MPI_Init", "start")  # start: from the launcher's command to the end of MPI_Init
ADDED_MAX_NS = {"off": 25, "on": 100}
INITIALISATION_ADDED_MAX_NS = 10e6
EQUAL_RATIO = 0.97  # what counts as equally fast


def median_interval(values):
    """Between which two samples the median lies with at least 95 %, whatever the distribution (sign test)."""
    ordered = sorted(values)
    count = len(ordered)
    below, outside = 0.0, 0
    while outside < (count - 1) // 2:
        below += math.comb(count, outside) / 2**count
        if below > 0.025:
            break
        outside += 1
    outside = max(outside - 1, 0)
    return ordered[outside], ordered[-1 - outside]


@dataclasses.dataclass
class Row:
    """One call on one host; `samples[side]` holds one number of nanoseconds per round."""

    host: str
    call: str
    samples: dict

    def median(self, side):
        return statistics.median(self.samples[side])

    def spread(self, side):
        """Half the distance between the quartiles."""
        first, _, third = statistics.quantiles(self.samples[side], n=4)
        return (third - first) / 2

    def differences(self, side):
        """Within each round, so that what drifts from round to round cancels."""
        return [ours - host for ours, host in zip(self.samples[side], self.samples["alone"], strict=True)]

    def added(self, side):
        return statistics.median(self.differences(side))


def bar(row, best_taken_ns):
    """(decision, what is asked) for one row. Decisions: "ok", "MISSED", "open" (within the noise), "" (no bar)."""
    if row.call == TAKEN:
        ratios = [best_taken_ns / time_ns for time_ns in row.samples["off"]]
        low, high = median_interval(ratios)
        decision = "ok" if low >= EQUAL_RATIO else "MISSED" if high < EQUAL_RATIO else "open"
        return decision, f"best host / ours {statistics.median(ratios):.2f} >= 1"
    if row.call == "MPI_Init":
        return within([(row, "off", INITIALISATION_ADDED_MAX_NS)]), "adds <= 10 ms"
    if row.call in START:
        return "", ""
    return within([(row, side, most) for side, most in ADDED_MAX_NS.items()]), "adds <= 25 and 100 ns"


def within(limits):
    intervals = [(median_interval(row.differences(side)), most) for row, side, most in limits]
    if any(low > most for (low, _), most in intervals):
        return "MISSED"
    return "ok" if all(high <= most for (_, high), most in intervals) else "open"


def best_taken_ns(rows):
    """The fastest host by itself."""
    return min(row.median("alone") for row in rows if row.call == TAKEN)


def table(rows):
    """Lines of Markdown that are also readable as they are."""
    best = best_taken_ns(rows)
    yield (
        f"| {'host':<9} | {'call':<17} | unit | {'alone':>15} | {'report off':>15} | {'added (95 %)':>22} |"
        f" {'report on':>15} | {'added (95 %)':>22} | bar"
    )
    yield "|---|---|---|---:|---:|---:|---:|---:|---|"
    for row in rows:
        unit, unit_ns = ("ms", 1e6) if row.call in START else ("ns", 1)
        side = {name: f"{row.median(name) / unit_ns:.1f} ±{row.spread(name) / unit_ns:.1f}" for name in SIDES}
        added = {}
        for name in SIDES[1:]:
            low, high = (end / unit_ns for end in median_interval(row.differences(name)))
            added[name] = f"{row.added(name) / unit_ns:.1f} ({low:.1f}..{high:.1f})"
        decision, asked = bar(row, best)
        yield (
            f"| {row.host:<9} | {row.call:<17} | {unit:<4} | {side['alone']:>15} | {side['off']:>15} |"
            f" {added['off']:>22} | {side['on']:>15} | {added['on']:>22} | {': '.join(filter(None, (decision, asked)))}"
        ).rstrip()


def csv(rows):
    yield "host,call,side,round,time_ns"
    for row in rows:
        for side in SIDES:
            for number, time_ns in enumerate(row.samples[side]):
                yield f"{row.host},{row.call},{side},{number},{time_ns}"


def missed(rows):
    best = best_taken_ns(rows)
    return [row for row in rows if bar(row, best)[0] == "MISSED"]
