"""Parquet files in partitions: read and encoded on the workers, and the model is that of the files read whole."""

from __future__ import annotations

import os
import re
import time
from concurrent.futures import CancelledError
from itertools import pairwise

import distributed
import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import wellorder as wo
from wellorder.cli.engine import dask_cluster
from wellorder.cli.main import wellorder
from wellorder.data import DataError, TableEncoder, TableRanker, read
from wellorder.data.partitions import read_partitions

CUTS = (0, 500, 1_130, 2_000)


def wines():
    rng, n = np.random.default_rng(0), CUTS[-1]
    frame = pl.DataFrame(
        {
            "ph": rng.normal(3, 2, n),
            "colour": rng.choice(["red", "white", "rosé"], n),
            "doors": [str(4 + row % 2) if row < 500 else "more" for row in range(n)],
            "sugar": [None if row % 9 == 0 else float(rng.normal()) for row in range(n)],
            "maker": [None if row == 1_500 else f"m{row % 5}" for row in range(n)],
            "huge": 1e200 * rng.random(n),
            "same": np.ones(n),
            "list": np.arange(n) // 25,
            "heft": rng.uniform(0.5, 2, n),
        }
    )
    score = frame["ph"].to_numpy() + (frame["colour"] == "red").to_numpy() + rng.normal(size=n)
    return frame.with_columns(quality=pl.Series(np.digitize(score, [2, 3, 5])))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path, frame = tmp_path_factory.mktemp("wines"), wines()
    for part, (a, b) in enumerate(pairwise(CUTS)):
        frame[a:b].write_parquet(path / f"part-{part}.parquet")
    return path


ROLES = {"target": "quality", "group": "list", "weight": "heft"}


def tables(folder, **roles):
    return read(sorted(folder.glob("part-*.parquet")), **roles), read_partitions(
        [str(folder / "part-*.parquet")], **roles
    )


