"""Shared by all Python tests: the import path of the hosts' helper, the marker `full`, fixtures over the six hosts."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent / "hosts"))

import hosts as host_module  # noqa: E402
from usable import usable  # noqa: E402


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="also run the tests marked full: minutes instead of seconds")


def pytest_configure(config):
    config.addinivalue_line("markers", "full: takes minutes; runs with --full only")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--full"):
        return
    config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("full")])
    items[:] = [item for item in items if not item.get_closest_marker("full")]


@pytest.fixture(params=list(host_module.HOSTS))
def host(request):
    """Each of the six hosts in turn."""
    return usable(request.param)


@pytest.fixture(scope="session")
def launcher():
    """The millrace command; a test that asks for it cannot run before it is built."""
    assert host_module.MILLRACE.exists(), f"{host_module.MILLRACE} is missing: ./dev build"
    return host_module.MILLRACE
