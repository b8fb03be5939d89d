"""How large and how deep a model file may be; the same for writing and for reading."""

from __future__ import annotations

FORMAT = "wellorder-model"
VERSION = 1
"""The format's version; a file says with which it was written, and every older one stays readable."""

MOST_NESTED = 64
"""Values within values: more than any pipeline of pipelines needs, and far from Python's own limit."""

LARGEST_MANIFEST = 1 << 28
"""Bytes of the manifest; numbers are in arrays, so that only text takes room here."""

COPIES = 16
"""What is made on loading may take this many times the size of the file."""

METHODS = (
    "fit",
    "partial_fit",
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "score",
    "split",
    "transform",
    "inverse_transform",
)
"""The methods whose metadata requests (``set_fit_request`` and so on) are kept."""
