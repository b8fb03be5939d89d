"""Ratings and their covariances against a slow reference, and against what was planted."""

import itertools
import math

import numpy as np
import polars as pl
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import wellorder as wo
from tests.reference import standings as slow
from wellorder.standings import likelihood
from wellorder.standings.likelihood import one_thread_if_few
from wellorder.standings.sureness import bar_for_all, follow


def draw(rng, m, ratings, *, side=0.0, length=0.0, log_nu=-0.4, judges=None):
    """Draw votes; ``judges`` are (leanings, sharpness)."""
    k = len(ratings)
    left = rng.integers(0, k, m)
    right = (left + rng.integers(1, k, m)) % k
    longer = rng.normal(size=m)
    d = ratings[right] - ratings[left] + side + length * longer
    judge = np.zeros(m, int)
    if judges is not None:
        judge = rng.integers(0, len(judges[0]), m)
        d = judges[1][judge] * (d + judges[0][judge])
    weights = np.column_stack([np.exp(-d / 2), np.full(m, math.exp(log_nu)), np.exp(d / 2)])
    outcome = (rng.uniform(size=m)[:, None] * weights.sum(axis=1, keepdims=True) > weights.cumsum(axis=1)).sum(
        axis=1
    ) - 1
    return left, right, outcome, longer, judge


def test_estimates_and_covariances_are_those_of_the_slow_reference():
    rng = np.random.default_rng(0)
    left, right, outcome, longer, _ = draw(rng, 120, np.array([-0.6, 0.0, 0.1, 0.5]), side=-0.3, length=0.6)
    z = np.column_stack([np.ones(120), longer])
    theta = slow.most_likely(left, right, outcome, z, 4)
    found = wo.rate(wo.Comparisons(left, right, outcome), side=True, controls={"length": longer})
    assert np.concatenate([found.ratings_, found.beta_, found.log_nu_]) == pytest.approx(theta, abs=2e-5)
    inverse = np.linalg.pinv(slow.information(theta, left, right, outcome, z, 4), rcond=1e-4)
    assert found.covariance_ == pytest.approx(inverse, abs=2e-4)

    prompt, judge = rng.integers(0, 15, 120), rng.integers(0, 12, 120)
    psi = slow.scores(theta, left, right, outcome, z, 4)

    def summed(cluster):
        sums = np.array([psi[cluster == each].sum(axis=0) for each in np.unique(cluster)])
        return sums.T @ sums * len(sums) / (len(sums) - 1)

    middle = summed(prompt) + summed(judge) - summed(prompt * 100 + judge)
    values, vectors = np.linalg.eigh(middle)
    middle = (vectors * np.maximum(values, 0)) @ vectors.T
    both = wo.rate(
        wo.Comparisons(left, right, outcome), side=True, controls={"length": longer}, clusters=[prompt, judge]
    )
    assert both.covariance_ == pytest.approx(inverse @ middle @ inverse, abs=5e-4)
    one = wo.rate(wo.Comparisons(left, right, outcome), side=True, controls={"length": longer}, clusters=[prompt])
    assert one.covariance_ == pytest.approx(inverse @ summed(prompt) @ inverse, abs=5e-4)

    weight = rng.uniform(0.2, 2.0, 120)
    weighted = wo.rate(wo.Comparisons(left, right, outcome, weight))
    theta_w = np.r_[weighted.ratings_, weighted.log_nu_]
    psi = slow.scores(theta_w, left, right, outcome, np.zeros((120, 0)), 4) * weight[:, None]
    assert psi.sum(axis=0) == pytest.approx(np.zeros(5), abs=1e-5)


def test_counts_are_votes_and_not_weights():
    rng = np.random.default_rng(1)
    left, right, outcome, _, _ = draw(rng, 60, np.array([0.0, 0.3, 0.8]))
    times = rng.integers(1, 5, 60)
    single = wo.rate(wo.Comparisons(*(np.repeat(each, times) for each in (left, right, outcome))))
    counted = wo.rate(wo.Comparisons(left, right, outcome), counts=times)
    assert counted.ratings_ == pytest.approx(single.ratings_, abs=1e-9)
    assert counted.covariance_ == pytest.approx(single.covariance_, abs=1e-9)
    assert counted.table().equals(single.table())
    weighted = wo.rate(wo.Comparisons(left, right, outcome, times.astype(float)))
    assert weighted.ratings_ == pytest.approx(single.ratings_, abs=1e-9)
    assert np.diag(weighted.covariance_)[:3].min() > 1.3 * np.diag(single.covariance_)[:3].min()


