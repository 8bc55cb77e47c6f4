"""What the benchmarks that launch jobs in turns have in common."""

import math


def interval(values):
    """Of the median, with 95 %: order statistics of the binomial distribution."""
    ordered, count = sorted(values), len(values)
    reach = math.floor(0.98 * math.sqrt(count)) + 1
    return ordered[max(0, count // 2 - reach)], ordered[min(count - 1, count // 2 + reach)]
