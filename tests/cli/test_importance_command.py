"""``wellorder importance``, and the page of ``wellorder order``: what a person gets from a model file."""

from __future__ import annotations

import json

import pytest

import wellorder as wo


@pytest.fixture
def model(run, wines):
    assert run("fit", wines, "--target", "quality", "--item", "name", "-o", "wines.wo").code == 0
    return "wines.wo"


def test_importance_names_the_columns_that_matter(run, wines, model):
    found = run("importance", model, wines)
    assert (found.code, found.err) == (0, "")
    lines = found.out.splitlines()
    assert lines[0].startswith("swapped_pairs: ")
    assert "with acid shuffled" in lines[0]
    assert [line.split()[0] for line in lines[4:7]] == ["acid", "colour", "sugar"]
    assert "exact, over all" in found.out


def test_json_has_the_numbers_of_python(run, wines, model):
    told = json.loads(
        run("importance", model, wines, "--metric", "kendall_tau", "--repeats", 3, "--seed", 4, "--json").out
    )
    table = wo.read(wines, target="quality", item="name")
    expected = wo.importance(wo.load(model), table, metric="kendall_tau", n_repeats=3, random_state=4)
    assert [each["drop"] for each in told["columns"]] == [each.drop for each in expected.columns]
    assert told["value"] == expected.value
    assert told["greater_is_better"] is True


def test_numbered_features_and_comparisons(run, letor, games):
    run("fit", letor, "--no-bands", "-o", "l.wo")
    found = run("importance", "l.wo", letor, "--metric", "ndcg@5", "--top", 1)
    assert "feature 1 " in found.out
    assert "Not shown: 3 columns" in found.out
    assert run("fit", games, "--items", "players.csv", "--model", "compare-svm", "--no-bands", "-o", "p.wo").code == 0
    found = run("importance", "p.wo", games, "--items", "players.csv")
    assert found.code == 0
    assert "comparison_error: " in found.out
    assert found.out.index("strength") < found.out.index("noise")
    run("fit", games, "--model", "davidson", "--no-bands", "-o", "d.wo")
    found = run("importance", "d.wo", games)
    assert found.code == 2
    assert "looks at no column" in found.err


def test_what_is_wrong_is_one_line(run, wines, model):
    for arguments in (["--metric", "ndgc@5"], ["--repeats", "1"], ["--items", wines]):
        found = run("importance", model, wines, *arguments)
        assert found.code == 2
        assert len(found.err.splitlines()) == 1


def test_order_writes_a_page_beside_what_it_prints(run, wines, model, tmp_path):
    printed = run("order", model, wines, "--top", 3)
    found = run("order", model, wines, "--top", 3, "--report", "order.html")
    assert found.code == 0
    assert found.out == printed.out + "report: order.html\n"
    source = (tmp_path / "order.html").read_text(encoding="utf-8")
    assert "stands first of 120 items" in source
    assert "no sugar" in source
    as_json = run("order", model, wines, "--json", "--report", "order.html")
    assert len(json.loads(as_json.out)) == 120
    assert "report: order.html" in as_json.err
    assert run("order", model, wines, "--report", wines).code == 2


def test_importance_says_so_where_the_model_learned_from_the_very_rows(run, wines, model):
    assert "learned from these very rows" in run("importance", model, wines).out
    lines = wines.read_text(encoding="utf-8").splitlines()
    others = wines.with_name("others.csv")
    others.write_text("\n".join(lines[:-2]) + "\n", encoding="utf-8")
    assert "very rows" not in run("importance", model, others).out


def test_order_shows_names_that_only_the_items_file_has(run, wines, model):
    text = wines.read_text(encoding="utf-8")
    assert run("fit", wines, "--target", "quality", "--drop", "name", "-o", "nameless.wo").code == 0
    named = run("order", "nameless.wo", wines, "--json")
    assert all(each["item"] in text for each in json.loads(named.out))
    called = wines.with_name("called.csv")
    called.write_text(text.replace("name", "vineyard", 1), encoding="utf-8")
    unnamed = json.loads(run("order", "nameless.wo", called, "--json").out)
    assert [each["item"] for each in unnamed] != [each["item"] for each in json.loads(named.out)]
    told = json.loads(run("order", "nameless.wo", called, "--item", "vineyard", "--json").out)
    assert [each["item"] for each in told] == [each["item"] for each in json.loads(named.out)]
    refused = run("order", "nameless.wo", wines, "--item", "acid")
    assert (refused.code, "a column that the model looks at" in refused.err) == (2, True)
