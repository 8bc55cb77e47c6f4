"""The command line of hosts.py."""

import argparse
import sys

import hosts


def _list():
    for host in [*hosts.HOSTS.values(), *hosts.VARIATIONS.values()]:
        languages = ", ".join([*host.compilers][:2] + list(host.fortran_interfaces) + ["mpi4py"] * bool(host.python))
        print(f"{host.name:10} {host.title:43} {host.variant:8} {languages}")
        if why := host.missing():
            print(f"{'':10} {why}")
    return 0


def _cc(arguments):
    sources = [word for word in arguments.rest if any(word.endswith(suffix) for suffix in hosts.SUFFIXES)]
    if len(sources) != 1 or not arguments.out:
        print("hosts.py cc: one source and -o OUT, please", file=sys.stderr)
        return 2
    flags = [word for word in arguments.rest if word != sources[0]]
    hosts.compile(arguments.host, sources[0], arguments.out, flags=flags)
    return 0


def _run(arguments):
    program = arguments.rest
    if program[0] == "python" and hosts.get(arguments.host).python:
        program[0] = hosts.get(arguments.host).python
    settings = dict(word.split("=", 1) for word in arguments.env)
    finished = hosts.run(arguments.host, arguments.n, program, arguments.millrace, settings, arguments.timeout)
    sys.stdout.write(finished.stdout)
    sys.stderr.write(finished.stderr)
    if finished.timed_out:
        print(f"hosts.py: ended after {arguments.timeout} s", file=sys.stderr)
        return 124
    return finished.returncode if finished.returncode >= 0 else 128 - finished.returncode


def main():
    parser = argparse.ArgumentParser(prog="hosts.py", description="The host MPIs under test.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("list", help="the hosts, and what is missing")
    cc = verbs.add_parser("cc", help="compile an MPI program")
    cc.add_argument("host")
    cc.add_argument("-o", dest="out")
    run = verbs.add_parser("run", help="run an MPI program")
    run.add_argument("host")
    run.add_argument("-n", type=int, default=2)
    run.add_argument("--millrace", nargs="?", const=True, default=False, metavar="OPTIONS")
    run.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    run.add_argument("--timeout", type=float, default=600)
    # argparse would take options of the program for its own: what follows "--" never reaches it.
    words = sys.argv[1:]
    split = words.index("--") if "--" in words else len(words)
    arguments, rest = parser.parse_known_args(words[:split])
    arguments.rest = rest + words[split + 1 :]
    if arguments.verb == "run" and (rest or not arguments.rest):
        parser.error("run HOST [OPTIONS] -- PROGRAM ARGUMENTS")
    try:
        return {"list": lambda _: _list(), "cc": _cc, "run": _run}[arguments.verb](arguments)
    except (ValueError, AssertionError) as error:
        print(f"hosts.py: {error}", file=sys.stderr)
        return 1
