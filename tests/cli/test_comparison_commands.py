"""Comparisons through every command: with features and without, with ties, and by ratings."""

from __future__ import annotations

import csv
import io
import json
from itertools import pairwise

import numpy as np
import pytest

import wellorder as wo
from wellorder.data import load_table_model

ITEMS = ("--items", "players.csv")
COLUMNS = ["left", "right", "predicted", "difference", "p_left", "p_tie", "p_right"]


def rows_of(found):
    assert found.code == 0, found.err
    return list(csv.DictReader(io.StringIO(found.out)))


def fit(run, games, model, *options):
    found = run("fit", games, *options, "--model", model, "--no-bands", "-o", "m.wo")
    assert found.code == 0, found.err
    return found


@pytest.mark.parametrize("options", [ITEMS, ()])
def test_predict_gives_outcomes_and_probabilities(run, games, options):
    fit(run, games, "compare-svm", *options)
    found = rows_of(run("predict", "m.wo", games, *options))
    assert list(found[0]) == COLUMNS
    table = wo.read(games, items="players.csv" if options else None)
    names, compared = table.items.names(), table.comparisons
    assert [row["left"] for row in found] == names[compared.left].tolist()
    assert [row["right"] for row in found] == names[compared.right].tolist()
    model = load_table_model("m.wo")
    scores = dict(zip(names, model.decision_function(table), strict=True))
    for row in found:
        d = scores[row["right"]] - scores[row["left"]]
        assert float(row["difference"]) == pytest.approx(d)
        assert row["predicted"] == ("=" if abs(d) <= 1 else "<" if d > 0 else ">")
        chances = [float(row[name]) for name in COLUMNS[-3:]]
        assert sum(chances) == pytest.approx(1)
        assert (chances[2] > chances[0]) == (d > 0)
    right = sum(
        row["predicted"] == {-1: ">", 0: "=", 1: "<"}[int(y)] for row, y in zip(found, compared.outcome, strict=True)
    )
    judged = json.loads(run("evaluate", "m.wo", games, *options, "--metric", "comparison_error", "--json").out)
    assert judged["comparison_error"] == pytest.approx(1 - right / len(found))
    assert right / len(found) > 0.7


def test_pairs_without_an_outcome_are_predicted_in_the_signs_of_training(run, games, tmp_path):
    fit(run, games, "compare-svm", *ITEMS)
    with_outcome = rows_of(run("predict", "m.wo", games, *ITEMS))
    lines = [line.rsplit(",", 1)[0] for line in games.read_text().splitlines()]
    (tmp_path / "pairs.csv").write_text("\n".join(lines) + "\n")
    assert rows_of(run("predict", "m.wo", "pairs.csv", *ITEMS)) == with_outcome
    signs = str.maketrans({"<": "1", "=": "0"})
    (tmp_path / "numbers.csv").write_text(games.read_text().translate(signs).replace(">", "-1"))
    as_numbers = rows_of(run("predict", "m.wo", "numbers.csv", *ITEMS))
    assert [row["predicted"] for row in as_numbers] == [
        {"<": "1", "=": "0", ">": "-1"}[row["predicted"]] for row in with_outcome
    ]


def test_lines_json_and_files(run, games, tmp_path):
    fit(run, games, "compare-svm", *ITEMS)
    found = rows_of(run("predict", "m.wo", games, *ITEMS))
    assert run("predict", "m.wo", games, *ITEMS, "--format", "lines").out.split() == [r["difference"] for r in found]
    as_json = json.loads(run("predict", "m.wo", games, *ITEMS, "--json").out)
    assert [row["predicted"] for row in as_json] == [row["predicted"] for row in found]
    assert as_json[0]["p_tie"] == pytest.approx(float(found[0]["p_tie"]))
    assert run("predict", "m.wo", games, *ITEMS, "-o", "out.csv").out == ""
    assert (tmp_path / "out.csv").read_text().splitlines()[0] == ",".join(COLUMNS)
    items = json.loads(run("predict", "m.wo", "players.csv", "--json").out)
    assert list(items[0]) == ["name", "score", "rank"]
    assert sorted(row["rank"] for row in items) == list(range(1, 13))


@pytest.mark.parametrize("model", ["rank-svm", "rank-threshold"])
def test_models_without_probabilities_have_no_such_columns(run, games, model):
    fit(run, games, model, *ITEMS)
    found = rows_of(run("predict", "m.wo", games, *ITEMS))
    assert list(found[0]) == COLUMNS[:4]
    assert ("=" in {row["predicted"] for row in found}) == (model != "rank-svm")
    refused = run("evaluate", "m.wo", games, *ITEMS, "--metric", "comparison_brier")
    assert refused.code == 2
    assert "probabilities" in refused.err


