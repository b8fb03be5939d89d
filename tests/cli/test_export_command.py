"""``wellorder export``: the file, what was checked, and one line where it cannot be."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pandas as pd

import wellorder as wo


def test_a_model_becomes_a_select_that_scores_the_table(run, wines):
    assert run("fit", wines, "--target", "quality", "--item", "name", "-o", "wines.wo").code == 0
    done = run("export", "wines.wo", "-o", "wines.sql", "--table", "wines", "--check", wines)
    assert done.code == 0, done.err
    assert done.out.startswith("wrote wines.sql for sql\nchecked on 120 rows by SQLite")
    assert "the order is the same" in done.out
    assert 'note: the rows come from the table "wines"' in done.out
    model, table = wo.load("wines.wo"), wo.read(wines, item="name", target="quality")
    with sqlite3.connect(":memory:") as database:
        frame = pd.DataFrame(table.X.to_dict(as_series=False) | {"name": list(table.row_ids())})
        frame.to_sql("wines", database, index=False)
        cursor = database.execute(Path("wines.sql").read_text())
        names = [part[0] for part in cursor.description]
        found = {row[names.index("name")]: row[names.index("score")] for row in cursor}
    database.close()
    for name, score in zip(table.row_ids(), model.decision_function(table), strict=True):
        assert abs(found[name] - score) < 1e-12


def test_json_says_what_was_written(run, wines):
    run("fit", wines, "--target", "quality", "--item", "name", "--model", "rank-svm", "-o", "wines.wo")
    done = run("export", "wines.wo", "-o", "wines.json", "--to", "solr", "--name", "wines", "--json")
    told = json.loads(done.out)
    assert told["files"] == ["wines.json", "wines.features.json"]
    assert told["target"] == "solr"
    assert told["n_rows"] == 1_000
    assert 0 <= told["difference"] < 1e-6 * told["range"]


def test_what_cannot_be_done_is_one_line(run, wines):
    run("fit", wines, "--target", "quality", "--item", "name", "--model", "rank-svm-rbf", "-o", "wines.wo")
    for arguments, word in (
        (("-o", "wines.sql"), "kernels or bumps; "),
        (("-o", "wines.bin"), "say --to, one of"),
        (("-o", "wines.txt", "--to", "ligthgbm"), "did you mean"),
        (("-o", "wines.onnx", "--table", "x"), "--table is no option"),
        (("-o", "wines.wo", "--to", "mlflow"), "wines.wo"),
    ):
        done = run("export", "wines.wo", *arguments)
        assert done.code == 2, arguments
        assert word in done.err
        assert "to=" not in done.err
        assert len(done.err.strip().splitlines()) == 1


def test_standings_and_names_go_out_as_names(run, tmp_path):
    lines = ["left,right,outcome", "a,b,1", "b,c,1", "c,a,-1", "a,c,1", "b,a,0", "c,b,-1"]
    (tmp_path / "votes.csv").write_text("\n".join(lines) + "\n")
    assert run("rate", "votes.csv", "--save", "standings.wo").code == 0
    done = run("export", "standings.wo", "-o", "folder", "--to", "mlflow")
    assert done.code == 0, done.err
    assert "scores differ by 0 at most" in done.out
    done = run("export", "standings.wo", "-o", "standings.sql")
    assert done.code == 2
    assert "ratings by name" in done.err
    assert "--to onnx" in done.err
