from __future__ import annotations

import datetime
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import brentq
from tests.reference import ratings as reference

import wellorder as wo
from wellorder.sweeps import dispatch, games as sweeps

SYSTEMS = [
    (wo.ratings.Elo, reference.elo, {}),
    (wo.ratings.Elo, reference.elo, {"k": 20.0, "start": 1200.0, "advantage": 35.0}),
    (wo.ratings.Elo, reference.elo, {"k": "fide", "start": 2390.0}),
    (wo.ratings.Glicko, reference.glicko, {}),
    (wo.ratings.Glicko, reference.glicko, {"c": 10.0, "deviation": 200.0, "advantage": -20.0, "start": 0.0}),
    (wo.ratings.Glicko2, reference.glicko2, {}),
    (wo.ratings.Glicko2, reference.glicko2, {"volatility": 0.3, "tau": 1.2, "advantage": 30.0, "deviation": 100.0}),
]


def draw(seed, n, n_players=6, n_times=8):
    rng = np.random.default_rng(seed)
    left = rng.integers(0, n_players, n)
    right = (left + rng.integers(1, n_players, n)) % n_players
    return left.tolist(), right.tolist(), rng.integers(-1, 2, n).tolist(), (rng.integers(0, n_times, n) * 0.5).tolist()


def columns(before):
    parts = [before.left, before.right, before.left_deviation, before.right_deviation]
    return np.column_stack([part for part in parts if part is not None])


@pytest.mark.parametrize(("system", "slow", "parameters"), SYSTEMS)
@given(
    seed=st.integers(0, 10_000), n=st.integers(0, 40), timed=st.booleans(), together=st.booleans(), one=st.booleans()
)
def test_agrees_with_the_printed_formulas(system, slow, parameters, seed, n, timed, together, one):
    left, right, outcome, time = draw(seed, n, n_times=1 if one else 8)
    time = time if timed else None
    rater = system(**parameters, together=together)
    with dispatch.prefer_compiled(0 if seed % 8 == 0 else 10**12):
        before = rater.stream(left, right, outcome, time=time)
    final, expected = slow(left, right, outcome, time, **parameters, together=together)
    if n:
        assert columns(before) == pytest.approx(np.array(expected), rel=1e-9, abs=1e-7)
    players = list(final)
    last = [np.atleast_1d(final[player]) for player in players]
    place = [rater.players_[player] for player in players]
    names = ("ratings_", "deviations_", "volatilities_")
    found = [getattr(rater, name)[place] for name in names if hasattr(rater, name)]
    if players:
        assert np.column_stack(found) == pytest.approx(np.array(last), rel=1e-9, abs=1e-7)


def play_known(system, known, **columns):
    """Put players with a past of their own into a system, through its sweep."""
    state = {name: np.array(values, float) for name, values in columns.items()}
    sweep = getattr(sweeps, system)
    players = np.array([[0, 1], [0, 2], [0, 3]], np.int32)
    sweep(players, np.array([1.0, 0.0, 0.0]), np.array([0, 3]), np.array([1.0]), *state.values(), *known)
    return {name: values[0] for name, values in state.items()}


def test_glickmans_example_of_glicko():
    q = sweeps.LOGIT
    after = play_known(
        "glicko",
        (0.0, 0.0, q * 350.0),
        rating=q * np.array([1500, 1400, 1550, 1700]),
        deviation=q * np.array([200, 30, 100, 300]),
        last=[np.nan] * 4,
    )
    assert round(after["rating"] / q) == 1464
    assert round(after["deviation"] / q, 1) == 151.4


def test_glickmans_example_of_glicko_2():
    q = sweeps.LOGIT
    after = play_known(
        "glicko2",
        (0.0, q * 350.0, 0.5),
        rating=q * (np.array([1500, 1400, 1550, 1700]) - 1500),
        deviation=q * np.array([200, 30, 100, 300]),
        volatility=[0.06] * 4,
        last=[np.nan] * 4,
    )
    assert round(1500 + after["rating"] / q, 2) == pytest.approx(1464.05, abs=0.011)  # 1464.06 from rounded steps
    assert round(after["deviation"] / q, 2) == 151.52
    assert round(after["volatility"], 5) == pytest.approx(0.06, abs=1.01e-5)  # printed as 0.05999