def test_probabilities_can_be_left_out(run, games):
    fit(run, games, "compare-svm", *ITEMS, "--set", "probability=false")
    assert list(rows_of(run("predict", "m.wo", games, *ITEMS))[0]) == COLUMNS[:4]


def test_too_few_comparisons_to_calibrate_are_fitted_without(run, tmp_path):
    (tmp_path / "few.csv").write_text("left,right,outcome\na,b,<\n")
    fit(run, "few.csv", "compare-svm")
    assert list(rows_of(run("predict", "m.wo", "few.csv"))[0]) == COLUMNS[:4]


@pytest.mark.parametrize("options", [ITEMS, ()])
def test_calibration_is_measured_by_name(run, games, options):
    fit(run, games, "compare-svm", *options)
    asked = ["comparison_log_loss", "comparison_auc", "comparison_brier", "comparison_error", "swapped_pairs"]
    chosen = [part for name in asked for part in ("--metric", name)]
    found = json.loads(run("evaluate", "m.wo", games, *options, *chosen, "--json").out)
    assert list(found) == asked
    table = wo.read(games, items="players.csv" if options else None)
    P = load_table_model("m.wo").predict_proba(table)
    assert found["comparison_brier"] == pytest.approx(wo.metrics.comparison_brier(table.comparisons.outcome, P))
    assert found["comparison_log_loss"] == pytest.approx(wo.metrics.comparison_log_loss(table.comparisons.outcome, P))
    assert list(json.loads(run("evaluate", "m.wo", games, *options, "--json").out)) == [
        "comparison_error",
        "swapped_pairs",
        "comparison_auc",
    ]


@pytest.mark.parametrize("model", ["compare-svm", "rank-threshold", "rank-threshold-both", "elo"])
def test_order_puts_what_the_model_cannot_tell_apart_into_one_band(run, games, model):
    fit(run, games, model, *ITEMS)
    threshold = load_table_model("m.wo").ranker_.threshold_
    assert threshold > 0
    found = json.loads(run("order", "m.wo", "players.csv", "--json").out)
    first = {}
    for row in found:
        top = first.setdefault(row["band"], row["score"])
        assert top - row["score"] <= threshold
    tops = list(first.values())
    assert all(above - below > threshold for above, below in pairwise(tops))
    said = run("order", "m.wo", "players.csv").out
    assert f"at most {threshold:.3g} below its first" in said
    assert "no difference" in said


def test_a_confidence_that_is_asked_for_goes_by_held_out_pairs(run, games):
    run("fit", games, *ITEMS, "--model", "compare-svm", "-o", "m.wo")
    assert "less than 90 % of the time" in run("order", "m.wo", "players.csv", "--confidence", "0.9").out
    assert "no difference" in run("order", "m.wo", "players.csv").out


def test_order_and_predict_take_files_of_comparisons_without_features(run, games):
    fit(run, games, "compare-svm")
    assert len(json.loads(run("order", "m.wo", games, "--json").out)) == 12
    assert len(rows_of(run("predict", "m.wo", "players.csv"))) == 12


def test_an_item_that_was_never_seen_is_named_with_its_line(run, games, tmp_path):
    fit(run, games, "compare-svm")
    (tmp_path / "new.csv").write_text("left,right\np1,p2\np3,p77\n")
    for command in (["predict", "m.wo", "new.csv"], ["order", "m.wo", "new.csv"]):
        found = run(*command)
        assert found.code == 2
        assert found.err.startswith("error: new.csv, line 3: the item 'p77' was in no comparison")
        assert "did you mean 'p7'?" in found.err
        assert found.err.count("\n") == 1


def test_ratings_give_newcomers_the_rating_that_all_start_with(run, games, tmp_path):
    fit(run, games, "elo", *ITEMS)
    (tmp_path / "new.csv").write_text("left,right\np0,Zed\nZed,Yan\n")
    found = run("predict", "m.wo", "new.csv")
    scores = {row["name"]: float(row["score"]) for row in rows_of(run("predict", "m.wo", "players.csv"))}
    assert [float(row["difference"]) for row in rows_of(found)] == pytest.approx([1500 - scores["p0"], 0])
    assert found.err.strip() == (
        "warning: 2 items ('Zed' is the first) were never compared: the rating is the one that all start with"
    )
    # known by name: a file about the items changes nothing
    assert run("evaluate", "m.wo", games, *ITEMS).out == run("evaluate", "m.wo", games).out


