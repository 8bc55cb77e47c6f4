"""Reductions of NumPy arrays by Millrace's kernels, with the semantics of MPI's ops (docs/semantics.md).

    >>> import millrace, numpy as np
    >>> millrace.reduce("sum", np.arange(3.0), np.ones(3))
    array([1., 2., 3.])

No array is copied, and other Python threads run while a reduction does.
"""

from ._library import LibraryNotFound, isa, use_isa, version
from ._reduce import OPS, pair_dtype, reduce, supported

__all__ = ["OPS", "LibraryNotFound", "isa", "pair_dtype", "reduce", "supported", "use_isa", "version"]
__version__ = version()
