"""The example of docs/library.md, against an installation: as the page says, in C and in C++."""

import os
import re
import subprocess

import hosts
import pytest

PAGE = (hosts.ROOT / "docs/library.md").read_text()
STANDARDS = {"c": ["cc", "-std=c99"], "cpp": ["c++", "-std=c++11"]}
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def block(language):
    found = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert len(found) == 1, language
    return found[0]


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def example(tmp_path):
    """A directory with the page's files in it."""
    (tmp_path / "example.c").write_text(block("c"))
    (tmp_path / "example.cpp").write_text(block("c"))
    (tmp_path / "CMakeLists.txt").write_text(block("cmake"))
    return tmp_path


@pytest.fixture
def environment(moved, libraries):
    return dict(os.environ, PKG_CONFIG_PATH=str(libraries / "pkgconfig"), LD_LIBRARY_PATH=str(libraries))


def test_the_command_of_the_page(example, environment):
    run("sh", "-e", "-c", block("sh"), cwd=example, env=environment)
    assert run(example / "example", env=environment) == block("text")


@pytest.mark.parametrize("suffix", STANDARDS)
def test_it_compiles_without_a_warning(example, moved, environment, suffix):
    flags = run("pkg-config", "--cflags", "--libs", "millrace", env=environment).split()
    assert f"-I{moved}" in " ".join(flags).replace("/lib/pkgconfig/../..", "").replace("/include", "")
    run(*STANDARDS[suffix], *STRICT, f"example.{suffix}", *flags, "-o", "strict", cwd=example, env=environment)
    assert run(example / "strict", env=environment) == block("text")


@pytest.mark.parametrize(("suffix", "language"), [("c", "C"), ("cpp", "CXX")])
def test_the_cmake_project_of_the_page(example, moved, suffix, language):
    lists = example / "CMakeLists.txt"
    text = (
        lists.read_text().replace("example.c)", f"example.{suffix})").replace("LANGUAGES C)", f"LANGUAGES {language})")
    )
    assert (text == lists.read_text()) == (suffix == "c")
    lists.write_text(text)
    run("cmake", "-S", example, "-B", example / "build", f"-DCMAKE_PREFIX_PATH={moved}")
    run("cmake", "--build", example / "build")
    assert run(example / "build/example") == block("text")


@pytest.mark.parametrize(("wanted", "found"), [("0.1", True), ("0.99", False), ("1.0", False)])
def test_which_versions_cmake_accepts(example, moved, wanted, found):
    lists = example / "CMakeLists.txt"
    lists.write_text(block("cmake").replace("find_package(millrace 0.1 ", f"find_package(millrace {wanted} "))
    command = ["cmake", "-S", example, "-B", example / "build", f"-DCMAKE_PREFIX_PATH={moved}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode == 0) == found, done.stderr
    assert found or "millraceConfig.cmake, version: " in done.stderr
