"""``save`` and ``load``."""

from __future__ import annotations

import io
import json
import os
import re
import warnings
import zipfile
from collections.abc import Callable, Iterable
from typing import Any, BinaryIO

import numpy as np
import sklearn
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .. import __version__
from ..state import Stored
from ..whole_files import whole_file
from .decode import Decoder
from .encode import Encoder
from .rules import FORMAT, LARGEST_MANIFEST, VERSION, ModelFileError, ModelFileWarning

# --------------------------------------------------------------------------------------------------
# The container: a zip file of one manifest and numbered arrays, nothing compressed.
#
# Nothing compressed means that nothing can swell: what is read is never more than the file is long.


_MANIFEST = "manifest.json"
_ENCRYPTED = 0x1
_COMPRESSED = (
    b"\x1f\x8b",
    b"BZh",
    b"\xfd7zXZ",
    b"\x5d\x00",
    *(bytes([0x78, level]) for level in (0x01, 0x5E, 0x9C, 0xDA)),
)
"""How gzip, bzip2, xz, lzma and zlib files start."""


def write_archive(stream: BinaryIO, manifest: dict[str, Any], members: Iterable[bytes]) -> None:
    """Write the file; the same content gives the same bytes, whenever and wherever it is written."""
    text = json.dumps(manifest, sort_keys=True, ensure_ascii=True, allow_nan=False, indent=None).encode("ascii")
    if len(text) > LARGEST_MANIFEST:
        raise ValueError(f"the model's text takes {len(text)} bytes; a model file holds {LARGEST_MANIFEST}")
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_entry(_MANIFEST), text)
        for number, content in enumerate(members):
            archive.writestr(_entry(array_name(number)), content)


def array_name(number: int) -> str:
    """Return the name of an array's member."""
    return f"arrays/{number}.npy"


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    entry.create_system = 3
    entry.external_attr = 0o644 << 16
    return entry


class Archive:
    """An opened model file: every member's name, size and form is checked before one is read."""

    def __init__(self, stream: BinaryIO) -> None:
        self.size = stream.seek(0, io.SEEK_END)
        stream.seek(0)
        _recognise(stream.read(8), self.size)
        stream.seek(0)
        try:
            self._zip = zipfile.ZipFile(stream)
            entries = self._zip.infolist()
        except Exception as error:  # zipfile raises what comes, from struct.error to UnicodeDecodeError
            raise ModelFileError(f"it is cut short or damaged ({error})") from None
        self._entries = {entry.filename: entry for entry in entries}
        self._check(entries)
        self.n_arrays = len(entries) - 1

    def manifest(self) -> Any:
        """Return the parsed manifest."""
        entry = self._entries[_MANIFEST]
        if entry.file_size > LARGEST_MANIFEST:
            raise ModelFileError(f"its manifest of {entry.file_size} bytes is larger than a model's may be")
        try:
            return json.loads(self._read(entry), object_pairs_hook=_unique, parse_constant=_no_constant)
        except RecursionError:
            raise ModelFileError("its manifest is nested too deep") from None
        except ModelFileError:
            raise
        except ValueError as error:
            raise ModelFileError(f"its manifest is not JSON ({error})") from None

    def reader(self) -> Callable[[int], bytes]:
        """Return a function that reads an array's bytes."""
        return lambda number: self._read(self._entries[array_name(number)])

    def _read(self, entry: zipfile.ZipInfo) -> bytes:
        try:
            content = self._zip.read(entry)
        except Exception as error:
            raise ModelFileError(f"its member {entry.filename} is damaged ({error})") from None
        if len(content) != entry.file_size:
            raise ModelFileError(f"its member {entry.filename} is cut short")
        return content

    def _check(self, entries: list[zipfile.ZipInfo]) -> None:
        if _MANIFEST not in self._entries:
            raise ModelFileError("it is a zip file of something else: there is no manifest.json in it")
        expected = {_MANIFEST, *(array_name(number) for number in range(len(entries) - 1))}
        odd = [entry.filename for entry in entries if entry.filename not in expected]
        if odd or len(self._entries) != len(entries):
            name = odd[0] if odd else "one of its members, which is there twice"
            raise ModelFileError(f"it holds {name[:60]!r}, which has no place in a model file")
        for entry in entries:
            if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
                raise ModelFileError(f"its member {entry.filename} is compressed; model files are not")
            if entry.flag_bits & _ENCRYPTED:
                raise ModelFileError(f"its member {entry.filename} is encrypted; model files are not")
        if sum(entry.file_size for entry in entries) > self.size:
            raise ModelFileError("its members are larger than the file")


def _recognise(start: bytes, size: int) -> None:
    """Refuse what is no zip file, naming what it looks like."""
    if not size:
        raise ModelFileError("it is empty")
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return
    if start[:1] == b"\x80" and start[1:2] in b"\x02\x03\x04\x05" and len(start) > 1:
        raise ModelFileError("it is a pickle (or joblib) file, which runs code when it is opened; wellorder reads none")
    if start.startswith(_COMPRESSED):
        raise ModelFileError("it is a compressed file, perhaps of joblib or gzip, not a model file")
    raise ModelFileError("it is not a model file: it does not start like one")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise ModelFileError("its manifest has a key twice")
    return table


def _no_constant(name: str) -> Any:
    raise ModelFileError(f"its manifest holds {name}, which is not JSON")


# --------------------------------------------------------------------------------------------------
# Saving and loading.


_VERSION = re.compile(r"[0-9A-Za-z.+!_-]{1,40}")
"""What the name or version of a package may look like: free text from a file would reach people's terminals."""

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
    if isinstance(model, type) or not (hasattr(model, "fit") or isinstance(model, Stored)):
        raise TypeError(f"save takes a fitted model, got {model!r:.80}")
    encoder = Encoder()
    encoded = encoder.encode(model)
    if not _is_fitted(model):
        raise NotFittedError(f"this {type(model).__name__} is not fitted: there is nothing to save; call fit first")
    manifest = {
        "format": FORMAT,
        "version": encoder.version,
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
    if not hasattr(model, "fit"):  # made whole, as standings are
        return True
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True
