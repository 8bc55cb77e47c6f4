"""Whether a host can be tested on this machine."""

import hosts
import pytest


def usable(name):
    """The host, if it can exist on this machine. A host that was merely not installed is a failure, not a skip."""
    host = hosts.get(name)
    why = host.missing()
    if why and "exists for" in why:
        pytest.skip(why)
    assert why is None, why
    return host
