"""Files in, tables out, and back: readers, writers, and the encoding that a saved model carries along."""

from .errors import DataError
from .table import ComparisonTable, Table

__all__ = ["ComparisonTable", "DataError", "Table"]
