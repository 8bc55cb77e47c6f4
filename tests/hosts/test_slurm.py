"""Millrace below Slurm: srun, sbatch, a task prolog for everybody, several programs, one core, two nodes."""

import json
import os
import pathlib
import re

import hosts
import nodes
import pytest
import slurm
from usable import usable

PROGRAMS = pathlib.Path(__file__).parent / "programs"
OUT = hosts.BUILD / "tests" / "hosts"
RIGHT = "4 ranks, 0 wrong\n"
ALWAYS = {"MILLRACE_COLLECTIVES": "always"}
WHY_NOT = slurm.missing()
pytestmark = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))


@pytest.fixture(scope="module")
def cluster():
    try:
        with slurm.Slurm() as running:
            yield running
    except slurm.CannotStart as why:
        pytest.skip(f"Slurm does not start: {why}")


@pytest.fixture(scope="module")
def two_nodes(cluster):
    """Where one starts, others do."""
    if why := nodes.missing():
        pytest.skip(why)
    with nodes.Nodes(2) as made, slurm.Slurm(made) as running:
        yield running


@pytest.fixture
def no_prolog(cluster):
    yield cluster
    cluster.set_task_prolog("#!/bin/sh\n")


def rounds(host):
    return hosts.compile(host, PROGRAMS / "rounds.c", OUT / hosts.get(host).name / "rounds")


def done_by_us(text):
    """The algorithms of ours that a report has."""
    return {algorithm["name"] for call in json.loads(text)["calls"] for algorithm in call["algorithms"]}


def was_there(finished, preload):
    """Whether the table of a report says that all four ranks ran with a preload."""
    said = finished.stderr if hasattr(finished, "stderr") else finished
    return bool(re.search(rf"4 ranks on 1 host.*\npreload {preload},", said))


def with_more_in_full(names, more):
    return pytest.mark.parametrize("name", [*names, *(pytest.param(name, marks=pytest.mark.full) for name in more)])


@with_more_in_full(["openmpi4", "mpich4", "intel"], ["openmpi5", "mpich5", "abi"])
def test_srun(cluster, name, tmp_path):
    report = tmp_path / "report.json"
    finished = cluster.srun(usable(name), 4, [rounds(name), 100], millrace=[f"--report={report}"], env=ALWAYS)
    assert finished.check().stdout == RIGHT
    assert json.loads(report.read_text())["ranks"] == 4
    assert done_by_us(report.read_text()), finished.stderr


@pytest.mark.parametrize(("name", "option"), [("openmpi4", "openmpi"), ("mpich4", "mpich")])
def test_srun_of_an_interpreter(cluster, name, option):
    """Slurm starts every MPI in the same way, so that has to be said."""
    host = usable(name)
    program, env = [host.python, PROGRAMS / "hello.py"], {**host.python_environment, "MILLRACE_REPORT": "1"}
    hosts.run(host, 1, program).check()  # makes the link for Debian's MPICH
    finished = cluster.srun(host, 4, program, millrace=[f"--mpi={option}"], env=env).check()
    assert "4 ranks, sum 6\n" in finished.stdout
    assert was_there(finished, option)


@with_more_in_full(["openmpi4", "mpich4"], ["openmpi5", "mpich5", "intel"])
def test_sbatch_with_the_hosts_own_launcher(cluster, name):
    launcher = " ".join(map(str, [*usable(name).launcher, *hosts.get(name).unbound]))
    line = f"{launcher} -n 4 {hosts.MILLRACE} --report {rounds(name)} 20"
    said = cluster.sbatch(name, 4, line)
    assert RIGHT in said and was_there(said, ".*"), said


def test_sbatch_with_srun(cluster):
    said = cluster.sbatch("openmpi4", 4, f"srun --mpi=pmix {hosts.MILLRACE} --report {rounds('openmpi4')} 20")
    assert RIGHT in said and was_there(said, "openmpi-4.1"), said


def prolog_of_the_manual():
    """docs/install.md has it, for an installation in /opt/millrace."""
    text = (hosts.ROOT / "docs/install.md").read_text()
    block = re.search(r"^    #!/bin/sh\n(?:(?:    .*)?\n)*?(?=\n\S)", text, re.MULTILINE).group()
    return re.sub(r"^    ", "", block, flags=re.MULTILINE).replace("/opt/millrace", str(hosts.BUILD))


def test_a_task_prolog_for_everybody(no_prolog):
    prolog = prolog_of_the_manual()
    assert "LD_PRELOAD" in prolog and str(hosts.BUILD) in prolog
    no_prolog.set_task_prolog(prolog)
    report = {"MILLRACE_REPORT": "1"}

    def run(name="openmpi4", env=None, **more):
        return no_prolog.srun(name, 4, [rounds(name), 5], env={**report, **(env or {})}, **more).check()

    finished = run()
    assert finished.stdout == RIGHT and was_there(finished, "openmpi"), finished.stderr
    finished = run("mpich4", {"LOADEDMODULES": "gcc/12:mpich/4.0"})
    assert finished.stdout == RIGHT and was_there(finished, "mpich"), finished.stderr
    finished = run(millrace=True)
    assert finished.stdout == RIGHT and was_there(finished, "openmpi-4.1"), "the launcher knows better"
    off = run(env={"MILLRACE": "0"})
    assert (off.stdout, off.stderr) == (RIGHT, ""), "the off switch of a job"
    # Of another MPI than the modules say: one line, and the program runs.
    finished = run("mpich4")
    assert finished.stdout == RIGHT and len(finished.stderr.splitlines()) == 1, finished.stderr
    # What is no MPI program.
    plain = no_prolog.srun("openmpi4", 2, ["sh", "-c", "echo $LD_PRELOAD"], env=report).check()
    assert plain.stdout.count("libmillrace-openmpi.so") == 2 and plain.stderr == ""


