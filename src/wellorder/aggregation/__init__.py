"""Rankings in, one ranking out: scores with one column a ranker become one score a row."""

from .markov import markov_chain
from .positions import borda, median_rank, read_ranker_weights as read_ranker_weights

__all__ = ["borda", "markov_chain", "median_rank"]