def test_the_reference_gives_glickmans_examples():
    left, right, outcome = ["a", "a", "a"], ["b", "c", "d"], [-1, 1, 1]
    known = {"a": (1500, 200), "b": (1400, 30), "c": (1550, 100), "d": (1700, 300)}
    state, _ = reference.glicko(left, right, outcome, [1, 1, 1], known=known)
    assert round(state["a"][0]) == 1464
    assert round(state["a"][1], 1) == 151.4
    known = {player: (*values, 0.06) for player, values in known.items()}
    state, _ = reference.glicko2(left, right, outcome, [1, 1, 1], known=known)
    assert state["a"] == pytest.approx((1464.06, 151.52, 0.05999), abs=0.011)


def test_elos_example():
    # FIDE's table: a player 100 points ahead is expected to score 0.64
    assert wo.ratings.Elo(advantage=100).expected(["x"], ["y"])[0] == pytest.approx(0.36, abs=0.005)
    elo = wo.ratings.Elo(k=20).fit(["x"], ["y"], [0])
    assert elo.ratings_.tolist() == [1500, 1500]


def test_fide_k_falls_with_experience_and_stays_low_after_the_top():
    elo = wo.ratings.Elo(k="fide", start=2395.0).fit(["a"], ["b"], [-1])
    assert elo.rating(["a"])[0] == 2395 + 20  # 40 · ½, over the top
    elo.update(["b"], ["a"], [-1])
    lost = 10 / (1 + 10 ** (-40 / 400))
    assert elo.rating(["a"])[0] == pytest.approx(2415 - lost)
    elo.update(["a", "a", "a"], ["c", "d", "e"], [1, 1, 1])
    assert elo.rating(["a"])[0] < 2400
    below = elo.rating(["a"])[0]
    elo.update(["a"], ["new"], [1])
    assert below - elo.rating(["a"])[0] < 10  # still ten


@pytest.mark.parametrize("system", [wo.ratings.Elo, wo.ratings.Glicko, wo.ratings.Glicko2])
@pytest.mark.parametrize("timed", [True, False])
def test_pieces_give_the_same_bits_as_the_whole(system, timed):
    left, right, outcome, time = (np.array(part) for part in draw(3, 60))
    order = np.argsort(time, kind="stable")
    left, right, outcome, time = (part[order] for part in (left, right, outcome, time))
    whole = system().stream(left, right, outcome, time=time if timed else None)
    rater = system()
    cuts = [0, *np.flatnonzero(np.diff(time)) + 1, len(time)]
    parts = [
        columns(rater.stream(left[a:b], right[a:b], outcome[a:b], time=time[a:b] if timed else None))
        for a, b in pairwise(cuts)
    ]
    assert np.array_equal(np.concatenate(parts), columns(whole))


@pytest.mark.parametrize("system", [wo.ratings.Elo, wo.ratings.Glicko, wo.ratings.Glicko2])
def test_both_forms_agree(system, monkeypatch):
    left, right, outcome, time = draw(5, 3_000, n_players=200, n_times=40)
    found = []
    for first_compiled in (0, 10**12):
        monkeypatch.setattr(dispatch, "COMPILED_FROM", first_compiled)
        found.append(columns(system().stream(left, right, outcome, time=time)))
    assert found[0] == pytest.approx(found[1], rel=1e-11)


@pytest.mark.parametrize("system", [wo.ratings.Elo, wo.ratings.Glicko, wo.ratings.Glicko2])
def test_swapping_the_sides_changes_nothing_but_the_sides(system):
    left, right, outcome, time = draw(7, 80)
    one = system(advantage=25.0).fit(left, right, outcome, time=time)
    other = system(advantage=-25.0).fit(right, left, [-y for y in outcome], time=time)
    assert one.rating(range(6)) == pytest.approx(other.rating(range(6)), rel=1e-12)
    assert one.compare([1], [2]) == pytest.approx(-other.compare([2], [1]))
    assert one.expected([1], [2])[0] == pytest.approx(1 - other.expected([2], [1])[0])


def test_the_better_known_a_player_the_surer_the_expectation():
    glicko = wo.ratings.Glicko().fit(["a"] * 5 + ["c"], ["b"] * 5 + ["d"], [-1] * 6)
    d = glicko.compare(["b", "d"], ["a", "c"])
    assert d[0] > d[1] > 0
    assert glicko.expected(["b"], ["a"])[0] < wo.ratings.Elo().expected(["x"], ["x"])[0] + 0.5
    elo_like = 1 / (1 + 10 ** (-d / 400))
    assert (glicko.expected(["b", "d"], ["a", "c"]) < elo_like).all()


def test_time_away_makes_a_rating_less_certain():
    def deviation(system, gap):
        return system.stream(["a"] * 2, ["b"] * 2, [0, 0], time=[0, gap]).left_deviation[1]

    for system in (wo.ratings.Glicko, wo.ratings.Glicko2):
        assert deviation(system(), 1) < deviation(system(), 12) <= 350
        assert deviation(system(), 10**6) == pytest.approx(350)


