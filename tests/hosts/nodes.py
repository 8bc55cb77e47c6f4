"""Several nodes on one machine: network namespaces on one bridge, each with an address, a host name, abstract sockets
and a /dev/shm of its own. The hosts' own launchers start ranks there, with a script in place of ssh.

    with nodes.Nodes(2) as made:
        made.run("openmpi4", 2, program, millrace=True)     # 2 ranks on each node

`delay_us` and `lost_of_million` make the wire slow or bad: a process of ours carries the frames then (slow_wire.cpp),
for not every kernel has netem.

What the nodes of one machine share is System V's memory, and MPICH 4 and 5 find it (UCX): nothing of theirs is on the
wire. `own_ipc` takes it away. MPICH 5 and the others run then as ever; ranks of Debian's MPICH 4 wait in MPI_Finalize
for 10 seconds or for good, without Millrace, too: of 2 nodes in 3 of 7 runs, of 3 nodes in 3 of 3.
"""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import tempfile

import hosts
import lasting
import process

NETWORK = "10.177.0"
INTERFACE = "eth0"  # of a node, to the others
# Drops ssh's options, takes the name of a host, and runs the rest there.
AGENT = """#!/bin/sh
while true; do
  case $1 in
    -[bcDEeFIiJLlmOopQRSWw]) shift 2 ;;
    -*) shift ;;
    *) break ;;
  esac
done
node=$1
shift
exec ip netns exec "$node" $APART sh -c "hostname $node; mount -t tmpfs none /dev/shm; $PREPARE; $*"
"""
SLOW_WIRE = pathlib.Path(__file__).parent / "programs" / "slow_wire.cpp"


def missing():
    """Why there can be no nodes here, or None."""
    if os.geteuid() != 0:
        return "namespaces need root"
    for tool in ("ip", "unshare", "mount"):
        if not shutil.which(tool):
            return f"no {tool}"
    name = f"millrace-try-{os.getpid()}"
    if subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False).returncode != 0:
        return "no network namespaces here"
    subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)
    return None


def end_all(name):
    """Kills what runs in a namespace: ranks whose launcher was killed may wait for each other for ever."""
    found = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True, check=False).stdout
    for pid in found.split():
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)


def remove(name):
    end_all(name)
    subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)
    shutil.rmtree(pathlib.Path("/etc/netns") / name, ignore_errors=True)


def remove_abandoned():
    """What a process that was killed has left."""
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=False).stdout
    for name in re.findall(r"^mill\w+-\d+", listed, re.MULTILINE):
        if not pathlib.Path("/proc", name.rsplit("-", 1)[1]).exists():
            remove(name)


