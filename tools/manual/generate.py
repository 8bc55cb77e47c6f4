"""Manual pages and completions of shells, from what `millrace --describe` and `millrace COMMAND --describe` say: the
declarations that --help is printed from.

    generate.py --out DIRECTORY --list
    generate.py --out DIRECTORY -- [EMULATOR...] MILLRACE

DIRECTORY is laid out as share/ of an installation. --list prints the files, one a line, and writes none; the names of
the commands are then those of tools/commands.cpp.
"""

import argparse
import json
import pathlib
import re
import subprocess

import bash
import fish
import pages
import zsh

COMMAND_LINE = pathlib.Path(__file__).resolve().parent.parent / "commands.cpp"


def describe(launcher, *words):
    done = subprocess.run([*launcher, *words, "--describe"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def names_in_source():
    return re.findall(r'^    \{"([\w-]+)", Action::', COMMAND_LINE.read_text(), re.MULTILINE)


def outputs(names):
    manual = ["man/man1/millrace.1", *(f"man/man1/millrace-{name}.1" for name in names)]
    return [*manual, *(module.PATH for module in (bash, zsh, fish))]


def write(out, path, text):
    file = out / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def generate(out, launcher):
    main = describe(launcher)
    commands = {command["name"]: describe(launcher, command["name"]) for command in main["commands"]}
    write(out, "man/man1/millrace.1", pages.main_page(main))
    for command in main["commands"]:
        name = command["name"]
        write(out, f"man/man1/millrace-{name}.1", pages.command_page(main, command, commands[name]))
    for module in (bash, zsh, fish):
        write(out, module.PATH, module.completion(main, commands))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("launcher", nargs="*")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(outputs(names_in_source())))
    else:
        generate(arguments.out, arguments.launcher)


if __name__ == "__main__":
    main()
