from mpi4py import MPI

world = MPI.COMM_WORLD
total = world.allreduce(world.rank)
if world.rank == 0:
    print(f"{world.size} ranks, sum {total}")
    print(MPI.Get_library_version().split(",")[0].strip())
