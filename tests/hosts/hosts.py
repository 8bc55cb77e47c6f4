"""The host MPIs under test: how each compiles, launches and runs, as root and with more ranks than cores.

Every test and benchmark that takes an MPI program runs through this module, so that "all hosts" means the same
everywhere. On the command line:

    hosts.py list                           what is there, and what is missing
    hosts.py cc HOST -o OUT SOURCE [FLAGS]  compiles C, C++ or Fortran, by the suffix of SOURCE
    hosts.py run HOST -n 2 [--millrace[=OPTIONS]] -- PROGRAM ARGUMENTS

BUILD_DIR names the build directory (build); the PyPI hosts are environments in build/env, made by `./dev setup`.
"""

import argparse
import contextlib
import dataclasses
import os
import pathlib
import platform

import process

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD_DIR", ROOT / "build")).resolve()
ENVIRONMENTS = ROOT / "build" / "env"
MILLRACE = BUILD / "millrace"
SYSTEM_LIBRARIES = pathlib.Path(f"/usr/lib/{platform.machine()}-linux-gnu")
SUFFIXES = {".c": "c", ".cc": "cxx", ".cpp": "cxx", ".f": "fortran", ".f90": "fortran", ".F90": "fortran"}


@dataclasses.dataclass(frozen=True)
class Host:
    name: str
    title: str
    variant: str  # of Millrace: the ABI
    library: pathlib.Path  # the libmpi
    compilers: dict  # c, cxx, fortran -> wrapper, only those that exist
    launcher: tuple  # before "-n N"
    unbound: tuple = ()  # launcher options for runs that share their cores with others: tests do, benchmarks do not
    fortran_interfaces: tuple = ()  # of mpif.h, mpi, mpi_f08
    environment: dict = dataclasses.field(default_factory=dict)
    run_environment: dict = dataclasses.field(default_factory=dict)
    fortran_flags: tuple = ()
    python: pathlib.Path | None = None  # has mpi4py and numpy
    python_environment: dict = dataclasses.field(default_factory=dict)
    generation: str = ""  # in the table of entries
    flags: tuple = ()  # for a compiler that is no wrapper
    emulator: tuple = ()  # before programs of another processor
    preload: pathlib.Path | None = None  # of that processor: our command cannot start its programs

    def missing(self):
        """Why this host cannot be used here, or None."""
        if self.name in ("intel", "abi-intel") and platform.machine() != "x86_64":
            return f"Intel MPI exists for x86-64 only, this is {platform.machine()}"
        needed = [self.library, *self.compilers.values(), self.launcher[0], *self.emulator[:1]]
        needed += [self.python] if self.python else []
        for path in needed:
            if not pathlib.Path(path).exists():
                return f"{path} is missing: ./dev setup{' cross' if self.emulator else ''}"
        return None


def _debian_openmpi():
    return Host(
        "openmpi4", "Open MPI 4.1 (Debian)", "openmpi", SYSTEM_LIBRARIES / "libmpi.so.40",
        {"c": "/usr/bin/mpicc.openmpi", "cxx": "/usr/bin/mpicxx.openmpi", "fortran": "/usr/bin/mpif90.openmpi"},
        ("/usr/bin/mpirun.openmpi", "--oversubscribe"), UNBOUND, ("mpif.h", "mpi", "mpi_f08"),
        OPEN_MPI_AS_ROOT | WITHOUT_FABRIC, {}, (), ENVIRONMENTS / "debian/bin/python",
        {"MPI4PY_LIBMPI": SYSTEM_LIBRARIES / "libmpi.so.40"},
        generation="openmpi-4.1",
    )  # fmt: skip


def _debian_mpich():
    # mpi4py's MPICH module asks for libmpi.so.12, Debian's library is called libmpich.so.12: a link bridges the names.
    links = ENVIRONMENTS / "debian/mpich"
    return Host(
        "mpich4", "MPICH 4.0 (Debian)", "mpich", SYSTEM_LIBRARIES / "libmpich.so.12",
        {"c": "/usr/bin/mpicc.mpich", "cxx": "/usr/bin/mpicxx.mpich", "fortran": "/usr/bin/mpif90.mpich"},
        ("/usr/bin/mpiexec.mpich",), (), ("mpif.h", "mpi", "mpi_f08"),
        {}, {}, (), ENVIRONMENTS / "debian/bin/python",
        {"MPI4PY_LIBMPI": links / "libmpi.so.12", "LD_LIBRARY_PATH": links},
        generation="mpich-4.0",
    )  # fmt: skip


def _pypi_openmpi():
    bin_, lib = ENVIRONMENTS / "openmpi5/bin", ENVIRONMENTS / "openmpi5/lib"
    return Host(
        "openmpi5", "Open MPI 5.0 (PyPI)", "openmpi", lib / "libmpi.so.40",
        {"c": bin_ / "mpicc", "cxx": bin_ / "mpicxx"},
        (bin_ / "mpirun", "--oversubscribe"), UNBOUND, (),
        OPEN_MPI_AS_ROOT | WITHOUT_FABRIC | {"OMPI_MCA_btl": "^ofi"}, {}, (), bin_ / "python",
        generation="openmpi-5.0",
    )  # fmt: skip