def test_a_task_prolog_reaches_mpirun_in_a_batch_job(no_prolog):
    """The job's script is a task, too, and what it starts on its node inherits from it."""
    no_prolog.set_task_prolog(prolog_of_the_manual())
    line = f"mpirun.openmpi --oversubscribe -n 4 {rounds('openmpi4')} 5"
    said = no_prolog.sbatch("openmpi4", 4, f"{line}; export MILLRACE=0; {line}", env={"MILLRACE_REPORT": "1"})
    assert said.count(RIGHT) == 2 and was_there(said, "openmpi"), said
    assert said.count("ranks on 1 host") == 1, said


@pytest.mark.parametrize("name", ["openmpi4", "mpich4"])
def test_several_programs_of_which_one_is_without(cluster, name):
    program = rounds(name)
    file = cluster.directory / "programs"
    file.write_text(f"0,2-3 {hosts.MILLRACE} {program} 15\n1 {program} 15\n")
    finished = cluster.srun(name, 4, [file], options=["--multi-prog"], env=ALWAYS).check()
    assert (finished.stdout, finished.stderr) == (RIGHT, "")


@pytest.mark.parametrize("name", ["openmpi4", "mpich4"])
def test_four_ranks_on_one_core(cluster, name):
    """A rank that waits gives its core to the others: these hosts alone take minutes for this."""
    core = f"--cpu-bind=map_cpu:{min(os.sched_getaffinity(0))}"
    finished = cluster.srun(name, 4, [rounds(name), 3000], millrace=True, options=[core], env=ALWAYS, timeout=50)
    assert finished.check().stdout == RIGHT


@pytest.mark.full
@pytest.mark.skipif(slurm.missing_for_control_groups() is not None, reason=str(slurm.missing_for_control_groups()))
def test_a_control_group_of_one_core(cluster):
    with slurm.Slurm(control_groups=True) as running:
        allowed = running.srun("openmpi4", 1, ["grep", "Cpus_allowed:", "/proc/self/status"]).check().stdout
        assert allowed.split()[1].replace(",", "").strip("0") in ("1", "2", "4", "8"), "one core"
        for name in ("openmpi4", "mpich4"):
            program = [rounds(name), 3000]
            finished = running.srun(name, 4, program, millrace=True, options=["--overcommit"], env=ALWAYS, timeout=50)
            assert finished.check().stdout == RIGHT
    assert not list(slurm.CPUSETS.glob(f"slurm_millrace-{os.getpid()}"))


def test_in_front_of_srun(cluster):
    front = [hosts.MILLRACE, "--log=debug"]
    finished = cluster.srun("openmpi4", 4, [rounds("openmpi4"), 30], front=front).check()
    assert finished.stdout == RIGHT
    assert "millrace: all ranks of the job are on one node\n" in finished.stderr


def test_in_front_of_srun_with_the_programs_in_a_file(cluster):
    file = cluster.directory / "in_front"
    file.write_text(f"0-3 {rounds('openmpi4')} 2\n")
    file.chmod(0o755)
    finished = cluster.srun("openmpi4", 4, [file], options=["--multi-prog"], front=[hosts.MILLRACE])
    assert finished.check().stdout == RIGHT
    assert "the file of --multi-prog: write millrace in front of each" in finished.stderr


def test_which_of_sruns_options_have_values(cluster):
    """As the srun that is here says of itself: a value that could be a program is not taken for one."""
    said = cluster.command("srun", "--help").check().stdout
    words = re.findall(r"^ +(?:(-\w),? +)?(--[\w-]+)(=?)(?! >=)", said, re.MULTILINE)
    assert len(words) > 80
    wrong = []
    for short, long, value in words:
        for option in filter(None, (short, long)):
            # The help hides that --container has one; what is behind the others is no program.
            if long in ("--container", "--multi-prog", "--help", "--usage", "--version"):
                continue
            given = [option, "true"] if value else [option]
            line = cluster.command(hosts.MILLRACE, "--explain", "--mpi=mpich", "srun", *given, "test").stdout
            if not line.endswith(f" {' '.join(given)} {hosts.MILLRACE} --mpi=mpich --whole-job test\n"):
                wrong.append(option)
    assert wrong == []


@pytest.mark.parametrize("name", ["openmpi4", "mpich4"])
def test_in_front_of_srun_over_two_nodes(two_nodes, name, tmp_path):
    front = [hosts.MILLRACE, f"--report={tmp_path}/report.json"]
    options = ["--nodes=2", "--ntasks-per-node=2"]
    finished = two_nodes.srun(name, 4, [rounds(name), 60], options=options, front=front, env=ALWAYS)
    assert finished.check().stdout == RIGHT
    reports = [path.read_text() for path in tmp_path.glob("report.*.json")]
    assert len(reports) == 2
    for report in reports:
        assert {"nodes_barrier", "nodes_bcast", "nodes_allreduce"} <= done_by_us(report)


def test_nothing_is_left_running(cluster, tmp_path):
    """Not even a step that does not end by itself."""
    with slurm.Slurm() as running:
        script = f"srun sh -c 'touch {tmp_path}/there; exec sleep 600'"
        job = running.directory / "job"
        job.write_text(f"#!/bin/sh\n{script}\n")
        running.command("sbatch", "--quiet", "--output=/dev/null", job).check()
        running.wait(lambda: (tmp_path / "there").exists())
        assert len(running.left()) > len(running.daemons)
    assert running.left() == []
    assert not running.directory.exists()
