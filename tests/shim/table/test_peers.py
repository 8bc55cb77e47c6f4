"""Which entries ring ranks that sleep (src/shim/generate/peers.py)."""

import fnmatch

import peers
import table as shim_table

TABLE = shim_table.load()


def test_every_name_is_an_entry():
    names = {entry.identifier for entry in TABLE.entries}
    for pattern in (*peers.BLOCKING, *peers.CONNECTING, *peers.NONBLOCKING, *peers.LOCAL, *peers.TAKING, *peers.ASKING):
        assert fnmatch.filter(names, pattern), f"no entry is called MPI_{pattern}"


def test_no_name_is_in_two_lists():
    for entry in TABLE.entries:
        lists = [
            patterns
            for patterns in (peers.BLOCKING, peers.CONNECTING, peers.NONBLOCKING)
            if peers.listed(entry.identifier, patterns)
        ]
        assert len(lists) < 2, entry.name


def test_calls_that_move_data_need_peers():
    local = {*peers.LOCAL, "Reduce_local", "Pack", "Unpack", "Pack_external", "Unpack_external"}
    for entry in TABLE.entries:
        if entry.posted and entry.identifier.removesuffix("_c") not in local:
            assert peers.of_entry(entry) != "none", entry.name


def test_large_twins_are_like_the_others():
    by_name = {entry.name: peers.of_entry(entry) for entry in TABLE.entries}
    for entry in TABLE.entries:
        if entry.large:
            assert peers.of_entry(entry) == by_name[entry.name.removesuffix("_c")], entry.name


def test_queries_do_not():
    by_name = {entry.identifier: peers.of_entry(entry) for entry in TABLE.entries}
    for name in ("Comm_rank", "Get_count", "Type_size", "Wtime", "Comm_get_attr", "Reduce_local", "Win_get_group"):
        assert by_name[name] == "none", name


def test_who_gives_the_host_something_for_others():
    by_name = {entry.identifier: peers.gives(entry) for entry in TABLE.entries}
    for name in ("Send", "Isend", "Sendrecv", "Start", "Startall", "Put", "Win_complete", "Ibarrier", "Pready"):
        assert by_name[name], name
    for name in ("Recv", "Irecv", "Wait", "Testall", "Iprobe", "Send_init", "Comm_rank", "Win_test"):
        assert not by_name[name], name


def test_answers_of_questions():
    """Each that returns a flag, or how many, and may need others."""
    for entry in TABLE.entries:
        out = [p.name for p in entry.parameters if p.direction == "out" and p.name in ("flag", "outcount")]
        answer = peers.answer(entry)
        is_wait = entry.identifier.startswith("Wait")
        assert (answer >= 0) == bool(out and peers.of_entry(entry) != "none" and not is_wait), entry.name
        if answer >= 0:
            assert entry.parameters[answer].name == out[0], entry.name


def targets():
    return {entry.name.removeprefix("MPI_"): (entry, peers.target(entry)) for entry in TABLE.entries}


def test_one_sided_calls_say_whom_they_need():
    works_on_one = (
        "Accumulate Compare_and_swap Fetch_and_op Get Get_accumulate Put Raccumulate Rget Rget_accumulate Rput "
        "Win_flush Win_flush_local Win_lock Win_unlock"
    ).split()
    for name, (entry, target) in targets().items():
        assert (target.through == "window") == (entry.identifier.removesuffix("_c") in works_on_one), name
        if target.through == "window":
            assert entry.parameters[target.rank].name.endswith("rank"), name
            assert entry.parameters[target.object].name == "win", name


def test_messages_say_whom_they_need():
    for name, (entry, target) in targets().items():
        if target.through != "communicator":
            continue
        names = [parameter.name for parameter in entry.parameters]
        assert names[target.rank] in ("dest", "source"), name
        assert names[target.object] == "comm", name
        assert target.second_rank == (names.index("source") if "sendrecv" in name.lower() else -1), name
        assert target.made == (names.index("request") if name.removesuffix("_c").endswith("_init") else -1), name


def test_collectives_and_waits_for_several_need_anybody():
    for name in ("Bcast", "Ireduce", "Win_fence", "Win_flush_all", "Waitall", "Startall", "Mrecv", "Bcast_init"):
        assert targets()[name][1] == peers.Target(), name


def test_requests_by_value_and_by_address():
    assert targets()["Pready"][1] == peers.Target("request", 1)
    assert targets()["Wait"][1] == peers.Target("request_at", 0)
    assert targets()["Request_free"][1] == peers.Target()
