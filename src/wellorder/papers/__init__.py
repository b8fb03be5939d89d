"""Papers, one file each: their tables as data, their protocol as code."""

from .registry import PAPERS, Paper

__all__ = ["PAPERS", "Paper"]
