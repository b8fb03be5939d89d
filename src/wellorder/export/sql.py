"""SQL: a SELECT that scores the rows of a table, for those who have nothing but a database."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from ..sweeps import Array
from .forms import ExportError, Feature, Form, GradeRule, InputColumn, Trees
from .one_kind import kind_of, linear_of, trees_of
from .target import Job, Scored, Target

_MOST_LETTERS = 900_000
"""SQLite refuses longer statements in its default settings."""

_TOGETHER = 16
"""This many terms of a sum are put in brackets, so that no expression nests deeper than parsers allow."""


def write(job: Job, path: Path) -> list[str]:
    """Write the statement."""
    form = job.form
    text = statement(form, str(job.options.get("table", "items")))
    if len(text) > _MOST_LETTERS:
        raise ExportError(
            f"the statement would have {len(text):,} letters, which databases refuse; fit fewer or smaller trees "
            "(n_estimators=50, max_leaf_nodes=7), or export to='onnx' or 'lightgbm'"
        )
    path.write_text(text, encoding="utf-8")
    notes = [f"the rows come from the table {quoted(str(job.options.get('table', 'items')))}; a missing value is NULL"]
    if any(column.kind == "text" for column in form.columns):
        notes.append("text is compared letter by letter: mind collations that take some letters for the same")
    return notes


def statement(form: Form, table: str) -> str:
    """Return the SELECT of all columns of a table, and the score beside them; with cuts, the grade too."""
    taken = {column.name.lower() for column in form.columns}
    called = next(name for name in ("score", "model_score", "wellorder_score") if name not in taken)
    inner = f"SELECT *, {expression(form)} AS {called}\nFROM {quoted(table)}"
    grade = None if form.grades is None else _grade(form.grades, called)
    if grade is not None:
        inner = f"SELECT *, {grade} AS {'model_' * ('grade' in taken)}grade\nFROM (\n{inner}\n) AS scored"
    return f"{inner}\nORDER BY {called} DESC;\n"


def expression(form: Form) -> str:
    """Return the score of a row as an expression."""
    if kind_of(form.score) == "linear":
        features, weights, constant = linear_of(form.score)
        terms = [
            _times(weight, _value(f, form.columns))
            for f, weight in zip(features, weights.tolist(), strict=True)
            if weight
        ]
        return _sum([literal(constant)] * bool(constant or not terms) + terms)
    features, trees, constant = trees_of(form.score)
    sums = [_tree(trees, int(root), features, form.columns) for root in trees.roots.tolist()]
    return _sum([literal(constant)] * bool(constant or not sums) + sums)


def quoted(name: str) -> str:
    """Return a name as SQL's standard writes it."""
    if "\0" in name:
        raise ExportError(f"no database takes the name {name!r}")
    return '"' + name.replace('"', '""') + '"'


def literal(value: Any) -> str:
    """Return a number, in the way that makes it a double, or text."""
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    text = repr(float(value))
    return text if "e" in text else f"{text}e0"


def _times(weight: float, value: str) -> str:
    return f"{literal(weight)} * {value}"


def _sum(terms: list[str]) -> str:
    """Add up terms, a few in brackets at a time."""
    while len(terms) > _TOGETHER:
        terms = [f"({' + '.join(terms[a : a + _TOGETHER])})" for a in range(0, len(terms), _TOGETHER)]
    return "(" + "\n + ".join(terms) + ")" if len(terms) > 1 else terms[0]


def _value(feature: Feature, columns: tuple[InputColumn, ...]) -> str:
    """Return a feature as an expression."""
    name = quoted(columns[feature.column].name)
    match feature.kind:
        case "number":
            found = name
        case "missing":
            found = f"CASE WHEN {name} IS NULL THEN 1e0 ELSE 0e0 END"
        case "category" if feature.values[0] is None:
            found = f"CASE WHEN {name} IS NULL THEN 1e0 ELSE 0e0 END"
        case "category":
            found = f"CASE WHEN {name} = {literal(feature.values[0])} THEN 1e0 ELSE 0e0 END"
        case "code":
            raise ExportError("numbers of categories are for trees alone")
    for step in feature.steps:
        value = literal(step.value)
        match step.kind:
            case "fill":
                found = f"COALESCE({found}, {value})"
            case "minus" | "over" | "times" | "plus":
                sign = {"minus": "-", "over": "/", "times": "*", "plus": "+"}[step.kind]
                found = f"({found} {sign} {value})"
            case "at_least":
                found = f"CASE WHEN {found} < {value} THEN {value} ELSE {found} END"
            case "at_most":
                found = f"CASE WHEN {found} > {value} THEN {value} ELSE {found} END"
    return found


