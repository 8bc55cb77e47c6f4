"""forwards_*.cpp: one wrapper per exported symbol."""

NOTE = "// Generated from src/shim/table; do not edit.\n"
VERSION = "MILLRACE_1"

# The wrappers have names of their own; the names of MPI are attached as hidden versions (MPI_Send@MILLRACE_1), which
# ordinary references bind to but dlsym() does not see.
WRAPPER = """\
extern "C" [[gnu::visibility("default"), gnu::used]] {result} shim_{name}({parameters}) {{
  return {call};
}}
asm(".symver shim_{name},{name}@{version}");
"""


def sources(symbols, parts):
    """file name -> text, for the symbols that some host has. The same files whatever the table holds."""
    used = [s for s in symbols if s.hosts]
    groups = {
        "c": [s for s in used if not s.is_fortran],
        "fortran": [s for s in used if s.is_fortran],
    }
    files = {}
    for language, group in groups.items():
        for part in range(parts):
            chosen = group[part * len(group) // parts : (part + 1) * len(group) // parts]
            files[f"forwards_{language}_{part}.cpp"] = _source(chosen)
    return files


def _source(symbols):
    include = '#include "shim/hooks/hooks.h"\n' if any(s.hook for s in symbols) else '#include "shim/bind/forward.h"\n'
    return f"{NOTE}{include}\nusing namespace millrace::shim;\n\n" + "\n".join(map(_wrapper, symbols))


def _wrapper(symbol):
    arguments = [f"a{i}" for i in range(symbol.words)]
    function = symbol.hook or f"forward<{symbol.template_argument}>"
    call = f"{function}({', '.join(arguments)})"
    if symbol.returns_double:
        call = f"forward_double<{symbol.template_argument}>()"
    return WRAPPER.format(
        result="double" if symbol.returns_double else "Word",
        name=symbol.name,
        parameters=", ".join(f"Word {a}" for a in arguments),
        call=call,
        version=VERSION,
    )
