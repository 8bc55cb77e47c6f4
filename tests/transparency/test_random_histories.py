"""Random histories of calls, with failing ranks, late ones and early leavers: as without Millrace, and right."""

import pytest
from transparency import both, build, cases, usable

pytestmark = pytest.mark.sampled_hosts


@cases((2, 30), (3, 20), (5, 6), (4, 10), (9, 2), (3, 20))
def test_random_histories(host_name, case):
    host = usable(host_name)
    ranks, histories = case
    both(host, ranks, build(host, "random_history.c"), 11 * ranks, histories, timeout=90)


@pytest.mark.full
@pytest.mark.parametrize("ranks", range(2, 10))
def test_more_random_histories(host, ranks):
    program = build(host, "random_history.c")
    for seed in range(3 if ranks < 5 else 1):
        both(host, ranks, program, 1000 + 8 * ranks + seed, max(2, 200 // ranks**2), 60, timeout=300)
