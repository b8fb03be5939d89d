"""``wellorder across``: from the records of several comparisons to mean ranks and a page."""

from __future__ import annotations

import json

import pytest

from tests.report import boards


@pytest.fixture
def kept(tmp_path):
    """Records of three data sets, as ``wellorder compare`` keeps them."""
    paths = []
    for number in range(3):
        path = tmp_path / f"set{number}.records.jsonl"
        records = boards.made_records(["rank-svm", "ridge", "svor"][: 3 - (number == 2)])
        lines = [record.to_json().replace('"data":"made"', f'"data":"set{number}.csv"') for record in records]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        paths.append(path.name)
    return paths


def test_mean_ranks_are_printed_and_a_page_is_written(run, kept, tmp_path):
    found = run("across", *kept, "--report", "across.html")
    assert (found.code, found.err) == (0, "")
    lines = found.out.splitlines()
    assert lines[0] == "2 methods on 3 data sets; swapped_pairs, lower is better"
    assert [line.split()[:2] for line in lines if line.startswith("r") and "report" not in line] == [
        ["rank-svm", "1.00"],
        ["ridge", "2.00"],
    ]
    assert "not ranked: svor, on 2 of 3 data sets only" in lines
    assert "has the best mean rank, 1.00, over 3 data sets" in (tmp_path / "across.html").read_text(encoding="utf-8")


def test_two_data_sets_that_agree_are_not_certain(run, kept, tmp_path):
    found = run("across", *kept[:2], "--report", "across.html")
    assert found.code == 0
    said = "2 data sets are too few to test 3 methods: even sets that all agree do so by chance in 17 % of cases"
    assert f"{said}; Friedman's test: p = 0.17" in found.out
    page = (tmp_path / "across.html").read_text(encoding="utf-8")
    assert said in page
    assert ">worse</td>" not in page


def test_records_with_odd_values_are_named_with_their_line(run, kept, tmp_path):
    path = tmp_path / kept[1]
    first, *rest = path.read_text(encoding="utf-8").splitlines()
    odd = json.loads(first) | {"problem": 5}
    path.write_text("\n".join([*rest, json.dumps(odd)]) + "\n", encoding="utf-8")
    found = run("across", *kept)
    assert (found.code, found.out) == (2, "")
    assert f"{kept[1]}, line {len(rest) + 1}: this is no record of a fit: its problem is 5, not a text" in found.err


def test_json_for_machines(run, kept):
    found = json.loads(run("across", *kept, "--json").out)
    assert found["mean_ranks"] == {"rank-svm": 1.0, "ridge": 2.0}
    assert found["left_out"] == {"svor": 2}


def test_bad_input_is_one_line(run, kept):
    found = run("across", kept[0])
    assert (found.code, found.out) == (2, "")
    assert "these records are of 1 (set0.csv); give two or more" in found.err
    assert run("across", kept[0], "no.jsonl").code == 2
    assert "there is no metric" in run("across", *kept, "--metric", "speed").err


ODD = {
    "a list": "[1, 2]",
    "a number": "7",
    "text": "records",
    "nested too deeply": "[" * 100_000,
    "NaN": '{"key":"k","data":"d","method":"m","metrics":{"swapped_pairs":NaN}}',
    "nothing in it": "{}",
}
WRONG = {
    "n_train": ["many", -1, 1.5, None, True, 10**40],
    "metrics": [None, [0.1], "low", {"swapped_pairs": "low"}, {"swapped_pairs": [1]}, {"swapped_pairs": True}],
    "data": [None, 7, ["a"]],
    "params": [None, [], 1],
    "fit_seconds": [None, "fast", -1.0],
    "swaps": [{}, {"levels": ["a", "b"], "swapped": [[1]], "total": [[1]]}, 7],
    "curve": [{"kind": "ndcg", "x": [1], "y": []}, []],
    "held_out": [{"a": 1}, ["x"]],
    "notes": [None, "warned", [1]],
    "problem": [1, ["x"]],
}


@pytest.mark.parametrize("case", ODD)
def test_a_line_that_is_no_record_is_named(run, kept, wines, tmp_path, case):
    path = tmp_path / kept[0]
    path.write_text(f"{ODD[case]}\n{path.read_text(encoding='utf-8')}", encoding="utf-8")
    before = path.read_bytes()
    commands = (
        ("across", *kept),
        ("compare", "wines.csv", "--target", "quality", "--item", "name", "--records", kept[0]),
    )
    for command in commands:
        found = run(*command)
        assert (found.code, found.out) == (2, "")
        assert found.err.startswith(f"error: {kept[0]}, line 1: this is no record of a fit: ")
        assert len(found.err.splitlines()) == 1
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", WRONG)
def test_a_field_that_is_not_what_it_is_called_is_named(run, kept, tmp_path, name):
    path = tmp_path / kept[1]
    lines = path.read_text(encoding="utf-8").splitlines()
    for value in WRONG[name]:
        odd = json.dumps(json.loads(lines[1]) | {name: value})
        path.write_text("\n".join([lines[0], odd, *lines[2:]]) + "\n", encoding="utf-8")
        found = run("across", *kept)
        assert (found.code, found.out) == (2, "")
        assert f"{kept[1]}, line 2: this is no record of a fit: " in found.err
        assert name in found.err


def test_few_data_sets_prove_little(run, kept):
    found = run("across", *kept[:2])
    assert found.code == 0
    assert "Friedman's test: p = 0.17" in found.out  # three methods: one order of six
    assert json.loads(run("across", *kept[:2], "--json").out)["friedman_p_value"] == pytest.approx(1 / 6)
