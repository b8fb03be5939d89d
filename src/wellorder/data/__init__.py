"""Files in, tables out, and back: readers, writers, and the encoding that a saved model carries along."""

from .datasets import write_diabetes
from .encode import TableEncoder
from .errors import DataError
from .letor import read_letor, write_letor
from .model_input import items_of, load_table_model, read_for
from .pair_table import PairTable, pairs_of, prediction_frame
from .readers import read
from .table import ComparisonTable, Table
from .table_ranker import TableRanker
from .trec import Qrels, Run, read_qrels, read_run, write_qrels, write_run
from .writers import score_frame, write_frame, write_lines, write_rows, write_scores, write_table

__all__ = [
    "ComparisonTable",
    "DataError",
    "PairTable",
    "Qrels",
    "Run",
    "Table",
    "TableEncoder",
    "TableRanker",
    "items_of",
    "load_table_model",
    "pairs_of",
    "prediction_frame",
    "read",
    "read_for",
    "read_letor",
    "read_qrels",
    "read_run",
    "score_frame",
    "write_diabetes",
    "write_frame",
    "write_letor",
    "write_lines",
    "write_qrels",
    "write_rows",
    "write_run",
    "write_scores",
    "write_table",
]
