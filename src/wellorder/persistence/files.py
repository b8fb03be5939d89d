"""``save`` and ``load``."""

from __future__ import annotations

import os
import re
import warnings
from typing import Any

import numpy as np
import sklearn
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .. import __version__
from ..whole_files import whole_file
from .archive import Archive, write_archive
from .decode import Decoder
from .encode import Encoder
from .errors import ModelFileError, ModelFileWarning
from .limits import FORMAT, VERSION

_VERSION = re.compile(r"[0-9A-Za-z.+!_-]{1,40}")
"""A package's name, or its version: free text from a file would reach people's terminals."""

_LONGEST_REASON = 280
_MOST_VERSIONS = 20
_HIGHEST_VERSION = 1_000_000


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a fitted model, with its preprocessing, levels and column names, in a file that holds no code.

    Parameters
    ----------
    model : estimator
        A fitted wellorder estimator, or a scikit-learn pipeline around one. Functions and learners of other
        packages cannot be saved; the error names the parameter or attribute that is one.
    path : path-like
        Where to. A file of that name is replaced, once the new one is complete.

    See Also
    --------
    load

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import wellorder as wo
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]], [0, 1, 2]
    >>> ranker = wo.RankSVM().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     wo.save(ranker, pathlib.Path(folder) / "ranker.wo")
    ...     again = wo.load(pathlib.Path(folder) / "ranker.wo")
    >>> bool((again.decision_function(X) == ranker.decision_function(X)).all())
    True
    """
    if isinstance(model, type) or not hasattr(model, "fit"):
        raise TypeError(f"save takes a fitted model, got {model!r:.80}")
    encoder = Encoder()
    encoded = encoder.encode(model)
    if not _is_fitted(model):
        raise NotFittedError(f"this {type(model).__name__} is not fitted: there is nothing to save; call fit first")
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": {"wellorder": __version__, "scikit-learn": sklearn.__version__, "numpy": np.__version__},
        "arrays": len(encoder.members),
        "model": encoded,
    }
    with whole_file(path) as stream:
        write_archive(stream, manifest, encoder.members)


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that :func:`save` wrote. Nothing in the file is run, whoever wrote it.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    model : estimator
        With the parameters, the fitted state and the scores of the one that was saved, to the last bit.

    Raises
    ------
    ModelFileError
        A ValueError: the file is no model file, is damaged, was written by a newer wellorder, or asks for
        something that a model file may not hold.

    See Also
    --------
    save
    """
    name = os.fspath(path)
    with open(name, "rb") as stream:
        try:
            if not stream.seekable():
                raise ModelFileError("it is a pipe, and a model file is read back and forth; give the file itself")
            archive = Archive(stream)
            return _build(archive, name)
        except ModelFileError as error:
            reason = " ".join(str(error).split())  # it may quote what it found, in many lines
            raise ModelFileError(f"{name}: {reason[:_LONGEST_REASON]}") from None


def _build(archive: Archive, name: str) -> Any:
    manifest = archive.manifest()
    written_by = _check_manifest(manifest, archive.n_arrays)
    decoder = Decoder(archive.reader(), archive.n_arrays, archive.size)
    try:
        model = decoder.decode(manifest["model"])
    except ModelFileError as error:
        raise ModelFileError(f"{decoder.where}: {error}" if decoder.where else str(error)) from None
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise ModelFileError(f"{decoder.where or 'the model'} cannot be rebuilt: {error}") from error
    if not isinstance(model, BaseEstimator):
        raise ModelFileError("what it holds is not a model")
    if decoder.n_unused():
        raise ModelFileError(f"it holds {decoder.n_unused()} arrays that no part of the model uses")
    if decoder.uses_sklearn:
        _warn_of_other_version(name, str(written_by.get("scikit-learn")))
    return model


def _check_manifest(manifest: Any, n_arrays: int) -> dict[str, Any]:
    """Check the manifest's outer fields; return the versions it was written with."""
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ModelFileError("it is a zip file of something else: its manifest is not a model's")
    version, written_by = manifest.get("version"), manifest.get("written_by")
    if type(version) is not int or not 1 <= version < _HIGHEST_VERSION or not isinstance(written_by, dict):
        raise ModelFileError("its manifest does not say which version wrote it")
    if len(written_by) > _MOST_VERSIONS or not all(
        isinstance(text, str) and _VERSION.fullmatch(text) for text in (*written_by, *written_by.values())
    ):
        raise ModelFileError("what its manifest says of the versions that wrote it is no version")
    if version > VERSION:
        raise ModelFileError(
            f"it has format version {version}, written by wellorder {written_by.get('wellorder')}; this "
            f"wellorder ({__version__}) reads up to version {VERSION}: update wellorder"
        )
    if set(manifest) != {"format", "version", "written_by", "arrays", "model"}:
        raise ModelFileError("its manifest has fields missing or too many")
    if type(manifest["arrays"]) is not int or manifest["arrays"] != n_arrays:
        raise ModelFileError(f"its manifest promises {manifest['arrays']!r:.40} arrays, but it has {n_arrays}")
    return written_by


def _warn_of_other_version(name: str, written_with: str) -> None:
    here = sklearn.__version__
    if written_with.split(".")[:2] != here.split(".")[:2]:
        warnings.warn(
            f"{name} holds scikit-learn estimators written with scikit-learn {written_with}, and this is {here}: "
            "their stored state may mean something else here; compare some scores, or fit and save anew",
            ModelFileWarning,
            stacklevel=4,
        )


def _is_fitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True
