"""A leaderboard as one self-contained HTML page."""

from .across import render_across, write_across
from .closer_look import CloserLook, look_closer
from .page import render, write
from .wording import describe_metric

__all__ = ["CloserLook", "describe_metric", "look_closer", "render", "render_across", "write", "write_across"]