def test_ids_of_any_kind():
    ids = [("team", 1), "x", 7, 2.5, None.__class__]
    elo = wo.ratings.Elo().fit(ids[:4], ids[1:], [1, -1, 0, 1])
    assert list(elo.players_) == ids
    assert elo.rating([7, np.int64(7), "nobody"]).tolist()[:2] == [elo.rating([7])[0]] * 2
    assert elo.rating(["nobody"]) == 1500
    assert wo.ratings.Glicko().compare(["p"], ["q"]) == 0


PERIODS = [
    ({}, 30.0),
    ({"period": 7}, 7.0),
    ({"period": datetime.timedelta(weeks=1)}, 7.0),
    ({"period": np.timedelta64(36, "h")}, 1.5),
]


@pytest.mark.parametrize("system", [wo.ratings.Glicko, wo.ratings.Glicko2])
@pytest.mark.parametrize(("given", "days"), PERIODS)
def test_dates_are_counted_in_periods(system, given, days):
    left, right, outcome, _ = draw(11, 40)
    day = np.sort(np.random.default_rng(0).integers(0, 500, 40))
    dates = np.datetime64("2020-01-01") + day.astype("timedelta64[D]")
    rater = system(**given)
    by_date = rater.stream(left, right, outcome, time=dates)
    assert rater.period_ == days
    by_number = system().stream(left, right, outcome, time=day / days)
    assert columns(by_date) == pytest.approx(columns(by_number), rel=1e-12)
    by_object = system(**given).stream(left, right, outcome, time=dates.tolist())
    assert np.array_equal(columns(by_object), columns(by_date))


@pytest.mark.parametrize("system", [wo.ratings.Glicko, wo.ratings.Glicko2])
def test_a_period_of_numbers_is_so_many_of_their_units(system):
    left, right, outcome, time = draw(12, 40)
    rater = system(period=4)
    scaled = rater.stream(left, right, outcome, time=4 * np.array(time))
    plain = system()
    assert columns(scaled) == pytest.approx(columns(plain.stream(left, right, outcome, time=time)), rel=1e-12)
    assert (rater.period_, plain.period_) == (4.0, 1.0)
    assert not hasattr(system(period=4).fit(left, right, outcome), "period_")  # without times there is none
    untimed = system(period=4).stream(left, right, outcome)
    assert np.array_equal(columns(untimed), columns(system().stream(left, right, outcome)))


def test_dates_in_pieces_give_the_same_bits_as_the_whole():
    left, right, outcome, _ = draw(13, 60)
    dates = np.datetime64("2020-01-01") + np.repeat(np.arange(0, 300, 10), 2).astype("timedelta64[D]")
    for system in (wo.ratings.Glicko, wo.ratings.Glicko2):
        whole, rater = columns(system().stream(left, right, outcome, time=dates)), system()
        parts = [
            columns(rater.stream(left[a:b], right[a:b], outcome[a:b], time=dates[a:b])) for a, b in ((0, 20), (20, 60))
        ]
        assert np.array_equal(np.concatenate(parts), whole)


@pytest.mark.parametrize("system", [wo.ratings.Glicko, wo.ratings.Glicko2])
def test_dates_do_not_wipe_out_what_is_known(system):
    # players of steady strength, a game a month each: dates must predict as well as the bare order of the games
    rng = np.random.default_rng(0)
    n, strength = 6_000, rng.normal(0, 200, 60)
    left = rng.integers(0, 60, n)
    right = (left + rng.integers(1, 60, n)) % 60
    won = rng.random(n) < 1 / (1 + 10 ** ((strength[left] - strength[right]) / 400))
    dates = np.datetime64("2010-01-01") + np.sort(rng.integers(0, 3_000, n)).astype("timedelta64[D]")
    held = np.arange(n) >= n // 2

    def loss_and_deviation(time, **given):
        before = system(**given).stream(left, right, np.where(won, 1, -1), time=time)
        spread = sweeps.LOGIT * np.hypot(before.left_deviation, before.right_deviation)
        margin = sweeps.LOGIT * before.difference / np.sqrt(1 + 3 * (spread / np.pi) ** 2)
        return np.mean(np.logaddexp(0, np.where(won, -margin, margin))[held]), np.median(before.left_deviation[held])

    by_date, deviation = loss_and_deviation(dates)
    assert by_date < loss_and_deviation(None)[0] + 1e-3
    assert deviation < 130
    assert by_date < loss_and_deviation(dates, period=1)[0] - 0.005