def test_parameters_inside_are_set_by_their_own_names(run, games):
    assert "with k=16" in fit(run, games, "elo", "--set", "k=16").out
    assert load_table_model("m.wo").ranker_.system_.k == 16
    fit(run, games, "rank-threshold", *ITEMS, "--set", "C=3")
    assert load_table_model("m.wo").ranker_.estimator_.C == 3
    assert "did you mean 'start'?" in run("fit", games, "--model", "elo", "--set", "strat=1", "-o", "m.wo").err


def test_compare_ranks_the_methods_of_comparisons(run, games, tmp_path):
    models = "compare-svm,rank-threshold,rank-threshold-both,elo,glicko,davidson,rank-svm,svor"
    found = run("compare", games, *ITEMS, "--models", models, "--folds", "3", "--repeats", "1", "--report", "r.html")
    assert found.code == 0, found.err
    assert "comparison_error, lower is better" in found.out
    for name in models.split(",")[:-1]:
        assert name in found.out
    assert "baselines: " in found.out
    assert "left out svor: it does not learn from comparisons" in found.out
    assert "wrong on every tie: rank-svm;" in found.out
    page = (tmp_path / "r.html").read_text()
    assert "held-out comparisons rightly" in page
    assert "predict no ties" in page


def test_ratings_are_left_out_where_they_cannot_work(run, games, wines, tmp_path):
    command = ["compare", wines, "--target", "quality", "--item", "name", "--models", "ridge,elo,davidson"]
    found = run(*command, "--folds", "2", "--repeats", "1")
    assert "left out elo, davidson: it does not learn from grades" in found.out
    weighted = "\n".join(line + (",weight" if line.endswith("outcome") else ",2") for line in games.read_text().split())
    (tmp_path / "weighted.csv").write_text(weighted + "\n")
    found = run("compare", "weighted.csv", "--models", "elo,davidson", "--folds", "2", "--repeats", "1")
    assert "left out elo: Elo has no use for weights" in found.out


BAD = {
    "a rating of grades": (
        ["fit", "wines.csv", "--target", "quality", "--item", "name", "--model", "elo", "-o", "x.wo"],
        "elo does not learn from grades; these do: rank-svm",
    ),
    "grades by comparisons": (["fit", "games.csv", "--model", "svor", "-o", "x.wo"], "svor does not learn from"),
    "no items": (["predict", "m.wo", "games.csv"], "--items"),
    "items that are not there": (["predict", "m.wo", "games.csv", "--items", "no.csv"], "no.csv"),
    "items for items": (["predict", "m.wo", "players.csv", *ITEMS], "--items goes with comparisons"),
    "items that lack a column": (
        ["predict", "m.wo", "games.csv", "--items", "short.csv"],
        "short.csv: it has no column 'noise'",
    ),
    "a stranger among the items": (["predict", "m.wo", "strange.csv", *ITEMS], "strange.csv, line 2: the item 'Zed'"),
    "a run of comparisons": (["predict", "m.wo", "games.csv", *ITEMS, "--format", "trec"], "--format csv"),
    "json into a file": (["predict", "m.wo", "games.csv", *ITEMS, "--json", "-o", "x"], "--json goes to the terminal"),
    "the data overwritten": (["predict", "m.wo", "games.csv", *ITEMS, "-o", "players.csv"], "would be overwritten"),
    "no outcome to judge by": (["evaluate", "m.wo", "pairs.csv", *ITEMS], "no column 'outcome'"),
    "a bad outcome to judge by": (["evaluate", "m.wo", "strange.csv", *ITEMS], "strange.csv, line 2"),
    "probabilities of methods": (
        ["compare", "games.csv", "--metric", "comparison_brier", "--models", "davidson,rank-threshold,rank-svm"],
        "rank-threshold, rank-svm give none; name methods that do (compare-svm, elo, glicko, davidson)",
    ),
    "probabilities of one": (["fit", "games.csv", "--search", "--metric", "rps", "-o", "x.wo"], "rank-svm gives none"),
    "a metric of no search": (["fit", "games.csv", "--metric", "swapped_pairs", "-o", "x.wo"], "say --search as well"),
    "an unknown metric": (["evaluate", "m.wo", "games.csv", *ITEMS, "--metric", "comparison_eror"], "comparison_error"),
    "only ties": (["fit", "ties.csv", "--model", "elo", "-o", "x.wo"], "nothing to learn a direction from"),
    "a missing name": (["predict", "m.wo", "gap.csv", *ITEMS], "gap.csv, line 2: the name (column 'right') is missing"),
}