def _pypi_mpich():
    bin_, lib = ENVIRONMENTS / "mpich5/bin", ENVIRONMENTS / "mpich5/lib"
    return Host(
        "mpich5", "MPICH 5.0 (PyPI)", "mpich", lib / "libmpi.so.12",
        {"c": bin_ / "mpicc", "cxx": bin_ / "mpicxx"}, (bin_ / "mpiexec",), python=bin_ / "python",
        generation="mpich-5.0",
    )  # fmt: skip


def _gfortran_version():
    gcc = pathlib.Path(f"/usr/lib/gcc/{platform.machine()}-linux-gnu")
    return next((path.parent.name for path in sorted(gcc.glob("*/f951"))), "none")


def _intel():
    # The wheel's Fortran modules for gfortran hold mpi only; mpi_f08 is there for Intel's own compiler. Its wrapper
    # looks for them in the directory of another edition. A Fortran program needs libmpifort.so.12, which needs
    # libmpi.so.12 and has no path to it: Intel's own set-up script puts the directory on LD_LIBRARY_PATH, and so do we.
    prefix = ENVIRONMENTS / "intel"
    modules = sorted(prefix.glob(f"include/mpi/gfortran/{_gfortran_version()}.*"))
    return Host(
        "intel", "Intel MPI 2021 (PyPI)", "mpich", prefix / "lib/libmpi.so.12",
        {"c": prefix / "bin/mpigcc", "cxx": prefix / "bin/mpigxx", "fortran": prefix / "bin/mpif90"},
        (prefix / "bin/mpiexec",), ("-genv", "I_MPI_PIN", "0"), ("mpif.h", "mpi") if modules else ("mpif.h",),
        {"I_MPI_ROOT": prefix}, {"LD_LIBRARY_PATH": prefix / "lib"}, tuple(f"-I{path}" for path in modules),
        prefix / "bin/python",
        generation="mpich-impi",
    )  # fmt: skip


def _abi():
    bin_, lib = ENVIRONMENTS / "mpich5/bin", ENVIRONMENTS / "mpich5/lib"
    return Host(
        "abi", "MPI-5 ABI library of MPICH 5.0 (PyPI)", "abi", lib / "libmpi_abi.so.1",
        {"c": bin_ / "mpicc_abi", "cxx": bin_ / "mpicxx_abi"}, (bin_ / "mpiexec",),
        generation="abi-mpich",
    )  # fmt: skip


def _abi_intel():
    # What the MPI-5 ABI is for: a program built for MPICH's libmpi_abi.so.1 runs on Intel's. The path comes first
    # in the search because the wrapper leaves a RUNPATH, not an RPATH, in the program.
    prefix, bin_ = ENVIRONMENTS / "intel", ENVIRONMENTS / "mpich5/bin"
    return Host(
        "abi-intel", "MPI-5 ABI library of Intel MPI 2021 (PyPI)", "abi", prefix / "lib/libmpi_abi.so.1",
        {"c": bin_ / "mpicc_abi", "cxx": bin_ / "mpicxx_abi"},
        (prefix / "bin/mpiexec",), ("-genv", "I_MPI_PIN", "0"), (),
        {"I_MPI_ROOT": prefix}, {"LD_LIBRARY_PATH": prefix / "lib"},
        generation="abi-impi",
    )  # fmt: skip


def _for_arm(native, library, headers, *launcher):
    # Debian's packages of the same version for 64-bit Arm. A program of that processor starts no other under qemu-user,
    # so the launcher is this machine's; between the two there is nothing but PMI's text and PMIx's bytes.
    root, gnu = ENVIRONMENTS / "arm64", "usr/lib/aarch64-linux-gnu"
    needed = (f"-I{root / headers}", root / gnu / library, f"-Wl,--allow-shlib-undefined,-rpath-link,{root / gnu}")
    return Host(
        f"{native.name}-aarch64", f"{native.title} for 64-bit Arm", native.variant, root / gnu / library,
        {"c": "/usr/bin/aarch64-linux-gnu-gcc", "cxx": "/usr/bin/aarch64-linux-gnu-g++"},
        (*native.launcher, *launcher), native.unbound, environment=native.environment, generation=native.generation,
        flags=("-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", *needed), emulator=("/usr/bin/qemu-aarch64", "-L", root),
        preload=BUILD / "aarch64/lib/millrace" / f"libmillrace-{native.generation}.so",
    )  # fmt: skip


