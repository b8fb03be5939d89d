"""Fung, Rosales and Krishnapuram (2006), Learning rankings via convex hull separation, run again."""

from .page import PARTS, PICTURED, picture

__all__ = ["PARTS", "PICTURED", "picture"]
