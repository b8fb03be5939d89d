"""Options that several commands share: which file, and what its columns mean."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from errno import ENOENT
from glob import glob, has_magic
from stat import S_ISREG
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..suggest import suggest
from .output import say

if TYPE_CHECKING:
    from ..data import ComparisonTable, PairTable, Table


F = TypeVar("F", bound=Callable[..., Any])
AnyRead = TypeVar("AnyRead", bound="Table | ComparisonTable | PairTable")


def names(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """Split an option's value at commas; blanks around a name do not count."""
    return None if value is None else tuple(part.strip() for part in value.split(",") if part.strip())


def all_names(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Split the values of an option that may be given several times at commas."""
    return tuple(name for part in value for name in names(ctx, param, part) or ())


def _are_there(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """Say at once that a file is not there, whatever else is wrong; patterns and URLs are for whoever reads them."""
    for path in (value,) if isinstance(value, str) else value or ():
        if not has_magic(path) and "://" not in path and not os.path.exists(path):
            raise FileNotFoundError(ENOENT, "there is no such file; check its name and folder", path)
    return value


INPUT: dict[str, Any] = {"callback": _are_there, "is_eager": True}
"""For every argument or option that names a file to be read: such files are checked before anything else."""


class ModelCommand(click.Command):
    """A command that takes names of methods: its help lists them, and only then are they loaded."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names before the examples."""
        from ..evaluation import METHODS

        with formatter.section("Models"):
            indent = " " * formatter.current_indent
            wrapper = TextWrapper(formatter.width, indent, indent, break_on_hyphens=False)  # names stay whole
            formatter.write(wrapper.fill(", ".join(METHODS)) + "\n")
        super().format_epilog(ctx, formatter)


def output_file(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Check a file to be written before the work starts, not after: refuse folders, and folders that are not there."""
    if value is None:
        return None
    if not value:
        raise click.BadParameter("name a file")
    folder = os.path.dirname(os.path.abspath(value))
    if os.path.isdir(value):
        raise click.BadParameter(f"{value} is a folder; name a file in it")
    if not os.path.isdir(folder):
        raise click.BadParameter(f"there is no folder {folder} to write {os.path.basename(value)} into")
    if not os.access(value if os.path.exists(value) else folder, os.W_OK):
        raise click.BadParameter(f"{value} may not be written to")
    return value


def refuse_overwriting(inputs: Iterable[str | None], *outputs: str | None) -> None:
    """Refuse an output that is one of the inputs, or another output, by whatever name: nothing must be lost."""
    named = [path for path in inputs if path is not None]
    read = [*named, *(path for pattern in named if has_magic(pattern) for path in glob(pattern))]
    written: list[str] = []
    for output in outputs:
        if output is None:
            continue
        for path in read:
            if _is_one_file(path, output):
                also = "" if path == output else f" as {path}"
                raise click.UsageError(
                    f"{output} is read by this command{also}, and would be overwritten; name another output"
                )
        for other in written:
            if _is_one_file(other, output):
                one = "is named" if other == output else f"and {other} are one file, named"
                raise click.UsageError(f"{output} {one} for two outputs, and one would be lost; name another")
        written.append(output)


def _is_one_file(one: str, other: str) -> bool:
    """Say whether two names are of one plain file, through links of either kind; devices and pipes may be shared."""
    try:
        found = os.stat(one), os.stat(other)
    except OSError:  # one of them is yet to be written
        return os.path.realpath(one) == os.path.realpath(other)
    return S_ISREG(found[0].st_mode) and os.path.samestat(*found)


def finite(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """Refuse nan, which every range lets through."""
    if value is not None and value != value:
        raise click.BadParameter("nan is no number to go by")
    return value


def format_name(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Check the name of a format; the formats are only loaded once one is named."""
    if value is None:
        return None
    from ..data import FORMATS

    if value not in FORMATS:
        raise click.BadParameter(f"there is no format {value!r}; {suggest(value, FORMATS)}")
    return value


_ROLES = (
    click.option("--target", metavar="COLUMN", help="The column with the grades; higher is better."),
    click.option("--group", metavar="COLUMN", help="The query or list a row belongs to; only such rows are compared."),
)
_LEVELS = click.option(
    "--levels", metavar="A,B,…", callback=names, help="The grades from worst to best, where they are text."
)
_READING = (
    click.option("--item", metavar="COLUMN", help="What a row is called; not a feature."),
    click.option("--weight", metavar="COLUMN", help="Row weights."),
    click.option("--time", metavar="COLUMN", help="When a row is from: a number or a date; not a feature."),
    click.option(
        "--event",
        metavar="COLUMN[=VALUE]",
        help="Where the target holds times: whether an event ended them (1), or they were censored (0).",
    ),
    click.option("--drop", metavar="A,B,…", multiple=True, callback=all_names, help="Columns to leave out."),
    click.option("--items", metavar="FILE", help="For comparisons: a file about the items.", **INPUT),
    click.option(
        "--format",
        "format_",
        metavar="NAME",
        callback=format_name,
        help="Such as csv or letor, where neither content nor name of the file say it.",
    ),
)


_COMPARED = (
    click.option("--left", metavar="COLUMN", help="For comparisons: the one item, if its column is not recognised."),
    click.option("--right", metavar="COLUMN", help="For comparisons: the other item."),
    click.option(
        "--outcome", metavar="COLUMN", help="For comparisons: which is better: left, right or tie, or its name."
    ),
    click.option("--winner", metavar="COLUMN", help="For comparisons, in place of these: the item that won."),
    click.option("--loser", metavar="COLUMN", help="The item that lost."),
    click.option(
        "--scores",
        metavar="LEFT,RIGHT",
        callback=names,
        help="In place of --outcome: what each scored; more is better.",
    ),
)
COMPARED = ("left", "right", "outcome", "winner", "loser", "scores")
"""The names of these options."""


def comparison_options(function: F) -> F:
    """Add the options that say which columns hold comparisons; they go to ``read`` or ``read_for`` by their names."""
    for option in reversed(_COMPARED):
        function = option(function)
    return function


def vote_options(function: F) -> F:
    """Add the argument VOTES, and the options that say what the columns of a file of comparisons mean."""
    for option in reversed((*_READING, *_COMPARED)):
        function = option(function)
    return click.argument("data", metavar="VOTES...", nargs=-1, required=True, **INPUT)(function)


def data_options(function: F) -> F:
    """Add the argument DATA, and the options that say what its columns mean."""
    for option in reversed((*_ROLES, _LEVELS, *_READING, *_COMPARED)):
        function = option(function)
    return click.argument("data", metavar="DATA...", nargs=-1, required=True, **INPUT)(function)


seed_option = click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Of everything that is random."
)
jobs_option = click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many fits run side by side.  [default: as many as there are processors, if memory allows]",
)
raw_names_option = click.option(
    "--raw-names",
    is_flag=True,
    help="In CSV, write names that a spreadsheet would take for formulas as they are, not after an apostrophe.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for machines.")


