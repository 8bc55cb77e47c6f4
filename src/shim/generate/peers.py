"""Which entries can need other ranks to drive their host: ranks that sleep in a collective of ours are woken for them
(src/shim/bind/attention.h)."""

import dataclasses
import fnmatch

from fortran import CHARACTERS

# Return when other ranks have done something.
BLOCKING = (
    "Send Bsend Rsend Ssend Recv Mrecv Sendrecv Sendrecv_replace Probe Mprobe Buffer_detach Buffer_flush "
    "Comm_detach_buffer Comm_flush_buffer Session_detach_buffer Session_flush_buffer "
    "Wait Waitall Waitany Waitsome "
    "Win_allocate Win_allocate_shared Win_create Win_create_dynamic Win_free Win_complete Win_fence Win_flush "
    "Win_flush_all Win_flush_local Win_flush_local_all Win_lock Win_lock_all Win_start Win_unlock Win_unlock_all "
    "Win_wait "
    "Allgather Allgatherv Allreduce Alltoall Alltoallv Alltoallw Barrier Bcast Exscan Gather Gatherv Reduce "
    "Reduce_scatter Reduce_scatter_block Scan Scatter Scatterv Neighbor_all* *_init "
    "Comm_create Comm_create_from_group Comm_create_group Comm_dup Comm_dup_with_info Comm_free Comm_split "
    "Comm_split_type Comm_disconnect "
    "Intercomm_create Intercomm_create_from_groups Intercomm_merge "
    "Cart_create Cart_sub Dist_graph_create Dist_graph_create_adjacent Graph_create "
    "File_close File_open File_preallocate File_read* File_write* File_seek_shared File_set_size File_set_view "
    "File_sync Finalize Session_finalize"
).split()

# The same, and what they return connects the job with processes that ring nobody here.
CONNECTING = "Comm_accept Comm_connect Comm_join Comm_spawn Comm_spawn_multiple".split()

# Begin or ask, and return at once; what they begin may need others.
NONBLOCKING = (
    "Isend Ibsend Irsend Issend Irecv Imrecv Isendrecv Isendrecv_replace Iprobe Improbe Buffer_iflush "
    "Comm_iflush_buffer Session_iflush_buffer Start Startall Test Testall Testany Testsome Request_get_status* "
    "Parrived Pready Pready_list Pready_range "
    "Accumulate Compare_and_swap Fetch_and_op Get Get_accumulate Put Raccumulate Rget Rget_accumulate Rput "
    "Win_post Win_test "
    "Iall* Ibarrier Ibcast Iexscan Igather Igatherv Ireduce Ireduce_scatter Ireduce_scatter_block Iscan Iscatter "
    "Iscatterv Ineighbor_* Comm_idup Comm_idup_with_info File_iread* File_iwrite*"
).split()

# Of these, those that only take, or ask whether something has come: nothing goes to others because of them.
TAKING = (
    "Recv Mrecv Probe Mprobe Irecv Imrecv Iprobe Improbe Wait Waitall Waitany Waitsome Test Testall Testany Testsome "
    "Request_get_status* Parrived Win_test Win_wait File_*"
).split()

# Questions that may be answered by no: the answer is the first of these parameters.
ASKING = "Iprobe Improbe Win_test Test Testall Testany Testsome Request_get_status* Parrived".split()
ANSWERS = "flag outcount".split()

# Calls of these that name one rank, or two, and need no other; further ones work on a request that names it.
POINT_TO_POINT = (
    "Send Bsend Rsend Ssend Recv Sendrecv Sendrecv_replace Probe Mprobe Isend Ibsend Irsend Issend Irecv Isendrecv "
    "Isendrecv_replace Iprobe Improbe Send_init Bsend_init Rsend_init Ssend_init Recv_init Psend_init Precv_init"
).split()
ON_A_REQUEST = "Start Wait Test Request_get_status Parrived Pready Pready_list Pready_range".split()

# Of these, those that send a message to the first rank that they name, at once or when their request is started.
SENDING = (
    "Send Bsend Rsend Ssend Isend Ibsend Irsend Issend Sendrecv Sendrecv_replace Isendrecv Isendrecv_replace "
    "Send_init Bsend_init Rsend_init Ssend_init Psend_init"
).split()

# Made here, started later: nothing is needed of others yet.
LOCAL = "Send_init Bsend_init Rsend_init Ssend_init Recv_init Psend_init Precv_init".split()


def listed(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


@dataclasses.dataclass(frozen=True)
class Target:
    """How a call says whom it needs: positions among its parameters, -1 where there is none."""

    through: str = "nobody"  # the kind of the object: window, communicator, request, request_at (its address)
    object: int = -1
    rank: int = -1
    second_rank: int = -1
    made: int = -1  # a request that works on the same rank whenever it is started


def target(entry):
    name = entry.base_identifier
    kinds = [parameter.kind for parameter in entry.parameters]
    ranks = [*(i for i, kind in enumerate(kinds) if kind == "rank"), -1, -1]
    if name in ON_A_REQUEST:
        index = kinds.index("request")
        return Target("request" if entry.parameters[index].direction == "in" else "request_at", index)
    if name in POINT_TO_POINT:
        made = kinds.index("request") if name in LOCAL else -1
        return Target("communicator", kinds.index("comm"), ranks[0], ranks[1], made)
    if of_entry(entry) != "none" and "win" in kinds and ranks[0] >= 0:
        return Target("window", kinds.index("win"), ranks[0])
    return Target()


def _name(entry):
    return entry.identifier.removesuffix("_c") if entry.large else entry.identifier


def gives(entry):
    """Whether the call may give the host something for other ranks."""
    return of_entry(entry) != "none" and not listed(_name(entry), TAKING)


def communicator(entry):
    """The position of the communicator on which a call needs others; -1 where there is none. The error of a call with
    strings does not stand last in Fortran: of these the report does not say it."""
    kinds = [(parameter.kind, parameter.direction) for parameter in entry.parameters]
    if of_entry(entry) == "none" or ("comm", "in") not in kinds or any(kind in CHARACTERS for kind, _ in kinds):
        return -1
    return kinds.index(("comm", "in"))


def sends(entry):
    return entry.base_identifier in SENDING


def answer(entry):
    """The position of what is zero for "no"; -1 for what is no question."""
    if not listed(_name(entry), ASKING):
        return -1
    return next(i for i, parameter in enumerate(entry.parameters) if parameter.name in ANSWERS)


def of_entry(entry):
    """Name of a value of Peers."""
    name = _name(entry)
    if listed(name, LOCAL):
        return "none"
    if listed(name, CONNECTING):
        return "connecting"
    if listed(name, BLOCKING):
        return "blocking"
    return "nonblocking" if listed(name, NONBLOCKING) else "none"
