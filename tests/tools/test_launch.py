"""What the launcher does to a program that it starts: nothing but the preload."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys

import pytest

MIRROR = pathlib.Path(__file__).parent / "samples/mirror.c"
LIBRARY = "no MPI library"  # part of what is said of a program without MPI


def build(source, out, *flags):
    subprocess.run(["gcc", "-x", "c", "-", "-o", out, *flags], input=source, text=True, check=True)
    return out


@pytest.fixture(scope="module")
def mirror(tmp_path_factory):
    return build(MIRROR.read_text(), tmp_path_factory.mktemp("mirror") / "mirror")


@pytest.fixture
def clean(monkeypatch):
    """An environment without a hint at any MPI, and without settings."""
    for name in list(os.environ):
        if name.startswith(("OMPI_", "PMI", "MPI", "I_MPI", "HYD", "MILLRACE", "LD_", "SLURM_", "OPAL_")):
            monkeypatch.delenv(name)


def run(*command, **more):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60, **more)


@pytest.mark.parametrize("options", [["--log", "off", "--"], ["--"], []], ids=str)
def test_the_program_sees_no_difference(launcher, mirror, clean, options):
    arguments = ["", "a b", "--report", "--", "-x", "--isa=none", "*", "ü\n"]
    plain = run(mirror, *arguments)
    ours = run(launcher, *options, mirror, *arguments)
    assert ours.returncode == plain.returncode == 7
    difference = set(ours.stdout.splitlines()) ^ set(plain.stdout.splitlines())
    said = {"variable [MILLRACE_LOG=off]"} if "--log" in options else set()
    assert {line for line in difference if not line.startswith("pid")} == said
    assert ours.stdout.index("argument []") < ours.stdout.index("argument [a b]")


def test_ignored_signals_and_the_mask_are_inherited(launcher, mirror, clean):
    def prepare():
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # then wait() has nothing to say about the dynamic loader
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])

    plain = run(mirror, preexec_fn=prepare).stdout
    ours = run(launcher, mirror, preexec_fn=prepare).stdout
    keep = [line for line in plain.splitlines() if line.startswith("Sig") and not line.startswith("SigQ")]
    assert len(keep) == 4
    assert all(line in ours.splitlines() for line in keep)


def test_it_is_replaced_and_leaves_no_child(launcher, mirror, clean):
    child = subprocess.Popen([launcher, mirror], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    stdout, _ = child.communicate(timeout=60)
    assert f"pid {child.pid}\n" in stdout


def test_a_signal_ends_the_program_itself(launcher, clean):
    child = subprocess.Popen([launcher, "--log=off", "sleep", "60"])
    while pathlib.Path(f"/proc/{child.pid}/comm").read_text() != "sleep\n":
        pass
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=10) == -signal.SIGTERM
    assert run(launcher, "--log=off", "sh", "-c", "kill -9 $$").returncode == -signal.SIGKILL


def one_line(finished, *parts):
    lines = finished.stderr.splitlines()
    assert len(lines) == 1, finished.stderr
    for part in parts:
        assert part in lines[0]
    return lines[0]


def test_a_program_without_mpi_runs_after_one_line(launcher, clean):
    finished = run(launcher, "/bin/echo", "hello")
    assert (finished.returncode, finished.stdout) == (0, "hello\n")
    one_line(finished, "/bin/echo runs without Millrace", LIBRARY, "--mpi")


def test_a_static_program_runs_after_one_line(launcher, mirror, tmp_path, clean):
    static = build("int main(void) { return 9; }", tmp_path / "static", "-static")
    finished = run(launcher, static)
    assert finished.returncode == 9
    one_line(finished, "statically linked")
    assert "statically" in run(launcher, build("int main(void) { return 9; }", tmp_path / "pie", "-static-pie")).stderr


def test_a_setuid_program_runs_after_one_line(launcher, mirror, tmp_path, clean):
    if os.getuid() != 0:
        pytest.skip("needs root to give files away")
    copy = shutil.copy(mirror, tmp_path / "setuid")
    os.chown(copy, 1234, 1234)
    os.chmod(copy, 0o4755)
    finished = run(launcher, "--mpi=mpich", copy)
    assert finished.returncode == 7
    one_line(finished, "setuid")
    assert "LD_PRELOAD" not in finished.stdout


def test_another_machines_program_is_left_to_the_system(launcher, tmp_path, clean):
    header = bytearray(pathlib.Path("/bin/true").read_bytes())
    header[18] = 22  # s390
    foreign = tmp_path / "foreign"
    foreign.write_bytes(header)
    foreign.chmod(0o755)
    finished = run(launcher, foreign)
    assert finished.returncode == 126
    assert "built for s390" in finished.stderr
    assert "Exec format error" in finished.stderr  # not given to the shell, as execvp would


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["no-such-program"], 127, "not found in PATH"),
        (["here"], 127, "./here"),
        (["./none"], 127, "no such file"),
        (["./data"], 126, "chmod +x ./data"),
        (["./directory"], 126, "is a directory; give the path of a program"),
        (["help", "nonsense"], 2, "'nonsense' is no subcommand"),
        (
            ["--report", "run.json", "/bin/true"],
            2,
            "run.json is no program; if the report goes there: --report=run.json",
        ),
        (["./orphan"], 127, "interpreter"),
        ([""], 127, "empty"),
        ([], 2, "--help"),
        (["--isa", "avx3", "/bin/true"], 2, "scalar"),
        (["--no-such-option", "/bin/true"], 2, "--no-such-option"),
    ],
)
def test_what_cannot_run_is_named_with_its_fix(launcher, tmp_path, clean, words, code, says):
    (tmp_path / "data").write_text("data")
    (tmp_path / "directory").mkdir()
    for name, text in (("here", "#!/bin/sh\n"), ("orphan", "#!/no/such/shell\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    finished = run(launcher, *words, cwd=tmp_path)
    assert finished.returncode == code
    one_line(finished, says)
    assert finished.stdout == ""


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["explain", "allreduce", "-5"], "-5 is not a size such as 32KiB"),
        (["explain", "allreduce", "8", "--ranks", "-2"], "--ranks: Value -2 not in range 2 to"),
        (["explain-type", "vector(-2,3,6,int)"], "vector(-2,3,6,int): its arguments contradict each other"),
        (["bench", "--seconds", "-5", "--", "true"], "--seconds: Value -5 not in range"),
    ],
)
def test_a_negative_number_is_no_huge_one(launcher, clean, words, says):
    finished = run(launcher, *words)
    assert (finished.returncode, finished.stdout) == (2, "")
    assert says in finished.stderr


def test_a_missing_dynamic_loader_is_named(launcher, tmp_path, clean):
    program = build("int main(void) { return 0; }", tmp_path / "program", "-Wl,--dynamic-linker=/no/such/ld.so")
    finished = run(launcher, program)
    assert finished.returncode == 127
    assert "dynamic loader is missing" in finished.stderr


def test_scripts_are_run_by_their_interpreter(launcher, tmp_path, clean):
    script = tmp_path / "script"
    for first_line in ("#!/bin/sh\n", "#!/usr/bin/env -S sh -e\n", ""):
        script.write_text(first_line + 'echo "$#:$1"; exit 5\n')
        script.chmod(0o755)
        finished = run(launcher, "--log=off", script, "a b")
        assert (finished.returncode, finished.stdout) == (5, "1:a b\n")


def preload_of(finished):
    lines = [line for line in finished.stdout.splitlines() if line.startswith("LD_PRELOAD=")]
    assert len(lines) == 1, finished.stdout + finished.stderr
    return lines[0].removeprefix("LD_PRELOAD=").split(":")


def test_the_preload_comes_first_and_the_rest_stays(launcher, clean, monkeypatch):
    monkeypatch.setenv("LD_PRELOAD", "libm.so.6 libdl.so.2")
    preloads = preload_of(run(launcher, "--mpi=mpich", "env"))
    assert pathlib.Path(preloads[0]) == (launcher.parent / "lib/millrace").resolve() / "libmillrace-mpich.so"
    assert preloads[1:] == ["libm.so.6", "libdl.so.2"]


def test_millrace_twice_is_millrace_once(launcher, clean):
    finished = run(launcher, "--report", launcher, "--mpi=openmpi", "env")
    assert finished.stderr == ""
    assert len(preload_of(finished)) == 1
    assert "MILLRACE_REPORT=1\n" in finished.stdout
    # A process of a program below Millrace may start Millrace again, for another MPI.
    finished = run(launcher, "--mpi=openmpi", "sh", "-c", f"exec {launcher} --mpi=mpich env")
    assert [pathlib.Path(path).name for path in preload_of(finished)] == ["libmillrace-mpich.so"]


def test_switched_off_it_only_execs(launcher, mirror, clean, monkeypatch):
    monkeypatch.setenv("MILLRACE", "0")
    finished = run(launcher, "--mpi=mpich", mirror)
    assert (finished.returncode, finished.stderr) == (7, "")
    assert "LD_PRELOAD" not in finished.stdout
    assert run(launcher, "no-such-program").returncode == 127


def test_options_set_the_variables(launcher, clean):
    finished = run(launcher, "--log=off", "--isa", "scalar", "--disable", "Reduce_local", "--report=a b.json", "env")
    lines = {"MILLRACE_ISA=scalar", "MILLRACE_DISABLE=Reduce_local", "MILLRACE_REPORT=a b.json", "MILLRACE_LOG=off"}
    assert lines <= set(finished.stdout.splitlines())


def test_only_rank_0_speaks(launcher, clean, monkeypatch):
    for variable in ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"):
        for rank, lines in ((0, 1), (1, 0)):
            with monkeypatch.context() as environment:
                environment.setenv(variable, str(rank))
                assert len(run(launcher, "/bin/true").stderr.splitlines()) == lines, variable


def launcher_that_prints(tmp_path):
    fake = tmp_path / "mpirun"
    fake.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"; exit 3\n")
    fake.chmod(0o755)
    return fake


def test_before_the_mpi_launcher(launcher, tmp_path, clean):
    """It goes in front of every program, with its options, and says so where all ranks will be ours."""
    fake = launcher_that_prints(tmp_path)
    finished = run(launcher, "--mpi=mpich", "--report", fake, "-n", "2", "/bin/true", "a")
    ours = f"{launcher}\n--mpi=mpich\n--report=1\n"
    assert finished.returncode == 3
    assert finished.stdout == f"-n\n2\n{ours}--whole-job\n/bin/true\na\n"
    assert finished.stderr == ""
    explained = run(launcher, "--explain", "--mpi=mpich", fake, "-n", "2", "/bin/true")
    assert explained.stdout == f"command   {fake} -n 2 {launcher} --mpi=mpich --whole-job /bin/true\n"


def test_before_the_mpi_launcher_of_other_programs(launcher, tmp_path, clean):
    """A shell may start anything, a program without MPI runs without us, and who wrote millrace knows better."""
    fake = launcher_that_prints(tmp_path)
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\nexit 0\n")
    script.chmod(0o755)
    for words in (["/bin/true"], ["--mpi=mpich", fake, "-n", "1", script], ["/bin/true", ":", "-n", "1", script]):
        options = [word for word in words if str(word).startswith("--mpi")]
        rest = [word for word in words if word not in options and word != fake]
        finished = run(launcher, *options, fake, *([] if "-n" in rest[:1] else ["-n", "1"]), *rest)
        assert "--whole-job" not in finished.stdout, words
        assert str(launcher) in finished.stdout
    both = run(launcher, "--mpi=mpich", fake, "-n", "1", "/bin/true", ":", "-n", "1", "/bin/false")
    assert both.stdout.count("--whole-job\n") == 2


def test_before_the_mpi_launcher_without_a_program(launcher, tmp_path, clean):
    finished = run(launcher, "--mpi=mpich", launcher_that_prints(tmp_path), "-n", "2", "./app")
    assert (finished.returncode, finished.stdout) == (3, "-n\n2\n./app\n")
    one_line(finished, "belongs after it", "mpirun ... millrace PROGRAM")


def test_before_what_runs_no_program_by_its_command_line(launcher, tmp_path, clean):
    fake = launcher_that_prints(tmp_path)
    srun, sbatch, programs = tmp_path / "srun", tmp_path / "sbatch", tmp_path / "programs"
    for name in (srun, sbatch):
        shutil.copy(fake, name)
    programs.write_text("0-1 /bin/true\n")
    programs.chmod(0o755)
    finished = run(launcher, "--mpi=mpich", srun, "-n", "2", "--multi-prog", programs)
    assert (finished.returncode, finished.stdout) == (3, f"-n\n2\n--multi-prog\n{programs}\n")
    one_line(finished, "the file of --multi-prog", "write millrace in front of each")
    finished = run(launcher, "--mpi=mpich", sbatch, "job")
    assert (finished.returncode, finished.stdout) == (3, "job\n")
    one_line(finished, "it starts no ranks", "srun ... millrace PROGRAM")


def test_off_means_off_before_the_launcher_too(launcher, tmp_path, clean):
    finished = run(launcher, "--mpi=mpich", launcher_that_prints(tmp_path), "-n", "2", "/bin/true",
                   env={**os.environ, "MILLRACE": "0"})  # fmt: skip
    assert finished.stdout == "-n\n2\n/bin/true\n"


def test_subcommands_do_not_shadow_programs(launcher, tmp_path, clean):
    for name in ("info", "check"):
        (tmp_path / name).write_text(f"#!/bin/sh\necho program {name}\n")
        (tmp_path / name).chmod(0o755)
        path = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
        assert run(launcher, "--log=off", f"./{name}", cwd=tmp_path).stdout == f"program {name}\n"
        assert run(launcher, "--log=off", "--", name, env=path).stdout == f"program {name}\n"


def test_a_path_that_ld_preload_cannot_name(launcher, tmp_path, clean):
    home = tmp_path / "a b"
    (home / "lib").mkdir(parents=True)
    moved = pathlib.Path(shutil.copy(launcher, home / "millrace"))
    shutil.copytree(launcher.parent / "lib/millrace", home / "lib/millrace")
    finished = run(moved, "--mpi=mpich", "env")
    assert finished.returncode == 0
    one_line(finished, "LD_PRELOAD cannot name", "a b")


def test_it_finds_its_preloads_wherever_it_is_installed(launcher, tmp_path, clean):
    for directory in ("lib", "lib64"):
        prefix = tmp_path / directory / "prefix"
        (prefix / "bin").mkdir(parents=True)
        shutil.copytree(launcher.parent / "lib/millrace", prefix / directory / "millrace")
        shutil.copy(launcher, prefix / "bin/millrace")
        link = tmp_path / directory / "millrace"
        link.symlink_to(prefix / "bin/millrace")
        preloads = preload_of(run(link, "--mpi=abi", "env"))
        assert preloads == [str(prefix / directory / "millrace/libmillrace-abi.so")]


def test_a_damaged_preload_is_not_given_to_the_loader(launcher, tmp_path, clean):
    shutil.copytree(launcher.parent / "lib/millrace", tmp_path / "lib/millrace")
    moved = pathlib.Path(shutil.copy(launcher, tmp_path / "millrace"))
    preload = tmp_path / "lib/millrace/libmillrace-mpich.so"
    whole = preload.read_bytes()
    for torn in (b"", b"no library", whole[:18] + b"\xff\xff" + whole[20:]):  # the last: for another machine
        preload.write_bytes(torn)
        finished = run(moved, "--mpi=mpich", "env")
        assert finished.returncode == 0 and "LD_PRELOAD" not in finished.stdout
        one_line(finished, "env runs without Millrace", "libmillrace-mpich.so is damaged", "install Millrace anew")
    preload.write_bytes(whole)
    assert preload_of(run(moved, "--mpi=mpich", "env")) == [str(preload)]


def test_an_incomplete_installation_says_so(launcher, tmp_path, clean):
    alone = shutil.copy(launcher, tmp_path / "millrace")
    finished = run(alone, "env")
    assert finished.returncode == 0
    one_line(finished, LIBRARY)
    if pathlib.Path(sys.prefix) != pathlib.Path("/usr/local"):  # unless the compiled-in place holds a real one
        for options in (["--mpi=mpich"], ["--mpi", "mpich", "--report", "--"], ["--isa", "nonsense"], ["--log=error"]):
            finished = run(alone, *options, "env")
            assert finished.returncode == 0 and "PATH=" in finished.stdout and "LD_PRELOAD" not in finished.stdout
            one_line(finished, "env runs without Millrace: millrace-tools cannot be run", "install Millrace anew")
        for settings in ({"PMI_RANK": "1"}, {"MILLRACE_LOG": "off"}):  # one rank says it, if anybody is to
            assert run(alone, "--isa=none", "env", env={**os.environ, **settings}).stderr == ""
        for words in (["info"], ["--version"], [], ["--report"], ["--mpi"], ["--"], ["-v"], ["help"],
                      ["--explain", "env"]):  # fmt: skip
            finished = run(alone, *words)
            assert finished.returncode == 127 and finished.stdout == ""
            one_line(finished, "millrace-tools cannot be run", "install Millrace anew")