def test_what_weights_have_in_common_is_of_no_account():
    rng = np.random.default_rng(1)
    left, right, outcome, _, _ = draw(rng, 300, np.array([0.0, 0.3, 0.8]))
    plain = wo.rate(wo.Comparisons(left, right, outcome))
    for factor in (0.01, 5.0):
        same = wo.rate(wo.Comparisons(left, right, outcome, np.full(300, factor)))
        assert same.covariance_ == pytest.approx(plain.covariance_, rel=1e-9)
    weight = rng.uniform(0.5, 2.0, 300)
    one, other = (wo.rate(wo.Comparisons(left, right, outcome, factor * weight)) for factor in (1.0, 50.0))
    assert one.covariance_ == pytest.approx(other.covariance_, rel=1e-7)


def test_weights_too_large_to_add_up_are_refused():
    votes = wo.Comparisons.from_names(list("abc"), list("bca"), [1, 1, 1], weights=[1.0, 1e308, 1.0])
    with pytest.raises(ValueError, match=r"vote weights are too large .* divide them by a common factor"):
        wo.rate(votes)


def test_planted_biases_are_found_and_taken_out():
    rng = np.random.default_rng(2)
    ratings = np.linspace(-0.5, 0.5, 12)
    rng.shuffle(ratings)
    left = rng.integers(0, 12, 8000)
    right = (left + rng.integers(1, 12, 8000)) % 12
    wordy = rng.normal(size=12)  # some items write at length: without the control they seem better
    longer = wordy[right] - wordy[left] + 0.5 * rng.normal(size=8000)
    d = ratings[right] - ratings[left] - 0.3 + 0.6 * longer
    weights = np.column_stack([np.exp(-d / 2), np.full(8000, 0.6), np.exp(d / 2)])
    outcome = (rng.uniform(size=8000)[:, None] * weights.sum(axis=1, keepdims=True) > weights.cumsum(axis=1)).sum(
        axis=1
    ) - 1
    votes = wo.Comparisons(left, right, outcome)
    found = wo.rate(votes, side=True, controls={"length": longer})
    rows = {row["effect"]: row for row in found.effects().iter_rows(named=True)}
    assert rows["side"]["low"] < -0.3 < rows["side"]["high"] < 0
    assert rows["length"]["low"] < 0.6 < rows["length"]["high"]
    assert np.corrcoef(found.ratings_, ratings)[0, 1] > 0.98
    assert np.corrcoef(wo.rate(votes).ratings_, ratings)[0, 1] < 0.95
    metres = wo.rate(votes, side=True, controls={"length": longer / 1e4})  # another unit: the same ratings
    assert metres.ratings_ == pytest.approx(found.ratings_, abs=1e-8)
    assert metres.effects()["high"][1] == pytest.approx(1e4 * rows["length"]["high"], rel=1e-8)


def test_judges_lean_and_differ_in_sharpness():
    rng = np.random.default_rng(3)
    lean, sharp = np.zeros(20), np.ones(20)
    lean[0], sharp[1] = 1.5, 0.1
    ratings = np.linspace(-1.5, 1.5, 8)
    left, right, outcome, _, judge = draw(rng, 8000, ratings, side=0.2, judges=(lean, sharp))
    found = wo.rate(wo.Comparisons(left, right, outcome), judge=np.array([f"judge {each}" for each in judge]))
    judges = {row["judge"]: row for row in found.judges().iter_rows(named=True)}
    assert judges["judge 0"]["stands_out"]
    assert 0.7 < judges["judge 0"]["side"] < 1.5  # shrunk
    assert judges["judge 1"]["stands_out"]
    assert judges["judge 1"]["sharpness_high"] < 0.8
    assert sum(row["stands_out"] for row in judges.values()) <= 4
    table = found.table()
    assert table["item"].cast(pl.Int64).to_list() == list(range(7, -1, -1))
    plain = wo.rate(wo.Comparisons(left, right, outcome), side=True)
    spread = [np.ptp(each.ratings_) for each in (plain, found)]
    assert spread[0] < spread[1]
    scale = math.exp(np.log(sharp).mean())  # sharpness has mean one, on the scale of logarithms
    assert spread[1] == pytest.approx(3.0 * scale, abs=0.3)