def test_a_period_that_wipes_out_what_is_known_is_told():
    left, right, outcome, _ = draw(14, 200)
    seconds = 1.6e9 + 86_400.0 * np.arange(200)
    with pytest.warns(UserWarning, match=r"100% of the players who came back.*a period of 1 is too short.*set period="):
        wo.ratings.Glicko().fit(left, right, outcome, time=seconds)
    wo.ratings.Glicko(period=86_400 * 30).fit(left, right, outcome, time=seconds)
    dates = np.datetime64("2020-01-01") + (10_000 * np.arange(200)).astype("timedelta64[D]")
    with pytest.warns(UserWarning, match="a period of 30 d is too short"):
        wo.ratings.Glicko().fit(left, right, outcome, time=dates)


@pytest.mark.parametrize(
    ("period", "time", "message"),
    [
        (0, [1], "period must be positive"),
        ("month", [1], "period must be a finite number"),
        (datetime.timedelta(0), [1], "period must be positive"),
        (np.timedelta64(1, "M"), [1], "has no length in days"),
        (np.timedelta64("NaT", "D"), [1], "period must be a finite number"),
        (datetime.timedelta(days=7), [1], "the times of the games are numbers"),
    ],
)
def test_periods_that_are_none_are_named(period, time, message):
    rater = wo.ratings.Glicko(period=period)
    with pytest.raises(ValueError, match=message):
        rater.stream(["a"], ["b"], [1], time=time)
    assert not getattr(rater, "players_", {})  # nothing was changed


def test_dates_and_numbers_do_not_mix():
    glicko = wo.ratings.Glicko().fit(["a"], ["b"], [1], time=["2020-01-01"])
    with pytest.raises(ValueError, match="some games came with dates and others with numbers"):
        glicko.update(["a"], ["b"], [1], time=[99_999])


def test_numbers_of_several_kinds_in_a_list():
    left, right = ["a", "b", "a"], ["b", "c", "c"]
    mixed = wo.ratings.Glicko().stream(left, right, [1, 0.0, np.int8(-1)], time=[0, 1.5, True])
    plain = wo.ratings.Glicko().stream(left, right, [1, 0, -1], time=[0.0, 1.5, 1.0])
    assert np.array_equal(columns(mixed), columns(plain))
    objects = wo.ratings.Glicko().stream(left, right, np.array([1, 0, -1], object), time=np.array([0, 1.5, 1], object))
    assert np.array_equal(columns(objects), columns(plain))


def test_a_volatility_that_cannot_change_stays(form):
    for tau in (1e-17, 1e-6):
        system = wo.ratings.Glicko2(tau=tau).fit(["a", "a"], ["b", "c"], [1, 1])
        assert system.volatilities_ == pytest.approx([0.06] * 3, rel=1e-5)


