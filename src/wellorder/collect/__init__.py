"""The page that asks: which of two is better? Server, database of votes, and what is asked next."""

from .advice import Adviser, Brief, advise_by_lines
from .collection import Collection
from .demo import QUESTION as DEMO_QUESTION, write_dots
from .items import KINDS, Items, read_items
from .serving import DEFAULT_PORT, LOOPBACK, Setting, is_loopback, open_collection, serve
from .simulation import read_truth, simulate_into
from .store import Store, StoreError

__all__ = [
    "DEFAULT_PORT",
    "DEMO_QUESTION",
    "KINDS",
    "LOOPBACK",
    "Adviser",
    "Brief",
    "Collection",
    "Items",
    "Setting",
    "Store",
    "StoreError",
    "advise_by_lines",
    "is_loopback",
    "open_collection",
    "read_items",
    "read_truth",
    "serve",
    "simulate_into",
    "write_dots",
]
