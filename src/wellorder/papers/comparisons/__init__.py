"""Venuto et al. (2014), Support vector comparison machines, run again."""

from .chess import read_chess, read_sushi
from .page import PARTS, PICTURED, picture
from .search import Compared

__all__ = ["PARTS", "PICTURED", "Compared", "picture", "read_chess", "read_sushi"]
