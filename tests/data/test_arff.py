"""ARFF files."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from .files import refuses, table

HEAD = """% a comment
@RELATION 'some wines'

@attribute 'pH value' real
@ATTRIBUTE colour {red, 'off white', "rose"}
@attribute name string
@attribute when date "yyyy-MM-dd"
@attribute n INTEGER
@attribute class {poor,fair,good}
"""
ROWS = """@data
3.1, red, Pinot, 2024-01-02, 1, fair
% another comment

?, 'off white', 'O\\'Neill, late', "2024-01-03", ?, good
2e-3,"rose",?,?,3,?
"""


def wines(folder, text=HEAD + ROWS, **options):
    return table(folder, text, "wines.arff", **options)


def test_types_and_quotes(tmp_path):
    found = wines(tmp_path)
    assert found.X.columns == ["pH value", "colour", "name", "when", "n", "class"]
    assert found.X.dtypes == [pl.Float64, pl.String, pl.String, pl.String, pl.Float64, pl.String]
    assert found.X.row(1) == (None, "off white", "O'Neill, late", "2024-01-03", None, "good")
    assert found.X.row(2) == (0.002, "rose", None, None, 3.0, None)


def test_gzip_and_recognition(tmp_path):
    assert len(table(tmp_path, HEAD + ROWS, "wines.arff.gz")) == 3
    assert len(table(tmp_path, HEAD + ROWS, "wines.txt")) == 3


def test_numeric_target(tmp_path):
    found = wines(tmp_path, target="n")
    np.testing.assert_array_equal(found.y, [1.0, np.nan, 3.0])


def test_nominal_target_suggests_a_scale_before_the_declared_order(tmp_path):
    refuses(
        tmp_path,
        HEAD.replace("poor,fair,good", "good,poor,fair") + ROWS,
        "levels=[fair, good]",
        name="wines.arff",
        target="class",
    )
    assert wines(tmp_path, target="class", levels=["poor", "fair", "good"]).y.tolist() == ["fair", "good", None]


def test_declared_nominal_numbers_are_text_but_may_be_grades(tmp_path):
    text = "@relation r\n@attribute a {4, 6}\n@attribute g {1,2}\n@data\n4,1\n6,2\n"
    found = wines(tmp_path, text, target="g", levels=[1, 2])
    assert found.X["a"].to_list() == ["4", "6"]
    assert found.y.tolist() == [1.0, 2.0]


def test_trailing_comma(tmp_path):
    assert len(wines(tmp_path, "@relation r\n@attribute a real\n@attribute b real\n@data\n1,2,\n3,4,\n")) == 2


def test_hostile_lines_take_no_time(tmp_path):
    spaces = " " * 200_000
    text = f"@relation r\n@attribute b{{x,y}}\n@data\nx{spaces}'\n"
    refuses(tmp_path, text, "a quote that is not closed", line=4, name="t.arff")
    refuses(tmp_path, "1" * 200_000, name="t.txt")


SMALL = "@relation r\n@attribute a real\n@attribute b {x,yes}\n@data\n1,x\n"


@pytest.mark.parametrize(
    ("text", "said", "line"),
    [
        (SMALL + "1\n", "1 values for 2 attributes", 6),
        (SMALL + "one,x\n", "'one' in column 'a' is not a number", 6),
        (SMALL + "1e999,x\n", "'a' is infinite", 6),
        (SMALL + "1,yess\n", "did you mean 'yes'?", 6),
        (SMALL + "1,'x\n", "a quote that is not closed", 6),
        (SMALL + "{0 1, 1 x}\n", "sparse rows", 6),
        ("@relation r\n@attribute a real\n@attribute 'a' real\n@data\n1,2\n", "both called 'a'", 4),
        ("@relation r\n@attribute a real\n@data\n", "no rows after @data", None),
        ("@relation r\n@attribute a real\n", "ends before its @data line", 2),
        ("@relation r\n@data\n1\n", "no @attribute before @data", 2),
        ("@relation r\n@attribute a relational\n@data\n", "'relational'", 2),
        ("@relation r\n@attribute a {x,y\n@data\n", "not closed with }", 2),
        ("@relation r\n@attribute a\n@data\n", "@attribute name type", 2),
        ("@relation r\n@attribute '' real\n@data\n", "without a name", 2),
        ("@relation r\nwhat is this\n@data\n", "is it an ARFF file?", 2),
    ],
)
def test_what_is_wrong(tmp_path, text, said, line):
    refuses(tmp_path, text, said, line=line, name="t.arff")