def test_the_new_volatility_is_where_glickmans_f_is_zero():
    """Between ends that are far apart, too: small steps of τ, hardly surprising games and very surprising ones."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        sigma, phi, v = 10.0 ** rng.uniform([-2, -1, -1], [1, 1, 2])
        pull, tau = 10.0 ** rng.uniform([-2, -1], [1, 0.7])

        def f(x, sigma=sigma, phi=phi, v=v, pull=pull, tau=tau):
            grown = np.exp(x)
            ahead = (v * pull) ** 2 - phi**2 - v - grown
            return grown * ahead / (2 * (phi**2 + v + grown) ** 2) - (x - 2 * np.log(sigma)) / tau**2

        expected = np.exp(0.5 * brentq(f, -200, 100, xtol=1e-13))
        assert sweeps.new_volatility(sigma, phi, v, pull, tau) == pytest.approx(expected, rel=2e-6)


def test_comparisons_in_place_of_games():
    games = wo.Comparisons([0, 2], [1, 1], [1, 0])
    assert np.array_equal(wo.ratings.Elo().fit(games).ratings_, wo.ratings.Elo().fit([0, 2], [1, 1], [1, 0]).ratings_)


def test_far_ratings_overflow_nowhere(form):
    for system in (wo.ratings.Elo(k=1e6), wo.ratings.Glicko(advantage=1e7), wo.ratings.Glicko2(advantage=1e7)):
        system.fit(["a", "b", "a"] * 5, ["b", "c", "c"] * 5, [1, 1, -1] * 5)
        assert np.isfinite(system.ratings_).all()


def test_65053_games_take_no_time_to_speak_of():
    import time as clock

    rng = np.random.default_rng(0)
    left = rng.integers(0, 7_000, 65_053)
    right = (left + rng.integers(1, 7_000, len(left))) % 7_000
    outcome, month = rng.integers(-1, 2, len(left)), np.sort(rng.integers(0, 100, len(left)))
    for system in (wo.ratings.Elo(), wo.ratings.Glicko()):
        system.fit(left, right, outcome, time=month)  # compiled now
        begin = clock.process_time()
        system.fit(left, right, outcome, time=month)
        assert clock.process_time() - begin < 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a"], ["b"], [2]), "comparison 0 has the outcome 2"),
        ((["a", "b"], ["b", "a"], [1, None]), "comparison 1 has the outcome None"),
        ((["a"], ["b"], np.array([False], object)), "comparison 0 has the outcome False"),
        ((["a", "b"], ["b"], [1]), "one length, got 2, 1 and 1"),
        ((["a"], ["a"], [0]), "game 0 is of player 'a' against themselves"),
        (([None], ["b"], [0]), r"left\[0\] is missing"),
        ((["a"], [np.nan], [0]), r"right\[0\] is missing"),
        ((["a"],), "give left, right and outcome"),
        ((wo.Comparisons([0], [1], [1]), [1], [1]), "leave right and outcome out"),
        ((wo.Comparisons([0], [1], [1], weights=[2.0]),), "no use for weights"),
    ],
)
def test_bad_games_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        wo.ratings.Elo().fit(*arguments)


def test_ids_that_are_no_ids_are_named():
    with pytest.raises(TypeError, match=r"right\[1\] is \['c'\], which is not hashable"):
        wo.ratings.Elo().fit(["a", "b"], ["b", ["c"]], [1, 1])


@pytest.mark.parametrize(
    ("time", "message"),
    [
        ([1, 2], "time has 2 entries for 1 games"),
        ([np.nan], r"time\[0\] is missing or infinite"),
        ([None], r"time\[0\] is missing or infinite"),
        (["soon"], "time must be numbers or dates"),
        ([np.datetime64("NaT", "D")], r"time\[0\] is missing or infinite"),
        (np.array([5]).view("M8"), r"time\[0\] is a datetime64 without a unit: 5 of what\?"),
        ([np.timedelta64(5, "h")], r"time must be numbers or dates, got timedelta64\[h\]"),
        ([5, datetime.date(2020, 1, 1)], r"time\[0\] is 5 among dates or text; give all numbers, or all dates"),
        ([np.timedelta64(5, "h"), 5], r"time\[0\] is .* among dates or text; give all numbers, or all dates"),
    ],
)
def test_bad_times_are_named(time, message):
    with pytest.raises(ValueError, match=message):
        wo.ratings.Elo().fit(["a"], ["b"], [1], time=time)


@pytest.mark.parametrize(
    ("system", "message"),
    [
        (wo.ratings.Elo(k="fifa"), "k='fifa' is not known"),
        (wo.ratings.Elo(k=0), "k must be positive"),
        (wo.ratings.Elo(start=np.nan), "start must be a finite number"),
        (wo.ratings.Elo(together="no"), "together must be True or False"),
        (wo.ratings.Glicko(c=-1), "c must not be negative"),
        (wo.ratings.Glicko(deviation=0), "deviation must be positive"),
        (wo.ratings.Glicko2(tau=0), "tau must be positive"),
        (wo.ratings.Glicko2(volatility=-0.1), "volatility must be positive"),
        (wo.ratings.Davidson(ridge=0), "ridge must be positive"),
        (wo.ratings.Davidson(max_iter=0.5), "max_iter must be a positive whole number"),
    ],
)
def test_bad_parameters_are_named(system, message):
    with pytest.raises(ValueError, match=message):
        system.fit(["a"], ["b"], [1])


def test_the_past_is_closed():
    elo = wo.ratings.Elo().fit(["a"], ["b"], [1], time=[5])
    with pytest.raises(ValueError, match="game 0 is of time 4, which is not after the last game rated"):
        elo.update(["a"], ["c"], [1], time=[4])
    with pytest.raises(ValueError, match="time 5, which is not after"):
        elo.update(["a"], ["c"], [1], time=[5])
    with pytest.raises(ValueError, match="some games came with times"):
        elo.update(["a"], ["c"], [1])
    assert list(elo.players_) == ["a", "b"]  # what was refused left no trace
    one_by_one = wo.ratings.Elo(together=False).fit(["a"], ["b"], [1], time=[5])
    one_by_one.update(["a"], ["c"], [1], time=[5])
    with pytest.raises(ValueError, match="is before the last"):
        one_by_one.update(["a"], ["c"], [1], time=[4])
    assert elo.fit(["a"], ["c"], [1], time=[1]).players_ == {"a": 0, "c": 1}
