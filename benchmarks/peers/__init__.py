"""Every method by name. A new one is a file here, with what it offers in its ``PEERS``, and its line below."""

from __future__ import annotations

from . import (
    catboost_trees,
    choix_ratings,
    kernel_svc,
    lightgbm_trees,
    linear_svc,
    mord_models,
    pytrec_eval_metrics,
    ranx_metrics,
    ridge,
    scikit_survival,
    sklearn_metrics,
    skordinal_models,
    statsmodels_ordered,
    svmlight_reader,
    wellorder_own,
    xgboost_trees,
)
from .peer import PAIRS, SAMPLED, TIES, Peer, Settings, UnsuitableError

_FILES = (
    wellorder_own,
    scikit_survival,
    linear_svc,
    kernel_svc,
    ridge,
    mord_models,
    skordinal_models,
    statsmodels_ordered,
    lightgbm_trees,
    xgboost_trees,
    catboost_trees,
    choix_ratings,
    sklearn_metrics,
    ranx_metrics,
    pytrec_eval_metrics,
    svmlight_reader,
)

PEERS: dict[str, Peer] = {peer.name: peer for file in _FILES for peer in file.PEERS}
"""In the order in which they take their turns."""

__all__ = ["PAIRS", "PEERS", "SAMPLED", "TIES", "Peer", "Settings", "UnsuitableError"]
