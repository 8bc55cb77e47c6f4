"""What the compiler made of the kernels, read from the object files.

    emitted_code.py vectors   OBJECTS   every kernel of a unit has vector instructions of its ISA in a loop
    emitted_code.py shuffles  OBJECTS   the copies of a unit have the instructions that they are written for, in a loop
    emitted_code.py baseline  OBJECTS   no object uses instructions wider than its instruction set
    emitted_code.py symbols   OBJECTS   a unit exports its table and nothing that the linker could merge

The tools are taken from the environment: OBJDUMP, NM, READELF.
Objects of units are called reduce/units/NAME.cpp.o and copy/units/NAME.cpp.o.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

OPS = "sum prod max min land lor lxor band bor bxor maxloc minloc".split()
TYPES = (
    "i8 i16 i32 i64 i128 u8 u16 u32 u64 f16 bf16 f32 f64 f80 f128 c16 c32 c64 c80 c128 bool8 l8 l16 l32 l64 l128 "
    "i16_i32 i32_i32 i64_i32 i64_i64 f32_i32 f32_f32 f64_i32 f64_f64 f80_i32 f128_i32"
).split()
FORMS = ["reduce2", "reduce3", "reduce_n"]
TABLE_HEADER_BYTES = 16  # const char* isa; unsigned vector_bits

# An instruction that computes on whole vectors of the unit's width. Moves do not count.
VECTOR = {
    "sse42": re.compile(r"^(?!p?mov)(p\w+|\w+p[sd]|cvt\w+p[sd]\w*)\s.*%xmm"),
    "avx2": re.compile(r"^v(?!mov)(p\w+|\w+p[sd]\w*)\s.*%ymm"),
    "avx512": re.compile(r"^v(?!mov)(p\w+|\w+p[sd]\w*)\s.*%zmm"),
    "neon": re.compile(r"^(?!ld|st|mov|dup|umov|ins)\w+\s.*\bv\d+\.(16b|8h|4s|2d)"),
    "sve": re.compile(r"^(?!ld|st|mov|dup|index|whilelo|ptrue|cnt)\w+\s.*\bz\d+\.[bhsd]"),
}
# What an object must not contain.
TOO_WIDE = {
    "baseline": re.compile(r"%ymm|%zmm|%k[1-7]|^v[a-z]\w+\s.*%xmm|\bz\d+\.[bhsd]"),
    "sse42": re.compile(r"%ymm|%zmm|%k[1-7]|^v[a-z]\w+\s.*%xmm"),
    "avx2": re.compile(r"%zmm|%k[1-7]|%[xy]mm(1[6-9]|2\d|3[01])"),
    "avx512": None,
    "neon": re.compile(r"\bz\d+\.[bhsd]"),
    "sve": None,
}
# What the shuffles of a unit's copies are: function (a pattern in its name), instruction in one of its loops.
SHUFFLES = {
    "copy_sse42": [
        ("sse42_pack_permute", r"shufps\s.*%xmm"),
        ("sse42_pack_permute", r"pshufb\s.*%xmm"),
        ("pack_pattern_bytes|pack_byte_pattern", r"pshufb\s.*%xmm"),
    ],
    "copy_avx2": [
        # Clang has its own words for the same: vpermpd, vpermps, and vshufps where we blend.
        (r"LaneGroups<.*Avx2Lanes, 1, 2>::pack", r"vperm(d|q|ps|pd)\s.*%ymm"),
        (r"LaneGroups<.*Avx2Lanes, 1, 2>::pack", r"v(pblendd|blendps|shufps)\s.*%ymm"),
        (r"LaneGroups<.*Avx2Lanes, 2, 3>::pack", r"vperm(d|q|ps|pd)\s.*%ymm"),
        ("avx2_pack_permute", r"vpshufb\s.*%xmm"),
        ("pack_pattern_bytes|pack_byte_pattern", r"vpshufb\s.*%xmm"),
        # To memory: the masked load has memory first.
        ("MaskedWindows<1, 2>::unpack", r"vpmaskmovd\s+%ymm\d+,%ymm\d+,.*\("),
        ("MaskedWindows<2, 3>::unpack", r"vpmaskmovd\s+%ymm\d+,%ymm\d+,.*\("),
    ],
    "copy_neon": [
        ("NeonStructures<4ul, 2, 1>::pack", r"ld2\s.*\.4s"),
        ("NeonStructures<4ul, 3, 2>::pack", r"ld3\s.*\.4s"),
        ("NeonStructures<4ul, 3, 2>::pack", r"st2\s.*\.4s"),
        ("NeonStructures<1ul, 4, 3>::pack", r"ld4\s.*\.16b"),
        ("NeonStructures<1ul, 4, 3>::pack", r"st3\s.*\.16b"),
        ("neon_pack_permute", r"tbl\s.*\.16b"),
        ("neon_pack_pattern|pack_pattern_looked_up", r"tbl\s.*\.16b"),
        ("neon_unpack_lanes", r"st1\s.*\.s\}\[3\]"),
    ],
}


def tool(name, *arguments):
    command = [os.environ.get(name.upper(), name), *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def unit_name(path):
    match = re.search(r"(reduce|copy)/units/(\w+)\.cpp\.o(?:bj)?$", str(path))
    if not match:
        return None
    kind, name = match.groups()
    return f"copy_{name}" if kind == "copy" else name


def instruction_set(unit):
    """The instruction set of a unit, of reductions (avx2) or of copies (copy_avx2)."""
    return unit.removeprefix("copy_").removesuffix("_vbmi")


def functions(path):
    """{(section, address): [(address, instruction text), ...]}"""
    found, section, code = {}, None, None
    for line in tool("objdump", "-d", "--no-show-raw-insn", "-M", "no-aliases" if "aarch64" in machine(path) else "att",
                     path).splitlines():
        if line.startswith("Disassembly of section "):
            section = line.split()[-1].rstrip(":")
        elif match := re.match(r"^([0-9a-f]+) <.*>:$", line):
            code = found.setdefault((section, int(match.group(1), 16)), [])
        elif code is not None and (match := re.match(r"^\s*([0-9a-f]+):\s+(.*)$", line)):
            code.append((int(match.group(1), 16), match.group(2).strip()))
    return found


def machine(path):
    return tool("readelf", "-h", path).lower()


def table(path, unit):
    """{(kernel name, form): (section, address)} from the relocations of the unit's table."""
    start = section_index = None
    for line in tool("readelf", "-sW", path).splitlines():
        words = line.split()
        if len(words) >= 8 and words[7].endswith(f"{unit}_unitE"):
            start, section_index = int(words[1], 16), int(words[6])
    assert start is not None, f"{path}: no symbol {unit}_unit"
    names = {}
    for line in tool("readelf", "-SW", path).splitlines():
        if match := re.match(r"^\s*\[\s*(\d+)\]\s+(\S+)\s", line):
            names[int(match.group(1))] = match.group(2)
    local = {}
    for line in tool("readelf", "-sW", path).splitlines():
        words = line.split()
        if len(words) >= 8 and words[3] in ("FUNC", "SECTION") and words[6].isdigit():
            name = words[7] if words[3] == "FUNC" else names[int(words[6])]
            local[name] = (names[int(words[6])], int(words[1], 16))
    kernels, in_table = {}, False
    for line in tool("readelf", "-rW", path).splitlines():
        if line.startswith("Relocation section"):
            in_table = f"'.rela{names[section_index]}'" in line
        words = line.split()
        if not in_table or len(words) < 7 or not re.fullmatch("[0-9a-f]+", words[0]):
            continue
        slot = (int(words[0], 16) - start - TABLE_HEADER_BYTES) // 8
        if slot < 0 or words[4] not in local:
            continue
        section, base = local[words[4]]
        kernel, form = divmod(slot, len(FORMS))
        op, element = divmod(kernel, len(TYPES))
        kernels[f"{OPS[op]}_{TYPES[element]}", FORMS[form]] = (section, base + int(words[6], 16))
    return kernels


