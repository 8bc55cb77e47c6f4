"""Completion for zsh."""

import re

from described import choices, has_value, named

PATH = "zsh/site-functions/_millrace"


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def specification(option):
    names = option["names"]
    doc = re.sub(r"([\[\]:\\])", r"\\\1", option["doc"])
    value = ""
    if has_value(option):
        words = " ".join(choices(option))
        value = f":value:({words})" if words else ":value:_files"
    others = f"({' '.join(names)})" if len(names) > 1 else ""
    return [quoted(f"{others}{name}[{doc}]{value}") for name in names]


def specifications(description):
    return [text for option in named(description) for text in specification(option)]


def completion(main, commands):
    def lines(words, indent):
        return " \\\n".join(" " * indent + word for word in words)

    listed = [quoted(f"{command['name']}:{command['doc'].replace(':', chr(92) + ':')}") for command in main["commands"]]
    text = "#compdef millrace\n# Made from its options (tools/manual); do not edit.\n\n"
    text += "_millrace_first() {\n  local -a names\n  names=(\n    " + "\n    ".join(listed) + "\n  )\n"
    text += "  _describe command names\n  _command_names -e\n  _files\n}\n\n"
    text += "_millrace_rest() {\n  case $words[1] in\n"
    for name, description in commands.items():
        found = lines([*specifications(description), quoted("*: :_files")], 8)
        text += f"    {name})\n      _arguments \\\n{found}\n      ;;\n"
    text += "    *) _normal ;;\n  esac\n}\n\n"
    text += f"_arguments -S \\\n{lines(specifications(main), 2)} \\\n  '1: :_millrace_first' '*:: :_millrace_rest'\n"
    return text
