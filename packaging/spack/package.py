"""Recipe for Spack: put this folder as packages/millrace/ into a repository of recipes."""

# Spack's recipes take all their words from it.
# ruff: noqa: F403, F405
from spack.package import *


class Millrace(CMakePackage):
    """Makes unmodified MPI programs faster on the node they run on: a launcher and preloads for Open MPI, MPICH, Intel
    MPI and the MPI-5 ABI, and the same kernels as a C library."""

    maintainers = []
    license("BSD-3-Clause")

    # There is no archive yet: `spack develop --path CHECKOUT millrace@0.1.0`, or a repository of your own.
    version("0.1.0")

    variant("python", default=False, description="Install the Python package")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("python@3.9:", type=("build", "run"))
    depends_on("cli11@2.3:", type="build")
    depends_on("fmt@9:", type="build")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("py-numpy", when="+python", type=("build", "run"))

    generator("ninja")
    conflicts("%gcc@:11", msg="Millrace is written in C++20, for GCC 12 and Clang 16")
    conflicts("platform=darwin", msg="Millrace is for Linux")

    def cmake_args(self):
        python = "lib/millrace/python" if self.spec.satisfies("+python") else ""
        return [
            self.define("MILLRACE_TESTS", False),
            self.define("MILLRACE_BENCH", False),
            self.define("MILLRACE_OPENMPI_COMPONENT", "OFF"),
            self.define("MILLRACE_PYTHON_DIR", python),
            # A compiler newer than those of the project's tests may warn of more.
            self.define("MILLRACE_WERROR", False),
        ]

    def setup_run_environment(self, env):
        if self.spec.satisfies("+python"):
            env.prepend_path("PYTHONPATH", self.prefix.lib.millrace.python)
