"""One installation for all tests of this folder: made in one place, then moved to another."""

import shutil

import pytest
from installation import Installation


@pytest.fixture(scope="session")
def moved(launcher, tmp_path_factory):
    """The prefix of an installation that does not lie where it was made."""
    work = tmp_path_factory.mktemp("packaging")
    installation = Installation(work / "made", work / "memories")
    yield installation.prefix.rename(work / "moved")
    shutil.rmtree(work)


@pytest.fixture(scope="session")
def libraries(moved):
    """lib, lib64, or Debian's directory."""
    return next(moved.rglob("libmillrace.so")).parent
