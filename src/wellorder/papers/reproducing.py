"""Running papers again: parts of them, kept with when, where and by which command, and pages that are made of these."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from joblib import effective_n_jobs

from ..data import DataError
from ..evaluation import Record, RecordFile, versions
from ..suggest import suggest
from ..whole_files import whole_file, write_whole
from ..writing import write_seconds
from .registry import PAPERS
from .running import PaperRun

# --------------------------------------------------------------------------------------------------
# What was run.


@dataclass(frozen=True)
class Origin:
    """Where a part's records come from."""

    commit: str | None
    """Of a clone of the project; None where it was installed, and so has none."""
    date: str
    versions: Mapping[str, str]
    seconds: float
    """From begin to end."""
    n_jobs: int
    """Processes side by side."""
    quick: bool
    n_kept: int
    """Records that an earlier run had left."""


@dataclass(frozen=True)
class Ran:
    """A part's records."""

    records: tuple[Record, ...]
    origin: Origin


@dataclass(frozen=True)
class Reproduction:
    """Parts of a paper that were run again.

    Attributes
    ----------
    paper : str
        Its name in ``PAPERS``.
    parts : mapping of str to Ran
        By name, in any order.
    """

    paper: str
    parts: Mapping[str, Ran]

    def lines(self) -> list[str]:
        """Return the paper's tables and ours, side by side, as Markdown lines."""
        out: list[str] = []
        for name, part in PAPERS[self.paper].parts.items():
            if name in self.parts:
                out += ["", *part.lines(self.parts[name].records)]
        return out[1:]

    def picture(self, path: str | os.PathLike[str]) -> None:
        """Draw the paper's values and ours; the parts that the picture is of must be there."""
        PAPERS[self.paper].picture({name: ran.records for name, ran in self.parts.items()}, path)

    @property
    def can_be_drawn(self) -> bool:
        """Whether the parts that the picture is of are there."""
        return set(PAPERS[self.paper].pictured) <= set(self.parts)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the records, each part's after a line that says where they come from, compressed."""
        with whole_file(path) as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as out:
            for name, ran in self.parts.items():
                head = {"part": name, "records": len(ran.records), **asdict(ran.origin)}
                for line in (json.dumps(head), *(record.to_json() for record in ran.records)):
                    out.write(line.encode("utf-8") + b"\n")

    @classmethod
    def load(cls, paper: str, path: str | os.PathLike[str]) -> Reproduction:
        """Read what :meth:`save` wrote."""
        try:
            with gzip.open(path, "rt", encoding="utf-8") as file:
                lines = file.read().splitlines()
            parts = dict(_read_parts(iter(lines)))
        except (OSError, EOFError, ValueError, KeyError, TypeError, StopIteration) as error:
            raise DataError(str(path), f"this is no file of a paper's records ({error or 'it is cut off'})") from None
        unknown = [name for name in parts if name not in PAPERS[paper].parts]
        if unknown:
            raise DataError(str(path), f"it has a part {unknown[0]!r}, which {paper} has not; is it another paper's?")
        return cls(paper, parts)


def _read_parts(lines: Iterator[str]) -> Iterator[tuple[str, Ran]]:
    for line in lines:
        head = json.loads(line)
        name, n_records = head.pop("part"), head.pop("records")
        try:
            records = tuple(Record.from_json(next(lines)) for _ in range(n_records))
        except RuntimeError:  # what a generator makes of the end of the lines
            raise ValueError("it is cut off") from None
        yield name, Ran(records, Origin(**head))


def reproduce(
    paper: str,
    data: str | os.PathLike[str],
    *,
    parts: Sequence[str] | None = None,
    quick: bool = False,
    records: str | os.PathLike[str] | None = None,
    n_jobs: int = -1,
    progress: Callable[[int, int, str], None] | None = None,
) -> Reproduction:
    """Run a paper's experiments again.

    Parameters
    ----------
    paper : str
        A name in ``PAPERS``.
    data : path
        The folder with the data sets.
    parts : sequence of str, optional
        Some of the paper's; all unless given.
    quick : bool, default=False
        Fewer repetitions.
    records : path, optional
        Where to keep a JSON line a fit, and to go on from.
    n_jobs : int, default=-1
        Processes; all processors unless given.
    progress : callable, optional
        Called with what is done, what is planned, and what was last.
    """
    known = PAPERS[paper].parts
    for name in parts or ():
        if name not in known:
            raise ValueError(f"{paper} has no part {name!r}; {suggest(name, known)}")
    kept = RecordFile(records)
    run = PaperRun(Path(data), quick, kept, n_jobs, progress)
    return Reproduction(paper, {name: _run_part(paper, name, run) for name in known if parts is None or name in parts})


