"""Table 1 of 'swapped pairs', on small made data: protocol, marks, records and what is printed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from wellorder.cli.main import main
from wellorder.data import DataError
from wellorder.estimators import RankSVM, SwapSVM
from wellorder.evaluation import Record, read_records
from wellorder.order import Grades
from wellorder.papers.reproducing import reproduce
from wellorder.papers.running import PaperRun
from wellorder.papers.swapped_pairs import Binned, Pointwise, argmax, page, protocol
from wellorder.papers.swapped_pairs.page import OverSets, TableOne
from wellorder.papers.swapped_pairs.protocol import DATA_SETS, METHODS, DataSet, SumRankSVM, SumSwapSVM

FEW = ("SwapSVM", "RankSVM")
PAPERS_OWN = ((20.0, 1.0, "††"), (18.0, 1.0, ""), (15.0, 2.0, ""))


def only_set(monkeypatch, each):
    """Put a made data set in the place of the paper's."""
    for module in (page, protocol):
        monkeypatch.setattr(module, "DATA_SETS", {"Made": each})


@pytest.fixture
def small(tmp_path, monkeypatch):
    """One made data set, two methods, and grids of one point."""
    rng = np.random.default_rng(0)
    rows = [f"{a:.4f},{b:.4f},{a - b + 0.3 * rng.standard_normal():.4f}" for a, b in rng.standard_normal((50, 2))]
    header = ["@relation made", "@attribute a numeric", "@attribute b numeric", "@attribute y numeric", "@data"]
    (tmp_path / "made.arff").write_text("\n".join([*header, *rows]), encoding="utf-8")
    only_set(monkeypatch, DataSet("made.arff", "y", 2, 0, 30, 20, PAPERS_OWN))
    monkeypatch.setattr(page, "METHODS", {name: METHODS[name] for name in FEW})
    monkeypatch.setattr(protocol, "COSTS", (0.1,))
    return tmp_path


def run_table(folder, **options):
    found = reproduce(
        "swapped-pairs", folder, parts=["table-1"], quick=True, records=folder / "r.jsonl", n_jobs=1, **options
    )
    return TableOne(found.parts["table-1"].records)


@pytest.mark.parametrize("make", [lambda: Pointwise(LinearRegression()), lambda: Binned(RankSVM(tol=1e-6))])
def test_rows_without_a_grade_teach_nothing(make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=40)
    y[:8] = np.nan
    for given in (Grades(y), y):
        found = make().fit(X, given).decision_function(X)
        np.testing.assert_allclose(found, make().fit(X[8:], y[8:]).decision_function(X))


def test_every_method_meets_the_same_hold_outs(small):
    seen = []
    found = run_table(small, progress=lambda *args: seen.append(args))
    assert seen[-1] == (6, 6, "Made")
    for method in FEW:
        values = found.values("Made", method)
        assert values.shape == (3,)
        assert (values > 0).all()
        assert (values < 40).all()
    sizes = {(record.n_train, record.n_test) for record in found.records}
    assert sizes == {(30, 20)}
    assert len(list(read_records(small / "r.jsonl"))) == 6
    assert "SwapSVM " in found.lines()[-1].partition("RankSVM takes ")[2]


def test_records_are_gone_on_from(small):
    first, again = run_table(small), run_table(small)
    assert len(again.records) == len(first.records)
    assert len(list(read_records(small / "r.jsonl"))) == 6
    np.testing.assert_array_equal(first.values("Made", "SwapSVM"), again.values("Made", "SwapSVM"))


@pytest.fixture
def a_table(monkeypatch):
    """Makes a table whose values are given."""
    only_set(monkeypatch, DataSet("", "y", 2, 0, 30, 20, PAPERS_OWN))

    def with_values(ours, swap):
        return TableOne(
            [
                Record("k", "Made", method, repeat, 0, 0, 30, 20, {"swapped_pairs": value / 100})
                for method, values in (("Herbrich5", ours), ("SwapSVM", swap), ("RankSVM", swap))
                for repeat, value in enumerate(values)
            ]
        )

    return with_values


def test_marks_follow_the_paired_test(a_table):
    assert a_table([18.0, 19.0, 17.5, 18.5], [15.0, 16.1, 14.4, 15.6]).mark("Made", "Herbrich5") == "††"
    assert a_table([15.5, 15.0, 16.0, 15.0], [15.0, 16.0, 14.4, 15.6]).mark("Made", "Herbrich5") == ""
    assert a_table([15.0] * 4, [15.0] * 4).mark("Made", "Herbrich5") == ""


def test_lines_say_where_we_stand(a_table):
    better = "\n".join(a_table([18.0, 19.0, 17.0, 18.0], [14.0, 14.5, 13.9, 14.0]).lines())
    assert "at or below the paper's SwapSVM on 1 of 1 sets." in better
    assert "**14.10 ± 0.27**" in better
    assert "**15.00 ± 2.00**" in better
    worse = "\n".join(a_table([18.0, 19.0, 17.0, 18.0], [24.0, 24.5, 23.9, 24.0]).lines())
    assert "0 of 1 sets; not on Made." in worse
    assert "SwapSVM on Made (+9.10)" in worse


