"""Files that are written whole or not at all: beside their place first, and moved there once they are complete."""

from __future__ import annotations

import errno
import io
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

_LONGEST = 50
"""Characters of the target's name kept in the temporary name, so it stays under the file system's limit."""


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing bytes that takes its place when the block ends, and not if the block fails.

    Until then, and after a full disk, Ctrl-C or an error, a file of that name is as it was. The new one has its owner
    and permissions, or those that a new file has. Links are followed. What is no plain file (``/dev/stdout``, a pipe),
    and a plain one in a folder that may not be written to, is written straight, once all bytes are there.

    Raises
    ------
    OSError
        If it cannot be written; its ``filename`` is the path as given, whatever went wrong where.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from wellorder.whole_files import whole_file
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "page.html"
    >>> with whole_file(path) as file:
    ...     _ = file.write(b"<p>all of it")
    >>> path.read_text()
    '<p>all of it'
    """
    name = os.fsdecode(path)
    ours = {None, name}
    try:
        if _is_written_straight(name):
            content = io.BytesIO()
            yield content
            _write_straight(name, content.getvalue())
        else:
            target = os.path.realpath(name)
            folder, last = os.path.split(target)
            temporary = os.path.join(folder, f".{last[:_LONGEST]}.{secrets.token_hex(6)}.tmp")
            ours |= {target, temporary}
            with _written_beside(target, temporary) as file:
                yield file
    except OSError as error:
        if error.errno is None or error.filename not in ours:
            raise
        raise OSError(error.errno, error.strerror, name) from None  # of the same class: the number says which


def write_whole(path: str | os.PathLike[str], text: str) -> Path:
    """Write a text as :func:`whole_file` does, in UTF-8 and with LF for line ends; return where it is."""
    with whole_file(path) as file:
        file.write(text.encode("utf-8"))
    return Path(path)


def _is_written_straight(name: str) -> bool:
    """Say whether a file cannot be replaced, but can be written to; refuse what can be neither."""
    if "\0" in name:
        raise OSError(errno.EINVAL, "a file's name cannot hold a NUL", name)
    folder = os.path.dirname(os.path.realpath(name))
    try:
        there = os.stat(name)
    except FileNotFoundError:
        if not os.path.isdir(folder):
            raise FileNotFoundError(errno.ENOENT, "there is no such folder to write into", name) from None
        return False
    if stat.S_ISDIR(there.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    if not os.access(name, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)
    return not stat.S_ISREG(there.st_mode) or _our_own(there) is not None or not os.access(folder, os.W_OK)


def _our_own(there: os.stat_result) -> int | None:
    """Return the number of the open stream, standard output or error, that a file is; None for any other file."""
    for number in (1, 2):
        with suppress(OSError):  # it may be closed
            if os.path.samestat(there, os.fstat(number)):
                return number
    return None


def _write_straight(name: str, content: bytes) -> None:
    own = _our_own(os.stat(name))
    if own is None:
        file: BinaryIO = open(name, "wb")  # noqa: SIM115
    else:  # opened anew it would begin from its start, over what is in it; what we have printed comes first
        sys.stdout.flush()
        file = cast(BinaryIO, os.fdopen(os.dup(own), "wb"))
    with file:
        file.write(content)


@contextmanager
def _written_beside(target: str, temporary: str) -> Iterator[BinaryIO]:
    try:
        with open(temporary, "xb") as file:
            yield cast(BinaryIO, file)
            file.flush()
            os.fsync(file.fileno())  # a disk that is full may say so only now
        _take_over(target, temporary)
        try:
            os.replace(temporary, target)
        except OSError as error:
            if error.errno not in (errno.EBUSY, errno.EPERM):
                raise
            # a file that is mounted by itself stays where it is; so does somebody else's in a folder like /tmp
            shutil.copyfile(temporary, target)
            os.unlink(temporary)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _take_over(target: str, temporary: str) -> None:
    """Give a new file the owner and the permissions of the one whose place it takes."""
    try:
        there = os.stat(target)
    except FileNotFoundError:
        return
    if hasattr(os, "chown"):
        with suppress(PermissionError):  # only an administrator may give files away
            os.chown(temporary, there.st_uid, there.st_gid)
    os.chmod(temporary, stat.S_IMODE(there.st_mode))
