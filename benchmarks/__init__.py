"""Fits against the floor: what one pass over the data costs, on the same data, in the same run."""
