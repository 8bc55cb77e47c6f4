"""`millrace bench` under the launchers of all hosts, and what it says where nothing can be measured."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time

import hosts
import pytest
from usable import usable

sys.path.insert(0, str(hosts.ROOT / "src/shim/generate"))
import table as shim_table
import write_header

HERE = hosts.ROOT / "tests/tools/bench"
ABIS = {"openmpi4": "openmpi", "openmpi5": "openmpi", "mpich4": "mpich", "mpich5": "mpich", "intel": "mpich",
        "abi": "abi"}  # fmt: skip


def launcher(name, ranks):
    return [str(word) for word in hosts.command(usable(name), ranks, [])]


def bench(name, ranks, *options, env=None, millrace=()):
    line = [str(hosts.MILLRACE), *millrace, "bench", *map(str, options), "--", *launcher(name, ranks)]
    environment = hosts.environment(name, env)
    return subprocess.run(line, env=environment, capture_output=True, text=True, timeout=120, check=False)


def short(*kinds, modes="hot", seconds=2):
    return ["--quick", "--seconds", str(seconds), "--modes", modes, *(["--kinds", ",".join(kinds)] if kinds else [])]


@pytest.mark.sampled_hosts
@pytest.mark.parametrize("name", hosts.HOSTS)
def test_every_host_is_measured(tmp_path, name):
    files = [tmp_path / f"bench.{suffix}" for suffix in ("csv", "json", "html")]
    options = [word for file in files for word in (f"--{file.suffix[1:]}", file)]
    # An ABI that its launcher does not tell has to be named.
    library = ["--mpi", hosts.get(name).library] if name == "abi" else []
    done = bench(name, 2, *short(seconds=12), *library, *options)  # on a free machine five do
    assert done.returncode in (0, 1), done.stdout + done.stderr  # a busy machine may find something slower
    rows = list(csv.DictReader(files[0].open()))
    written = json.loads(files[1].read_text())
    assert (written["ranks"], written["nodes"], written["schema"]) == (2, 1, "millrace-bench")
    every = {"reductions", "packing", "messages", "collectives"}
    assert {point["kind"] for point in written["points"]} == every
    verdicts = [point["verdict"] for point in written["points"]]
    # On a busy machine the time may end before the last kind.
    assert {row["kind"] for row in rows} == every or "not_measured" in verdicts
    assert (done.returncode == 1) == ("slower" in verdicts)
    assert all(float(row["ours_us"]) > 0 and float(row["host_us"]) > 0 for row in rows)
    assert files[2].read_text().count("<circle") == len(verdicts) - verdicts.count("not_measured")
    assert f"faster {verdicts.count('faster')}, no difference {verdicts.count('no_difference')}" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "millrace bench: measuring" in done.stderr


@pytest.mark.sampled_hosts
@pytest.mark.parametrize("name", hosts.HOSTS)
def test_our_header_says_what_the_host_s_says(tmp_path, name):
    """Handles and constants of the mpi.h that the ranks are compiled with, against the host's own."""
    text = write_header.header(shim_table.load(), ABIS[name])
    objects = re.findall(r"^extern char (\w+)\[\];", text, re.MULTILINE)
    values = re.findall(r"^inline .*?(MPI_\w+) = (.*);$", text, re.MULTILINE)
    assert len(values) > 50
    checks = []
    for what, value in values:
        inner = re.sub(r"(?:reinterpret|static)_cast<[^>]*>|intptr_t|[{}()]", "", value)
        ours = f"(intptr_t)&{inner}" if inner in objects else inner
        checks.append(f'if ((intptr_t){what} != (intptr_t){"(int)" if value.startswith("static") else ""}({ours})) '
                      f'printf("{what}\\n");')  # fmt: skip
    source = tmp_path / "header.c"
    source.write_text("#include <mpi.h>\n#include <stdint.h>\n#include <stdio.h>\nint main(void) {\n"
                      + "\n".join(checks) + "\nreturn 0;\n}\n")  # fmt: skip
    program = hosts.compile(usable(name), source, tmp_path / "header", flags=["-w"])
    done = subprocess.run([program], env=hosts.environment(name), capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_what_is_slower_is_found(tmp_path):
    name = "mpich4"
    tool = hosts.compile(usable(name), HERE / "slow_pack.c", tmp_path / "slow.so", flags=["-shared", "-fPIC"])
    done = bench(name, 2, *short("packing", seconds=40), env={"LD_PRELOAD": str(tool)})
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(r"slower, the median .*\n  MPI_Pack .*, hot\n    0\.\d\d \(", done.stdout), done.stdout


@pytest.mark.parametrize("name", ["openmpi4", "mpich4"])
def test_one_rank_has_what_is_local(name):
    done = bench(name, 1, *short("packing", "collectives"))
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert "one rank: messages and collectives need two" in done.stdout
    assert "\npacking " in done.stdout and "\ncollectives " not in done.stdout
    done = bench(name, 1, *short("messages"))
    assert done.returncode == 4 and "mpirun -n 2" in done.stderr, done.stdout + done.stderr


def test_ranks_that_come_apart_and_an_odd_number():
    done = bench("openmpi4", 3, *short("messages", "collectives", modes="apart,hot", seconds=40), "--all")
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert "messages contiguous, 8 B, hot" in done.stdout and "MPI_Allreduce, 8 B, apart" in done.stdout


def test_a_program_tells_the_library(tmp_path):
    name = "mpich4"
    program = hosts.compile(usable(name), HERE.parent / "compare/compared.c", tmp_path / "program")
    line = [hosts.MILLRACE, "bench", *short("packing"), "--", *launcher(name, 2), program, "argument"]
    done = subprocess.run(line, env=hosts.environment(name), capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert "MPICH Version" in done.stdout and "argument" not in done.stdout


@pytest.mark.parametrize(
    ("line", "env", "code", "says"),
    [
        (["--"], {}, 2, "no launcher after '--'"),
        (["--kinds", "all", "--", "true"], {}, 2, "--kinds"),
        (["--kinds", "packing", "--modes", "apart", "--", "true"], {}, 2, "apart is for collectives"),
        (["--", "no-such-launcher", "-n", "2"], {}, 2, "no-such-launcher: not found"),
        (["--", "true"], {"MILLRACE": "0"}, 2, "unset MILLRACE"),
        (["--", "true"], {}, 4, "started no MPI program"),
        (["--", "sh", "-c", "echo no hosts >&2; exit 9"], {}, 4, "it said: no hosts"),
        (["--mpi", "/bin/true", "--", "env"], {}, 4, "/bin/true: no library of it was found"),
    ],
)
def test_what_cannot_be_measured_is_named(line, env, code, says):
    command = [hosts.MILLRACE, "bench", *line]
    environment = {"PATH": "/usr/bin:/bin", **env}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (code, "")
    assert says in done.stderr


def ranks_below(marker):
    """Processes that hold `marker` in their environment."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/environ", "rb") as file:
                if marker.encode() in file.read():
                    found.append(int(entry))
        except OSError:
            continue
    return found


@pytest.mark.parametrize("name", ["openmpi4", "mpich4"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_can_be_stopped(tmp_path, name, number):
    marker = f"MARKER_OF_BENCH={tmp_path}"
    line = [hosts.MILLRACE, "bench", "--quick", "--seconds", "60", "--", *launcher(name, 2)]
    environment = {**hosts.environment(name), "MARKER_OF_BENCH": str(tmp_path)}
    with subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        while "measuring" not in running.stderr.readline():
            assert running.poll() is None
        running.send_signal(number)
        assert running.wait(timeout=20) == 128 + number
    for _ in range(100):
        if not ranks_below(marker):
            break
        time.sleep(0.05)
    assert ranks_below(marker) == []


@pytest.mark.parametrize(("prefix", "says"), [("MILLRACE=0", "switches Millrace off on a rank"), ("UNUSED=0", None)])
def test_a_rank_that_cannot_start_ends_all(prefix, says):
    """The first rank waits for the second in MPI_Init. As it would with `says` None, where nothing is wrong."""
    name = "mpich4"
    start = hosts.command(usable(name), 1, [])
    both = f'"$@" : -n 1 env {prefix} "$@"'
    line = [hosts.MILLRACE, "bench", *short("packing"), "--", "sh", "-c", f"{' '.join(map(str, start))} {both}", "sh"]
    start_s = time.monotonic()
    done = subprocess.run(line, env=hosts.environment(name), capture_output=True, text=True, timeout=100, check=False)
    if says is None:
        assert done.returncode in (0, 1), done.stdout + done.stderr
    else:
        assert done.returncode == 4 and says in done.stderr, done.stdout + done.stderr
        assert time.monotonic() - start_s < 60  # it has 300 to start
