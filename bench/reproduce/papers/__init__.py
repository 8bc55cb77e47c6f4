"""The five papers. A new figure is an entry in the file of its paper."""

from papers import gather_scatter, long_vectors, sc18, sve, xeon_phi

PAPERS = (long_vectors.PAPER, sve.PAPER, gather_scatter.PAPER, xeon_phi.PAPER, sc18.PAPER)
