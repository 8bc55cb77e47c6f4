"""op_millrace_support: each level gives its unit, seen in ompi_info and in the instructions that are executed."""

import functools
import platform

import component
import hosts
import process
import pytest

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the levels are those of x86-64")

BITS = {"scalar": 0, "sse42": 128, "avx2": 256, "avx512": 512}
# The mask -> the unit, on a processor that has them all.
UNITS = {
    "0x33f": "avx512", "0x300": "avx512",
    "0x13f": "avx2", "0x23f": "avx2", "0x03f": "avx2", "0x020": "avx2",
    "0x01f": "sse42", "0x010": "sse42", "0x008": "sse42",
    "0x007": "scalar", "0x001": "scalar",
    "AVX2,SSE4.1": "avx2", "SSE2": "scalar",
}  # fmt: skip


def parameter(name, env):
    return component.parameters(env)[name]["value"]


@functools.cache
def widest():
    return parameter("unit", component.environment())


def capped(unit):
    """A unit that this processor lacks gives the best one that it has."""
    return min(unit, widest(), key=list(BITS).index)


def executed_bits(env):
    bits, instructions = component.run(component.build("widest_vector.c"), env=env).check().stdout.split()
    assert int(instructions) > 100
    return int(bits)


@pytest.mark.parametrize("mask", UNITS)
def test_a_mask_gives_its_unit(mask):
    env = component.environment(op_millrace_support=mask)
    unit = capped(UNITS[mask])
    assert parameter("unit", env) == unit
    assert executed_bits(env) == BITS[unit]


def test_by_default_the_best():
    names = parameter("capabilities", component.environment())
    assert parameter("support", component.environment()) == names
    assert names.startswith("SSE,SSE2")
    assert executed_bits(component.environment()) == BITS[widest()]


@pytest.mark.parametrize(
    ("mask", "isa", "unit"), [("0x33f", "sse42", "sse42"), ("0x00f", "avx2", "sse42"), ("0x33f", "256", "avx2")]
)
def test_the_setting_of_all_of_millrace_caps_it_too(mask, isa, unit):
    env = {**component.environment(op_millrace_support=mask), "MILLRACE_ISA": isa}
    assert parameter("unit", env) == capped(unit)
    assert executed_bits(env) == BITS[capped(unit)]


def test_a_level_that_does_not_exist_is_said():
    """By Open MPI. Of a running program it may lose the message (its own show_help), of ompi_info it does not."""
    env = hosts.environment(component.HOST, component.environment(op_millrace_support="mmx"))
    assert process.run([component.build("sum.c")], env, timeout=60).check().stdout == "-56 -56\n"
    said = process.run(["/usr/bin/ompi_info", "--param", "op", "millrace"], env, timeout=60)
    assert "op_millrace_support" in said.stdout + said.stderr
    assert "mmx" in said.stdout + said.stderr
