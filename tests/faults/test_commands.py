"""Names come from anybody: browsers, terminals and spreadsheets show them, and obey none."""

from __future__ import annotations

import csv
import re

import click
import polars as pl
import pytest

from tests.report.test_page import Page
from wellorder.cli.main import wellorder
from wellorder.cli.options import output_file
from wellorder.data import one_sheet
from wellorder.data.spreadsheets import mark_formulas

from .commands import FORMULA, MARKUP, NUMBERED, RUNS, UNTRIED

OBEYED = re.compile("[\0-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def commands():
    """Yield every command there is, by its words."""
    context = click.Context(wellorder)
    for name in wellorder.list_commands(context):
        yield name, wellorder.get_command(context, name)
    from wellorder.cli.commands.collect import export

    yield "collect export", export


def test_every_command_is_tried_and_everything_that_it_writes():
    tried = {run.name: [each for other in RUNS if other.name == run.name for each in other.words] for run in RUNS}
    for name, command in commands():
        assert name in tried, f"add a run of {name!r} to tests/faults/commands.py"
        for option in command.params:
            if option.callback is output_file and (name, option.opts[-1]) not in UNTRIED:
                assert set(option.opts) & set(tried[name]), f"no run of {name} has {option.opts[-1]}"


def test_every_command_that_writes_csv_can_be_told_to_leave_names_as_they_are():
    for name, command in commands():
        about = " ".join(option.help or "" for option in command.params if option.callback is output_file)
        writes_csv = name == "predict" or "CSV" in about
        assert writes_csv == any("--raw-names" in option.opts for option in command.params), name


@pytest.mark.parametrize("run", NUMBERED.values(), ids=NUMBERED)
def test_names_are_shown_and_never_obeyed(say, here, run):
    found = say(*run.words)
    assert found.code == 0, found.err
    assert OBEYED.search(found.out + found.err) is None
    for name in (*run.writes, *run.appends):
        path = here / name
        assert path.stat().st_size > 0
        if path.suffix == ".html":
            check_page(path.read_text(encoding="utf-8"))
        elif path.suffix == ".svg":
            assert "<script" not in path.read_text(encoding="utf-8").lower()
        elif path.suffix == ".csv":
            check_csv(path)


def check_page(source):
    """A page is well formed, runs its own scripts alone, and holds no markup that came with a name."""
    page = Page(source)
    assert "alert(1)" not in "".join(re.findall(r"<script>(.*?)</script>", source, flags=re.DOTALL))
    for carried in re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', source, flags=re.DOTALL):
        assert "<" not in carried
    for tag, attributes in page.tags:
        assert not any(name.startswith("on") for name in attributes), (tag, attributes)
        assert attributes.get("src") != "x"
        assert not str(attributes.get("href", "")).lower().startswith(("javascript:", "data:text"))
    assert MARKUP not in source
    assert not re.search("[\0-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e]", source)


def check_csv(path):
    with path.open(encoding="utf-8", newline="") as file:
        fields = [field for row in csv.reader(file) for field in row]
    frame = pl.DataFrame({"field": fields})
    marked = [field for field in fields if field.startswith(f"'{FORMULA}")]
    assert [f for f in mark_formulas(frame)[1].values() if not f[1].startswith("'")] == []
    if marked:
        values = [value for column in one_sheet(path).frame.iter_columns() for value in [column.name, *column]]
        assert any(str(value).startswith(FORMULA) for value in values)
