"""The five papers. A new figure is an entry in the file of its paper."""

from papers import sc18, sve

PAPERS = (sve.PAPER, sc18.PAPER)
