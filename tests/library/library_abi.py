"""The binary interface of libmillrace.so as a list of lines, compared with the one that is kept in abi.txt.

    library_abi.py            prints the list of the library that was built
    library_abi.py --write    brings abi.txt up to date with what was added; refuses what was removed or changed

The symbols are those of the library. Functions, enumerations and structures are what the compiler makes of the headers:
it prints the prototypes, and a program that it compiles prints the layouts. No debugging information is needed.
"""

import argparse
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "hosts"))
import hosts

KEPT = pathlib.Path(__file__).with_name("abi.txt")
LIBRARY = hosts.BUILD / "lib/libmillrace.so"
INCLUDES = [hosts.ROOT / "include", hosts.BUILD / "include"]
HEADER = "#include <millrace/millrace.h>\n"
COMPILERS = {"c": ["gcc", "-x", "c", "-std=c11"], "c++": ["g++", "-x", "c++", "-std=c++17"]}


def run(*words, **more):
    words = [str(word) for word in words]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=True, **more).stdout


def soname(library):
    return re.search(r"SONAME.*\[(.*)\]", run("readelf", "-dW", library))[1]


def symbols(library):
    """'millrace_reduce@@MILLRACE_0', and the version nodes themselves."""
    words = [line.split() for line in run("nm", "-D", "--defined-only", library).splitlines()]
    return [f"version {name}" if kind == "A" else f"symbol {name}" for _, kind, name in words]


def compiled(includes, language, text, *options):
    """Standard output of the compiler for `text`, which knows our headers."""
    paths = [f"-I{path}" for path in includes]
    return run(*COMPILERS[language], *options, *paths, "-", input=text)


def functions(includes):
    """Prototypes as the compiler has understood them: one spelling, whatever the header's line breaks and names."""
    with tempfile.TemporaryDirectory() as directory:
        said = pathlib.Path(directory) / "prototypes"
        compiled(includes, "c", HEADER, "-fsyntax-only", "-aux-info", said)
        found = re.findall(r"\*/ extern (.*\bmillrace_\w+ \(.*\));", said.read_text())
    return [f"function {re.sub(r' +', ' ', prototype)}" for prototype in found]


@dataclasses.dataclass
class Definition:
    kind: str
    name: str
    members: list


def definitions(includes, language="c"):
    """The enumerations and structures of the headers, with the names of their members."""
    text = compiled(includes, language, HEADER, "-E", "-P")
    found = []
    for kind, name, body in re.findall(r"\b(enum|struct|union) (millrace_\w+)[^{};]*\{([^}]*)\}", text):
        separator, last = (",", r"^\s*(\w+)") if kind == "enum" else (";", r"(\w+)\s*$")
        members = [re.search(last, part)[1] for part in body.split(separator) if part.strip()]
        found.append(Definition(kind, name, members))
    return found


def layouts(includes, language="c"):
    """'enum millrace_op: 4 bytes', 'enum millrace_op: MILLRACE_SUM = 0', 'struct ...: name at 0, 8 bytes'."""
    lines = []
    for each in definitions(includes, language):
        start = f"{each.kind} {each.name}:"
        lines.append(f'printf("{start} %zu bytes\\n", sizeof({each.name}));')
        for member in each.members:
            if each.kind == "enum":
                lines.append(f'printf("{start} {member} = %d\\n", (int){member});')
            else:
                size = f"sizeof((({each.name}*)0)->{member})"
                lines.append(
                    f'printf("{start} {member} at %zu, %zu bytes\\n", offsetof({each.name}, {member}), {size});'
                )
    text = f"{HEADER}#include <stdio.h>\nint main(void) {{\n" + "\n".join(lines) + "\nreturn 0;\n}\n"
    with tempfile.TemporaryDirectory() as directory:
        program = os.path.join(directory, "layouts")
        compiled(includes, language, text, "-o", program)
        return run(program).splitlines()


def interface(library=LIBRARY, includes=INCLUDES):
    parts = [symbols(library), functions(includes), layouts(includes)]
    return [f"soname {soname(library)}", *(line for part in parts for line in sorted(part))]


def broken(kept, built):
    """What programs that were linked before would miss; nothing if they would not load this library at all."""
    return [line for line in kept if line not in built] if kept[:1] == built[:1] else []


def complaint(kept, built):
    """What is wrong with `built`, in one text; "" if the two lists are the same."""
    lost = broken(kept, built)
    added = [line for line in built if line not in kept]
    if kept[:1] != built[:1]:
        return f"{kept[0]} has become {built[0]}: bring abi.txt up to date (library_abi.py --write)"
    if lost:
        said = f"{kept[0]} promises what is not there any more, or has changed; put it back, or raise the major version"
        return "\n  ".join([f"{said}:", *lost, "now:", *added])
    if added:
        return "\n  ".join(["new in the binary interface; if it is to stay, library_abi.py --write:", *added])
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    built = interface()
    if not parser.parse_args().write:
        print("\n".join(built))
        return 0
    kept = KEPT.read_text().splitlines()
    if broken(kept, built):
        print(complaint(kept, built), file=sys.stderr)
        return 1
    KEPT.write_text("\n".join(built) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
