"""Uematsu and Lee (2013), Statistical optimality in multipartite ranking, run again."""

from .page import PARTS, PICTURED, picture

__all__ = ["PARTS", "PICTURED", "picture"]
