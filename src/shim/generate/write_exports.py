"""millrace-<list>.map: the version scripts, one per preload."""

import symbols as shim_symbols
from write_forwards import VERSION

SCRIPT = """\
/* Generated from src/shim/table; do not edit.
 * The first node gets the version index 2, which the dynamic linker lets unversioned references bind to. */
{version} {{
  global:
{names}
  local:
    *;
}};

/* Millrace's own functions, not MPI's. */
MILLRACE_OWN {{
  global:
    millrace_*;
}};
"""


def script(symbols, generations):
    names = "\n".join(f"    {s.name};" for s in shim_symbols.exported(symbols, generations))
    return SCRIPT.format(version=VERSION, names=names)
