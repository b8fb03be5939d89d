"""Qin et al. (2007), Ranking with multiple hyperplanes, run again."""

from .page import PARTS, PICTURED, picture

__all__ = ["PARTS", "PICTURED", "picture"]
