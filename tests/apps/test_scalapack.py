"""ScaLAPACK's own testers say the same of every case, with and without Millrace."""

import pathlib
import re
import shutil

import hosts
import pytest

pytestmark = pytest.mark.full
HOST = "openmpi4"
TESTERS = hosts.SYSTEM_LIBRARIES / "scalapack/openmpi-tests"
# Double precision, real and complex; not the 30 s of the MRRR eigensolver.
NAMES = (
    "PBLAS/dpb1tst PBLAS/dpb2tst PBLAS/dpb3tst PBLAS/zpb1tst PBLAS/zpb2tst PBLAS/zpb3tst "
    "xdbrd xddblu xddtlu xdgblu xdhrd xdhseqr xdinv xdllt xdls xdlu xdnep xdpbllt xdptllt xdqr xdsep xdsvd xdtrd "
    "xzbrd xzdblu xzdtlu xzgblu xzhrd xzinv xzllt xzls xzlu xznep xzpbllt xzptllt xzqr xzsep xztrd"
).split()
SPLITS = [{}, {"MILLRACE_NODE_SPLIT": "2+2"}]


def verdicts(output):
    lines = [line for line in output.splitlines() if re.search(r"PASS|FAIL|[Pp]assed|failed|skipped|\*\*\*", line)]
    return [re.sub(r"[-+]?\d*\.\d*([EeDd][-+]?\d+)?", "#", line).split() for line in lines]


def run(name, directory, millrace, env=None):
    directory.mkdir()
    for path in (TESTERS / name).parent.glob("*.dat"):
        shutil.copy(path, directory)
    finished = hosts.run(HOST, 4, [TESTERS / name], millrace=millrace, env=env, timeout=60, directory=directory)
    return finished.returncode, verdicts(finished.stdout)


@pytest.mark.parametrize("settings", SPLITS, ids=lambda settings: "".join(settings.values()) or "one node")
@pytest.mark.parametrize("name", NAMES)
def test_the_same_verdicts(name, settings, tmp_path):
    """Some testers fail a case, or do not end, now and then without Millrace, too: alone they are asked again."""
    base = pathlib.Path(name).name
    with_ = run(name, tmp_path / base, True, settings)
    assert with_[1]
    alone = []
    while with_ not in alone and len(alone) < 12:
        alone.append(run(name, tmp_path / f"{base}-alone-{len(alone)}", False))
    assert with_ in alone
