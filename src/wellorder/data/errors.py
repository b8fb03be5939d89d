"""What is wrong with a file: which file, which line, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..sweeps import Array, Ints


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


@dataclass(frozen=True)
class Places:
    """Where rows stand in the files that they were read from.

    Attributes
    ----------
    sources : tuple of (str, int)
        Each file, as the user named it, and its first row.
    lines : array of shape (n,) or None
        The line in which each row starts; None where the format has no lines.
    rows : array or None
        Which rows of the files these are; None: all of them.
    """

    sources: tuple[tuple[str, int], ...]
    lines: Ints | None = None
    rows: Ints | None = None

    def find(self, row: int) -> tuple[str, int | None, str]:
        """Return a row's file, its line or None, and how to say where in the file it is: by line, else by number."""
        row = row if self.rows is None else int(self.rows[row])
        source, first = next(part for part in reversed(self.sources) if part[1] <= row)
        if self.lines is None:
            return source, None, f"row {row - first + 1:,}"
        return source, int(self.lines[row]), f"line {self.lines[row]:,}"

    def error(self, problem: str, row: int) -> DataError:
        """Return the error for a row, with its file and where it is there."""
        source, line, where = self.find(row)
        return DataError(source, problem if line is not None else f"{where}: {problem}", line)

    def take(self, rows: Array) -> Places:
        """Return the places of some of the rows, by number."""
        return replace(self, rows=rows if self.rows is None else self.rows[rows])


def name_place(places: Places | None, row: int) -> str:
    """Say where a row is, in the middle of a sentence; one that is of no file goes by its number, from 0."""
    if places is None:
        return f"row {row}"
    source, _, where = places.find(row)
    return f"{where} of {source}"


def row_error(places: Places | None, problem: str, row: int) -> ValueError:
    """Return the error for a row of a file, or of something that was made in Python and is in no file."""
    return ValueError(f"row {row}: {problem}") if places is None else places.error(problem, row)
