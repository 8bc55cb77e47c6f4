"""What LAMMPS prints, without the lines that tell how long it took."""

import re

TIMING = re.compile(r"Loop time|Performance:|[0-9.]+% CPU use|Total wall time|.*CPU = [0-9.e-]+ seconds")


def without_timing(text):
    lines, in_breakdown = [], False
    for line in text.splitlines():
        # The breakdown of the time: a title, a table, an empty line.
        in_breakdown = line.startswith("MPI task timing breakdown") or (in_breakdown and line != "")
        if not in_breakdown and not TIMING.match(line):
            lines.append(line)
    return lines


def thermodynamics(text):
    """The rows of numbers between the header "Step ..." and "Loop time": what the physics came to."""
    rows, in_table = [], False
    for line in text.splitlines():
        if line.startswith("Loop time"):
            in_table = False
        if in_table:
            rows.append(line)
        if line.split()[:1] == ["Step"]:
            in_table = True
    return rows
