"""Shared by all Python tests: the import path of the hosts' helper, the markers, fixtures over the six hosts."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent / "hosts"))

import hosts as host_module  # noqa: E402
import sampling  # noqa: E402
from usable import usable  # noqa: E402

host_module.standard["MILLRACE_AGREE_AFTER"] = 0


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="also run the tests marked full, on every host: hours")


def pytest_configure(config):
    config.addinivalue_line("markers", "full: takes minutes; runs with --full only")
    config.addinivalue_line("markers", "sampled_hosts: without --full on some hosts only (tests/hosts/sampling.py)")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--full"):
        return
    out = sampling.left_out(items, host_module.HOSTS)
    out.update(item for item in items if item.get_closest_marker("full"))
    config.hook.pytest_deselected(items=[item for item in items if item in out])
    items[:] = [item for item in items if item not in out]


@pytest.fixture(params=list(host_module.HOSTS))
def host(request):
    """Each of the six hosts in turn."""
    return usable(request.param)


@pytest.fixture(scope="session")
def launcher():
    """The millrace command; a test that asks for it cannot run before it is built."""
    assert host_module.MILLRACE.exists(), f"{host_module.MILLRACE} is missing: ./dev build"
    return host_module.MILLRACE
