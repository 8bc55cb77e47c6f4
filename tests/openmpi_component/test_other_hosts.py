"""The object itself, and what an Open MPI that it was not built for makes of it."""

import subprocess

import component
import pytest
from usable import usable

REFUSAL = "op component not used: it was built for Open MPI 4.1, this is Open MPI"


def lines_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_exports_one_symbol_and_brings_no_libraries():
    component.environment()
    exported = [line.split()[-1] for line in lines_of("nm", "-D", "--defined-only", component.OBJECT)]
    assert exported == ["mca_op_millrace_component"]
    needed = [line for line in lines_of("readelf", "-d", component.OBJECT) if "NEEDED" in line]
    assert len(needed) == 1, needed
    assert "libc.so.6" in needed[0]


def test_ompi_info_lists_it():
    def versions(env):
        return [line for line in component.ompi_info(env=env) if line.startswith("mca:op:millrace:version:")]

    assert versions(component.environment())[-1].startswith('mca:op:millrace:version:"component:0.')
    assert versions(None) == []


def test_the_parameters_are_described():
    shown = component.parameters(component.environment())
    assert shown.keys() == {"priority", "support", "capabilities", "unit", "version"}
    assert shown["priority"]["value"] == "75"
    assert shown["version"]["value"].count(".") == 2
    assert all(parameter["help"] for parameter in shown.values())


@pytest.mark.parametrize("ranks", [1, 3])
def test_an_open_mpi_of_another_version_goes_on_without_it(ranks):
    """Open MPI checks the versions of its interfaces only, and these stayed when the layout changed."""
    preload = component.build("another_version.c", "-shared", "-fPIC")
    program = component.build("sum.c")
    plain = component.run(program, ranks=ranks).check()
    env = {**component.environment(), "LD_PRELOAD": preload}
    finished = component.run(program, ranks=ranks, env=env).check()
    assert finished.stdout == plain.stdout
    said = [line for line in finished.stderr.splitlines() if "millrace" in line]
    assert len(said) == 1, said
    assert f"{REFUSAL} 4.2.0rc1" in said[0]


def test_open_mpi_5_without_dlopen_never_looks_at_it():
    host = usable("openmpi5")
    program = component.build("sum.c", host=host.name)
    plain = component.run(program, ranks=2, host=host.name).check()
    finished = component.run(program, ranks=2, host=host.name, env=component.environment()).check()
    assert (finished.stdout, finished.stderr) == (plain.stdout, plain.stderr)
    assert "millrace" not in " ".join(component.ompi_info(env=component.environment(), host=host.name))


def test_open_mpi_5_with_dlopen_would_be_refused():
    host = usable("openmpi5")
    program = component.build("load_into_another.c", "-w", f"-I{component.HEADERS}", "-ldl", host=host.name)
    finished = component.run(program, component.OBJECT, host=host.name).check()
    assert finished.stdout == "-16 refused\n"
    assert f"{REFUSAL} 5." in finished.stderr