BRANCH = re.compile(r"^(?:j\w+|b(?:\.\w+)?|cbn?z|tbn?z|call|bl)\s+.*?\b([0-9a-f]+) <")


def targets(code):
    for at, text in code:
        if match := BRANCH.match(text):
            yield at, int(match.group(1), 16)


def loop_has(code, pattern):
    """Whether the range of a backward branch holds an instruction that matches."""
    first = code[0][0]
    for at, target in targets(code):
        if first <= target <= at and any(pattern.match(text) for where, text in code if target <= where <= at):
            return True
    return False


def reachable_loop_has(found, place, pattern, depth=3):
    code = found.get(place)
    if not code:
        return False
    if loop_has(code, pattern):
        return True
    if depth == 0:
        return False
    others = {(place[0], target) for _, target in targets(code)}
    return any(reachable_loop_has(found, other, pattern, depth - 1) for other in others if other in found)


def check_vectors(path):
    unit = unit_name(path)
    if unit not in VECTOR:
        return []
    found, kernels = functions(path), table(path, unit)
    assert len(kernels) > 200, f"{path}: only {len(kernels)} functions found in its table"
    bad = [f"{unit}: {name} {form} has no vector instruction in a loop" for (name, form), place in kernels.items()
           if not reachable_loop_has(found, place, VECTOR[unit])]
    print(f"{unit}: {len(kernels) - len(bad)} of {len(kernels)} functions have vector loops")
    return bad


