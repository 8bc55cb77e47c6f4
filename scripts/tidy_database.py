"""tidy_database.py COMPILE_COMMANDS DIRECTORY UNIT...: a database for clang-tidy with one command for each unit.

A unit of the shim is compiled once for each ABI, and clang-tidy would read it as often. Here each is read for one of
them in turn, so that the headers of every ABI are read by some. Each without headers compiled before: GCC's are nothing
to Clang, and a unit that forgets to include one is found. Prints the units that the database knows: those for another
processor it does not.
"""

import json
import pathlib
import re
import sys

source, directory, *units = sys.argv[1:]
commands = {}
for entry in json.loads(pathlib.Path(source).read_text()):
    commands.setdefault(str(pathlib.Path(entry["directory"], entry["file"]).resolve()), []).append(entry)

chosen = []
for unit in sorted(units):
    found = commands.get(str(pathlib.Path(unit).resolve()), [])
    if found:
        entry = dict(found[len(chosen) % len(found)])
        entry["command"] = re.sub(r" -Winvalid-pch| -include \S+/cmake_pch\.hxx", "", entry["command"])
        chosen.append(entry)
        print(unit)
pathlib.Path(directory).mkdir(parents=True, exist_ok=True)
pathlib.Path(directory, "compile_commands.json").write_text(json.dumps(chosen))