class Nodes(lasting.Lasting):
    def __init__(self, count, delay_us=0, lost_of_million=0, own_ipc=False):
        super().__init__()
        self.apart = ["unshare", "-u", "-m", *(["-i"] if own_ipc else [])]
        self.delay_us, self.lost_of_million = delay_us, lost_of_million
        # Each process has its own; an interface's name has 15 letters at most.
        self.names = [f"millnode{index + 1}-{os.getpid()}" for index in range(count)]
        self.addresses = [f"{NETWORK}.{index + 1}" for index in range(count)]
        self.bridge = f"millbridge-{os.getpid()}"

    def _ip(self, *words):
        subprocess.run(["ip", *words], check=True, capture_output=True, text=True)

    def _make(self):
        self.directory = pathlib.Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        self.agent = self.directory / "agent"
        # What is prepared is read when a node's shell starts.
        prepared = AGENT.replace("$PREPARE", f". {self.directory}/prepare-$node")
        self.agent.write_text(prepared.replace("$APART", " ".join(self.apart)))
        self.agent.chmod(self.agent.stat().st_mode | stat.S_IXUSR)
        lines = ["127.0.0.1 localhost"]
        lines += [f"{address} {name}" for address, name in zip(self.addresses, self.names, strict=True)]
        bridge = self.bridge
        remove_abandoned()
        # The bridge is in a namespace of its own: nothing of this machine's network is touched.
        self._stack.callback(remove, bridge)
        for index, name in enumerate(self.names):
            self._stack.callback(remove, name)
            self._ip("netns", "add", name)
            self.prepare(index, "")
        if self.delay_us or self.lost_of_million:
            self._carry()
        else:
            self._ip("netns", "add", bridge)
            self._ip("-n", bridge, "link", "add", "bridge", "type", "bridge")
            self._ip("-n", bridge, "link", "set", "bridge", "up")
            for index, name in enumerate(self.names):
                end = f"veth{index + 1}"
                self._ip("-n", name, "link", "add", INTERFACE, "type", "veth", "peer", "name", end, "netns", bridge)
                self._ip("-n", bridge, "link", "set", end, "master", "bridge", "up")
        for index, name in enumerate(self.names):
            self._ip("-n", name, "addr", "add", f"{self.addresses[index]}/24", "dev", INTERFACE)
            self._ip("-n", name, "link", "set", INTERFACE, "up")
            self._ip("-n", name, "link", "set", "lo", "up")
            configuration = pathlib.Path("/etc/netns") / name
            configuration.mkdir(parents=True, exist_ok=True)
            (configuration / "hosts").write_text("\n".join(lines) + "\n")

    def _carry(self):
        """A process is the wire, until its input ends."""
        program = self.directory / "slow_wire"
        subprocess.run(["c++", "-std=c++20", "-O2", "-o", program, SLOW_WIRE], check=True, capture_output=True)
        words = [program, str(self.delay_us), str(self.lost_of_million), *self.names]
        carrier = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._stack.callback(carrier.wait)
        self._stack.callback(carrier.stdin.close)
        if carrier.stdout.readline() != "ready\n":
            raise RuntimeError("the wire between the nodes could not be made")

    def prepare(self, index, words):
        """What the shell of a node does before it starts anything there (`mount ...`); "" for nothing."""
        (self.directory / f"prepare-{self.names[index]}").write_text(words + "\n")

    def repair(self):
        """Interfaces that were taken down are up again."""
        for name in self.names:
            self._ip("-n", name, "link", "set", INTERFACE, "up")

    def command(self, host, ranks_a_node, program, millrace=False, env=None):
        """The launcher's words, to be run on the first node. Open MPI hands no variables on but those it is told."""
        host = hosts.get(host)
        words = [str(host.launcher[0])]
        counted = [f"{name}:{ranks_a_node}" for name in self.names]
        if host.variant == "openmpi":
            given = ["-x" if flag else f"{name}={value}" for name, value in (env or {}).items() for flag in (1, 0)]
            words += ["--host", ",".join(counted), "--mca", "btl_tcp_if_include", INTERFACE, *host.unbound, *given]
            if host.name == "openmpi5":
                words += ["--prtemca", "plm_ssh_agent", str(self.agent), "--prtemca", "prte_if_include", INTERFACE,
                          "--map-by", f"ppr:{ranks_a_node}:node:oversubscribe",
                          "--prefix", str(pathlib.Path(host.launcher[0]).parents[1])]  # fmt: skip
            else:
                words += ["--oversubscribe", "--mca", "plm_rsh_agent", str(self.agent), "--mca", "oob_tcp_if_include",
                          INTERFACE]  # fmt: skip
        else:
            words += ["-launcher", "ssh", "-launcher-exec", str(self.agent), "-hosts", ",".join(counted),
                      "-iface", INTERFACE, *host.unbound]  # fmt: skip
        ours = [] if not millrace else [str(hosts.MILLRACE), *([] if millrace is True else millrace)]
        total = ranks_a_node * len(self.names)
        return [*words, "-n", str(total), *ours, *(str(word) for word in program)]

    def inside(self, index):
        """The words before those of a command that make it run on a node."""
        name = self.names[index]
        script = f'hostname {name}; mount -t tmpfs none /dev/shm; . {self.directory}/prepare-{name}; exec "$@"'
        return ["ip", "netns", "exec", name, *self.apart, "sh", "-c", script, "sh"]

    def run(self, host, ranks_a_node, program, millrace=False, env=None, timeout=120, front=(), directory=None):
        """`front`: words before the launcher's. What comes back: process.Finished."""
        line = [*(str(word) for word in front), *self.command(host, ranks_a_node, program, millrace, env)]
        host = hosts.get(host)
        extra = {**host.run_environment, **(env or {})}
        finished = process.run([*self.inside(0), *line], hosts.environment(host, extra), timeout, directory)
        if finished.timed_out:
            for name in self.names:
                end_all(name)
        return finished