def read_data(data: tuple[str, ...], **roles: Any) -> Table | ComparisonTable:
    """Read the files that a command names; several are read as one."""
    from ..data import read

    roles["format"] = roles.pop("format_", None)
    return read(data[0] if len(data) == 1 else list(data), **roles)


def read_votes(data: tuple[str, ...], **roles: Any) -> ComparisonTable:
    """Read files of votes; others are refused, with what a file of votes looks like."""
    from ..data import ComparisonTable, DataError

    table = read_data(data, **roles)
    if not isinstance(table, ComparisonTable):
        raise DataError(
            data[0],
            "it holds no votes on two things that are recognised; give columns such as left, right and outcome, "
            "model_a, model_b and winner, or winner and loser, or name them with left=, right= and outcome=",
        )
    return table


def say_understood(table: AnyRead, *, uses_columns: bool = False) -> AnyRead:
    """Say at a terminal, in one line, how comparisons were read; what is piped stays quiet.

    A command that does not use their other columns names them there, and gets a table without them: nobody has to warn
    of them again.
    """
    from ..data import ComparisonTable, Table, understood_by_methods

    if isinstance(table, Table) or not table.understood or not sys.stderr.isatty():
        return table
    say(table.understood if uses_columns else understood_by_methods(table), err=True)
    return table if uses_columns or not isinstance(table, ComparisonTable) else replace(table, columns=None)


# --------------------------------------------------------------------------------------------------
# ``--set name=value``: read, and checked against the method's own parameters.


def _signs(ctx: click.Context, param: click.Parameter, value: str | None) -> dict[str, int] | None:
    """Read alcohol=+,acidity=-: the columns in which more is never worse, or never better."""
    if value is None:
        return None
    out: dict[str, int] = {}
    for each in value.split(","):
        column, equals, sign = each.rpartition("=")
        column, sign = column.strip(), sign.strip()
        if not equals or not column or sign not in ("+", "-", "+1", "-1"):
            raise click.BadParameter(f"{each.strip()!r} is not a column with + or -, such as alcohol=+")
        if column in out:
            raise click.BadParameter(f"it names {column!r} twice")
        out[column] = -1 if sign.startswith("-") else 1
    return out


monotone_option = click.option(
    "--monotone",
    metavar="A=+,B=-",
    callback=_signs,
    help="Columns in which more is never worse (+), or never better (-), all else held: kept exactly.",
)


def refuse_unless_monotone(estimator: Any, method: str) -> None:
    """Refuse a method that cannot keep columns monotone exactly, and name those that can."""
    from ..estimators import keeps_monotone
    from ..evaluation import METHODS

    if keeps_monotone(estimator):
        return
    able = ", ".join(name for name, each in METHODS.items() if keeps_monotone(each.make()))
    raise click.UsageError(f"{method}, as it is set, cannot keep columns monotone exactly; these can: {able}")


def read_settings(estimator: Any, settings: Iterable[str], method: str) -> dict[str, Any]:
    """Read settings such as ``C=10``; an unknown name is an error that suggests the nearest."""
    known = estimator.get_params(deep=False)
    inner = _inner_names(estimator)
    read: dict[str, Any] = {}
    for setting in settings:
        name, equals, written = (part.strip() for part in setting.partition("="))
        if not equals or not written:
            raise click.UsageError(f"--set {setting}: write it as NAME=VALUE, such as --set C=10")
        if name not in known:
            name = inner.get(name, name)
        if name not in estimator.get_params():
            raise click.UsageError(
                f"--set {setting}: {method} has no parameter {name!r}; {suggest(name, [*known, *inner], 'it has')}"
            )
        if name in read:
            raise click.UsageError(f"--set {name} is given twice")
        read[name] = _value(written)
    return read


def _inner_names(estimator: Any) -> dict[str, str]:
    """Return the parameters of the estimators inside, such as Elo's k, by the names they have there."""
    inside = [name for name, value in estimator.get_params(deep=False).items() if hasattr(value, "get_params")]
    found: dict[str, str] = {}
    for part in inside:
        for name in getattr(estimator, part).get_params(deep=False):
            found.setdefault(name, f"{part}__{name}")
    return found


def _value(written: str) -> Any:
    """Read None, a truth value or a number where it is one; other text stays text."""
    words = {"none": None, "true": True, "false": False}
    if written.lower() in words:
        return words[written.lower()]
    for kind in (int, float):
        try:
            return kind(written)
        except ValueError:
            continue
    return written
