"""What programs that are linked with libmillrace.so hang on: compared with tests/library/abi.txt."""

import re
import subprocess

import hosts
import library_abi
import pytest

ROOT = hosts.ROOT
VERSION = re.search(r"^project\(millrace VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
MAJOR = VERSION.split(".")[0]
KEPT = library_abi.KEPT.read_text().splitlines()
SONAME = KEPT[0].split()[1]


@pytest.fixture(scope="module")
def built():
    return library_abi.interface()


def test_the_binary_interface_is_the_one_that_is_kept(built):
    assert library_abi.complaint(KEPT, built) == ""
    assert built == KEPT  # in the same order, each line once


def test_the_soname_and_the_version_of_symbols_have_the_major_version(built):
    """Within a major version the interface only grows, so that a program finds whatever it was linked with."""
    assert built[0] == f"soname libmillrace.so.{MAJOR}"
    assert [line for line in built if line.startswith("version ")] == [f"version MILLRACE_{MAJOR}"]
    assert {line.rpartition("@@")[2] for line in built if line.startswith("symbol ")} == {f"MILLRACE_{MAJOR}"}


def test_the_file_has_the_whole_version():
    assert library_abi.LIBRARY.resolve().name == f"libmillrace.so.{VERSION}"
    assert (library_abi.LIBRARY.parent / f"libmillrace.so.{MAJOR}").resolve() == library_abi.LIBRARY.resolve()


def test_each_function_of_the_header_is_exported_and_no_other(built):
    declared = {re.search(r"(millrace_\w+) \(", line)[1] for line in built if line.startswith("function ")}
    exported = {re.search(r"(millrace_\w+)@", line)[1] for line in built if line.startswith("symbol ")}
    assert declared == exported
    assert len(declared) > 20


def test_every_definition_of_the_headers_is_read():
    text = "".join(path.read_text() for path in (ROOT / "include/millrace").glob("millrace.h"))
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    kinds = re.findall(r"\b(enum|struct|union) \w+[^;(]*?\{", code)
    assert kinds == [each.kind for each in library_abi.definitions(library_abi.INCLUDES)]
    assert len(kinds) == 4
    names = re.findall(r"\bMILLRACE_\w+(?= = \d)", code)
    listed = [name for each in library_abi.definitions(library_abi.INCLUDES) for name in each.members]
    assert len(names) > 50 and set(names) <= set(listed)


def test_c_and_cpp_have_the_same_layouts():
    layouts = [library_abi.layouts(library_abi.INCLUDES, language) for language in library_abi.COMPILERS]
    assert layouts[0] == layouts[1]


# A header with one thing changed: what is said of it. The first three break programs, the last two do not.
CHANGES = [
    ("  MILLRACE_PROD = 1,", "  MILLRACE_PROD = 12,", "promises", "enum millrace_op: MILLRACE_PROD = 1"),
    ("  int usable; ", "  long usable; ", "promises", "struct millrace_isa_unit: usable at 16, 4 bytes"),
    ("millrace_threads(size_t bytes", "millrace_threads(int bytes", "promises",
     "function unsigned int millrace_threads (size_t, const char **)"),
    ("  MILLRACE_MINLOC = 11", "  MILLRACE_MINLOC = 11, MILLRACE_NEW = 12", "new in",
     "enum millrace_op: MILLRACE_NEW = 12"),
    ("MILLRACE_EXPORT const char* millrace_version(void);",
     "MILLRACE_EXPORT const char* millrace_version(void); MILLRACE_EXPORT int millrace_new(int);", "new in",
     "function int millrace_new (int)"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "says", "line"), CHANGES)
def test_a_change_of_the_header_is_seen(tmp_path, old, new, says, line):
    text = (ROOT / "include/millrace/millrace.h").read_text()
    assert text.count(old) == 1
    (tmp_path / "millrace").mkdir()
    (tmp_path / "millrace/millrace.h").write_text(text.replace(old, new))
    said = library_abi.complaint(KEPT, library_abi.interface(includes=[tmp_path, *library_abi.INCLUDES]))
    assert says in said and line in said.splitlines()[1], said


def made(tmp_path, name, node, exports):
    """A library that exports these, under a name of its own."""
    (tmp_path / "map").write_text(f"{node} {{ global: millrace_*; local: *; }};\n")
    code = "".join(f"int {export}(void) {{ return 0; }}\n" for export in exports)
    options = ["-shared", "-nostdlib", f"-Wl,-soname,{name}", f"-Wl,--version-script={tmp_path}/map"]
    command = ["gcc", "-x", "c", "-", *options, "-o", str(tmp_path / "made.so")]
    subprocess.run(command, input=code, text=True, timeout=60, check=True)
    return tmp_path / "made.so"


def names(built):
    return [re.search(r"(millrace_\w+)@", line)[1] for line in built if line.startswith("symbol ")]


def test_a_library_that_lacks_a_symbol_is_seen(built, tmp_path):
    library = made(tmp_path, SONAME, f"MILLRACE_{MAJOR}", names(built)[1:])
    assert f"symbol {names(built)[0]}@@MILLRACE_{MAJOR}" in library_abi.complaint(KEPT, library_abi.interface(library))


def test_symbols_of_another_version_are_seen(built, tmp_path):
    library = made(tmp_path, SONAME, "MILLRACE_X", names(built))
    assert "promises" in library_abi.complaint(KEPT, library_abi.interface(library))


def test_another_soname_begins_a_list_anew(built, tmp_path):
    library = made(tmp_path, f"{SONAME}1", f"MILLRACE_{MAJOR}1", names(built)[1:])
    said = library_abi.complaint(KEPT, library_abi.interface(library))
    assert said.startswith(f"{KEPT[0]} has become soname {SONAME}1: ")
