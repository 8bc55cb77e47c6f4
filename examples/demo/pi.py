"""Pi by the midpoint rule, the intervals dealt out to the ranks: NumPy arrays through mpi4py."""

import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
intervals = np.array(1 << 18 if world.rank == 0 else 0)
world.Bcast(intervals, root=0)

step = 1.0 / int(intervals)
points = (np.arange(world.rank, int(intervals), world.size) + 0.5) * step
terms = step * 4.0 / (1.0 + points * points)

# Each rank folds its terms pairwise with MPI's own operation on local arrays, then the ranks add up.
while terms.size > 1:
    upper = terms[terms.size // 2 :].copy()
    lower = terms[: terms.size // 2]
    MPI.SUM.Reduce_local(lower, upper[: lower.size])
    terms = upper
total = np.zeros(1)
world.Allreduce(terms, total, op=MPI.SUM)

if world.rank == 0:
    print(f"pi is about {total[0]:.15f}, by {world.size} ranks")
