"""Papers, one file each: their tables as data, their protocol as code."""

from .registry import PAPERS, Paper
from .reproducing import Reproduction, reproduce, write_page

__all__ = ["PAPERS", "Paper", "Reproduction", "reproduce", "write_page"]