@pytest.fixture
def bad(run, games, wines, tmp_path):
    fit(run, games, "compare-svm", *ITEMS)
    short = [line.rsplit(",", 1)[0] for line in (tmp_path / "players.csv").read_text().splitlines()]
    files = {
        "short.csv": "\n".join(short) + "\n",
        "strange.csv": "left,right,outcome\nZed,p1,better\n",
        "pairs.csv": "left,right\np0,p1\n",
        "ties.csv": "left,right,outcome\np0,p1,=\np1,p2,=\n",
        "gap.csv": "left,right\np0,\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return run


def test_bad_input_of_comparisons_is_one_line_and_exit_2(bad):
    for case, (arguments, expected) in BAD.items():
        found = bad(*arguments)
        assert found.code == 2, case
        assert expected in found.err, (case, found.err)
        assert found.err.startswith("error: "), case
        assert found.err.count("\n") == 1, case
        assert found.out == "", case


def test_features_called_left_and_right_stay_features(run, tmp_path):
    rng = np.random.default_rng(0)
    items = ["item,left,right"] + [f"i{k},{rng.standard_normal():.3f},{k}" for k in range(8)]
    (tmp_path / "items.csv").write_text("\n".join(items) + "\n")
    lines = ["left,right,outcome"] + [
        f"i{a},i{b},{'<' if b > a else '>'}" for a in range(8) for b in range(8) if a != b
    ]
    (tmp_path / "games.csv").write_text("\n".join(lines) + "\n")
    fit(run, "games.csv", "rank-svm", "--items", "items.csv")
    assert list(rows_of(run("predict", "m.wo", "items.csv"))[0]) == ["item", "score", "rank"]


SYSTEMS = {
    "davidson": (("--set", "first_move=true"), lambda: wo.ratings.Davidson(first_move=True)),
    "elo": (("--set", "advantage=250"), lambda: wo.ratings.Elo(advantage=250.0)),
    "glicko": (("--set", "advantage=250"), lambda: wo.ratings.Glicko(advantage=250.0)),
    "elo, fitted": (("--set", "advantage=fit"), lambda: wo.ratings.Elo(advantage="fit")),
    "glicko, fitted": (("--set", "advantage=fit"), lambda: wo.ratings.Glicko(advantage="fit")),
}


@pytest.fixture
def white_wins(tmp_path):
    """Games that the left player mostly wins, whoever it is; equals tie now and then."""
    rng = np.random.default_rng(3)
    lines = ["left,right,outcome"]
    for _ in range(300):
        left, right = rng.choice(6, 2, replace=False)
        margin = 0.4 * (right - left) - 2.5 + rng.logistic()
        lines.append(f"p{left},p{right},{0 if abs(margin) < 0.3 else int(np.sign(margin))}")
    path = tmp_path / "white.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_first_move_counts_at_the_command_line_as_in_python(run, white_wins, name):
    settings, make = SYSTEMS[name]
    fit(run, white_wins, name.partition(",")[0], *settings)
    found = rows_of(run("predict", "m.wo", white_wins))
    games = [line.split(",") for line in white_wins.read_text().splitlines()[1:]]
    left, right, outcome = zip(*games, strict=True)
    outcome = np.array(outcome, dtype=int)
    system = make().fit(left, right, outcome)
    difference = [float(row["difference"]) for row in found]
    np.testing.assert_allclose(difference, system.compare(left, right), rtol=1e-6, atol=1e-6)
    chances = [[float(row[column]) for column in COLUMNS[-3:]] for row in found]
    np.testing.assert_allclose(chances, system.predict_proba(left, right), rtol=1e-6)
    predicted = np.array([int(row["predicted"]) for row in found])
    metrics = ("--metric", "comparison_error", "--metric", "comparison_auc", "--metric", "swapped_pairs", "--json")
    judged = json.loads(run("evaluate", "m.wo", white_wins, *metrics).out)
    assert judged["comparison_error"] == pytest.approx(wo.metrics.comparison_error(outcome, predicted))
    assert judged["comparison_error"] < 0.3 < judged["swapped_pairs"]  # who moves first decides most games
    assert judged["comparison_auc"] == pytest.approx(wo.metrics.comparison_auc(outcome, difference))
    assert wo.read(white_wins).comparisons.outcome.tolist() == outcome.tolist()


def test_who_stands_on_the_left_counts_in_every_number_at_the_command_line(run, tmp_path):
    """A wins at home, and half of its games elsewhere: at B's place the two are even, and nowhere else."""
    home = ["A,B,>", "B,A,<", "A,B,>", "B,A,>"]
    (tmp_path / "home.csv").write_text("\n".join(["left,right,outcome", *home * 30]) + "\n")
    (tmp_path / "next.csv").write_text("left,right\nA,B\nB,A\n")
    for model, setting in (("davidson", "first_move=true"), ("elo", "advantage=fit"), ("glicko", "advantage=fit")):
        fit(run, "home.csv", model, "--set", setting)
        there, back = rows_of(run("predict", "m.wo", "next.csv"))
        assert float(there["p_left"]) > 0.9
        assert 0.3 < float(back["p_left"]) < 0.72  # Glicko goes by the latest games most
        judged = json.loads(run("evaluate", "m.wo", "home.csv", "--metric", "log_loss", "--json").out)
        assert judged["comparison_log_loss"] < 0.45  # 0.56 for a model that does not know who is at home


def _doubt(doubt, names, one, other):
    return float(doubt.between(names.index(one), names.index(other)))


def test_ratings_are_put_in_order_without_a_file_by_how_sure_they_are(run, tmp_path):
    rng = np.random.default_rng(4)
    lines = ["left,right,outcome"]
    for _ in range(400):
        left, right = rng.choice(8, 2, replace=False)
        lines.append(f"t{left},t{right},{'<' if 0.4 * (left - right) + rng.logistic() > 0 else '>'}")
    lines += ["new,t2,>", "new,t3,>", "t4,new,>", "new,t5,<"]
    (tmp_path / "teams.csv").write_text("\n".join(lines) + "\n")
    for model in ("davidson", "glicko"):
        fit(run, "teams.csv", model)
        found = {row["item"]: row for row in json.loads(run("order", "m.wo", "--confidence", "0.95", "--json").out)}
        assert set(found) == {*(f"t{k}" for k in range(8)), "new"}
        assert found["new"]["deviation"] > 1.3 * max(found[f"t{k}"]["deviation"] for k in range(8))
        names, doubt = list(found), load_table_model("m.wo").uncertainty(list(found))
        first = {row["band"]: name for name, row in reversed(found.items())}
        for name, row in found.items():
            apart = {band: found[top]["score"] - row["score"] for band, top in first.items() if band <= row["band"]}
            sure = {band: apart[band] >= 1.645 * _doubt(doubt, names, first[band], name) for band in apart}
            assert [band for band, told in sure.items() if not told or first[band] == name] == [row["band"]]
        said = run("order", "m.wo").out
        assert "less than 75 % sure" in said
        assert "deviation" in said
    fit(run, "teams.csv", "elo")
    said = run("order", "m.wo").out
    assert "Elo's ratings do not say how sure they are" not in said  # fitted without bands: there are none
    assert "deviation" not in said
    run("fit", "teams.csv", "--model", "elo", "-o", "m.wo")
    assert "Elo's ratings do not say how sure they are" in run("order", "m.wo").out
    fit(run, "teams.csv", "rank-svm")
    assert len(json.loads(run("order", "m.wo", "--json").out)) == 9


def test_rating_systems_are_compared_by_what_they_foretell_in_the_order_of_time(run, tmp_path):
    rng = np.random.default_rng(5)
    lines = ["day,left,right,outcome"]
    for day in range(300):
        left, right = rng.choice(6, 2, replace=False)
        margin = 0.6 * (left - right) + rng.logistic()
        lines.append(f"{day},p{left},p{right},{0 if abs(margin) < 0.7 else int(np.sign(margin))}")
    (tmp_path / "dated.csv").write_text("\n".join(lines) + "\n")
    options = ["--time", "day", "--models", "elo,glicko,davidson", "--metric", "rps", "--metric", "log_loss", "--json"]
    found = run("compare", "dated.csv", *options, "--folds", "2")
    assert found.code == 0, found.err
    board = json.loads(found.out)
    assert {each["method"] for each in board["standings"]} == {"elo", "glicko", "davidson"}
    assert all(0.05 < each["mean"] < 0.25 for each in board["standings"])
    assert all(0.3 < each["metrics"]["comparison_log_loss"] < 1.1 for each in board["standings"])


def test_a_model_of_features_wants_the_file_of_items(run, games):
    fit(run, games, "compare-svm", *ITEMS)
    found = run("order", "m.wo")
    assert found.code == 2
    assert (
        found.err == "error: the model scores items by their columns, and knows none by name; name the file of items\n"
    )


def test_the_first_move_counts_in_cross_validation(white_wins):
    table = wo.read(white_wins)
    items = np.zeros((len(table.items), 1))
    plain, knowing = (
        wo.cross_validate(wo.ratings.RatingRanker(system), items, table.comparisons, metrics="comparison_error")
        for system in (wo.ratings.Davidson(), wo.ratings.Davidson(first_move=True))
    )
    assert knowing["comparison_error"].mean() < 0.3 < plain["comparison_error"].mean()
