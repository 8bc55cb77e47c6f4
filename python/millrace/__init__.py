"""Reductions of NumPy arrays by Millrace's kernels, with the semantics of MPI's ops (docs/semantics.md), and copies of
arrays that are not contiguous (docs/layouts.md).

    >>> import millrace, numpy as np
    >>> millrace.reduce("sum", np.arange(3.0), np.ones(3))
    array([1., 2., 3.])
    >>> millrace.pack(np.arange(6).reshape(2, 3).T)
    array([[0, 3],
           [1, 4],
           [2, 5]])

No array is copied on the way, and other Python threads run meanwhile.
"""

from ._layout import Layout, pack, unpack
from ._library import LibraryNotFound, isa, threads, use_isa, use_threads, version
from ._reduce import OPS, pair_dtype, reduce, supported

__all__ = [
    "OPS",
    "Layout",
    "LibraryNotFound",
    "isa",
    "pack",
    "pair_dtype",
    "reduce",
    "supported",
    "threads",
    "unpack",
    "use_isa",
    "use_threads",
    "version",
]
__version__ = version()
