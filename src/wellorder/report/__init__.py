"""A leaderboard, or items in their order, as one self-contained HTML page."""

from .across import render_across, write_across
from .closer_look import CloserLook, look_closer
from .order_page import OrderLook, look_at_order, render_order, write_order
from .page import render, write
from .wording import describe_metric

__all__ = [
    "CloserLook",
    "OrderLook",
    "describe_metric",
    "look_at_order",
    "look_closer",
    "render",
    "render_across",
    "render_order",
    "write",
    "write_across",
    "write_order",
]
