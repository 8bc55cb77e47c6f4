"""Pages in Markdown for the site of the documentation: all settings, all commands."""

from described import arguments, named


def cell(text):
    """Text that a table of Markdown takes as it is."""
    for letter in "\\`*_[]<>|":
        text = text.replace(letter, f"\\{letter}")
    return text.replace("\n", " ")


def prose(text):
    """Paragraphs; what is indented by two is printed as it stands."""
    result, printed = [], False
    for line in text.split("\n"):
        if line.startswith("  ") != printed and line.strip():
            printed = not printed
            result.append("")
        result.append(f"  {line}" if printed and line.strip() else cell(line.strip()))
    return "\n".join(result).strip("\n") + "\n"


def settings_page(main, pages):
    """`pages` tells for a variable where it is explained: titles and links."""
    text = (
        "# Settings\n\nEnvironment variables, as the table in the source has them (`millrace info` shows the values"
        " in force). All but those of the report and the log have to be the same on all ranks of a job.\n"
    )
    for setting in main["settings"]:
        default = f"`{setting['default']}`" if setting["default"] else "none"
        text += f"\n## {setting['variable']}\n\n{cell(setting['doc'])}\n\n"
        text += f"Values: `{setting['values']}`. Default: {default}.\n"
        links = ", ".join(f"[{title}]({link})" for title, link in pages(setting["variable"]))
        text += f"\nMore: {links}\n" if links else ""
    return text


def options(described):
    text = "| option | does |\n|---|---|\n"
    for option in [*named(described), *arguments(described)]:
        value = option["value"] if option["names"] else option["argument"]
        between = " " if option["names"] and value and not value.startswith("[") else ""
        names = ", ".join(f"`{name}`" for name in option["names"][:-1])
        last = f"`{(option['names'] or [''])[-1]}{between}{value}`"
        text += f"| {names + ', ' if names else ''}{last} | {cell(option['doc'])} |\n"
    return text


def chapter(title, ways, described, footer):
    usage = "\n".join(f"    {way}" for way in ways)
    text = f"\n## {title}\n\n{usage}\n\n{prose(described['description'])}\n{options(described)}"
    return text + (f"\n{prose(footer)}" if footer.strip() else "")


def commands_page(main, commands):
    """`commands`: what each of them says of itself, by name."""
    text = (
        "# Commands\n\nWhat `millrace --help` and `millrace COMMAND --help` say, for version " + main["version"] + ".\n"
    )
    footer = "\n".join(line for line in main["footer"].split("\n") if not line.startswith("millrace "))
    text += chapter("millrace", ["millrace [OPTIONS] [--] PROGRAM [ARGS]"], main, footer)
    for command in main["commands"]:
        ways = [f"millrace {way}" for way in command["usage"].split("\n")]
        text += chapter(
            f"millrace {command['name']}", ways, commands[command["name"]], commands[command["name"]]["footer"]
        )
    return text
