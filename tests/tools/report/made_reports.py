"""Reports of jobs that never ran, of any number of ranks: every figure follows from `seed`."""

import random
import statistics

CALLS = {  # name: bytes of a call, calls of a rank, ns of a call, share taken, algorithm
    "MPI_Allreduce": (8192, 4000, 9000, 0.97, "allreduce_slices"),
    "MPI_Waitall": (0, 12000, 2600, 0, None),
    "MPI_Barrier": (0, 500, 30000, 0.99, "barrier_flags"),
    "MPI_Isend": (65536, 6000, 900, 0.4, "pack_permute"),
    "MPI_Irecv": (65536, 6000, 300, 0, None),
    "MPI_Neighbor_alltoallw_init": (1024, 1, 5000, 0, None),
    "MPI_Comm_rank": (0, 3, 20, 0, None),
}


def spread(values):
    most = max(values)
    return {
        "min": min(values),
        "median": type(most)(statistics.median(values)),
        "max": most,
        "max_rank": values.index(most),
    }


def sizes(size, calls, taken, time_ns):
    """Some calls of an eighth of the size and some of its quadruple take a tenth and a third of the time."""
    if size == 0:
        return []
    parts = [(size // 8, 20, 10), (size, 2, 0), (size * 4, 40, 3)]
    listed = [
        {"least_bytes": least, "calls": calls // of_calls, "taken": taken // of_calls,
         "bytes": least * (calls // of_calls), "time_ns": time_ns // of_time if of_time else time_ns * 17 // 30}
        for least, of_calls, of_time in parts
    ]  # fmt: skip
    return [one for one in listed if one["calls"]]


def call(chance, name, ranks, late):
    size, calls, one_ns, share, algorithm = CALLS[name]
    calls_all = calls * ranks
    taken = int(calls_all * share)
    # One rank is late: all others wait, it does not.
    times = [int(calls * one_ns * chance.uniform(0.6, 1.4) / (6 if rank == late else 1)) for rank in range(ranks)]
    left = calls_all - taken
    why = {"not_agreed": left} if taken else {"not_accelerated": left}
    saved = {"calls": taken, "time_ns": taken * one_ns // 4, "error_ns": taken * one_ns // 60} if taken else None
    return times, {
        "name": name,
        "calls": calls_all,
        "bytes": size * calls_all,
        "time_ns": sum(times),
        "ranks": ranks,
        "rank_time_ns": spread(times),
        "taken": taken,
        "algorithms": [{"name": algorithm, "calls": taken, "bytes": size * taken, "time_ns": 0}] if taken else [],
        "forwarded": left,
        "forwarded_why": why if left else {},
        "saved": saved or {"calls": 0, "time_ns": 0, "error_ns": 0},
        "sizes": sizes(size, calls_all, taken, sum(times)),
    }


def peers(ranks):
    """A ring that sends much to the next rank and little to the one before; rank 0 says something to all."""
    pairs = {}

    def send(source, to, messages, size):
        if source != to:
            old = pairs.get((source, to), (0, 0))
            pairs[source, to] = (old[0] + messages, old[1] + messages * size)

    for rank in range(ranks):
        send(rank, (rank + 1) % ranks, 4000, 65536 + rank)
        send(rank, (rank - 1) % ranks, 2000, 64)
        send(0, rank, 3, 8)
    block = 1
    while (ranks - 1) // block >= 64:
        block *= 2
    blocks = {}
    for (source, to), (messages, size) in pairs.items():
        place = source // block * block, to // block * block
        old = blocks.get(place, (0, 0))
        blocks[place] = (old[0] + messages, old[1] + size)

    def values(items):
        return [
            {"from": source, "to": to, "messages": messages, "bytes": size} for (source, to), (messages, size) in items
        ]

    others = {"messages": 7, "bytes": 700}
    return {
        "messages": sum(count[0] for count in pairs.values()) + others["messages"],
        "bytes": sum(count[1] for count in pairs.values()) + others["bytes"],
        "others": others,
        "foremost": values(sorted(pairs.items(), key=lambda item: (-item[1][1], -item[1][0]))[:32]),
        "block_ranks": block,
        "matrix": values(sorted(blocks.items())),
    }


def phases(ranks, wall_ns):
    """Half of the run computes, then exchanges take more and more; one rank is always inside least."""
    slices = []
    for index in range(64):
        mean = 0.05 if index < 32 else 0.05 + 0.9 * (index - 31) / 32
        slices.append(
            {
                "calls": 10 * index * ranks,
                "bytes": 4096 * index * ranks,
                "ranks": ranks,
                "mpi_share": {"mean": mean, "min": mean / 2, "max": min(1.0, mean * 1.5), "max_rank": ranks // 2},
            }
        )
    return {"slice_ns": int(wall_ns / 64), "slices": slices}


def communicators(ranks, wall_ns):
    """The world, rows of a grid with a name, one that is duplicated again and again, and what is left of many."""
    width = max(1, int(ranks**0.5))
    rows = [("MPI_COMM_WORLD", f"0-{ranks - 1}" if ranks > 1 else "0", ranks, 1, 0.3)]
    rows += [
        ("row <x> & more of it", f"{first}-{first + width - 1}", width, 1, 0.1) for first in range(0, ranks, width)
    ]
    rows += [("", f"0-{ranks - 1}", ranks, 1000, 0.05), ("others", "", 0, 12, 0.001)]
    return [
        {
            "name": name,
            "ranks": members,
            "size": size,
            "made": made,
            "callers": size or 1,
            "calls": made * 600,
            "taken": made * 500,
            "bytes": made * 600 * 4096,
            "time_ns": int(wall_ns * (size or 1) * share),
            "longest": {"time_ns": int(wall_ns * share * 1.2), "rank": ranks // 2},
        }
        for name, members, size, made, share in rows
    ]


def regions(ranks, wall_ns):
    """Of a step, most is the solver, and rank 1 (or 0) sits longest in the exchange."""
    rows = [("step", 1000, 0.9, 0.3), ("solver", 3000, 0.6, 0.2), ("exchange <halo> & more of it", 3000, 0.2, 0.8)]
    return {
        "unbalanced": 2,
        "all": [
            {
                "name": name,
                "entered": entered * ranks,
                "ranks": ranks,
                "calls": entered * ranks * 4,
                "bytes": entered * ranks * 8192,
                "mpi_ns": int(wall_ns * ranks * share * inside),
                "wall_ns": int(wall_ns * ranks * share),
                "longest": {"wall_ns": int(wall_ns * share * 1.1), "rank": ranks // 2},
            }
            for name, entered, share, inside in rows
        ],
    }


def made_report(ranks, seed=1, ranks_of_a_host=64):
    chance = random.Random(seed)
    late = ranks // 3
    made = [call(chance, name, ranks, late) for name in CALLS]
    calls = sorted((values for _, values in made), key=lambda values: -values["time_ns"])
    wall = [int(400e6 * chance.uniform(1, 1.02)) for _ in range(ranks)]
    inside = [sum(times[rank] for times, _ in made) for rank in range(ranks)]
    shares = [inside[rank] / wall[rank] for rank in range(ranks)]

    def total(column):
        return sum(values[column] for values in calls)

    # Of what others wait in barriers and reductions nine tenths are for the late one, one for the rank after it.
    waits = [
        {
            "name": name,
            "communicator": "MPI_COMM_WORLD" if name == "MPI_Allreduce" else f"ranks 0-{ranks - 1}",
            "compared": CALLS[name][1],
            "time_ns": (time := next(values["time_ns"] for values in calls if values["name"] == name)),
            "wait_ns": (wait := time // 2 if ranks > 1 else 0),
            "late_ranks": [
                {"rank": late, "late_calls": CALLS[name][1] - 7, "caused_ns": wait - wait // 10},
                {"rank": (late + 1) % ranks, "late_calls": 7, "caused_ns": wait // 10},
            ],
        }
        for name in ("MPI_Allreduce", "MPI_Barrier")
    ]
    caused = {late: 0, (late + 1) % ranks: 0} if ranks > 1 else {}
    last = dict(caused)
    for wait in waits:
        for rank in wait["late_ranks"]:
            if ranks > 1:
                caused[rank["rank"]] += rank["caused_ns"]
                last[rank["rank"]] += rank["late_calls"]
    waited = sum(wait["wait_ns"] for wait in waits)
    late_ranks = [
        {
            "rank": rank,
            "late_calls": last.get(rank, 0),
            "caused_ns": caused.get(rank, 0),
            "wait_ns": 0 if rank == late else waited // (ranks - 1),
        }
        for rank in sorted(range(ranks), key=lambda rank: -caused.get(rank, 0))
    ]

    saved = {column: sum(values["saved"][column] for values in calls) for column in ("calls", "time_ns", "error_ns")}
    return {
        "schema": "millrace-report",
        "schema_version": 1,
        "millrace": "0.1.0",
        "ranks": ranks,
        "hosts": -(-ranks // ranks_of_a_host),
        "settings": {"MILLRACE_ISA": "auto", "MILLRACE_COLLECTIVES": "auto", "MILLRACE_REPORT": "run.json"},
        "wall_ns": spread(wall),
        "mpi_ns": spread(inside),
        "mpi_share": spread(shares),
        "total": {column: total(column) for column in ("calls", "bytes", "time_ns", "taken", "forwarded")}
        | {"saved": saved},
        "calls": calls,
        "late_ranks": late_ranks if ranks > 1 else [],
        "waits": waits if ranks > 1 else [],
        "phases": phases(ranks, max(wall)),
        "communicators": communicators(ranks, max(wall)),
        "peers": peers(ranks),
        "regions": regions(ranks, max(wall)),
        "by_rank": [
            {
                "rank": rank,
                "host": f"node{rank // ranks_of_a_host:02}",
                "pid": 1000 + rank,
                "host_mpi": "Open MPI v5.0.11, package: made",
                "preload": "openmpi-5.0",
                "isa": "avx512",
                "wall_ns": wall[rank],
                "mpi_ns": inside[rank],
                "mpi_share": shares[rank],
                "threads": 1,
                "lost_calls": 0,
            }
            for rank in range(ranks)
        ],
        "notes": [],
    }