def test_votes_of_one_judge_are_as_sure_by_clusters_as_by_the_model():
    rng = np.random.default_rng(9)
    lean, sharp = rng.normal(0, 0.6, 60), np.exp(rng.normal(0, 0.3, 60))
    left, right, outcome, _, judge = draw(rng, 6000, np.linspace(-1, 1, 6), side=0.2, judges=(lean, sharp))
    votes = wo.Comparisons(left, right, outcome)
    plain, clustered = wo.rate(votes, judge=judge), wo.rate(votes, judge=judge, clusters=[judge])
    errors = [math.sqrt(each.covariance_[6, 6]) for each in (plain, clustered)]
    assert errors[1] == pytest.approx(errors[0], rel=0.35)
    assert errors[0] == pytest.approx(0.6 / math.sqrt(60), rel=0.35)


def test_half_lives_forget():
    left, right = np.zeros(200, int), np.ones(200, int)
    outcome = np.r_[np.tile([-1, -1, -1, 1], 25), np.tile([1, 1, 1, -1], 25)]
    votes = wo.Comparisons(left, right, outcome)
    days = np.arange(200.0)
    assert wo.rate(votes).ratings_[1] == pytest.approx(0.0, abs=1e-9)
    assert wo.rate(votes, times=days, half_life=20.0).ratings_[1] > 0.4
    with pytest.raises(ValueError, match="when votes were given; give times="):
        wo.rate(votes, half_life=20.0)


def test_neutral_ground_has_no_side():
    rng = np.random.default_rng(4)
    left, right, _, _, _ = draw(rng, 4000, np.zeros(4))
    neutral = rng.uniform(size=4000) < 0.5
    d = np.where(neutral, 0.0, 1.0)
    outcome = np.where(rng.uniform(size=4000) < 1 / (1 + np.exp(-d)), 1, -1)
    votes = wo.Comparisons(left, right, outcome)
    found = wo.rate(votes, side=True, neutral=neutral)
    row = found.effects().row(0, named=True)
    assert row["low"] < 1.0 < row["high"]
    here, there = (found.predict(["0"], ["1"], neutral=[each])["p_right"][0] for each in (False, True))
    assert here - there > 0.15
    with pytest.raises(ValueError, match="give side=True"):
        wo.rate(votes, neutral=neutral)


def test_ranks_hold_for_all_at_once_and_are_no_wider_than_needed():
    rng = np.random.default_rng(5)
    ratings = np.repeat([0.0, 2.0], 4)
    left, right, outcome, _, _ = draw(rng, 3000, ratings)
    rows = wo.rate(wo.Comparisons(left, right, outcome)).table().iter_rows(named=True)
    for row in rows:
        expected = (1, 4) if int(row["item"]) >= 4 else (5, 8)
        assert (row["rank_low"], row["rank_high"]) == expected


def test_a_vote_more_is_worth_what_needed_says():
    rng = np.random.default_rng(6)
    ratings = np.array([0.0, 0.25, 1.0])
    left, right, outcome, _, _ = draw(rng, 400, ratings)
    found = wo.rate(wo.Comparisons(left, right, outcome))
    more = found.needed("0", "1")
    assert more > 0
    # so many more votes that come as the model expects give the standard error that a power of 80 % asks for
    p = found.predict("0", "1").row(0, named=True)
    d = found.difference("1", "0")[0]
    extra = np.array([p["p_left"], p["p_tie"], p["p_right"]]) * more
    counts = np.r_[np.ones(400), np.rint(extra / 2), np.rint(extra[::-1] / 2)]
    bigger = wo.Comparisons(
        np.r_[left, [0, 0, 0], [1, 1, 1]], np.r_[right, [1, 1, 1], [0, 0, 0]], np.r_[outcome, [-1, 0, 1], [-1, 0, 1]]
    )
    after = wo.rate(bigger, counts=counts)._inverse
    error = math.sqrt(after[0, 0] + after[1, 1] - 2 * after[0, 1])
    assert abs(d) / error == pytest.approx(1.96 + 0.8416, rel=0.05)
    assert found.needed("0", "2") == 0 or found.needed("0", "2") < more
    assert math.isnan(wo.rate(wo.Comparisons([0, 0, 2, 2], [1, 1, 3, 3], [1, -1, 1, -1])).needed("0", "2"))


