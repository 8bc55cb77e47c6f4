"""Debian's Open MPI with and without the component: what the environment must hold, building and running programs."""

import functools
import pathlib

import hosts
import process

HOST = "openmpi4"
DIRECTORY = hosts.BUILD / "lib/millrace/openmpi"
OBJECT = DIRECTORY / "mca_op_millrace.so"
PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
OUT = hosts.BUILD / "tests" / "openmpi_component"
HEADERS = hosts.SYSTEM_LIBRARIES / "openmpi/include/openmpi"
ABSENT_HEADERS = hosts.ROOT / "src/openmpi_component/absent"


def environment(directory=DIRECTORY, **parameters):
    """With the component; `parameters` are MCA parameters."""
    assert OBJECT.exists(), f"{OBJECT} is missing: ./dev build; its configuration says why"
    path = {"mca_base_component_path": f"{directory}:SYSTEM_DEFAULT:USER_DEFAULT"}
    return {f"OMPI_MCA_{name}": value for name, value in {**path, **parameters}.items()}


@functools.cache
def build(source, *flags, host=HOST):
    out = OUT / host / pathlib.Path(source).stem
    return hosts.compile(host, PROGRAMS / source, out, flags=flags)


def build_with_internals(source, *flags):
    """A program that looks into Open MPI."""
    return build(source, *flags, "-w", f"-I{HEADERS}", f"-I{ABSENT_HEADERS}", "-lopen-pal", "-ldl")


def run(program, *arguments, ranks=1, env=None, host=HOST, timeout=120):
    return hosts.run(host, ranks, [program, *arguments], env=env, timeout=timeout)


def ompi_info(*arguments, env=None, host=HOST):
    """What --parsable prints about op components, as lines."""
    command = pathlib.Path(hosts.get(host).launcher[0]).parent / "ompi_info"
    environment_ = hosts.environment(host, env)
    finished = process.run([command, "--parsable", *arguments], environment_, timeout=60).check()
    assert finished.stderr == ""
    return [line for line in finished.stdout.splitlines() if line.startswith("mca:op:")]


def parameters(env=None):
    """The component's parameters, as ompi_info shows them: name -> {"value": ..., "help": ...}."""
    shown = {}
    for line in ompi_info("--param", "op", "millrace", "--level", "9", env=env):
        prefix = "mca:op:millrace:param:op_millrace_"
        if line.startswith(prefix):
            name, attribute, value = line.removeprefix(prefix).split(":", 2)
            shown.setdefault(name, {}).setdefault(attribute, value)
    return shown
