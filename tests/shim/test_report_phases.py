"""How a run went over time, as the report has it."""

import hosts
import pytest
from shim_programs import build, report

pytestmark = pytest.mark.sampled_hosts


@pytest.mark.parametrize("host", list(hosts.HOSTS))
def test_a_run_in_three_parts(host):
    finished, result = report(host, 2, build(host, "phases.c"), "300")
    phases = result["phases"]
    slices = phases["slices"]
    assert len(slices) == 64
    assert 64 * phases["slice_ns"] == pytest.approx(result["wall_ns"]["max"], rel=0.05)
    # Where the borders are, the machine decides: what is well inside of each third is certain.
    computing, waiting, reducing = slices[4:16], slices[26:38], slices[50:60]
    assert all(one["mpi_share"]["max"] < 0.2 for one in computing)
    assert all(one["mpi_share"]["max"] > 0.8 and one["mpi_share"]["max_rank"] == 1 for one in waiting)
    assert all(one["mpi_share"]["min"] < 0.2 and one["bytes"] == 0 for one in waiting)
    assert all(one["mpi_share"]["mean"] > 0.3 and one["bytes"] > 0 for one in reducing)
    assert all(one["ranks"] == 2 for one in slices[:60])
    reductions = int(finished.stdout)
    assert sum(one["bytes"] for one in slices) == 2 * (reductions * 128 + reductions // 100 * 4)
    calls = sum(call["calls"] for call in result["calls"])
    assert sum(one["calls"] for one in slices) == pytest.approx(calls, abs=8)  # of MPI_Finalize's time
    inside = sum(one["mpi_share"]["mean"] for one in slices) * 2 * phases["slice_ns"]
    counted = sum(call["time_ns"] for call in result["calls"] if not call["name"].startswith("MPI_Init"))
    assert inside == pytest.approx(counted, rel=0.02)
