"""``wellorder explain``: the numbers of ``wo.explain``, and one clear line where items are not there."""

from __future__ import annotations

import json

import pytest

import wellorder as wo


@pytest.fixture
def model(run, wines):
    assert run("fit", wines, "--target", "quality", "--item", "name", "--no-bands", "-o", "wines.wo").code == 0
    return "wines.wo"


def test_help_has_an_example_and_stands_beside_the_other_commands(run):
    assert "wellorder explain wines.wo" in run("explain", "--help").out
    assert "\n  explain " in run("--help").out


def test_explain_says_which_stands_above_and_why(run, wines, model):
    found = run("explain", model, wines, "wine 3", "wine 7")
    assert found.code == 0
    assert found.err == ""
    first, *rest = found.out.splitlines()
    assert first.startswith("wine 3 stands ")
    assert "mostly because of " in first
    table = "\n".join(rest)
    for text in (
        "feature",
        "wine 3",
        "wine 7",
        "acid",
        "sugar",
        "missing",
        "1 other feature",
        "all",
        "exact: each weight",
    ):
        assert text in table


def test_json_has_the_numbers_of_python(run, wines, model):
    told = json.loads(run("explain", model, wines, "wine 3", "wine 7", "--json").out)
    items = wo.read(wines, target="quality", item="name")
    expected = wo.explain(wo.load(model), "wine 3", "wine 7", items=items)
    assert told["difference"] == expected.difference
    assert [part["contribution"] for part in told["contributions"]] == [c.contribution for c in expected.contributions]
    sugar = next(part for part in told["contributions"] if part["feature"] == "sugar")
    assert sugar["b"] is None
    assert (told["a"], told["b"], told["probability"]) == ("wine 3", "wine 7", None)


def test_an_unknown_item_is_one_line_and_exit_code_2(run, wines, model):
    found = run("explain", model, wines, "wine 3", "wine 777")
    assert found.code == 2
    assert found.out == ""
    assert len(found.err.splitlines()) == 1
    assert "there is no item 'wine 777' in" in found.err
    assert "did you mean 'wine 77'" in found.err
    assert run("explain", model, wines, "wine 3").code == 2


def test_rows_without_names_go_by_their_number(run, wines):
    run("fit", wines, "--target", "quality", "--drop", "name", "--no-bands", "-o", "plain.wo")
    found = run("explain", "plain.wo", wines, "row 4", "row 8", "--top", 1)
    assert found.code == 0
    assert "row 4 stands " in found.out
    for unknown in ("5000", "wine 4"):
        wrong = run("explain", "plain.wo", wines, "1", unknown).err
        assert f"there is no item {unknown!r} in" in wrong
        assert "its rows are numbered from 1 to " in wrong
        assert "row 2" not in wrong  # numbers up to the last say it all


def test_names_that_occur_in_several_lists_need_the_list(run, tmp_path):
    lines = ["list,name,x,y,grade"]
    lines += [f"{day},{name},{k * 0.3 + d:.1f},{(k * 7) % 5},{k % 3}" for d, day in enumerate(("Mon", "Tue"))
              for k, name in enumerate("ABCDEF")]  # fmt: skip
    (tmp_path / "lists.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    run("fit", "lists.csv", "--target", "grade", "--group", "list", "--item", "name", "--no-bands", "-o", "lists.wo")
    found = run("explain", "lists.wo", "lists.csv", "A", "B")
    assert found.code == 2
    assert "2 rows called 'A'" in found.err
    assert run("explain", "lists.wo", "lists.csv", "A", "B", "--list", "Tue").code == 0
    found = run("explain", "lists.wo", "lists.csv", "A", "B", "--list", "Tuesday")
    assert found.code == 2
    assert "its lists are Mon, Tue" in found.err


def test_a_list_of_a_file_without_lists_is_refused(run, wines, model):
    found = run("explain", model, wines, "wine 3", "wine 7", "--list", "Mon")
    assert found.code == 2
    assert "has no lists" in found.err


def test_comparisons_are_explained_by_the_items_features(run, games):
    run("fit", games, "--items", "players.csv", "--model", "compare-svm", "--no-bands", "-o", "players.wo")
    found = run("explain", "players.wo", "players.csv", "p11", "p0")
    assert found.code == 0
    assert "p11 stands above p0" in found.out
    assert "because of strength" in found.out
    told = json.loads(run("explain", "players.wo", "players.csv", "p11", "p0", "--json").out)
    assert told["threshold"] > 0


def test_rows_go_by_their_numbers(run, wines, model):
    by_name, by_number = (run("explain", model, wines, *two) for two in (("wine 3", "wine 7"), ("4", "8")))
    names = wines.read_text().splitlines()
    assert "wine 3" in names[4]  # the fourth row below the header
    assert by_number.out == by_name.out
    assert run("explain", model, wines, "row 4", "8").out == by_name.out
    beyond = run("explain", model, wines, "4", "4000")
    assert beyond.code == 2
    assert "rows are numbered from 1 to " in beyond.err


def test_rows_of_a_list_keep_their_numbers(run, tmp_path):
    rows = [f"{row % 5 / 5},{row % 7},{'ab'[row % 2]},{row % 3}" for row in range(60)]
    (tmp_path / "lists.csv").write_text("x,z,list,grade\n" + "\n".join(rows) + "\n")
    fitted = run("fit", "lists.csv", "--target", "grade", "--group", "list", "--no-bands", "-o", "m.wo")
    assert fitted.code == 0
    whole, part = (
        run("explain", "m.wo", "lists.csv", "12", "40"),
        run("explain", "m.wo", "lists.csv", "12", "40", "--list", "b"),
    )
    assert part.out == whole.out
    assert part.out.startswith("row 12 stands ")
    other = run("explain", "m.wo", "lists.csv", "12", "40", "--list", "a")
    assert other.code == 2
    assert "row 12 of lists.csv stands in another list" in other.err


def test_names_go_before_numbers(run, tmp_path):
    rows = [f"{30 - row},{row % 5},{row % 3}" for row in range(30)]
    (tmp_path / "named.csv").write_text("id,x,grade\n" + "\n".join(rows) + "\n")
    assert run("fit", "named.csv", "--target", "grade", "--item", "id", "--no-bands", "-o", "m.wo").code == 0
    found = json.loads(run("explain", "m.wo", "named.csv", "30", "row 2", "--json").out)
    assert (found["a"], found["b"]) == ("30", "29")