def test_the_papers_own_test_is_found_again_in_its_printed_values():
    def duel(column):
        means = np.array([(each.paper[2][0], each.paper[column][0]) for each in DATA_SETS.values()])
        return OverSets(means, [bool(each.paper[column][2]) for each in DATA_SETS.values()]).cells()

    assert duel(0)[:5] == ["8", "7", "1", "3", "0"]  # as its text says: 8 of 12, 1 tie, 7 significant; no loss is
    assert duel(1)[:5] == ["9", "6", "0", "3", "0"]
    # 0.02043 and 0.01089, printed there, are of means with more decimals than are printed
    np.testing.assert_allclose([float(duel(column)[6]) for column in (0, 1)], [0.02043, 0.01089], atol=2e-4)


def test_the_papers_claims_are_held_against_ours(monkeypatch):
    sets = {
        f"Made {k}": DataSet("", "y", 2, 0, 30, 20, ((20.0 + k, 1.0, "††"), (18.0 + k, 1.0, ""), (15.0, 2.0, "")))
        for k in range(4)
    }
    monkeypatch.setattr(page, "DATA_SETS", sets)
    monkeypatch.setattr(protocol, "DATA_SETS", sets)
    above = {"SwapSVM": (0.0, 0.0, 0.0, 0.0), "SVOR5": (3.0, 4.0, 3.0, 0.0), "Herbrich5": (1.0, 2.0, 3.0, -2.0)}
    noise = {"SwapSVM": (-0.2, 0.2), "SVOR5": (-0.1, 0.1), "Herbrich5": (-40.0, 40.0)}
    records = [
        Record("k", name, method, repeat, 0, 0, 30, 20, {"swapped_pairs": (50 + above[method][k] + each) / 100})
        for k, name in enumerate(sets)
        for method in above
        for repeat, each in enumerate(noise[method])
    ]
    lines = TableOne(records).lines()
    assert "| SVOR5 | the paper | 4 | 4 | 0 | 0 | 0 | -6.50 | 0.0010 | 0.0625 |" in lines
    assert "| SVOR5 | ours | 3 | 3 | 1 | 0 | 0 | -2.50 | 0.0316 | 0.1250 |" in lines
    assert "| Herbrich5 | ours | 3 | 0 | 0 | 1 | 0 | -1.00 | 0.2114 | 0.3125 |" in lines


def test_the_largest_cost_chosen_is_counted(small):
    text = "\n".join(run_table(small).lines())
    assert "SwapSVM 0 %, RankSVM 0 %." in text


def test_a_cost_of_the_sum_is_one_in_every_part_of_the_rows():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 3)), np.repeat(np.arange(20), 2)
    for ours, plain in ((SumRankSVM, RankSVM), (SumSwapSVM, SwapSVM)):
        for n in (40, 30):
            n_pairs = sum(a > b for a in y[:n] for b in y[:n])
            found = ours(0.01, tol=1e-6).fit(X[:n], y[:n])
            np.testing.assert_allclose(found.coef_, plain(0.01 * n_pairs / n, tol=1e-6).fit(X[:n], y[:n]).coef_)
            assert found.C == 0.01


def test_data_with_other_columns_than_the_papers_are_refused(small, monkeypatch):
    only_set(monkeypatch, DataSet("made.arff", "y", 3, 1, 30, 20, PAPERS_OWN))
    with pytest.raises(
        DataError, match="of its 2 attributes 0 are nominal, and the paper's Made has 3, of which 1 are"
    ):
        run_table(small)


def test_a_picture_is_drawn(a_table, tmp_path):
    a_table([18.0, 19.0], [14.0, 14.5]).picture(tmp_path / "table.png")
    assert (tmp_path / "table.png").read_bytes().startswith(b"\x89PNG")


def test_missing_data_are_named(tmp_path):
    with pytest.raises(DataError, match="the data of Diabetes are not there"):
        reproduce("swapped-pairs", tmp_path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["swaped-pairs"], "did you mean 'swapped-pairs'?"),
        (["swapped-pairs"], "WELLORDER_DATA"),
        (["swapped-pairs", "--data", "nowhere"], "no such folder"),
    ],
)
def test_the_command_names_what_is_wrong(arguments, message, capsys, monkeypatch):
    monkeypatch.delenv("WELLORDER_DATA", raising=False)
    with pytest.raises(SystemExit) as leaving:
        main(["reproduce", *arguments])
    assert leaving.value.code == 2
    assert message in capsys.readouterr().err


def test_the_command_prints_the_table(small, capsys):
    with pytest.raises(SystemExit):
        main(["reproduce", "swapped-pairs", "--part", "table-1", "--data", str(small), "--quick", "--jobs", "1"])
    assert "| Made | 2 (0) | 30 / 20 |" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--picture", "table.docx"], "pictures end in"),
        (["--jobs", "0"], "a number of processes"),
    ],
)
def test_what_cannot_work_is_said_before_the_work(small, capsys, options, message):
    with pytest.raises(SystemExit) as ended:
        main(["reproduce", "swapped-pairs", "--data", str(small), *options])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_the_most_violated_labelling_is_timed_by_rows_and_levels(tmp_path):
    part = argmax.PARTS["argmax"]
    quick = part.run(PaperRun(tmp_path, quick=True, n_jobs=1))
    lines = list(part.lines(quick))
    assert lines[2].startswith("| rows | pairs, at most | 2 levels | ")
    assert lines[4].startswith("| 10,000 | 49,995,000 | ")
    longer = [replace(each, n_train=100_000, metrics={k: 10 * v for k, v in each.metrics.items()}) for each in quick]
    assert list(part.lines([*quick, *longer]))[-1].endswith("grows as their power 1.00 to 1.00.")
