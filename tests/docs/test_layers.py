"""Includes point downwards only: between the folders of src/, and between the rooms of src/shim/."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^#include "([\w./]+)"', re.MULTILINE)
# What each may use, beside itself.
FOLDERS = {
    "base": set(),
    "record": {"base"},
    "shared_memory": {"base"},
    "kernel": {"base"},
    "threads": {"base", "kernel"},
    "layout": {"base", "kernel", "threads"},
    "collective": {"base", "kernel", "shared_memory"},
    "plan": {"base", "kernel", "collective"},
    "model": {"base", "kernel", "shared_memory", "collective"},
    "node": {"base", "shared_memory"},
    "library": {"base", "kernel", "layout", "threads"},
    "openmpi_component": {"base", "kernel"},
    "shim": {"base", "record", "shared_memory", "kernel", "threads", "layout", "collective", "plan", "node"},
}
# Each may use those before it; packed and shared do not know each other.
ROOMS = ["bind", "host", "call", "datatypes", "node", "reduce", "packed", "shared", "process", "hooks"]
STRANGERS = [{"packed", "shared"}]
NOT_ROOMS = {"generate", "table"}  # no C++ in them


def sources(folder):
    return sorted(path for path in folder.rglob("*") if path.suffix in (".h", ".cpp"))


def includes(path):
    return INCLUDE.findall(path.read_text())


def upward_folders(folder):
    """'file -> include' of each include from src/FOLDER of what it may not use."""
    allowed = FOLDERS[folder] | {folder}
    return [
        f"{path.name} -> {name}"
        for path in sources(ROOT / "src" / folder)
        for name in includes(path)
        if "/" in name and name.split("/")[0] in FOLDERS and name.split("/")[0] not in allowed
    ]


def upward_rooms(room):
    wrong = []
    for path in sources(ROOT / "src/shim" / room):
        for name in includes(path):
            if not name.startswith("shim/"):
                continue
            other = name.split("/")[1]
            if other not in ROOMS or ROOMS.index(other) > ROOMS.index(room) or {room, other} in STRANGERS:
                wrong.append(f"{path.name} -> {name}")
    return wrong


def test_every_folder_has_its_place():
    assert {path.name for path in (ROOT / "src").iterdir() if path.is_dir()} == set(FOLDERS)
    assert {path.name for path in (ROOT / "src/shim").iterdir() if path.is_dir()} == set(ROOMS) | NOT_ROOMS
    assert not sources(ROOT / "src/shim" / "generate")
    assert not [path for path in (ROOT / "src/shim").iterdir() if path.suffix in (".h", ".cpp")]


@pytest.mark.parametrize("folder", FOLDERS)
def test_folders_use_what_is_below(folder):
    assert sources(ROOT / "src" / folder)
    assert upward_folders(folder) == []


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_use_those_before_them(room):
    assert sources(ROOT / "src/shim" / room)
    assert upward_rooms(room) == []


def test_tools_and_the_command_leave_the_shim_alone():
    names = [name for folder in ("tools", "python") for path in sources(ROOT / folder) for name in includes(path)]
    assert names
    assert [name for name in names if name.startswith("shim/")] == []


def test_nobody_includes_the_hosts_header():
    found = [
        path.name
        for path in sources(ROOT / "src")
        if re.search(r"^#include <mpi\.h>", path.read_text(), re.MULTILINE) and "openmpi_component" not in path.parts
    ]
    assert found == []


def test_headers_are_included_by_their_path():
    """From src/ on, so that no name means two files; what is generated, and abi.h of each ABI, has none."""
    generated = ("abi.h", "combiners.h", "entries.h", "positions.h")
    plain = [
        f"{path.name} -> {name}"
        for folder in FOLDERS
        if folder != "openmpi_component"  # headers of Open MPI
        for path in sources(ROOT / "src" / folder)
        for name in includes(path)
        if "/" not in name and name not in generated
    ]
    assert plain == []
