"""The page that asks: which of two is better? Server, database of votes, and what is asked next."""

from .advice import Adviser, Brief, advise_by_lines
from .collection import Collection
from .items import KINDS, Items, read_items
from .serving import DEFAULT_PORT, LOOPBACK, Setting, is_loopback, open_collection, serve
from .store import Store, StoreError

__all__ = [
    "DEFAULT_PORT",
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
    "serve",
]
