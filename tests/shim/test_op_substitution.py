"""Reductions done by the host with an op of ours: right, counted, and only where that is safe."""

import hosts
import pytest
from shim_programs import build, call, report, run

OPEN_MPI = ["openmpi4", "openmpi5"]
OTHERS = [name for name in hosts.HOSTS if name not in OPEN_MPI]
# The reductions that shared memory would take are the host's here.
ALWAYS = {"MILLRACE_SUBSTITUTE": "always", "MILLRACE_COLLECTIVES": "never"}
FORMS = ["Allreduce", "Reduce", "Reduce_scatter", "Reduce_scatter_block", "Scan", "Exscan", "Iallreduce", "Ireduce"]


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("host", OPEN_MPI)
def test_every_form_with_our_op(host, ranks):
    program = build(host, "reductions.c")
    finished, result = report(host, ranks, program, env=ALWAYS)
    plain = run(host, ranks, program, millrace=False).check()
    assert finished.stdout == plain.stdout
    for form in FORMS:
        entry = call(result, f"MPI_{form}")
        refused = ranks if form == "Allreduce" else 0  # BAND of doubles
        assert entry["taken"] == entry["calls"] - refused, form
    names = {algorithm["name"] for algorithm in call(result, "MPI_Allreduce")["algorithms"]}
    assert {"op_sum_i32", "op_land_i32", "op_prod_c64", "op_maxloc_f64_i32"} <= names


@pytest.mark.parametrize("host", OTHERS)
def test_hosts_that_choose_by_op_keep_theirs(host):
    _, result = report(host, 2, build(host, "reductions.c"), env=ALWAYS)
    assert call(result, "MPI_Allreduce")["taken"] == 0


@pytest.mark.parametrize("name", ["Allreduce", "MPI_Allreduce"])
def test_a_disabled_call_keeps_the_hosts_op(name):
    env = {**ALWAYS, "MILLRACE_DISABLE": name}
    _, result = report("openmpi4", 2, build("openmpi4", "reductions.c"), env=env)
    allreduce = call(result, "MPI_Allreduce")
    assert allreduce["taken"] == 0
    assert allreduce["forwarded_why"] == {"disabled": allreduce["calls"]}
    assert call(result, "MPI_Reduce")["taken"] == call(result, "MPI_Reduce")["calls"]


def test_ranks_with_and_without_our_ops_understand_one_another():
    """Half of the ranks give the host our op, the others the predefined one."""
    for host in OPEN_MPI:
        program = build(host, "reductions.c")
        choice = 'if [ "$((OMPI_COMM_WORLD_RANK % 2))" = 1 ]; then c=always; else c=never; fi'
        script = f'{choice}; export MILLRACE_SUBSTITUTE=$c MILLRACE_COLLECTIVES=never; exec "$@"'
        shell = ["sh", "-c", script, "sh", hosts.MILLRACE, program]
        finished = hosts.run(host, 4, shell, millrace=False, timeout=120).check()
        assert "complex and location done" in finished.stdout
