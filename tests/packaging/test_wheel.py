"""The wheel: what goes into it, how it finds its parts and, with --full, whole jobs in bare Debians, by pip alone."""

import os
import runpy
import shutil
import subprocess
import sys
import time
import types

import debian_root
import hosts
import pytest
from debian_root import AS_ROOT, MINUTES, PROGRAM, RELEASES

LEFT_OUT = {  # of an installation; nothing here is wanted when a program runs
    "include", "lib/cmake", "lib/pkgconfig", "lib/libmillrace.so", "lib/libmillrace.so.0.1.0", "lib/millrace/openmpi",
    "lib/millrace/python", "share/bash-completion", "share/doc", "share/fish", "share/man", "share/modulefiles",
    "share/zsh",
}  # fmt: skip


@pytest.fixture
def data_files(moved, monkeypatch):
    """directory -> files, as setup.py says them to setuptools."""
    told = {}
    monkeypatch.setenv("MILLRACE_INSTALLED", str(moved))
    monkeypatch.setitem(sys.modules, "setuptools", types.SimpleNamespace(setup=told.update))
    runpy.run_path(str(hosts.ROOT / "python/setup.py"))
    return dict(told["data_files"])


def test_everything_goes_into_it_but_what_is_named_here(moved, data_files):
    taken = {file for files in data_files.values() for file in files}
    rest = {str(path.relative_to(moved)) for path in moved.rglob("*") if not path.is_dir() and str(path) not in taken}
    assert {name for name in rest if not any(f"{name}/".startswith(f"{out}/") for out in LEFT_OUT)} == set()


@pytest.fixture
def environment(data_files, tmp_path):
    """The wheel's files as pip puts them below an environment's prefix."""
    for directory, files in data_files.items():
        (tmp_path / directory).mkdir(parents=True)
        for file in files:
            shutil.copy(file, tmp_path / directory)
    packages = tmp_path / "lib/python3/site-packages"
    shutil.copytree(hosts.ROOT / "python/millrace", packages / "millrace")
    return tmp_path


def test_the_parts_find_each_other(environment):
    packages = environment / "lib/python3/site-packages"

    def said(*words):
        variables = {name: text for name, text in os.environ.items() if name != "MILLRACE_LIBRARY"}
        done = subprocess.run(
            [str(word) for word in words], env={**variables, "PYTHONPATH": str(packages)}, cwd=environment,
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        return done.stdout + done.stderr

    assert said(sys.executable, "-m", "millrace", "--version") == said(hosts.MILLRACE, "--version")
    assert str(environment / "lib/millrace") in said(sys.executable, "-m", "millrace", "info")
    parts = "import millrace; print(millrace._library.lib._name, millrace._native.compiled.__file__)"
    library, compiled = said(sys.executable, "-c", parts).split()
    assert library == str(environment / "lib/libmillrace.so.0")
    assert compiled == str(environment / "lib/millrace/_compiled.abi3.so")
    missing = said(environment / "bin/millrace", "check", "--mpicc", "/no/mpicc")
    assert "/no/mpicc" in missing and "sources" not in missing


@pytest.fixture(scope="module")
def wheel(launcher):
    variables = {**os.environ, "BUILD_DIR": str(hosts.BUILD), "PATH": f"/usr/bin:/bin:/usr/sbin:{os.environ['PATH']}"}
    made = debian_root.run(hosts.ROOT / "scripts/package.sh", "wheel", timeout=3000, env=variables)
    return made.splitlines()[-1]


@pytest.mark.full
def test_it_runs_with_the_glibc_that_the_page_names(wheel):
    """Auditwheel gave the tag when it was made; RHEL 8 has glibc 2.28, Debian 11 has 2.31."""
    assert wheel.endswith(("manylinux_2_27_x86_64.whl", "manylinux_2_27_aarch64.whl"))
    assert "`manylinux_2_27`" in (hosts.ROOT / "docs/install.md").read_text()


@pytest.fixture(params=RELEASES)
def root(request, tmp_path_factory):
    made = debian_root.make(tmp_path_factory.mktemp(request.param) / "root", request.param)
    yield made
    shutil.rmtree(made.path)


@pytest.mark.full
def test_from_nothing_to_a_verdict(wheel, root, capsys):
    """What a user of Open MPI and Python has to begin with is that system's own; no compiler is there."""
    root.run("apt-get", "update", "-q")
    root.run("apt-get", "install", "-yq", "--no-install-recommends", "openmpi-bin", "python3-venv")
    root.run("sh", "-c", "! command -v cc gcc g++ c++ clang")
    root.run("python3", "-m", "venv", "/opt/venv")
    shutil.copy(wheel, root.path / "tmp")
    (root.path / "tmp/app.py").write_text(PROGRAM)
    path = {"PATH": "/opt/venv/bin:/usr/sbin:/usr/bin:/sbin:/bin", **AS_ROOT}

    began = time.monotonic()
    root.run("pip", "install", "-q", "mpi4py", "numpy", **path)
    before = root.names()
    root.run("sh", "-c", "pip install -q /tmp/millrace-*.whl", **path)
    installed_s = time.monotonic() - began
    job = ["mpirun", "--oversubscribe", "-n", "2"]
    said = root.run("millrace", "compare", "--html", "/tmp/verdict.html", "--", *job, "python", "/tmp/app.py", **path)
    verdict_s = time.monotonic() - began
    assert "output: the same" in said and "exit codes: the same (0)" in said
    calls = next(line for line in said.split("\n") if "MPI_Allreduce:" in line)
    assert int(calls.split()[1]) > 3000, calls
    root.run(*job, "millrace", "--report=/tmp/run.json", "python", "/tmp/app.py", **path)
    assert "MPI_Allreduce" in root.run("millrace", "report", "--html", "/tmp/run.html", "/tmp/run.json", **path)
    for page in ("verdict.html", "run.html"):
        assert (root.path / "tmp" / page).read_text().rstrip().endswith("</html>")
    report_s = time.monotonic() - began
    assert root.run("python", "-m", "millrace", "--version", **path).startswith("millrace ")
    short = "import millrace, numpy; print(millrace.reduce('sum', numpy.ones(3), numpy.ones(3))[0])"
    assert root.run("python", "-c", f"{short}; assert millrace._native.compiled", **path).strip() == "2.0"

    root.run("pip", "uninstall", "-yq", "millrace", **path)
    assert sorted(root.names() - before) == []
    with capsys.disabled():
        name = root.path.parent.name
        print(f"\n{name}: installed {installed_s:.0f} s, verdict {verdict_s:.0f} s, pages {report_s:.0f} s")
    assert report_s < MINUTES * 60
