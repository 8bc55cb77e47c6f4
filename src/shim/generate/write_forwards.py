"""forwards_*.cpp: one wrapper per exported symbol; tool_entries.cpp: those that a tool may stand behind."""

NOTE = "// Generated from src/shim/table; do not edit.\n"
VERSION = "MILLRACE_1"

# The wrappers have names of their own; the names of MPI are attached as hidden versions (MPI_Send@MILLRACE_1), which
# ordinary references bind to but dlsym() does not see.
WRAPPER = """\
extern "C" [[gnu::visibility("default"), gnu::used]] {result} shim_{name}({parameters}) {{
{through}  return {call};
}}
asm(".symver shim_{name},{name}@{version}");
"""

# Before what may be ours: the way through a tool (process/tools.h), and what its call of PMPI comes to.
THROUGH_TOOL = """\
  if (__builtin_expect(tools_below(), 0))
    if (void* const tool = tool_before(Symbol::{name})) return through_tool({arguments});
"""
BEHIND_TOOL = """\
Word millrace_behind_{name}({parameters}) {{
  return behind_tool<Symbol::{name}>({arguments});
}}
"""

TOOL_ENTRIES = """\
#include "shim/process/tools.h"

{prototypes}

namespace millrace::shim {{
namespace {{

// In the order of strcmp().
const ToolEntry entries[] = {{
{entries}
}};

}}  // namespace

std::span<const ToolEntry> tool_entries() {{ return entries; }}

}}  // namespace millrace::shim
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
    files["tool_entries.cpp"] = _tool_entries([s for s in used if s.may_be_ours])
    return files


def _source(symbols):
    include = '#include "shim/hooks/hooks.h"\n' if any(s.hook for s in symbols) else '#include "shim/bind/forward.h"\n'
    if any(s.may_be_ours for s in symbols):
        include += '#include "shim/process/tools.h"\n'
    return f"{NOTE}{include}\nusing namespace millrace::shim;\n\n" + "\n".join(map(_wrapper, symbols))


def _parameters(symbol):
    return ", ".join(f"Word a{i}" for i in range(symbol.words))


def _wrapper(symbol):
    arguments = [f"a{i}" for i in range(symbol.words)]
    function = symbol.hook or f"forward<{symbol.template_argument}>"
    call = f"{function}({', '.join(arguments)})"
    if symbol.returns_double:
        call = f"forward_double<{symbol.template_argument}>()"
    through, behind = "", ""
    if symbol.may_be_ours:
        through = THROUGH_TOOL.format(
            name=symbol.name, arguments=", ".join([symbol.template_argument, "tool", *arguments])
        )
        behind = BEHIND_TOOL.format(
            name=symbol.name,
            parameters=_parameters(symbol),
            arguments=", ".join([f"shim_{symbol.name}", *arguments]),
        )
    return WRAPPER.format(
        result="double" if symbol.returns_double else "Word",
        name=symbol.name,
        parameters=_parameters(symbol),
        through=through,
        call=call,
        version=VERSION,
    ) + (behind and f"\n{behind}")


def _tool_entries(symbols):
    ordered = sorted(symbols, key=lambda s: s.name.encode())
    prototypes = (f"millrace::shim::Word millrace_behind_{s.name}({_word_types(s)});" for s in ordered)
    rows = (
        f'    {{"{s.name}", Symbol::{s.name}, reinterpret_cast<void*>(&millrace_behind_{s.name})}},' for s in ordered
    )
    return NOTE + TOOL_ENTRIES.format(prototypes="\n".join(prototypes), entries="\n".join(rows))


def _word_types(symbol):
    return ", ".join(["millrace::shim::Word"] * symbol.words)
