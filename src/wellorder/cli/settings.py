"""``--set name=value``: read, and checked against the method's own parameters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from ..suggest import suggest


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
