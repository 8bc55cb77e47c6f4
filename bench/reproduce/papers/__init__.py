"""The five papers. A new figure is an entry in the file of its paper."""

from papers import long_vectors, sc18, sve, xeon_phi

PAPERS = (long_vectors.PAPER, sve.PAPER, xeon_phi.PAPER, sc18.PAPER)
