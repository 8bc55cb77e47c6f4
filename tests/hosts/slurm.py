"""Slurm for tests: its daemons run in a directory of their own, with their own configuration and munge, and listen on
addresses of this machine alone. Nothing of a Slurm that is installed here is touched.

    with slurm.Slurm() as made:
        made.srun("openmpi4", 4, program, millrace=True)

With `nodes.Nodes` its nodes are these; otherwise there is one, this machine, which is said to have many processors.
"""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import hosts
import lasting
import process

# How each host's ranks find each other below srun: what Debian's Slurm has a plugin for and the host can speak.
INTERFACES = {
    "openmpi4": "pmix", "mpich4": "pmi2", "openmpi5": "pmix", "mpich5": "pmi2", "intel": "pmi2", "abi": "pmi2",
}  # fmt: skip
# Intel MPI speaks to Slurm through a library of Slurm's.
ENVIRONMENTS = {"intel": {"I_MPI_PMI_LIBRARY": hosts.SYSTEM_LIBRARIES / "libpmi2.so.0"}}
PROCESSORS = 64
CPUSETS = pathlib.Path("/sys/fs/cgroup/cpuset")
# A test run that is killed takes the daemons with it.
UNTIL_WE_END = ["setpriv", "--pdeathsig", "TERM"]
START_SECONDS = 20
STOP_SECONDS = 0.5
JOB_SECONDS = 60

CONFIGURATION = """ClusterName=millrace
SlurmctldHost={first}({address})
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={directory}/munge.socket
CredType=cred/munge
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool-%n
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd-%n.pid
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin={task_plugins}
TaskPluginParam=none
TaskProlog={directory}/task_prolog
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
{more}
ReturnToService=2
KillWait=2
{nodes}
PartitionName=test Nodes=ALL Default=YES MaxTime=5 State=UP
"""


def missing():
    """Why there can be no Slurm here, or None."""
    if os.geteuid() != 0:
        return "Slurm's daemons need root"
    search_path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    for tool in ("munged", "slurmctld", "slurmd", "srun", "sbatch"):
        if not shutil.which(tool, path=search_path):
            return f"no {tool}: ./dev setup"
    return None


def missing_for_control_groups():
    """Why there can be none that give processors, or None. Those of version 2 are left to systemd."""
    return None if os.access(CPUSETS / "cpuset.cpus", os.W_OK) else "no control groups of version 1 for processors here"


class CannotStart(Exception):
    pass


def _free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


