"""MPICH's own test programs: none fails with Millrace that passes without it."""

import mpich_suite
import pytest
from usable import usable

# MPICH spins: with more ranks than cores its programs take minutes each.
MOST_RANKS = {"openmpi4": 10, "openmpi5": 10, "mpich4": 3, "mpich5": 3, "intel": 3}


@pytest.mark.full
@pytest.mark.parametrize("settings", [{}, {"MILLRACE_COLLECTIVES": "always", "MILLRACE_MEASURE": "never"}], ids=str)
@pytest.mark.parametrize("name", MOST_RANKS)
def test_no_program_fails_with_us_alone(name, settings, launcher):
    host = usable(name)
    chosen = mpich_suite.cases(mpich_suite.build(host), most_ranks=MOST_RANKS[name])
    assert len(chosen) > 150
    assert mpich_suite.failures(host, chosen, settings) == []
