"""Is Millrace at work in the MPI of this process, and what has it done so far?

    >>> from millrace import mpi
    >>> mpi.state()          # in a process that was not started through the launcher
    'absent'

The functions ask the preload and call nothing of MPI, so they may be used before initialisation and after finalisation,
on any rank and in any thread. mpi4py is not needed.
"""

import ctypes
import json
from typing import Any, Callable, Optional

__all__ = ["is_active", "state", "statistics"]

_process = ctypes.CDLL(None)  # whatever is loaded


def _function(name: str, result: Any, *arguments: Any) -> Optional[Callable[..., Any]]:
    try:
        function = getattr(_process, name)
    except AttributeError:
        return None
    function.restype, function.argtypes = result, arguments
    return function


_state = _function("millrace_preload_state", ctypes.c_char_p)
_statistics = _function("millrace_preload_statistics", ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t)


def state() -> str:
    """One word:

    "active"     calls of MPI may be taken over by Millrace
    "idle"       it is here, and MPI is not initialised yet or is finalised
    "off"        it is here, and MILLRACE=0 switches it off
    "other_mpi"  it is here, for another MPI library than the one in use
    "absent"     it is not here: the process was not started through `millrace`
    """
    return _state().decode() if _state else "absent"


def is_active() -> bool:
    """Whether calls of MPI may be taken over by Millrace now."""
    return state() == "active"


def statistics() -> Optional[dict[str, Any]]:
    """What this process has done in MPI so far: a dict in the form of the report's JSON (docs/report.md), with this
    rank as the only one. None where nothing is counted: without Millrace, or without MILLRACE_REPORT or --report."""
    if not _statistics:
        return None
    room = _statistics(None, 0)
    while room:
        text = ctypes.create_string_buffer(room)
        room = _statistics(text, len(text))
        if room <= len(text):
            return json.loads(text.value) if room else None
    return None
