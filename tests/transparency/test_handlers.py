"""Error handlers are the program's: Millrace asks its host without touching any."""

import hosts
import pytest
from test_completions import both_ways, build
from usable import usable


@pytest.mark.parametrize("argument", ["world", "self"])
@pytest.mark.parametrize("name", list(hosts.HOSTS))
def test_handlers_that_are_set_late(name, argument):
    host = usable(name)
    both_ways(host, 1, build(host, "handlers_set_late.c"), argument, check=False)
