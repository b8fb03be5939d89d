"""What is found, as a person reads it: a sentence, a table and notes, in plain lines and in a notebook."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from html import escape


class Readable:
    """A sentence, a table, and how to read it."""

    @abstractmethod
    def headline(self) -> str:
        """Say in one sentence what was found."""

    @abstractmethod
    def head(self) -> tuple[str, ...]:
        """Return what stands above the columns of the table."""

    @abstractmethod
    def table(self) -> Sequence[tuple[str, ...]]:
        """Return the lines of the table as text."""

    @abstractmethod
    def notes(self) -> list[str]:
        """Say how to read the table."""

    def __str__(self) -> str:
        """Write the sentence, the table and the notes."""
        lines = [self.head(), *self.table()]
        first, *others = ([len(line[place]) for line in lines] for place in range(len(lines[0])))
        rows = [
            "  ".join(
                [name.ljust(max(first)), *(cell.rjust(max(own)) for cell, own in zip(cells, others, strict=True))]
            )
            for name, *cells in lines
        ]
        return "\n".join([self.headline(), "", *rows, "", *self.notes()])

    def __repr__(self) -> str:
        """Write the same."""
        return str(self)

    def _repr_html_(self) -> str:
        """Write the same for a notebook; every name and value is escaped."""
        body = "".join(html_row(line) for line in self.table())
        notes = "".join(f"<p><small>{escape(note)}</small></p>" for note in self.notes())
        table = f"<table><thead>{html_row(self.head(), 'th')}</thead><tbody>{body}</tbody></table>"
        return f"<div><p>{escape(self.headline())}</p>{table}{notes}</div>"


def html_row(cells: Sequence[str], tag: str = "td") -> str:
    """Write one row of a table of a notebook, its first cell to the left, the others to the right."""
    aligned = ("left" if place == 0 else "right" for place in range(len(cells)))
    inside = (
        f'<{tag} style="text-align:{side}">{escape(cell)}</{tag}>' for side, cell in zip(aligned, cells, strict=True)
    )
    return f"<tr>{''.join(inside)}</tr>"
