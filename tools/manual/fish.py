"""Completion for fish."""

from described import choices, has_value, named

PATH = "fish/vendor_completions.d/millrace.fish"


def quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def line(condition, option):
    words = [f"complete -c millrace -n {quoted(condition)}"]
    for name in option["names"]:
        words.append(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}")
    if has_value(option):
        words.append(f"-x -a {quoted(' '.join(choices(option)))}" if choices(option) else "-r -F")
    return " ".join(words) + f" -d {quoted(option['doc'])}\n"


def completion(main, commands):
    text = "# Completion of millrace for fish. Made from its options (tools/manual); do not edit.\n\n"
    names = " ".join(commands)
    none = f"not __fish_seen_subcommand_from {names}"
    for option in named(main):
        text += line(none, option)
    for command in main["commands"]:
        text += f"complete -c millrace -n {quoted(none)} -a {command['name']} -d {quoted(command['doc'])}\n"
    for name, description in commands.items():
        text += "\n" + "".join(line(f"__fish_seen_subcommand_from {name}", option) for option in named(description))
    return text
