"""The recipe for Spack, as far as it can be judged without Spack."""

import ast
import re

import hosts

RECIPE = (hosts.ROOT / "packaging/spack/package.py").read_text()


def test_it_is_python_with_one_package():
    classes = [node for node in ast.parse(RECIPE).body if isinstance(node, ast.ClassDef)]
    assert [(found.name, found.bases[0].id) for found in classes] == [("Millrace", "CMakePackage")]


def test_it_sets_variables_that_the_build_knows():
    named = set(re.findall(r'define\("(\w+)"', RECIPE))
    lists = [path for pattern in ("CMakeLists.txt", "cmake/*.cmake", "src/**/CMakeLists.txt")
             for path in hosts.ROOT.glob(pattern)]  # fmt: skip
    known = set(re.findall(r"(?:option|set)\((MILLRACE_\w+) ", "".join(path.read_text() for path in lists)))
    assert len(named) > 3
    assert named - known == set()
