"""How the report tells calls apart by their bytes."""

import hosts
import pytest
from shim_programs import build, call, report

pytestmark = pytest.mark.sampled_hosts


@pytest.mark.parametrize("host", list(hosts.HOSTS))
def test_calls_of_each_size(host):
    _, result = report(host, 2, build(host, "sizes.c"))
    expected = {0: (1, 0)}
    for k in range(16):
        calls, size = k + 1, (k + 1) << k
        if 1 <= k < 15:  # one less than the next power
            calls, size = calls + 1, size + (2 << k) - 1
        expected[1 << k] = (2 * calls, 2 * size)
    expected[0] = (2, 0)
    found = call(result, "MPI_Allreduce")
    assert {one["least_bytes"]: (one["calls"], one["bytes"]) for one in found["sizes"]} == expected
    for name in ("calls", "bytes", "taken"):
        assert sum(one[name] for one in found["sizes"]) == found[name]
    assert abs(sum(one["time_ns"] for one in found["sizes"]) - found["time_ns"]) <= 2 * len(expected)  # rounded
    assert found["taken"] > 0
    assert call(result, "MPI_Barrier")["sizes"] == []
