"""`cmake --build build --target uninstall`: what was installed goes, and nothing else."""

import hosts
import pytest
from installation import Installation


@pytest.fixture
def make(tmp_path, launcher):
    return lambda prefix: Installation(prefix, tmp_path / "memories")


def test_a_prefix_made_for_it_goes_as_a_whole(make, tmp_path):
    installation = make(tmp_path / "prefix")
    assert (installation.prefix / "bin/millrace").exists()
    done = installation.uninstall()
    assert done.returncode == 0, done.stderr
    assert not installation.prefix.exists()
    assert "files removed" in done.stdout


def test_what_was_there_before_stays(make, tmp_path):
    prefix = tmp_path / "prefix"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "share/doc").mkdir(parents=True)
    (prefix / "bin/other").write_text("")
    installation = make(prefix)
    (prefix / "share/millrace/mine.json").write_text("")
    assert installation.uninstall().returncode == 0
    assert [str(path) for path in installation.files()] == ["bin/other", "share/millrace/mine.json"]
    assert (prefix / "share/doc").is_dir(), "an empty directory that others made"
    assert [path for path in prefix.rglob("*millrace*") if path.is_dir()] == [prefix / "share/millrace"]


def test_twice_is_said(make, tmp_path):
    installation = make(tmp_path / "prefix")
    assert installation.uninstall().returncode == 0
    again = installation.uninstall()
    assert again.returncode != 0
    assert "nothing was installed" in again.stderr


def test_the_target_exists():
    assert "build uninstall: phony" in (hosts.BUILD / "build.ninja").read_text()
