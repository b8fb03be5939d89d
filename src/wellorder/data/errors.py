"""What is wrong with a file: which file, which line, and what to do about it."""

from __future__ import annotations


class DataError(ValueError):
    """A file that cannot be read as it stands.

    Prints as one line: ``wines.csv, line 7: 'abc' in column 'ph' is not a number; …``.

    Parameters
    ----------
    source : str
        The file, as the user named it.
    problem : str
        What is wrong and what to do, as one sentence.
    line : int, optional
        Line number in the (uncompressed) file, from 1.
    """

    def __init__(self, source: str, problem: str, line: int | None = None) -> None:
        self.source = source
        self.problem = problem
        self.line = line
        where = source if line is None else f"{source}, line {line:,}"
        super().__init__(f"{where}: {problem}")

    def __reduce__(self) -> tuple[type[DataError], tuple[str, str, int | None]]:
        """Say how to make it again: an error on another machine has to come here."""
        return type(self), (self.source, self.problem, self.line)
