"""Where hosts differ from docs/semantics.md or from themselves: shown on the host alone, then what Millrace gives.

The tables below are the section "Where the hosts differ" of that page. A difference that a host no longer shows is
skipped with the host's answer, to be struck off both.
"""

import functools
import json
import pathlib

import hosts
import pytest
from usable import usable

SOURCE = pathlib.Path(__file__).parent / "programs" / "host_differences.c"

WRAPPED = {"sum_i8": "-56", "sum_u8": "44", "sum_i16": "-5536", "sum_u16": "14464"}
SATURATED = {"sum_i8": "127", "sum_u8": "255", "sum_i16": "32767", "sum_u16": "65535"}
NAN_CASES = [
    f"{op}_{kind}_nan_{side}" for op in ("max", "min") for kind in ("f32", "f64") for side in ("left", "right")
]
SIGNED = ["long", "aint", "offset", "count"]
BITS = {"char": 8, "short": 16, "long": 64, "long_long": 64, "": 32}
UNSIGNED = {
    **{f"unsigned_{name}".rstrip("_"): bits for name, bits in BITS.items()},
    **{f"uint{bits}": bits for bits in (8, 16, 32, 64)},
}
ONE_AND_A_BIT = "3fff0000000000000000000000001000"  # 1 + 2^-100 in binary128

# What docs/semantics.md says of every case: one result for the whole array.
DOCUMENTED = {
    **WRAPPED,
    **dict.fromkeys(NAN_CASES, "nan"),
    **{f"max_{name}": "1" for name in SIGNED},
    **{f"min_{name}": "-1" for name in SIGNED},
    **{f"max_{name}": str(2**bits - 1) for name, bits in UNSIGNED.items()},
    **{f"min_{name}": "1" for name in UNSIGNED},
    "sum_real16": ONE_AND_A_BIT,
}


def has_avx():
    """Whether Open MPI's op/avx runs here at all."""
    return " avx " in pathlib.Path("/proc/cpuinfo").read_text()


def swapped(names):
    """MAX answers with MIN's result and the other way round: the comparison has the wrong signedness."""
    return {
        f"{op}_{name}": DOCUMENTED[f"{other}_{name}"]
        for name in names
        for op, other in (("max", "min"), ("min", "max"))
    }


# op/avx, on processors that have AVX: the vector body comes first, then the tail.
SATURATING_BODY = {case: f"{SATURATED[case]} {WRAPPED[case]}" for case in WRAPPED}
NAN_BY_POSITION = {case: "1 nan" if case.endswith("left") else "nan 1" for case in NAN_CASES}
OF_OP_AVX = {**SATURATING_BODY, **NAN_BY_POSITION}
RIGHT_NAN_LOST = {case: "1" for case in NAN_CASES if case.endswith("right")}

DIFFERENCES = {
    "openmpi4": {
        **OF_OP_AVX,
        **swapped(["offset", "unsigned_long"]),
        # As x87 numbers, both have an empty significand: 0 + 0, over the bytes of the right operand.
        "sum_real16": "3f9b0000000000000000000000000000",
    },
    "openmpi5": {**OF_OP_AVX, **swapped(["offset"])},
    "mpich4": {
        **RIGHT_NAN_LOST,
        **swapped(UNSIGNED),
        "sum_real16": "7e9a0000000000000000000000000000",  # 3fff + 3f9b, byte by byte, no carry
    },
    "mpich5": RIGHT_NAN_LOST,
    "intel": dict.fromkeys(NAN_CASES, "1"),
    "abi": RIGHT_NAN_LOST,
}


@functools.cache
def results(host, millrace=False):
    """What every case gave on `host`: one word for each different result in the array."""
    usable(host)
    program = hosts.BUILD / "tests" / "semantics" / host / SOURCE.stem
    if not millrace:
        hosts.compile(host, SOURCE, program)
    finished = hosts.run(host, 1, program, millrace=millrace).check()
    return dict(line.split(" ", 1) for line in finished.stdout.splitlines())


@pytest.mark.parametrize("host,case", [(host, case) for host, cases in DIFFERENCES.items() for case in cases])
def test_host_differs_and_millrace_does_not(host, case):
    if host.startswith("openmpi") and case in OF_OP_AVX and not has_avx():
        pytest.skip("this processor has no AVX, so that Open MPI's op/avx does not run")
    alone = results(host)[case]
    if alone == DOCUMENTED[case]:
        pytest.skip(f"{host} gives {alone} now, as docs/semantics.md says")
    assert alone == DIFFERENCES[host][case]
    assert results(host, millrace=True)[case] == DOCUMENTED[case]


@pytest.mark.parametrize("host", list(hosts.HOSTS))
def test_every_case_is_as_documented_with_millrace(host):
    alone, ours = results(host), results(host, millrace=True)
    missing = {case: "no_such_type" for case, result in alone.items() if result == "no_such_type"}
    assert ours == {**DOCUMENTED, **missing}


@pytest.mark.parametrize("host", list(hosts.HOSTS))
def test_no_difference_is_missing_from_the_page(host):
    refused = ("refused", "no_such_type")
    different = {case for case, result in results(host).items() if result != DOCUMENTED[case] and result not in refused}
    assert different <= set(DIFFERENCES[host])


@pytest.mark.parametrize("host", list(hosts.HOSTS))
def test_millrace_took_every_one_of_these_calls(host, tmp_path):
    results(host)
    path = tmp_path / "report.json"
    program = hosts.BUILD / "tests" / "semantics" / host / SOURCE.stem
    hosts.run(host, 1, program, millrace=True, env={"MILLRACE_REPORT": path}).check()
    calls = json.loads(path.read_text())["calls"]
    entry = next(entry for entry in calls if entry["name"] == "MPI_Reduce_local")
    assert entry["taken"] == entry["calls"] > 0
