"""A leaderboard, items in their order, or standings from votes, as one self-contained HTML page."""

from .across import render_across, write_across
from .closer_look import CloserLook, look_closer
from .order_page import OrderLook, look_at_order, render_order, write_order
from .page import render, write
from .standings_page import StandingsLook, look_at_standings, render_standings, write_standings
from .wording import describe_metric

__all__ = [
    "CloserLook",
    "OrderLook",
    "StandingsLook",
    "describe_metric",
    "look_at_order",
    "look_at_standings",
    "look_closer",
    "render",
    "render_across",
    "render_order",
    "render_standings",
    "write",
    "write_across",
    "write_order",
    "write_standings",
]