def test_more_votes_are_needed_where_all_pairs_are_asked_of_at_once():
    rng = np.random.default_rng(8)
    left, right, outcome, _, _ = draw(rng, 3_000, np.linspace(-0.5, 0.5, 12))
    found = wo.rate(wo.Comparisons(left, right, outcome))
    items = found.table()["item"].to_list()
    sure = set(found.above().rows())
    alone = [found.needed(one, other) for one, other in itertools.combinations(items, 2)]
    at_once = [found.needed(one, other, at_once=True) for one, other in itertools.combinations(items, 2)]
    assert all(more >= fewer for fewer, more in zip(alone, at_once, strict=True))
    open_ = [n for n, pair in zip(at_once, itertools.combinations(items, 2), strict=True) if pair not in sure]
    assert min(open_) > 0  # what is not told apart takes more votes
    # the bar: where a pair that is told apart stands above it, and one that is open below
    table = found.table()
    at = {item: place for place, item in enumerate(found.items_)}
    cov = found.covariance_
    for one, other in itertools.combinations(table["item"], 2):
        i, j = at[one], at[other]
        lead = (found.ratings_[i] - found.ratings_[j]) / math.sqrt(cov[i, i] + cov[j, j] - 2 * cov[i, j])
        assert (lead > found._bar) <= ((one, other) in sure)
    everybody = bar_for_all(cov[:12, :12], found.island_, np.zeros((12, 12), dtype=bool), 0.95, degrees=None)
    assert 1.96 < found._bar < everybody - 0.05  # pairs that are told apart no longer count
    left, right, outcome, _, _ = draw(rng, 3_000, np.array([-1.0, 0.0, 1.0]))
    clear = wo.rate(wo.Comparisons(left, right, outcome))
    assert len(clear.above()) == 3  # no pair is open
    assert clear.needed("2", "0", at_once=True) == 0
    two = wo.rate(wo.Comparisons([0] * 50, [1] * 50, [1] * 30 + [-1] * 20))
    assert two.needed("0", "1", at_once=True) == pytest.approx(two.needed("0", "1"), rel=0.1)  # there is one pair only


def test_blas_is_alone_while_there_are_few_items():
    def threads():
        return {each["filepath"]: each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}

    with threadpool_limits(limits=2, user_api="blas"):
        usual = threads()
        assert 2 in usual.values()  # some libraries that other tests load have one thread whatever they are told
        with one_thread_if_few(10):
            assert set(threads().values()) == {1}
        with one_thread_if_few(100_000):
            assert threads() == usual


def test_both_bad_is_an_outcome_of_its_own():
    rng = np.random.default_rng(7)
    left, right, outcome, _, _ = draw(rng, 2000, np.array([0.0, 0.5, 1.0]), log_nu=0.5)
    bad = (outcome == 0) & (rng.uniform(size=2000) < 0.25)
    pairs = pl.DataFrame({"model_a": left.astype(str), "model_b": right.astype(str)})
    words = np.array(["model_a", "tie", "model_b"])[outcome + 1]
    frame = pairs.with_columns(winner=pl.Series(np.where(bad, "tie (bothbad)", words)))
    table = wo.read(frame)
    tie, own = wo.rate(table), wo.rate(table, both_bad="own")
    named = wo.rate(wo.Comparisons.from_names(frame["model_a"], frame["model_b"], frame["winner"]), both_bad="own")
    assert named.predict("0", "1").equals(own.predict("0", "1"))
    assert "p_both_bad" not in tie.predict("0", "1").columns
    shares = own.predict(left.astype(str), right.astype(str)).select("p_tie", "p_both_bad").mean().row(0)
    assert shares == pytest.approx((np.mean((outcome == 0) & ~bad), np.mean(bad)), abs=1e-6)
    together = tie.predict("0", "1")["p_tie"][0]
    assert together == pytest.approx(
        own.predict("0", "1").select(pl.col("p_tie") + pl.col("p_both_bad")).item(), abs=1e-6
    )


def test_features_and_ratings_are_shrunk_by_the_data():
    rng = np.random.default_rng(8)
    k = 40
    x = rng.normal(size=k)
    ratings = 1.2 * x + 0.3 * rng.normal(size=k)
    left, right, outcome, _, _ = draw(rng, 600, ratings)
    names = np.array([f"item {place}" for place in range(k)])
    frame = pl.DataFrame(
        {"left": names[left], "right": names[right], "outcome": np.array(["left", "tie", "right"])[outcome + 1]}
    )
    items = pl.DataFrame({"item": names, "x": x, "noise": rng.normal(size=k)})
    table = wo.read(frame, items=items)
    found, plain = wo.rate(table, features=True), wo.rate(table)
    errors = [np.sqrt(np.mean((each.ratings_ - (ratings - ratings.mean())) ** 2)) for each in (found, plain)]
    assert errors[0] < 0.7 * errors[1]
    weights = dict(found.features().iter_rows())
    assert weights["x"] > 0.8
    assert abs(weights["noise"]) < 0.2
    inside = (found.table()["low"] <= found.table()["high"]).all()
    assert inside
    assert any("a prior takes part" in note for note in found.notes_)
    with pytest.raises(ValueError, match="read it with items="):
        wo.rate(wo.read(frame), features=True)


