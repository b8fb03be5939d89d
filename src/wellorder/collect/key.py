"""Personal links, and the lock: who may enter, and that only one collector writes."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import sqlite3
from contextlib import suppress
from pathlib import Path

from .store import StoreError


class Key:
    """The secret beside a database of votes. It is held as long as votes are collected: nobody else can take it.

    A link holds a token that only the secret can make of the judge's name. So no token is stored anywhere, the votes
    can be handed on without letting anybody in, links stay the same from one start to the next, and without the file
    all of them are void.

    The secret is kept in an SQLite file, because a transaction that stays open is a lock that every system has, and
    that ends with the process, however it ends.
    """

    def __init__(self, votes: str | os.PathLike[str]) -> None:
        file = os.path.realpath(votes) if os.path.islink(votes) else os.fspath(votes)  # one key, whatever it is called
        self.path = Path(f"{file}.key")
        try:
            with suppress(FileExistsError):
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            self._db = sqlite3.connect(self.path, isolation_level=None, timeout=0.0, check_same_thread=False)
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"{self.path}: it cannot be made ({error}); check its folder") from None
        try:
            self._secret = self._take()
        except sqlite3.OperationalError as error:
            self._db.close()
            if "locked" in str(error):
                raise StoreError(
                    f"{os.fspath(votes)}: another 'wellorder collect' writes to it; stop that one, or name another file"
                ) from None
            raise StoreError(f"{self.path}: it cannot be used ({error}); check its folder") from None
        except sqlite3.DatabaseError:
            self._db.close()
            raise StoreError(f"{self.path}: it is damaged; delete it, and everybody gets a new link") from None

    def _take(self) -> bytes:
        self._db.execute("BEGIN EXCLUSIVE")
        self._db.execute("CREATE TABLE IF NOT EXISTS secret (value TEXT NOT NULL)")
        row = self._db.execute("SELECT value FROM secret").fetchone()
        if row is None:
            row = (secrets.token_hex(32),)
            self._db.execute("INSERT INTO secret VALUES (?)", row)
        self._db.execute("COMMIT")
        self._db.execute("BEGIN EXCLUSIVE")
        return bytes.fromhex(row[0])

    def token(self, whom: str) -> str:
        """Return the token of somebody's link."""
        return hmac.new(self._secret, whom.encode(), hashlib.sha256).hexdigest()[:32]

    def opens(self, whom: str, token: str) -> bool:
        """Say whether a token is this person's, in a time that tells nothing about how nearly it is."""
        return hmac.compare_digest(self.token(whom).encode(), token.encode())

    def close(self) -> None:
        """Let it go."""
        self._db.close()