# Bound, every run would take the same cores, from the first one on; and a waiting rank would keep its core to itself.
UNBOUND = ("--bind-to", "none", "--mca", "mpi_yield_when_idle", "1")
OPEN_MPI_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
# What Open MPI takes anyway where there is no fabric. Looking for one takes 0.2 s of a start of version 4, and 1.1 s of
# one of version 5, whose btl/ofi sleeps for a second when it has found none.
WITHOUT_FABRIC = {"OMPI_MCA_pml": "ob1"}
HOSTS = {
    host.name: host for host in (_debian_openmpi(), _debian_mpich(), _pypi_openmpi(), _pypi_mpich(), _intel(), _abi())
}
# Programs of the sixth host also run on another vendor's library of the same ABI; Debian's two exist for Arm, too,
# where qemu-user does not know the system call by which Open MPI copies from process to process.
ONE_COPY_OFF = ("--mca", "btl_vader_single_copy_mechanism", "none")
VARIATIONS = {
    host.name: host
    for host in (
        _abi_intel(),
        _for_arm(HOSTS["openmpi4"], "libmpi.so.40", "usr/lib/aarch64-linux-gnu/openmpi/include", *ONE_COPY_OFF),
        _for_arm(HOSTS["mpich4"], "libmpich.so.12", "usr/include/aarch64-linux-gnu/mpich"),
    )
}


def get(host):
    """A Host, given itself or its name."""
    if isinstance(host, Host):
        return host
    try:
        return {**HOSTS, **VARIATIONS}[host]
    except KeyError:
        raise ValueError(f"no host '{host}'; there are {', '.join([*HOSTS, *VARIATIONS])}") from None


def host_names(text):
    """For argparse: the text itself, if it is names of hosts with commas between them."""
    for name in text.split(","):
        try:
            get(name)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
    return text


# What every program sees: nothing for a benchmark, and for tests that ranks agree with the fourth call, so that short
# programs show what sharing does; see tests/conftest.py.
standard = {}


def environment(host, extra=None):
    """What a program on `host` sees: nothing of the caller's MPI settings, nothing of MILLRACE_, except `extra`."""
    host = get(host)
    kept = {name: os.environ[name] for name in ("HOME", "USER", "LOGNAME", "TMPDIR", "TERM") if name in os.environ}
    path = f"{pathlib.Path(host.launcher[0]).parent}:/usr/bin:/bin:/usr/sbin:/sbin"
    # Figures and tests are those of our defaults, whatever tuning table the user has.
    values = {"PATH": path, "LC_ALL": "C.UTF-8", "XDG_CONFIG_HOME": BUILD / "no_settings", **kept, **host.environment,
              **standard, **(extra or {})}  # fmt: skip
    return {name: str(value) for name, value in values.items() if value is not None}


# What each program was made of by this process: most tests of a file run the same one.
_compiled = {}


def compile(host, source, out, lang=None, flags=(), timeout=120):  # noqa: A001
    """Compiles one MPI program for `host`, unless it is what was compiled there last; returns the path `out`."""
    host = get(host)
    source, out = pathlib.Path(source), pathlib.Path(out)
    lang = lang or SUFFIXES[source.suffix]
    if lang not in host.compilers:
        raise ValueError(f"{host.name} has no {lang} compiler")
    made_of = (host.name, lang, source.resolve(), source.stat().st_mtime_ns, *map(str, flags))
    if _compiled.get(out) == made_of and out.exists():
        return out
    _compiled.pop(out, None)
    out.parent.mkdir(parents=True, exist_ok=True)
    ours = host.fortran_flags if lang == "fortran" else ()
    command = [host.compilers[lang], "-O2", *ours, "-o", out, source, *flags, *host.flags]
    process.run(command, environment(host), timeout).check()
    _compiled[out] = made_of
    return out


def command(host, n, program, millrace=False, bind=False):
    """The whole command line. `millrace` is False, True, or the launcher's options (a list, or one string)."""
    host = get(host)
    if isinstance(program, (str, pathlib.Path)):
        program = [program]
    ours = list(host.emulator)
    if millrace and host.emulator:
        ours += ["-E", f"LD_PRELOAD={host.preload}"]
    elif millrace:
        options = [] if millrace is True else millrace.split() if isinstance(millrace, str) else list(millrace)
        ours = [MILLRACE, *options]
    return [str(word) for word in (*host.launcher, *(() if bind else host.unbound), "-n", n, *ours, *program)]


def run(host, n, program, millrace=False, env=None, timeout=60, directory=None, bind=False):
    """Runs `program` on `n` ranks of `host`; see process.Finished for what comes back."""
    host = get(host)
    line = command(host, n, program, millrace, bind)
    extra = {**host.run_environment, **(env or {})}
    if host.python and str(host.python) in line:
        _link_mpich()
        extra = {**host.python_environment, **extra}
    return process.run(line, environment(host, extra), timeout, directory)


def _link_mpich():
    link = ENVIRONMENTS / "debian/mpich/libmpi.so.12"
    if not link.is_symlink():
        link.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):  # another test run was faster
            link.symlink_to(HOSTS["mpich4"].library)


if __name__ == "__main__":
    import command_line

    raise SystemExit(command_line.main())
