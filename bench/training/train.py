"""Training by several ranks that share their gradients: train.py DIGITS.npz STEPS

A network of four layers with as many weights as AlexNet (61.0 million): its three fully connected layers of 9216 to
4096, 4096 and 1000, and one from 256 pixels in front of them, where AlexNet has convolutions. Each rank takes other
images; gradients are summed by MPI_Allreduce in buffers of 64 MiB into which those of several layers are put together.
Rank 0 prints a line a step: seconds of the step, of them in MPI_Allreduce, and the loss of all ranks.
"""

import sys
import time

import numpy
from mpi4py import MPI

SIZES = (256, 9216, 4096, 4096, 1000)
BATCH, RATE, FUSED_BYTES = 32, 0.01, 64 << 20


class Network:
    """Weights and gradients lie in one array each, of which layers are views."""

    def __init__(self, random):
        self.weights = numpy.zeros(sum((a + 1) * b for a, b in zip(SIZES, SIZES[1:], strict=False)), numpy.float32)
        self.gradients = numpy.zeros_like(self.weights)
        for matrix, _ in self.layers(self.weights):
            matrix[:] = random.standard_normal(matrix.shape, numpy.float32) * numpy.sqrt(2 / matrix.shape[0])

    @staticmethod
    def layers(flat):
        at = 0
        for a, b in zip(SIZES, SIZES[1:], strict=False):
            yield flat[at : at + a * b].reshape(a, b), flat[at + a * b : at + (a + 1) * b]
            at += (a + 1) * b

    def step(self, images, labels):
        """Fills the gradients; returns the loss."""
        inputs = [images]
        layers = list(self.layers(self.weights))
        for i, (matrix, bias) in enumerate(layers):
            out = inputs[-1] @ matrix + bias
            inputs.append(numpy.maximum(out, 0) if i + 1 < len(layers) else out)
        scores = inputs.pop()
        scores -= scores.max(axis=1, keepdims=True)
        shares = numpy.exp(scores)
        shares /= shares.sum(axis=1, keepdims=True)
        rows = numpy.arange(len(labels))
        loss = -numpy.log(shares[rows, labels] + 1e-12).mean()
        shares[rows, labels] -= 1
        error = shares / len(labels)
        gradients = list(self.layers(self.gradients))
        for (matrix, _), (d_matrix, d_bias), given in zip(layers[::-1], gradients[::-1], inputs[::-1], strict=True):
            numpy.matmul(given.T, error, out=d_matrix)
            error.sum(axis=0, out=d_bias)
            error = (error @ matrix.T) * (given > 0)
        return float(loss)


def main():
    comm = MPI.COMM_WORLD
    with numpy.load(sys.argv[1]) as digits:
        images, labels = digits["images"], digits["labels"]
    network = Network(numpy.random.default_rng(1))
    order = numpy.random.default_rng(2).permutation(len(labels))
    fused = FUSED_BYTES // 4
    for step in range(int(sys.argv[2])):
        first = (step * comm.size + comm.rank) * BATCH
        own = order[numpy.arange(first, first + BATCH) % len(order)]
        comm.Barrier()
        begin = time.perf_counter()
        loss = network.step(images[own], labels[own])
        shared = time.perf_counter()
        for at in range(0, len(network.gradients), fused):
            comm.Allreduce(MPI.IN_PLACE, network.gradients[at : at + fused], MPI.SUM)
        communicated = time.perf_counter() - shared
        network.weights -= (RATE / comm.size) * network.gradients
        comm.Barrier()
        seconds = time.perf_counter() - begin
        loss = comm.allreduce(loss) / comm.size
        if comm.rank == 0:
            print(f"{seconds:.6f} {communicated:.6f} {loss:.9g}", flush=True)


if __name__ == "__main__":
    main()
