"""Runs a small mpi4py program under the preload, then looks at where the dynamic linker bound mpi4py's MPI functions.

    check_mpi4py.py ENTRIES RESULTS

A function of the table that mpi4py's extension module imports must be bound to the preload: its slot in the module's
relocation table holds an address in one of the preload's mappings. A weak import that the host lacks is null.
"""

import ctypes
import os
import re
import struct
import sys

R_FUNCTION = {"x86_64": (1, 6, 7), "aarch64": (257, 1025, 1026)}  # absolute address, GLOB_DAT, JUMP_SLOT
PT_LOAD, PT_DYNAMIC = 1, 2
DT_STRTAB, DT_SYMTAB, DT_RELA, DT_RELASZ, DT_PLTRELSZ, DT_JMPREL = 5, 6, 7, 8, 2, 23
LIBRARY = re.compile(r"libmpi(ch|_abi)?\.so")
RELA, SYMBOL = "<QQq", "<IBBHQQ"


def mappings():
    """(start, end, path) of every file that is mapped."""
    with open("/proc/self/maps") as maps:
        for line in maps:
            fields = line.split(None, 5)
            if len(fields) == 6:
                start, end = (int(word, 16) for word in fields[0].split("-"))
                yield start, end, fields[5].strip()


def unpack(form, address):
    return struct.unpack(form, ctypes.string_at(address, struct.calcsize(form)))


def imported(path):
    """name -> address that the loaded module at `path` has for each symbol that it imports."""
    base = min(start for start, _, mapped in mappings() if mapped == path)
    offset, size, count = unpack("<Q", base + 32)[0], *unpack("<HH", base + 54)
    headers = [unpack("<IIQQQQQQ", base + offset + i * size) for i in range(count)]
    bias = base - min(h[3] for h in headers if h[0] == PT_LOAD)
    dynamic = next(bias + h[3] for h in headers if h[0] == PT_DYNAMIC)
    tags = {}
    while (entry := unpack("<qQ", dynamic))[0] != 0:
        tags[entry[0]] = entry[1]
        dynamic += 16
    strings, symbols = tags[DT_STRTAB], tags[DT_SYMTAB]
    result = {}
    for table, length in ((tags.get(DT_RELA), tags.get(DT_RELASZ)), (tags.get(DT_JMPREL), tags.get(DT_PLTRELSZ))):
        for at in range(table or 0, (table or 0) + (length or 0), struct.calcsize(RELA)):
            where, info, _ = unpack(RELA, at)
            if info >> 32 and info & 0xFFFFFFFF in R_FUNCTION.get(os.uname().machine, ()):
                name = unpack(SYMBOL, symbols + (info >> 32) * struct.calcsize(SYMBOL))[0]
                result[ctypes.string_at(strings + name).decode()] = unpack("<Q", bias + where)[0]
    return result


def run_program(MPI):
    """A real program: nothing is dry here."""
    comm = MPI.COMM_WORLD
    values = comm.allreduce(comm.rank + 1)
    assert values == comm.size * (comm.size + 1) // 2
    buffer = bytearray(8)
    comm.Bcast(buffer, root=0)
    comm.Barrier()
    duplicate = comm.Dup()
    duplicate.Free()


def main():
    entries, results = sys.argv[1:]
    if "LD_BIND_NOW" not in os.environ:  # otherwise slots are filled at the first call of each function
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "LD_BIND_NOW": "1"})
    from mpi4py import MPI

    run_program(MPI)
    with open(entries) as lines:
        known = set(lines.read().split())
    preload = {path for _, _, path in mappings() if os.path.basename(path).startswith("libmillrace-")}
    if not preload:
        sys.exit(3)
    ours = [(start, end) for start, end, path in mappings() if path in preload]
    slots = imported(os.path.realpath(MPI.__file__))
    host = next(path for _, _, path in mappings() if LIBRARY.match(os.path.basename(path)))
    host_library = ctypes.CDLL(host)
    with open(results, "w") as file:
        for name in sorted(known & set(slots)):
            address = slots[name]
            inside = any(start <= address < end for start, end in ours)
            if hasattr(host_library, name):
                verdict = "seen" if inside else "slipped"
            else:
                verdict = "foreign" if address else "absent"
            print(verdict, name, file=file)
        print("host", host, file=file)
        print("preload", *preload, file=file)
        print("end of results", file=file)


if __name__ == "__main__":
    main()