class Slurm(lasting.Lasting):
    def __init__(self, made=None, control_groups=False):
        """`made`: nodes.Nodes. With control groups a task has the processors that it was given, and no others."""
        super().__init__()
        self._made = made
        self._control_groups = control_groups

    def _make(self):
        # Others' tasks read the configuration, too; pytest's directories are for one user only.
        self.directory = pathlib.Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="millrace-slurm-")))
        self.directory.chmod(0o755)
        self._variables = {"SLURM_CONF": self.directory / "slurm.conf"}
        self.set_task_prolog("#!/bin/sh\n")
        self._configure()
        self.daemons = []
        self._stack.callback(self._stop)
        place = self.directory
        (place / "state").mkdir()
        (place / "munge.key").write_bytes(os.urandom(128))
        (place / "munge.key").chmod(0o400)
        munge = [f"--{name.replace('_', '-')}={place}/munge.{name.split('_')[0]}"
                 for name in ("key_file", "socket", "pid_file", "log_file", "seed_file")]  # fmt: skip
        self._daemon("munged", "--foreground", *munge)
        self.wait(lambda: (place / "munge.socket").exists())
        self._daemon("slurmctld", "-D")
        for index in range(len(self._made.names) if self._made else 1):
            # So would two nodes.
            own = ["sh", "-c", f'mount -t tmpfs none {place}/pmix; exec "$@"', "sh"] if self._made else []
            self._daemon(*own, "slurmd", "-D", node=index)
        self.wait(self._is_idle)

    def _configure(self):
        if self._made:
            names, addresses, ports = self._made.names, self._made.addresses, [6817, 6818]
        else:
            names, addresses, ports = [socket.gethostname().partition(".")[0]], ["127.0.0.1"], _free_ports(2)
        known_as = list(names)
        if self._control_groups:
            # They are called after the node. Under another name than the host's, Open MPI 5 ends in MPI_Init.
            names = [f"millrace-{os.getpid()}"]
        processors = os.cpu_count() if self._control_groups else PROCESSORS
        lines = [f"NodeName={name} NodeHostname={known} NodeAddr={address} CPUs={processors} State=UNKNOWN"
                 for name, known, address in zip(names, known_as, addresses, strict=True)]  # fmt: skip
        text = CONFIGURATION.format(
            task_plugins="task/cgroup,task/affinity" if self._control_groups else "task/affinity",
            more="" if self._control_groups else "SlurmdParameters=config_overrides",
            first=known_as[0], address=addresses[0], controller_port=ports[0], node_port=ports[1],
            directory=self.directory, nodes="\n".join(lines),
        )  # fmt: skip
        (self.directory / "slurm.conf").write_text(text)
        # Named, it needs no control groups as long as nothing of the configuration does; looked for, it must exist.
        (self.directory / "cgroup.conf").write_text(
            "CgroupPlugin=cgroup/v1\n"
            + (f"CgroupMountpoint={CPUSETS.parent}\nConstrainCores=yes\n" if self._control_groups else "")
        )
        self._cpusets = CPUSETS / f"slurm_{names[0]}" if self._control_groups else None
        # By default in /tmp, called after job and user: two Slurms would get in each other's way.
        (self.directory / "pmix").mkdir()
        (self.directory / "mpi.conf").write_text(f"PMIxCliTmpDirBase={self.directory}/pmix\n")

    def _inside(self, node=0):
        return self._made.inside(node) if self._made else []

    def _daemon(self, *words, node=0):
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **self._variables}
        path = self.directory / f"daemon-{len(self.daemons)}.log"
        with path.open("w") as log:
            started = subprocess.Popen(
                [*UNTIL_WE_END, *self._inside(node), *words],
                env={name: str(value) for name, value in environment.items()},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd=self.directory,
            )  # fmt: skip
        self.daemons.append((started, path))

    def wait(self, is_ready, seconds=START_SECONDS):
        deadline = time.monotonic() + seconds
        while not is_ready():
            for started, path in self.daemons:
                if started.poll() is not None or time.monotonic() > deadline:
                    said = path.read_text(errors="replace").strip().splitlines()
                    errors = [line for line in said if "error" in line or "fatal" in line]
                    raise CannotStart(f"{started.args[-2]}: {'; '.join(errors or said[-1:])}")
            time.sleep(0.05)

    def _is_idle(self):
        states = self.command("sinfo", "--noheader", "--Node", "--format=%T").stdout.split()
        return states and set(states) == {"idle"}

    def left(self):
        """What runs with our configuration: the daemons, their helpers, which leave their parents, and tasks."""
        ours = f"SLURM_CONF={self._variables['SLURM_CONF']}".encode()
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and ours in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
        return found

    def _stop(self):
        for started, _ in reversed(self.daemons):
            started.terminate()
        deadline = time.monotonic() + STOP_SECONDS
        while time.monotonic() < deadline and any(started.poll() is None for started, _ in self.daemons):
            time.sleep(0.02)
        while left := self.left():
            for each in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(each, signal.SIGKILL)
            time.sleep(0.02)
        for started, _ in self.daemons:
            started.wait()
        if self._cpusets:
            for group in sorted(self._cpusets.glob("**/"), reverse=True):
                group.rmdir()

    def set_task_prolog(self, text):
        path = self.directory / "task_prolog"
        path.write_text(text)
        path.chmod(0o755)

    def command(self, *words, host="openmpi4", env=None, timeout=60):
        """Runs Slurm's commands, or what calls them, in the environment of a host."""
        host = hosts.get(host)
        extra = {**host.run_environment, **ENVIRONMENTS.get(host.name, {}), **self._variables, **(env or {})}
        return process.run([*self._inside(), *words], hosts.environment(host, extra), timeout, self.directory)

    def srun(self, host, ranks, program, millrace=False, options=(), front=(), env=None, timeout=60):
        """`front`: words before srun; `millrace`: as in hosts.command."""
        ours = [] if not millrace else [hosts.MILLRACE, *([] if millrace is True else millrace)]
        interface = f"--mpi={INTERFACES[hosts.get(host).name]}"
        words = [*front, "srun", "--quiet", interface, "-n", ranks, *options, *ours, *program]
        return self.command(*words, host=host, env=env, timeout=timeout)

    def sbatch(self, host, ranks, script, env=None):
        """Runs a script as a job; returns what it printed, both streams together."""
        job, output, ended = (self.directory / name for name in ("job", "output", "ended"))
        job.write_text(f"#!/bin/sh\n({script}\n)\necho $? > {ended}.new\nmv {ended}.new {ended}\n")
        for old in (output, ended):
            old.unlink(missing_ok=True)
        # Not --wait: it looks every ten seconds.
        self.command("sbatch", "--quiet", "-n", ranks, f"--output={output}", job, host=host, env=env).check()
        self.wait(ended.exists, JOB_SECONDS)
        assert ended.read_text() == "0\n", output.read_text()
        return output.read_text()
