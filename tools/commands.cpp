#include "tools/command_line.h"

namespace millrace::tools {
namespace {

constexpr Command command_table[] = {
    {"info", Action::info, "info [--json] [--types] [--mpi openmpi|mpich|abi|LIBRARY]",
     "what this machine, its MPI and the settings look like"},
    {"check", Action::check, "check [OPTIONS]", "whether every call of this MPI is reached"},
    {"preload", Action::preload, "preload [--mpi openmpi|mpich|abi|LIBRARY] PROGRAM",
     "the path that LD_PRELOAD needs for a program"},
    {"compare", Action::compare, "compare [--repeat N] -- mpirun -n 4 ./app ARGS",
     "runs a job with and without Millrace, in turns, and says what differs"},
    {"bench", Action::bench, "bench [--quick] [--html FILE] -- mpirun -n 8",
     "Millrace's calls and the host's own in turns: is any slower, how much faster are the others"},
    {"doctor", Action::doctor, "doctor [--json FILE] -- mpirun -n 4 ./app ARGS",
     "runs a job once and says what Millrace did, what not and why, and what to change"},
    {"report", Action::report, "report [--html FILE] RUN.json [OTHER.json]",
     "shows a report that a run has written, or two side by side"},
    {"explain-type", Action::explain_type, "explain-type [--count N] TYPE", "how a derived datatype is packed"},
    {"explain", Action::explain_call, "explain [--ranks N] [--nodes N] [--crowded] CALL [BYTES]",
     "how a collective is done, inside a node and over nodes, e.g. millrace explain allreduce 32KiB"},
    {"simulate", Action::simulate, "simulate --topology 'pack:2 l3:8 core:8' [--ranks N] CALL [BYTES]",
     "a collective on a machine that need not be here: who waits for whom, and how long it takes"},
    {"tune", Action::tune, "tune [--out FILE] [-- mpirun -n 2]",
     "measures this machine and writes a table of what it found"},
    {"learn", Action::learn,
     "learn [--out FILE] -- mpirun -n 4 ./app ARGS\n"
     "learn --advise [--try NAME=VALUE] -- mpirun -n 4 ./app ARGS",
     "runs a program, measures its own collectives, and keeps who does them faster"},
};

}  // namespace

std::span<const Command> commands() { return command_table; }

}  // namespace millrace::tools
