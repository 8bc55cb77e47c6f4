"""entries.h and entries.cpp: the numbers and names of entries and symbols, and the bytes rules."""

import peers

NOTE = "// Generated from src/shim/table; do not edit.\n"

HEADER = """\
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace millrace::shim {{

// The MPI entry points, the same numbers in every ABI.
enum class Entry : std::uint16_t {{
{entries}
  count
}};
inline constexpr std::size_t entry_count = static_cast<std::size_t>(Entry::count);

// The symbols of the preloads of this ABI: one per entry, with its number, then the Fortran symbols.
enum class Symbol : std::uint16_t {{
{symbols}
  count
}};
inline constexpr std::size_t symbol_count = static_cast<std::size_t>(Symbol::count);

std::span<const char* const> entry_names();  // "MPI_Send", indexed by Entry
const char* symbol_name(Symbol symbol);
Entry symbol_entry(Symbol symbol);
constexpr bool is_fortran(Symbol symbol) {{ return static_cast<std::size_t>(symbol) >= entry_count; }}

// Of a large-count twin: counts are MPI_Count, not int.
inline constexpr bool is_large_symbol[symbol_count] = {{
{large}
}};
constexpr bool is_large(Symbol symbol) {{ return is_large_symbol[static_cast<std::size_t>(symbol)]; }}

// Where the datatypes of a call stand that carries data with one for each buffer; -1 where there is none.
struct Datatypes {{
  std::int8_t first;
  std::int8_t second;
}};
inline constexpr Datatypes datatypes_of_symbol[symbol_count] = {{
{datatypes}
}};
constexpr Datatypes datatypes_of(Symbol symbol) {{ return datatypes_of_symbol[static_cast<std::size_t>(symbol)]; }}

// How many elements one alternative of a bytes rule counts.
enum class Shape : std::uint8_t {{
  none,
  whole,  // count
  each,   // count for each rank of the communicator (or neighbour)
  array,  // the sum of an array over the ranks of the communicator (or neighbours)
  mine    // the element of the calling rank in such an array
}};
// Positions among the C parameters (the Fortran ones are in the same places); -1 where there is none.
struct Posted {{
  Shape shape;
  std::int8_t buffer;
  std::int8_t count;  // -1: one element
  std::int8_t datatype;
  std::int8_t peer;          // a rank: negative means that nothing goes anywhere
  bool array_of_datatypes;   // a datatype for each rank, as in MPI_Alltoallw
}};
struct BytesRule {{
  Posted first;
  Posted second;  // counts where the first's buffer is MPI_IN_PLACE or its peer is none
  std::int8_t comm;
  std::int8_t root;
  std::int8_t op;
  bool neighbours;  // arrays run over the neighbours of the topology, not over the ranks
}};
const BytesRule& bytes_rule(Entry entry);

// Whether other ranks may have to drive their host for what a call does.
enum class Peers : std::uint8_t {{
  none,
  nonblocking,  // it begins or asks
  blocking,     // it returns when they have
  connecting    // likewise, and then there are processes that are not of this job
}};
inline constexpr Peers peers_of_symbol[symbol_count] = {{
{peers}
}};
constexpr Peers peers_of(Symbol symbol) {{ return peers_of_symbol[static_cast<std::size_t>(symbol)]; }}

// Whether a call may give the host something for others.
inline constexpr bool gives_of_symbol[symbol_count] = {{
{gives}
}};
constexpr bool gives(Symbol symbol) {{ return gives_of_symbol[static_cast<std::size_t>(symbol)]; }}

// Of a question, the position of the address of what is zero for "no"; -1 for what is none.
inline constexpr std::int8_t answer_of_symbol[symbol_count] = {{
{answers}
}};
constexpr int answer_of(Symbol symbol) {{ return answer_of_symbol[static_cast<std::size_t>(symbol)]; }}

// What names the rank that a call needs, and no other.
enum class Through : std::uint8_t {{
  nobody,  // it may need any
  window,
  communicator,
  request,    // that was made for this rank
  request_at  // the same by its address
}};
// Positions among the parameters, -1 where there is none.
struct Target {{
  Through through;
  std::int8_t object;
  std::int8_t rank;
  std::int8_t second_rank;
  std::int8_t made;  // a request that needs the same rank whenever it is started
}};
inline constexpr Target target_of_symbol[symbol_count] = {{
{targets}
}};
constexpr Target target_of(Symbol symbol) {{ return target_of_symbol[static_cast<std::size_t>(symbol)]; }}

// Whether it sends a message to the rank of its target, or makes a request that does.
inline constexpr bool sends_of_symbol[symbol_count] = {{
{sends}
}};
constexpr bool sends(Symbol symbol) {{ return sends_of_symbol[static_cast<std::size_t>(symbol)]; }}

// Where the communicator stands on which a call does something with other ranks, or begins to; -1 where there is none.
inline constexpr std::int8_t communicator_of_symbol[symbol_count] = {{
{communicators}
}};
constexpr int communicator_of(Symbol symbol) {{ return communicator_of_symbol[static_cast<std::size_t>(symbol)]; }}

// MPI_Testany for MPI_Waitany and MPI_Testsome for MPI_Waitsome, by the same kind of name; any other is itself.
constexpr Symbol without_waiting(Symbol symbol) {{
  switch (symbol) {{
{tests}
    default: return symbol;
  }}
}}

}}  // namespace millrace::shim
"""

