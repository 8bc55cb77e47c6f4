"""What a shared library exports, read with binutils' nm."""

import pathlib
import subprocess


def exported_functions(library):
    lines = subprocess.run(
        ["nm", "--dynamic", "--defined-only", "--no-demangle", str(library)], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    fields = [line.split() for line in lines]
    return {name.split("@")[0] for _, kind, name in (f for f in fields if len(f) == 3) if kind in "TWVi"}


def fortran_libraries(host):
    """The Fortran libraries that lie beside a host's libmpi."""
    patterns = {
        "openmpi4": ["libmpi_mpifh.so.40", "libmpi_usempif08.so.40"],
        "mpich4": ["libmpichfort.so.12"],
        "intel": ["libmpifort.so.12"],
        "abi-intel": ["libmpifort_abi.so.1"],
    }.get(host.name, [])
    directory = pathlib.Path(host.library).parent
    return [directory / name for name in patterns if (directory / name).exists()]