def test_a_table_in_partitions_is_the_table(folder):
    whole, parts = tables(folder, **ROLES)
    for name in ("y", "groups", "weights"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
    assert len(parts) == len(whole)
    assert parts.feature_names == whole.feature_names


def test_encoding_by_partitions_is_the_encoding(folder):
    whole, parts = tables(folder, **ROLES)
    one, other = TableEncoder().fit(whole), TableEncoder().fit(parts)
    assert other.get_feature_names_out().tolist() == one.get_feature_names_out().tolist()
    assert other.categories_ == one.categories_
    np.testing.assert_allclose(other.centers_, one.centers_, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(other.scales_, one.scales_, rtol=1e-12)
    np.testing.assert_array_equal(other.flagged_, one.flagged_)
    np.testing.assert_allclose(other.transform(parts).compute(), one.transform(whole), atol=1e-12)


def test_some_rows_of_partitions(folder):
    whole, parts = tables(folder, **ROLES)
    rows = np.arange(3, 2_000, 7)
    twice = np.arange(0, len(rows), 2)
    one, other = whole.take(rows).take(twice), parts.take(rows).take(twice)
    np.testing.assert_array_equal(other.y, one.y)
    encoder = TableEncoder().fit(one)
    np.testing.assert_allclose(TableEncoder().fit(other).transform(other), encoder.transform(one), atol=1e-12)
    with pytest.raises(IndexError, match="in their order"):
        parts.take(rows[::-1])


@pytest.mark.parametrize("ranker", [wo.RankSVM(), wo.ProportionalOdds()], ids=str)
def test_a_ranker_of_tables(client, folder, ranker):
    whole, parts = tables(folder, **ROLES)
    here, there = TableRanker(ranker).fit(whole), TableRanker(ranker).fit(parts)
    np.testing.assert_allclose(there.ranker_.coef_, here.ranker_.coef_, rtol=1e-8, atol=1e-10)
    assert there.spread_ == pytest.approx(here.spread_)
    assert there.describe() == here.describe()


def run(*arguments):
    return CliRunner().invoke(wellorder, [str(argument) for argument in arguments])


def test_the_command_line(cluster, folder, tmp_path):
    told = ["--target", "quality", "--group", "list"]
    address = cluster.scheduler_address
    done = run(
        "fit", folder / "part-*.parquet", "--engine", "dask", "--scheduler", address, *told, "-o", tmp_path / "a.wo"
    )
    assert done.exit_code == 0, done.output
    plain = run("fit", *sorted(folder.glob("part-*.parquet")), *told, "-o", tmp_path / "b.wo")
    assert plain.exit_code == 0, plain.output
    assert re.findall("right order: .*", done.output) == re.findall("right order: .*", plain.output)
    there, here = wo.load(tmp_path / "a.wo"), wo.load(tmp_path / "b.wo")
    np.testing.assert_allclose(there.ranker_.coef_, here.ranker_.coef_, rtol=1e-8, atol=1e-10)
    for one, other in zip(there.resolution_, here.resolution_, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8)
    np.testing.assert_allclose(there.decision_function(wines()), here.decision_function(wines()), rtol=1e-8)


def test_scores_on_the_command_line(cluster, folder, tmp_path):
    roles = {"target": "quality", "group": "list", "item": "doors"}
    wo.save(TableRanker(wo.RankSVM()).fit(read(folder / "part-0.parquet", **roles)), tmp_path / "a.wo")
    engine = ["--engine", "dask", "--scheduler", cluster.scheduler_address]
    files = sorted(folder.glob("part-*.parquet"))
    with pytest.warns(UserWarning, match="missing value"):  # the workers do not tell
        here = run("predict", tmp_path / "a.wo", *files, "-o", tmp_path / "here.csv")
    there = run("predict", tmp_path / "a.wo", folder / "part-*.parquet", "-o", tmp_path / "there.csv", *engine)
    assert (here.exit_code, there.exit_code) == (0, 0), there.output
    one, other = (pl.read_csv(tmp_path / f"{name}.csv", infer_schema_length=None) for name in ("here", "there"))
    assert other.columns == one.columns
    assert other.drop("score").equals(one.drop("score"))
    np.testing.assert_allclose(other["score"], one["score"], rtol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (["--scheduler", "tcp://127.0.0.1:1"], "say --engine dask"),
        (["--engine", "dask", "--search"], "--search reads all rows"),
        (["--engine", "dask", "--model", "svor"], "needs all rows in one place"),
        (["--engine", "dask", "--model", "swap-svm", "--set", "kernel=rbf"], "n_components"),
        (["--engine", "dask", "--drop", "colour,qualty"], "no column 'qualty'"),
    ],
)
def test_bad_options(cluster, folder, tmp_path, arguments, match):
    if "dask" in arguments:
        arguments = [*arguments, "--scheduler", cluster.scheduler_address]
    done = run("fit", folder / "part-*.parquet", "--target", "quality", "-o", tmp_path / "a.wo", *arguments)
    assert done.exit_code != 0
    assert match in done.output + str(done.exception)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nowhere", "foo://bar:1"])
def test_no_cluster_at_an_address(folder, tmp_path, address):
    options = ["--target", "quality", "-o", tmp_path / "a.wo", "--engine", "dask", "--scheduler", address]
    start = time.monotonic()
    done = run("fit", folder / "part-*.parquet", *options)
    assert done.exit_code == 2
    assert f"--scheduler {address}: no Dask cluster is found there" in done.output
    assert time.monotonic() - start < 30  # it gives up after 5


@pytest.mark.parametrize(
    ("error", "match"),
    [
        (CancelledError("x"), "connection to the Dask scheduler was lost"),
        (distributed.KilledWorker("task", None, 3), "one worker after another died"),
    ],
)
def test_what_became_of_a_cluster_is_said(cluster, error, match):
    with pytest.raises(OSError, match=match), dask_cluster(cluster.scheduler_address):
        raise error


def write(path, **columns):
    pl.DataFrame(columns).write_parquet(path)


@pytest.mark.parametrize(
    ("second", "match"),
    [
        ({"x": [1.0, 2.0], "y": [1, 2], "z": [0, 0]}, "has a column 'z'"),
        ({"x": [1.0, 2.0]}, "has no column 'y'"),
        ({"x": [1.0, float("inf")], "y": [1, 2]}, "row 2: column 'x' is infinite"),
        ({"x": ["one", "two"], "y": [1, 2]}, "column 'x' holds text, and numbers in"),
    ],
)
def test_files_that_do_not_go_together(client, tmp_path, second, match):
    write(tmp_path / "a.parquet", x=[0.5, 0.7], y=[1, 2])
    write(tmp_path / "b.parquet", **second)
    with pytest.raises(DataError, match=match):
        TableRanker(wo.RankSVM()).fit(read_partitions([str(tmp_path / "*.parquet")], target="y"))


def test_a_typo_among_numbers_is_refused(tmp_path):
    write(tmp_path / "a.parquet", x=[str(number) for number in range(30)], y=list(range(30)))
    write(tmp_path / "b.parquet", x=[*map(str, range(9)), "1o"], y=list(range(10)))
    with pytest.raises(DataError, match="'1o' in column 'x' is not a number"):
        TableRanker(wo.RankSVM()).fit(read_partitions([str(tmp_path / "*.parquet")], target="y"))


def test_files_that_are_none(tmp_path):
    with pytest.raises(DataError, match="no file has such a name"):
        read_partitions([str(tmp_path / "*.parquet")])
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        read_partitions([str(tmp_path / "a.csv")])
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        read_partitions([str(tmp_path / "absent.parquet")])
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="reads a file again and again, and this is a pipe"):
        read_partitions([str(tmp_path / "pipe")])
