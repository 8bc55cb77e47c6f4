"""python3 src/shim/generate --abi ABI --out DIRECTORY: writes what a preload of one ABI is built from; --check instead
of --abi: the sources of `millrace check`; --header ABI: an mpi.h for `millrace bench`; --lists: what each preload
exports, for the launcher."""

import argparse
import pathlib
import sys

import symbols as shim_symbols
import table as shim_table
import write_check
import write_entries
import write_exports
import write_forwards
import write_header
import write_lists
import write_positions

PARTS = 4  # of the forwards of each language, so that they compile in parallel


def files(table, abi):
    symbols = shim_symbols.of_abi(table, abi)
    result = {"entries.h": write_entries.header(table, symbols), "entries.cpp": write_entries.source(table, symbols)}
    result |= {"positions.h": write_positions.header(table), "exchange_shapes.cpp": write_positions.shapes(table)}
    result |= write_forwards.sources(symbols, PARTS)
    for name, generations in shim_symbols.export_lists(table, abi).items():
        result[f"millrace-{name}.map"] = write_exports.script(symbols, generations, write_exports.pcontrol(abi))
    return result


def write(directory, result):
    """Leaves a file alone that has not changed, so that nothing is compiled again for nothing."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in result.items():
        path = directory / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def main():
    parser = argparse.ArgumentParser(prog="generate", description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--abi")
    what.add_argument("--check", action="store_true")
    what.add_argument("--header", metavar="ABI")
    what.add_argument("--lists", action="store_true")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--list", action="store_true", help="print the names of the files instead of writing them")
    arguments = parser.parse_args()
    try:
        table = shim_table.load()
    except shim_table.TableError as error:
        sys.exit(f"generate: {error}")
    abi = arguments.abi or arguments.header
    if abi and abi not in table.abis():
        sys.exit(f"generate: unknown ABI {abi}, expected one of {', '.join(table.abis())}")
    if arguments.header:
        result = {"mpi.h": write_header.header(table, abi)}
    elif arguments.lists:
        result = {"export_lists.cpp": write_lists.source(table)}
    else:
        result = files(table, abi) if abi else write_check.files(table)
    if arguments.list:
        print("\n".join(result))
    else:
        write(arguments.out, result)


if __name__ == "__main__":
    main()