def _tree(trees: Trees, root: int, features: tuple[Feature, ...], columns: tuple[InputColumn, ...]) -> str:
    """Return a tree as one CASE without another inside: parsers have little room for those.

    Leaves come from left to right. Who has come past all leaves to the left of a node's right side has gone right
    there, so that a leaf need only ask for the turns to the left on the way to it.
    """
    whens: list[tuple[list[str], str]] = []
    waiting: list[tuple[int, list[str]]] = [(root, [])]
    while waiting:
        node, turns = waiting.pop()
        if trees.left[node] < 0:
            whens.append((turns, literal(trees.value[node])))
            continue
        condition = _condition(trees, node, features[int(trees.feature[node])], columns)
        waiting += [(int(trees.right[node]), turns), (int(trees.left[node]), [*turns, condition])]
    *asked, (_, last) = whens
    if not asked:
        return last
    return f"CASE {' '.join(f'WHEN {_and(turns)} THEN {value}' for turns, value in asked)} ELSE {last} END"


def _and(turns: list[str]) -> str:
    return " AND ".join(turns) if turns else "1 = 1"


def _condition(trees: Trees, node: int, feature: Feature, columns: tuple[InputColumn, ...]) -> str:
    """Return what is true of rows that go left; where it is NULL they go right."""
    missing_left, name = bool(trees.missing_left[node]), quoted(columns[feature.column].name)
    if trees.set_size[node]:
        members = set(trees.left_set(node))
        if missing_left:
            members = set(range(int(trees.set_size[node]))) - members
        listed = ", ".join(literal(feature.values[place]) for place in sorted(members))
        if missing_left:
            return f"({name} IS NULL OR {name} NOT IN ({listed}))" if listed else "1 = 1"
        return f"{name} IN ({listed})" if listed else "1 = 0"
    value = _value(feature, columns)
    condition = f"{value} <= {literal(trees.threshold[node])}"
    return f"({value} IS NULL OR {condition})" if missing_left and feature.kind == "number" else condition


def _grade(grades: GradeRule, score: str) -> str | None:
    """Return the grade by the score, where cuts tell it."""
    if grades.cuts is None or not all(isinstance(label, bool | int | float | str) for label in grades.labels):
        return None
    labels = [_label(label) for label in grades.labels]
    whens = (f"WHEN {score} <= {literal(cut)} THEN {label}" for cut, label in zip(grades.cuts, labels, strict=False))
    return f"CASE {' '.join(whens)} ELSE {labels[-1]} END"


def _label(label: Any) -> str:
    return literal(label) if isinstance(label, str) else str(int(label)) if label == int(label) else literal(label)


# --------------------------------------------------------------------------------------------------
# The check, in the database that comes with Python.


def score(job: Job, path: Path, rows: Any) -> Scored:
    """Score rows in SQLite, in their own order."""
    form, table = job.form, str(job.options.get("table", "items"))
    text = path.read_text(encoding="utf-8")
    selected, called = text.rstrip().removesuffix(" DESC;").rsplit("\nORDER BY ", 1)
    selected += ' ORDER BY "row of the check";'
    names = [column.name for column in form.columns]
    kinds = ["TEXT" if column.kind == "text" else "REAL" for column in form.columns]
    try:
        with closing(sqlite3.connect(":memory:")) as database:
            listed = ", ".join(f"{quoted(name)} {kind}" for name, kind in zip(names, kinds, strict=True))
            database.execute(f'CREATE TABLE {quoted(table)} ({listed}, "row of the check" INTEGER)')
            marks = ", ".join("?" * (len(names) + 1))
            database.executemany(f"INSERT INTO {quoted(table)} VALUES ({marks})", _records(form, rows))
            cursor = database.execute(selected)
            place = [part[0] for part in cursor.description].index(called)
            found = [record[place] for record in cursor]
    except sqlite3.Error as error:  # of names that differ in their case alone, and of thousands of columns
        raise ExportError(
            f"SQLite, where it is checked, does not take its columns ({error}); fit it on columns with other names, or "
            "fewer, or export to='onnx'"
        ) from None
    scores = np.array([np.nan if value is None else value for value in found], dtype=float)
    return Scored(f"SQLite {sqlite3.sqlite_version}", scores)


def _records(form: Form, rows: Any) -> Iterator[tuple[Any, ...]]:
    columns: list[Array] = (
        [np.asarray(rows[column.name]) for column in form.columns]
        if isinstance(rows, Mapping)
        else [np.asarray(rows)[:, column.place] for column in form.columns]
    )
    for number, values in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
        yield (*(None if value is None or value != value else value for value in values), number)


TARGET = Target(
    name="sql",
    title="a database",
    takes="linear models, small trees and steps",
    write=write,
    score=score,
    ending=".sql",
    options=("table",),
)
