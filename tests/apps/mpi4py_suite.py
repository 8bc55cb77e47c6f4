"""mpi4py's own test suite with and without Millrace, test by test and rank by rank.

    mpi4py_suite.py HOST RANKS [--only WITH|WITHOUT] [--timeout SECONDS] [ARGUMENTS OF THE SUITE]
"""

import argparse
import dataclasses
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "hosts"))

import hosts  # noqa: E402

RUNNER = pathlib.Path(__file__).with_name("mpi4py_outcomes.py")
TESTS = hosts.ENVIRONMENTS / "mpi4py-source" / "test"


@dataclasses.dataclass
class Outcomes:
    seconds: float
    ended: str  # "", or how the run ended before its end
    ranks: list  # per rank: test -> "passed", "failed", "skipped", or "started" if it never ended
    reasons: dict  # test -> why it failed or was skipped

    def passes(self):
        return [{name for name, outcome in rank.items() if outcome == "passed"} for rank in self.ranks]

    def counts(self):
        """Over the tests, not the ranks: what failed anywhere failed, what was skipped everywhere was skipped."""
        worst = ("started", "failed", "passed", "skipped")
        names = {name for rank in self.ranks for name in rank}
        outcome = [min((rank.get(name, "skipped") for rank in self.ranks), key=worst.index) for name in names]
        return {kind: outcome.count(kind) for kind in worst}


def _read(directory, ranks):
    outcomes, reasons = [], {}
    for rank in range(ranks):
        seen = {}
        path = directory / f"rank-{rank}.txt"
        for line in path.read_text().splitlines() if path.exists() else []:
            outcome, _, rest = line.partition(" ")
            name, _, why = rest.partition(" # ")
            # A test with failing parts is reported once per part and may still end as passed.
            if seen.get(name) != "failed":
                seen[name] = outcome
            if why and outcome != "passed":
                reasons[name] = why
        outcomes.append(seen)
    return outcomes, reasons


def run(host, ranks, millrace, timeout, arguments=(), env=None):
    host = hosts.get(host)
    with tempfile.TemporaryDirectory(prefix="mpi4py-suite-") as scratch:
        command = [host.python, RUNNER, scratch, *arguments]
        # On the path rather than told to the runner: the workers that the tests start need it, too.
        settings = {"PYTHONPATH": TESTS, **(env or {})}
        finished = hosts.run(host, ranks, command, millrace, env=settings, timeout=timeout, directory=scratch)
        seen, reasons = _read(pathlib.Path(scratch), ranks)
    # A launcher that steps aside says so; a comparison of the host with itself would prove nothing.
    if "without Millrace" in finished.stderr:
        raise AssertionError(finished.stderr[-2000:])
    ended = ""
    if finished.timed_out:
        ended = f"ended after {timeout:.0f} s"
    elif any(outcome == "started" for rank in seen for outcome in rank.values()) or not any(seen):
        ended = f"exit code {finished.returncode}: {finished.stderr[-2000:]}"
    return Outcomes(finished.seconds, ended, seen, reasons)


def differences(without, with_):
    """One line per test and rank whose outcome is not the same."""
    lines = []
    for rank, (before, after) in enumerate(zip(without.ranks, with_.ranks, strict=True)):
        for name in sorted(before.keys() | after.keys()):
            if before.get(name) != after.get(name):
                why = with_.reasons.get(name, "")
                lines.append(f"rank {rank}: {name}: {before.get(name)} without, {after.get(name)} with {why}".rstrip())
    return lines


def describe(title, outcomes):
    counts = outcomes.counts()
    text = f"{title}: {counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped"
    return f"{text} in {outcomes.seconds:.0f} s" + (f"; {outcomes.ended}" if outcomes.ended else "")


def _list_not_passed(outcomes):
    names = {name: outcome for rank in outcomes.ranks for name, outcome in rank.items() if outcome != "passed"}
    for name, outcome in sorted(names.items(), key=lambda item: (item[1], item[0])):
        print(f"  {outcome}: {name}: {outcomes.reasons.get(name, '')}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("host")
    parser.add_argument("ranks", type=int)
    parser.add_argument("--only", choices=["with", "without"])
    parser.add_argument("--timeout", type=float, default=1800)
    parser.add_argument("--list", action="store_true", help="name the tests that did not pass")
    parsed, arguments = parser.parse_known_args()
    results = []
    for title, millrace in (("without", False), ("with", True)):
        if parsed.only in (None, title):
            results.append(run(parsed.host, parsed.ranks, millrace, parsed.timeout, arguments))
            print(describe(f"{parsed.host}, {parsed.ranks} ranks, {title} Millrace", results[-1]), flush=True)
            if parsed.list:
                _list_not_passed(results[-1])
    different = differences(*results) if len(results) == 2 else []
    print("\n".join(different) if different else "no difference" if len(results) == 2 else "")
    return 1 if different or any(result.ended for result in results) else 0


if __name__ == "__main__":
    raise SystemExit(main())
