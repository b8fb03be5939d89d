"""Where scores come from. A space sees X, never labels."""

from .function import Function, Space
from .linear import LinearSpace

__all__ = ["Function", "LinearSpace", "Space"]
