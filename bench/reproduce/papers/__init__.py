"""The five papers. A new figure is an entry in the file of its paper."""

from papers import long_vectors, sc18, sve

PAPERS = (long_vectors.PAPER, sve.PAPER, sc18.PAPER)
