"""Manual pages, in the man macros that groff and mandoc know."""

from described import arguments, named


def escaped(text):
    """Text that roff prints as it is: hyphens that can be copied, no line that is taken for a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    text = text.replace("^", "\\(ha").replace("~", "\\(ti")
    return "\n".join("\\&" + line if line.startswith((".", "\\(aq")) else line for line in text.split("\n"))


def heading(main, name, what):
    title = name.replace(" ", "-")
    return (
        f'.\\" Made from the options themselves (tools/manual); do not edit.\n'
        f'.TH "{escaped(title.upper())}" 1 "" "millrace {main["version"]}" "Millrace"\n'
        f".SH NAME\n{escaped(title)} \\- {escaped(what)}\n"
    )


def synopsis(ways):
    return ".SH SYNOPSIS\n" + "\n.br\n".join(f"\\fBmillrace\\fR {escaped(way)}" for way in ways) + "\n"


def options(described, title="OPTIONS"):
    text = f".SH {title}\n"
    for option in [*arguments(described), *named(described)]:
        names = "\\fR, \\fB".join(escaped(name) for name in option["names"]) or escaped(option["argument"])
        value = option["value"] if option["names"] else ""
        between = "" if value.startswith("[") or not value else " "
        text += f".TP\n\\fB{names}\\fR{between}{escaped(value)}\n{escaped(option['doc'])}\n"
    return text


def prose(text):
    """Paragraphs; what is indented by two is printed as it stands."""
    result, printed = "", False
    for line in text.split("\n"):
        if line.startswith("  ") != printed:
            printed = not printed
            result += ".IP\n.nf\n" if printed else ".fi\n.PP\n"
        result += f"{escaped(line.strip())}\n" if line.strip() else ".PP\n"
    return result + (".fi\n" if printed else "")


def see_also(names):
    return ".SH SEE ALSO\n" + ",\n".join(f"\\fB{escaped(name)}\\fR(1)" for name in names) + "\n"


def main_page(main):
    commands = main["commands"]
    text = heading(main, "millrace", "runs an unmodified MPI program through Millrace")
    text += synopsis(["[OPTIONS] [--] PROGRAM [ARGS]", *(way for command in commands for way in ways_of(command))])
    # The footer lists the commands as well; here they have a chapter.
    listed = {f"millrace {command['name']}".ljust(len("millrace ") + 14) + command["doc"] for command in commands}
    footer = "\n".join(line for line in main["footer"].split("\n") if line not in listed)
    text += ".SH DESCRIPTION\n" + prose(main["description"] + "\n\n" + footer) + options(main)
    text += ".SH COMMANDS\n"
    for command in commands:
        text += f".TP\n\\fB{escaped(command['name'])}\\fR\n{escaped(command['doc'])};\n"
        text += f"see \\fBmillrace\\-{escaped(command['name'])}\\fR(1)\n"
    text += ".SH ENVIRONMENT\n"
    for setting in main["settings"]:
        text += f".TP\n\\fB{escaped(setting['variable'])}\\fR={escaped(setting['values'])}\n{escaped(setting['doc'])}\n"
        if setting["default"]:
            text += f"(default: {escaped(setting['default'])})\n"
    return text + see_also([f"millrace-{command['name']}" for command in commands])


def ways_of(command):
    return command["usage"].split("\n")


def command_page(main, command, described):
    text = heading(main, described["name"], command["doc"]) + synopsis(ways_of(command))
    text += ".SH DESCRIPTION\n" + prose(described["description"] + "\n\n" + described["footer"]) + options(described)
    return text + see_also(["millrace"])
