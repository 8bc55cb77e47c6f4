"""The source of a tool that counts calls and hands them on; in MPI_Finalize each rank prints what it saw.

It also calls MPI for itself: about the communicator, and, on odd ranks only, collectives on MPI_COMM_SELF that are none
of the program's. It goes on by PMPI names, by RTLD_NEXT ("next"), or by pointers that it keeps in memory that cannot be
written later ("table").
"""

REDUCTION = "const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f"
BLOCKS = "const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, MPI_Comm g"
WRAPPED = {
    "Allreduce": REDUCTION,
    "Reduce": "const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, int f, MPI_Comm g",
    "Bcast": "void* a, int b, MPI_Datatype c, int d, MPI_Comm e",
    "Barrier": "MPI_Comm a",
    "Scan": REDUCTION,
    "Allgather": BLOCKS,
    "Alltoall": BLOCKS,
    "Iallreduce": f"{REDUCTION}, MPI_Request* g",
    "Isend": "const void* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request* g",
    "Irecv": "void* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request* g",
    "Wait": "MPI_Request* a, MPI_Status* b",
    "Waitall": "int a, MPI_Request b[], MPI_Status c[]",
    "Waitany": "int a, MPI_Request b[], int* c, MPI_Status* d",
    "Iprobe": "int a, int b, MPI_Comm c, int* d, MPI_Status* e",
    "Pack": "const void* a, int b, MPI_Datatype c, void* d, int e, int* f, MPI_Comm g",
    "Reduce_local": "const void* a, void* b, int c, MPI_Datatype d, MPI_Op e",
    "Comm_dup": "MPI_Comm a, MPI_Comm* b",
    "Comm_free": "MPI_Comm* a",
    "Comm_rank": "MPI_Comm a, int* b",
}

SOURCE = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static int pcontrols = 0;

static void own_calls(void) {{
  int rank, one = 1, sum = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank % 2 == 1) PMPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}}

{table}
{wrappers}
int MPI_Pcontrol(const int level, ...) {{
  pcontrols += level;
  return MPI_SUCCESS;
}}

int MPI_Finalize(void) {{
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
{prints}
  printf("rank %d: Pcontrol %d\\n", rank, pcontrols);
  fflush(stdout);
  return PMPI_Finalize();
}}
"""

WRAPPER = """\
static int seen_{name} = 0;
int MPI_{name}({parameters}) {{
  if (++seen_{name} % 7 == 0) own_calls();
  return {onward}({words});
}}
"""


def _table():
    members = "".join(f"  int (*to_{name})({parameters});\n" for name, parameters in WRAPPED.items())
    return f"static const struct {{\n{members}}} onward = {{{', '.join(f'PMPI_{name}' for name in WRAPPED)}}};\n"


def _onward(name, parameters, way):
    if way == "next":
        return f'((int (*)({parameters}))dlsym(RTLD_NEXT, "MPI_{name}"))'
    return f"onward.to_{name}" if way == "table" else f"PMPI_{name}"


def write(directory, way):
    """The path of the C source, which is left alone if it is there already."""
    wrappers = [
        WRAPPER.format(
            name=name,
            parameters=parameters,
            onward=_onward(name, parameters, way),
            words=", ".join("abcdefg"[: parameters.count(",") + 1]),
        )
        for name, parameters in WRAPPED.items()
    ]
    prints = (f'  printf("rank %d: {name} %d\\n", rank, seen_{name});' for name in WRAPPED)
    text = SOURCE.format(
        table=_table() if way == "table" else "", wrappers="\n".join(wrappers), prints="\n".join(prints)
    )
    path = directory / f"neighbor_tool_{way}.c"
    if not path.exists() or path.read_text() != text:
        directory.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return path