def _run_part(paper: str, name: str, run: PaperRun) -> Ran:
    before = {record.key for record in run.kept}
    started = time.perf_counter()
    made = tuple(PAPERS[paper].parts[name].run(run))
    origin = Origin(
        commit=_commit(),
        date=datetime.now(UTC).date().isoformat(),
        versions=dict(versions()),
        seconds=round(time.perf_counter() - started, 1),
        n_jobs=effective_n_jobs(run.n_jobs),
        quick=run.quick,
        n_kept=sum(record.key in before for record in made),
    )
    return Ran(made, origin)


def _commit() -> str | None:
    """Return the commit of the clone that this module lies in; None where it lies in none, or git is not there."""
    here = Path(__file__).resolve().parent

    def git(*words: str) -> str:
        command = ("git", "-C", str(here), *words)
        return subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout

    try:
        git("ls-files", "--error-unmatch", Path(__file__).name)  # else it is installed below somebody else's clone
        changed = git("status", "--porcelain", "--", str(here.parent))
        return git("rev-parse", "--short=7", "HEAD").strip() + (" with changes" if changed.strip() else "")
    except (OSError, subprocess.CalledProcessError):
        return None


# --------------------------------------------------------------------------------------------------
# Pages: what is made stands between two marks, what a person wrote around them.


BEGIN = "<!-- From here to the end mark, `wellorder reproduce` writes: what is changed by hand is lost. -->"
END = "<!-- The end of what is written by `wellorder reproduce`. -->"


def made_lines(found: Reproduction) -> list[str]:
    """Return what a page says by itself: how each part was made, and its tables."""
    parts = {name: part for name, part in PAPERS[found.paper].parts.items() if name in found.parts}
    out = [
        "| part | made by `wellorder reproduce` … `--data DIR` | on | at commit | in |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, part in parts.items():
        out.append(
            f"| [{part.title}](#{_anchor(part.title)}) | `{found.paper} --part {name}` | {_origin(found, name)} |"
        )
    for name, part in parts.items():
        out += ["", f"## {part.title}", "", *part.lines(found.parts[name].records)]
    return out


def _origin(found: Reproduction, name: str) -> str:
    origin = found.parts[name].origin
    how = f"{write_seconds(origin.seconds)}, {origin.n_jobs} process{'es' if origin.n_jobs > 1 else ''}"
    if origin.n_kept:
        how += f", {origin.n_kept} of {len(found.parts[name].records)} records from before"
    return (
        f"{origin.date} | {origin.commit or origin.versions['wellorder']} | {how}{', --quick' if origin.quick else ''}"
    )


def _anchor(title: str) -> str:
    """Return what Markdown's readers name a heading by."""
    kept = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -_")
    return kept.replace(" ", "-")


def records_beside(page: str | os.PathLike[str]) -> Path:
    """Return where a page's records lie."""
    path = Path(page)
    return path.parent / "records" / f"{path.stem}.jsonl.gz"


def write_page(page: str | os.PathLike[str], found: Reproduction) -> Reproduction:
    """Write a page anew between its marks, its records and its picture beside it; parts not run stay as they were.

    Returns what the page shows now.
    """
    path, kept = Path(page), records_beside(page)
    if kept.exists():
        found = replace(found, parts={**Reproduction.load(found.paper, kept).parts, **found.parts})
    order = list(PAPERS[found.paper].parts)
    found = replace(found, parts=dict(sorted(found.parts.items(), key=lambda each: order.index(each[0]))))
    text = path.read_text(encoding="utf-8") if path.exists() else f"# {PAPERS[found.paper].title}\n"
    kept.parent.mkdir(exist_ok=True)
    found.save(kept)
    write_whole(path, page_with(text, made_lines(found)))
    if found.can_be_drawn:
        found.picture(path.with_suffix(".png"))
    return found


def page_with(text: str, lines: Sequence[str]) -> str:
    """Return a page with these lines between its marks; at its end where it has none."""
    made = "\n".join((BEGIN, "", *lines, "", END))
    before, begin, rest = text.partition(BEGIN)
    if not begin:
        return f"{text.rstrip()}\n\n{made}\n"
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"the page has the mark where its tables begin, but not the one where they end: {END}")
    return before + made + after
