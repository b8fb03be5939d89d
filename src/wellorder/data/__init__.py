"""Files in, tables out, and back: readers, writers, and the encoding that a saved model carries along."""

from .arff import read_arff as read_arff
from .collected import APPLICATION as APPLICATION, BALLOTS as BALLOTS, VERSION as VERSION
from .comparison_files import NAME_COLUMNS as NAME_COLUMNS
from .datasets import write_diabetes
from .encode import (
    TableEncoder,
    Unfamiliar as Unfamiliar,
    as_rows as as_rows,
    column_names as column_names,
    constant_columns as constant_columns,
    is_frame as is_frame,
    pick_columns as pick_columns,
    read_columns_of as read_columns_of,
    to_series as to_series,
)
from .formats import FORMATS as FORMATS
from .letor import read_letor, write_letor
from .lines import DataError, Places as Places
from .model_input import (
    as_table_model as as_table_model,
    items_of,
    load_table_model,
    read_for,
    read_pairs_to_come as read_pairs_to_come,
)
from .readers import one_sheet as one_sheet, read
from .rows import from_objects as from_objects, is_records as is_records, read_values as read_values
from .sheet import MISSING as MISSING, Sheet as Sheet, as_text as as_text, settle as settle
from .table import (
    ComparisonTable,
    PairTable,
    Table,
    leave_columns as leave_columns,
    pairs_of,
    prediction_frame,
    understood_by_methods as understood_by_methods,
)
from .table_ranker import TableRanker
from .told_columns import takes_categories as takes_categories, tell_columns as tell_columns
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
