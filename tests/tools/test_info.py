"""millrace info: the same facts as a page and as JSON."""

import json
import os
import subprocess

import hosts
import pytest
from usable import usable


def info(launcher, *words, **variables):
    environment = {"PATH": "/usr/bin:/bin", **{name: str(value) for name, value in variables.items()}}
    command = [launcher, "info", *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True).stdout


def facts(launcher, *words, **variables):
    return json.loads(info(launcher, "--json", *words, **variables))


def test_the_machine_is_described(launcher):
    found = facts(launcher)
    machine = found["machine"]
    assert machine["affinity"] == sorted(os.sched_getaffinity(0))
    assert machine["processing_units"] == os.cpu_count()
    assert machine["processing_units"] >= machine["cores"] >= machine["packages"] >= 1
    assert {cache["level"] for cache in machine["caches"]} <= {1, 2, 3, 4}
    assert found["version"] in subprocess.check_output([launcher, "--version"], text=True)


def test_the_affinity_mask_is_this_process_own(launcher):
    one = min(os.sched_getaffinity(0))
    text = subprocess.check_output(["taskset", "-c", str(one), launcher, "info", "--json"])
    assert json.loads(text)["machine"]["affinity"] == [one]


def test_every_unit_is_listed_with_a_reason(launcher):
    isa = facts(launcher)["isa"]
    units = {unit["name"]: unit for unit in isa["units"]}
    assert units[isa["chosen"]]["usable"]
    assert units["scalar"]["usable"]
    assert all(unit["usable"] or unit["why"] for unit in units.values())
    forced = facts(launcher, MILLRACE_ISA="scalar")["isa"]
    assert (forced["chosen"], forced["why"]) == ("scalar", "forced by MILLRACE_ISA")


def test_the_threads_of_a_large_reduction_have_a_reason(launcher):
    forced = facts(launcher, MILLRACE_THREADS="3")["threads"]
    assert forced == {"threads": 3, "why": "as MILLRACE_THREADS says", "least_bytes": 8 << 20}
    one = min(os.sched_getaffinity(0))
    text = subprocess.check_output(["taskset", "-c", str(one), launcher, "info", "--json"], text=True)
    assert json.loads(text)["threads"]["why"] == "this rank may run on one core"
    assert "threads    3 for a reduction of 8 MiB and more" in info(launcher, MILLRACE_THREADS="3")
    assert facts(launcher, PMI_RANK="0")["threads"]["why"] == "how many ranks are on this node is not known"


def test_settings_are_listed_with_value_default_and_doc(launcher):
    settings = {entry["variable"]: entry for entry in facts(launcher, MILLRACE_LOG="debug")["settings"]}
    assert settings["MILLRACE_LOG"]["value"] == "debug"
    assert settings["MILLRACE_LOG"]["default"] == "warning"
    assert all(entry["doc"] and entry["values"] for entry in settings.values())
    page = info(launcher)
    assert all(f"  {name}=" in page and entry["doc"] in page for name, entry in settings.items())


def test_mistakes_in_the_environment_are_named(launcher):
    foreign = "sve" if os.uname().machine == "x86_64" else "avx2"
    found = facts(launcher, MILLRACE_RPEORT="1", MILLRACE_LOG="loud", MILLRACE_ISA=foreign)
    assert len(found["complaints"]) == 3
    assert "did you mean MILLRACE_REPORT?" in found["complaints"][0]
    assert "! unknown setting MILLRACE_RPEORT" in info(launcher, MILLRACE_RPEORT="1")
    assert facts(launcher)["complaints"] == []


@pytest.mark.parametrize(
    ("name", "product"),
    [("openmpi4", "Open MPI 4.1."), ("mpich4", "MPICH 4.0."), ("openmpi5", "Open MPI 5.0."), ("mpich5", "MPICH 5.0."),
     ("intel", "Intel MPI 2021."), ("abi", "MPICH 5.0."), ("abi-intel", "Intel MPI 2021.")],
)  # fmt: skip
def test_the_host_is_named_with_its_version(launcher, name, product):
    host = usable(name)
    first = facts(launcher, "--mpi", host.library)["hosts"][0]
    assert first["product"].startswith(product)
    assert os.path.samefile(first["library"], host.library)
    assert first["abi"] == host.variant
    assert first["preload"]


def test_the_host_is_found_by_its_compiler_in_path(launcher):
    for name in ("openmpi5", "mpich5"):
        host = usable(name)
        first = facts(launcher, PATH=f"{host.compilers['c'].parent}:/usr/bin:/bin")["hosts"][0]
        assert os.path.samefile(first["library"], host.library)


def test_the_host_is_found_by_the_launcher_above(launcher):
    for name in ("openmpi4", "mpich4", "openmpi5", "mpich5", "intel"):
        host = usable(name)
        finished = hosts.run(host, 1, [launcher, "info", "--json"]).check()
        assert os.path.samefile(json.loads(finished.stdout)["hosts"][0]["library"], host.library)


def test_wrong_options_are_refused(launcher):
    finished = subprocess.run([launcher, "info", "--jsno"], capture_output=True, text=True)
    assert finished.returncode == 2
    assert "--jsno" in finished.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["info", "--mpi", "nonsense"],
        ["--mpi=nonsense", "info"],
        ["info", "--mpi=/etc/passwd"],
        ["check", "--mpi", "nonsense"],
    ],
)
def test_an_mpi_that_is_none_is_named(launcher, words):
    finished = subprocess.run([launcher, *words], capture_output=True, text=True, timeout=60, check=False)
    assert (finished.returncode, finished.stdout) == (2, "")
    assert len(finished.stderr.splitlines()) == 1
    assert "no MPI library, and none of openmpi, mpich, abi" in finished.stderr
