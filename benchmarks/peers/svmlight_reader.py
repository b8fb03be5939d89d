"""scikit-learn's reader of SVMlight files."""

from __future__ import annotations

from collections.abc import Callable

from ..shapes import LetorFile, Result
from .peer import Peer, Settings


def _start(file: LetorFile, settings: Settings) -> Callable[[], Result]:
    from sklearn.datasets import load_svmlight_file

    return lambda: Result(value=float(load_svmlight_file(str(file.path), query_id=True)[0].sum()))


PEERS = (Peer("load-svmlight-file", "read", _start, package="scikit-learn", module="sklearn"),)