def check_shuffles(path):
    unit = unit_name(path)
    if unit not in SHUFFLES:
        return []
    named = {}
    for line in tool("objdump", "-dC", "--no-show-raw-insn", path).splitlines():
        if match := re.match(r"^[0-9a-f]+ <(.*)>:$", line):
            code = named.setdefault(match.group(1), [])
        elif match := re.match(r"^\s*([0-9a-f]+):\s+(.*)$", line):
            code.append((int(match.group(1), 16), match.group(2).strip()))
    bad = []
    for function, instruction in SHUFFLES[unit]:
        so_named = [code for name, code in named.items() if re.search(function, name)]
        if not any(loop_has(code, re.compile(instruction)) for code in so_named):
            bad.append(f"{unit}: none of {len(so_named)} functions like {function} has {instruction} in a loop")
    print(f"{unit}: {len(SHUFFLES[unit]) - len(bad)} of {len(SHUFFLES[unit])} shuffles found")
    return bad


def check_baseline(path):
    unit = unit_name(path)
    pattern = TOO_WIDE["baseline" if unit in (None, "scalar", "copy_scalar") else instruction_set(unit)]
    if pattern is None:
        return []
    return [f"{path}: {text}" for code in functions(path).values() for _, text in code if pattern.search(text)][:5]


def check_symbols(path):
    unit = unit_name(path)
    if unit is None:
        return []
    exported = f"{unit.removeprefix('copy_')}_copy_unitE" if unit.startswith("copy_") else f"{unit}_unitE"
    bad = []
    for line in tool("nm", path).splitlines():
        kind, name = line.split()[-2:]
        if kind in "wWvVu":
            bad.append(f"{path}: {name} is weak: the linker may share it with code of another instruction set")
        elif kind.isupper() and kind != "U" and not name.endswith(exported):
            bad.append(f"{path}: {name} is exported; a unit exports its table only")
    if "COMDAT" in tool("readelf", "-gW", path):
        bad.append(f"{path}: has section groups (comdat)")
    return bad


CHECKS = {"vectors": check_vectors, "shuffles": check_shuffles, "baseline": check_baseline, "symbols": check_symbols}


def main():
    check = CHECKS[sys.argv[1]]
    objects = [Path(word) for argument in sys.argv[2:] for word in argument.split(";")]
    assert objects, "no objects given"
    bad = [line for path in objects for line in check(path)]
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