SOURCE = """\
#include "entries.h"

namespace millrace::shim {{
namespace {{

constexpr const char* names[symbol_count] = {{
{names}
}};
constexpr std::uint16_t entry_of_symbol[symbol_count] = {{
{entry_of_symbol}
}};
constexpr Posted none{{Shape::none, -1, -1, -1, -1, false}};
constexpr BytesRule rules[entry_count] = {{
{rules}
}};

}}  // namespace

std::span<const char* const> entry_names() {{ return {{names, entry_count}}; }}
const char* symbol_name(Symbol symbol) {{ return names[static_cast<std::size_t>(symbol)]; }}
Entry symbol_entry(Symbol symbol) {{ return static_cast<Entry>(entry_of_symbol[static_cast<std::size_t>(symbol)]); }}
const BytesRule& bytes_rule(Entry entry) {{ return rules[static_cast<std::size_t>(entry)]; }}

}}  // namespace millrace::shim
"""


def _target(entry):
    target = peers.target(entry)
    return f"{{Through::{target.through}, {target.object}, {target.rank}, {target.second_rank}, {target.made}}}"


def header(table, symbols):
    return NOTE + HEADER.format(
        entries="\n".join(f"  {e.identifier}," for e in table.entries),
        symbols="\n".join(f"  {s.name}," for s in symbols),
        large="\n".join(f"    {str(s.entry.large).lower()},  // {s.name}" for s in symbols),
        datatypes="\n".join(f"    {_datatypes(s.entry)},  // {s.name}" for s in symbols),
        peers="\n".join(f"    Peers::{peers.of_entry(s.entry)},  // {s.name}" for s in symbols),
        gives="\n".join(f"    {str(peers.gives(s.entry)).lower()},  // {s.name}" for s in symbols),
        answers="\n".join(f"    {peers.answer(s.entry)},  // {s.name}" for s in symbols),
        targets="\n".join(f"    {_target(s.entry)},  // {s.name}" for s in symbols),
        communicators="\n".join(f"    {peers.communicator(s.entry)},  // {s.name}" for s in symbols),
        sends="\n".join(f"    {str(peers.sends(s.entry)).lower()},  // {s.name}" for s in symbols),
        tests="\n".join(
            f"    case Symbol::{s.name}: return Symbol::{_test_of(s.name)};"
            for s in symbols
            if s.entry.name in ("MPI_Waitany", "MPI_Waitsome")
        ),
    )


def _test_of(name):
    return name.replace("Wait", "Test").replace("wait", "test").replace("WAIT", "TEST")


def source(table, symbols):
    number = {e.name: i for i, e in enumerate(table.entries)}
    folded = [e.name.lower() for e in table.entries]
    if folded != sorted(folded):
        raise ValueError("entries are looked for by name, and must be in its order (shim/host/bypass.cpp)")
    return NOTE + SOURCE.format(
        names="\n".join(f'    "{s.name}",' for s in symbols),
        entry_of_symbol="\n".join(f"    {number[s.entry.name]},  // {s.name}" for s in symbols),
        rules="\n".join(f"    {_rule(e)},  // {e.name}" for e in table.entries),
    )


def _posted(entry, posted):
    array = bool(entry.parameters[entry.index(posted.datatype)].dimensions)
    positions = [entry.index(n) for n in (posted.buffer, posted.count, posted.datatype, posted.peer)]
    return f"{{Shape::{posted.shape}, {', '.join(map(str, positions))}, {str(array).lower()}}}"


def _position_of_kind(entry, kind):
    return next((i for i, p in enumerate(entry.parameters) if p.kind == kind and p.direction == "in"), -1)


def _rule(entry):
    alternatives = [_posted(entry, p) for p in entry.posted] + ["none", "none"]
    places = [_position_of_kind(entry, kind) for kind in ("comm", "root", "op")]
    neighbours = str("neighbor" in entry.name.lower()).lower()
    return f"{{{', '.join(map(str, [*alternatives[:2], *places, neighbours]))}}}"


def _datatypes(entry):
    """Of arrays there may be any number."""
    kinds = [p.kind for p in entry.parameters]
    if "buffer" not in kinds or any(p.kind == "datatype" and p.dimensions for p in entry.parameters):
        return "{-1, -1}"
    found = [i for i, kind in enumerate(kinds) if kind == "datatype"]
    return f"{{{', '.join(map(str, [*found, -1, -1][:2]))}}}"