def test_half_lives_are_written_as_on_the_command_line():
    rng = np.random.default_rng(3)
    left, right, outcome, _, _ = draw(rng, 300, np.array([0.5, 0.0, -0.5]))
    votes, dates = wo.Comparisons(left, right, outcome), np.datetime64("2024-01-01") + rng.integers(0, 700, 300)
    year = wo.rate(votes, half_life=365.0, times=dates).ratings_
    assert wo.rate(votes, half_life="365d", times=dates).ratings_ == pytest.approx(year)
    assert wo.rate(votes, half_life="1y", times=dates).ratings_ == pytest.approx(year, abs=1e-3)
    for wrong in ("soon", "-3d", True, "d"):
        with pytest.raises(ValueError, match="such as '365d'"):
            wo.rate(votes, half_life=wrong, times=dates)
    with pytest.raises(ValueError, match="numbers, no dates"):
        wo.rate(votes, half_life="365d", times=np.arange(300))


def test_controls_may_be_a_data_frame_and_predictions_ask_for_one_a_pair():
    rng = np.random.default_rng(4)
    left, right, outcome, longer, _ = draw(rng, 400, np.array([0.5, 0.0, -0.5]), length=0.6)
    votes = wo.Comparisons(left, right, outcome)
    expected = wo.rate(votes, controls={"length": longer})
    found = wo.rate(votes, controls=pl.DataFrame({"length": longer}))
    assert found.effects().equals(expected.effects())
    two = found.predict(["0", "1"], ["1", "2"], controls=pl.DataFrame({"length": [1.0, 1.0]}))
    assert two.equals(found.predict(["0", "1"], ["1", "2"], controls={"length": 1.0}))
    with pytest.raises(ValueError, match=r"the control 'length' has the shape \(3,\), and there are 2 pairs"):
        found.predict(["0", "1"], ["1", "2"], controls={"length": [1.0, 2.0, 3.0]})
    with pytest.raises(TypeError, match="takes a mapping of names to arrays"):
        found.predict("0", "1", controls=[1.0])
    with pytest.raises(ValueError, match="must be of one length, got 2 and 1"):
        found.predict(["0", "1"], ["2"])


@pytest.mark.parametrize("side", [False, True])
@pytest.mark.parametrize("always_won", [False, True])
def test_items_that_met_few_others_are_rated_by_a_sparse_factor_and_just_the_same(side, always_won, monkeypatch):
    """Two islands, ties, an effect, an item whose rating is infinite: Newton's steps are those of dense matrices."""
    rng = np.random.default_rng(4)
    left, right = rng.integers(0, 40, (2, 300))
    left, right = np.r_[left, 40 + left[:60] % 7], np.r_[right, 40 + right[:60] % 7]
    left, right = left[left != right], right[left != right]
    outcome = rng.integers(-1, 2, len(left))
    if always_won:
        outcome = np.where(right == 3, 1, np.where(left == 3, -1, outcome))
    votes = wo.Comparisons.from_names(left.astype(str), right.astype(str), outcome)
    dense = wo.rate(votes, side=side)
    monkeypatch.setattr(likelihood, "_MOST_DENSE", 10)
    monkeypatch.setattr(likelihood, "_FEW_MET", 40)
    monkeypatch.setattr(likelihood, "shares_of_islands", None)  # of dense matrices alone
    sparse = wo.rate(votes, side=side)
    np.testing.assert_allclose(sparse.ratings_, dense.ratings_, atol=1e-6)
    np.testing.assert_allclose(sparse.beta_, dense.beta_, atol=1e-8)
    np.testing.assert_allclose(sparse.covariance_, dense.covariance_, atol=1e-6 * np.abs(dense.covariance_).max())
    assert sparse.table()["rank"].equals(dense.table()["rank"])


def test_who_stands_above_whom_follows_along_every_way():
    rng = np.random.default_rng(5)
    above = np.triu(rng.random((30, 30)) < 0.06, 1)
    reached = above.copy()
    for k in range(30):  # Warshall's way
        reached |= np.outer(reached[:, k], reached[k])
    assert (reached != above).any()
    np.testing.assert_array_equal(follow(above), reached)
