"""A leaderboard as one self-contained HTML page."""

from .page import render, write
from .wording import describe_metric

__all__ = ["describe_metric", "render", "write"]
