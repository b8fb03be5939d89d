"""Files of votes as people have them: columns recognised or named, and winners in words, by name or by scores."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import wellorder as wo
from wellorder.data import TableRanker, read
from wellorder.data.vote_columns import SCORES, SIDES, WON

from .files import games, put, refuses

VOTES = "model_a,model_b,winner\nada,bob,model_a\nbob,eve,model_b\neve,ada,tie\n"


def read_back(found):
    """What a file says, by name: (left, right, outcome)."""
    names, compared = found.items.ids, found.comparisons
    return list(zip(names[compared.left], names[compared.right], compared.outcome.tolist(), strict=True))


AS_VOTED = [("ada", "bob", -1), ("bob", "eve", 1), ("eve", "ada", 0)]


@pytest.mark.parametrize(("left", "right"), SIDES)
@pytest.mark.parametrize("verdict", ["outcome", "winner"])
def test_sides_are_recognised(tmp_path, left, right, verdict):
    text = f"{left},{right},{verdict}\nada,bob,left\nbob,eve,right\neve,ada,tie\n"
    assert read_back(games(tmp_path, text)) == AS_VOTED


@pytest.mark.parametrize("header", ["Model A,Model B,Winner", "MODEL_A,MODEL_B,WINNER", "modelA,modelB,winner"])
@pytest.mark.parametrize(
    "words",
    [
        ("model_a", "model_b", "tie"),
        ("A", "B", "Tie"),
        ("a", "b", "draw"),
        ("left", "right", "="),
        (">", "<", "0"),
        ("ada", "eve", "tie"),
        ("a wins", "b wins", "same"),
        ("1-0", "0-1", "1/2-1/2"),
        ("1", "0", "0.5"),
        ("1.0", "0.0", ".5"),
    ],
)
def test_words_for_who_won(tmp_path, header, words):
    text = f"{header}\nada,bob,{words[0]}\nbob,eve,{words[1]}\neve,ada,{words[2]}\n"
    assert read_back(games(tmp_path, text)) == AS_VOTED


def test_a_half_makes_ones_and_noughts_points_of_the_left_one_and_that_is_said(tmp_path):
    text = "white,black,outcome\n7,9,1\n9,7,0.5\n8,9,0\n7,8,0\n"
    found = games(tmp_path, text)
    assert found.comparisons.outcome.tolist() == [-1, 0, 1, 1]
    assert "outcome in outcome, points of white (white 1, black 2, tie 1)" in found.understood
    assert found.signs == ("1", "0.5", "0")  # predictions are written as the file is
    refuses(tmp_path, text + "8,7,-1\n", "is '0.5'; where 1, 0.5 and 0 are points", line=3)
    with pytest.raises(ValueError, match=r"np\.sign\(1 - 2 \* points\)"):
        wo.Comparisons.from_names(["a", "b"], ["b", "a"], [1, 0.5])


def test_points_under_our_own_names_are_warned_of(tmp_path):
    with pytest.warns(UserWarning, match="read as points of the left one; if 1 says that the right one is better"):
        found = games(tmp_path, "left,right,outcome\n7,9,1\n9,7,0.5\n8,9,0\n")
    assert found.comparisons.outcome.tolist() == [-1, 0, 1]


@pytest.mark.parametrize(("columns", "words"), [(("home_team", "away_team"), "HAD"), (("white", "black"), None)])
def test_words_that_go_by_the_columns(tmp_path, columns, words):
    places = words or [*columns, "draw"]
    text = f"{','.join(columns)},winner\nada,bob,{places[0]}\nbob,eve,{places[1]}\neve,ada,{places[2]}\n"
    assert read_back(games(tmp_path, text)) == AS_VOTED


def test_a_is_no_word_where_it_could_be_away(tmp_path):
    refuses(tmp_path, "heim,gast,tipp\nx,y,A\n", "'A'", left="heim", right="gast", outcome="tipp", line=2)


@pytest.mark.parametrize("bad", ["tie (bothbad)", "both_bad", "bothbad", "Both Bad"])
def test_both_bad_is_a_tie_that_is_remembered(tmp_path, bad):
    found = games(tmp_path, VOTES + f"ada,eve,{bad}\n")
    assert found.comparisons.outcome.tolist() == [-1, 1, 0, 0]
    assert found.both_bad.tolist() == [False, False, False, True]
    assert found.take(np.array([3, 0])).both_bad.tolist() == [True, False]
    assert "tie 2; 1 of the ties 'both bad'" in found.understood
    assert games(tmp_path, VOTES).both_bad is None


@pytest.mark.parametrize(("winner", "loser"), WON)
def test_winners_beside_losers(tmp_path, winner, loser):
    found = games(tmp_path, f"{winner},{loser}\nada,bob\neve,bob\n")
    assert read_back(found) == [("ada", "bob", -1), ("eve", "bob", -1)]
    assert not found.sides
    assert "the winner always stands first, so nothing can be said about sides" in found.understood
    assert games(tmp_path, VOTES).sides
    with pytest.raises(ValueError, match=r"first_move=True asks what the left place is worth, and in .* the winner"):
        TableRanker(wo.ratings.RatingRanker(wo.ratings.Davidson(first_move=True))).fit(found)
    with pytest.raises(ValueError, match=r"advantage='fit' asks what the left place is worth"):
        TableRanker(wo.ratings.RatingRanker(wo.ratings.Elo(advantage="fit"))).fit(found)


@pytest.mark.parametrize(("home", "away"), SCORES)
def test_scores(tmp_path, home, away):
    text = f"home,away,{home},{away}\nada,bob,2,1\nbob,eve,0,3.5\neve,ada,1,1\n"
    found = games(tmp_path, text)
    assert read_back(found) == AS_VOTED
    assert f"home against away, by {home} and {away} (home 1, away 1, tie 1)" in found.understood


def test_scores_as_football_has_them(tmp_path):
    text = "Date,HomeTeam,AwayTeam,FTHG,FTAG,FTR\n2024-01-03,ada,bob,2,1,H\n2024-01-01,bob,eve,0,1,A\n"
    found = games(tmp_path, text, time="Date")
    assert read_back(found) == [("bob", "eve", 1), ("ada", "bob", -1)]
    assert found.columns.rows() == [("A",), ("H",)]
    assert [found.places.find(row)[1] for row in (0, 1)] == [3, 2]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (",", "there are no scores (columns 'home_score' and 'away_score'), as of a match that is yet to be played"),
        ("1,", "the score (column 'away_score') is missing"),
        ("-1,0", "the score -1 (column 'home_score') is below 0"),
    ],
)
def test_scores_that_are_none(tmp_path, fields, said):
    text = f"home,away,home_score,away_score\nada,bob,1,0\nbob,eve,{fields}\nada,eve,1,0\n"
    refuses(tmp_path, text, said, line=3)


def test_scores_in_words(tmp_path):
    refuses(tmp_path, "home,away,home_score,away_score\na,b,two,one\n", "the score 'two' (column", line=2)


def test_a_match_yet_to_be_played_is_predicted(tmp_path):
    played = put(tmp_path, "home,away,home_score,away_score\nada,bob,1,0\nbob,eve,1,0\neve,ada,0,2\n", "played.csv")
    model = TableRanker(wo.ratings.RatingRanker(wo.ratings.Davidson())).fit(read(played))
    coming = put(tmp_path, "home,away,home_score,away_score\neve,ada,,\nada,bob,,\n", "coming.csv")
    pairs = wo.data.read_for(model, coming)
    assert model.predict(pairs).tolist() == [1, -1]
    assert pairs.understood.endswith("coming.csv: 2 pairs of 3 items: home against away")
    assert pairs.signs == ("left", "tie", "right")


def test_columns_are_named(tmp_path):
    text = "who,whom,won,p,q\nada,bob,who,2,1\nbob,eve,eve,0,1\neve,ada,tie,3,3\n"
    assert read_back(games(tmp_path, text, left="who", right="whom", outcome="won")) == AS_VOTED
    assert read_back(games(tmp_path, text, left="who", right="whom", scores=["p", "q"])) == AS_VOTED
    assert read_back(games(tmp_path, text, winner="who", loser="whom"))[1] == ("bob", "eve", -1)
    named = games(tmp_path, text, left="who", right="whom", scores=("p", "q"))
    assert named.recipe.endswith("left='who', right='whom', scores=('p', 'q'))")
    assert named.columns.columns == ["won"]
    assert read_back(games(tmp_path, VOTES.replace("winner", "verdict"), outcome="verdict")) == AS_VOTED
    for frame in (pl.DataFrame, pd.DataFrame):
        votes = frame({"x": ["ada", "bob", "eve"], "y": ["bob", "eve", "ada"], "z": [-1, 1, 0]})
        assert read_back(read(votes, left="x", right="y", outcome="z")) == AS_VOTED


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"left": "model_a"}, "left= names one of the two compared; give left= and right="),
        ({"outcome": "prompt"}, "the outcome (column 'prompt') is 'hi'"),
        ({"winner": "winner"}, "winner= and loser= name the columns of those who won and of those who lost; give both"),
        ({"winner": "model_a", "left": "model_b", "right": "winner"}, "winner= and left= are two ways"),
        ({"outcome": "winner", "scores": ["model_a", "model_b"]}, "scores= and outcome= are two ways"),
        ({"left": "model_a", "right": "model_a"}, "'model_a' is named twice, by left= and by right="),
        ({"left": "model_c", "right": "model_b"}, "there is no column 'model_c' (from left=); did you mean"),
        ({"target": "prompt", "outcome": "winner"}, "target= is of grades and outcome= of comparisons"),
        ({"left": "prompt", "right": "model_b", "outcome": "model_a"}, "the outcome (column 'model_a') is 'ada'"),
    ],
)
def test_columns_that_are_named_wrongly(tmp_path, options, said):
    line = 2 if said.startswith("the outcome") else None
    refuses(tmp_path, "prompt,model_a,model_b,winner\nhi,ada,bob,a\n", said, line=line, **options)


def test_what_lacks_is_said(tmp_path):
    text = "who,whom,won\nada,bob,who\n"
    refuses(tmp_path, text, "outcome= says who won; name the columns of the two", outcome="won")
    refuses(tmp_path, text, "name the column that says who won with outcome=", left="who", right="whom")
    with pytest.raises(ValueError, match=r"scores=\['won'\] should name two columns"):
        games(tmp_path, text, left="who", right="whom", scores=["won"])


@pytest.mark.parametrize(
    ("header", "row", "ways"),
    [
        ("left,right,outcome,winner", "a,b,1,1", ("outcome in outcome", "outcome in winner")),
        ("left,right,winner,loser", "a,b,left,b", ("winner above loser", "left against right, outcome in winner")),
        ("winner,loser,chosen,rejected", "a,b,c,d", ("winner above loser", "chosen above rejected")),
        (
            "home,away,winner,home_score,away_score",
            "a,b,a,1,1",
            ("home against away, outcome in winner", "home against away, by home_score and away_score"),
        ),
        ("model_a,model_b,left,right,winner", "a,b,c,d,tie", ("left against right", "model_a against model_b")),
        ("home,away,home_goals,away_goals,home_points,away_points", "a,b,1,1,1,1", ("home_goals", "home_points")),
    ],
)
def test_two_ways_to_read_a_file_are_both_named(tmp_path, header, row, ways):
    refuses(tmp_path, f"{header}\n{row}\n", "it could be read in two ways", *ways, "Say which with left=, right=")


def test_of_two_ways_one_is_chosen_by_dropping_a_column(tmp_path):
    text = "left,right,outcome,winner\na,b,left,right\n"
    assert games(tmp_path, text, drop="winner").comparisons.outcome.tolist() == [-1]
    assert games(tmp_path, text, outcome="winner").comparisons.outcome.tolist() == [1]


def test_the_verdict_may_name_its_columns(tmp_path):
    """As in a file whose other pair of columns are numbers of the same two."""
    text = "id,model_x,model_y,winner,left,right\n0,97,98,tie,ada,bob\n1,98,5,right,bob,eve\n"
    found = games(tmp_path, text)
    assert read_back(found) == [("ada", "bob", 0), ("bob", "eve", 1)]
    assert found.columns.columns == ["id", "model_x", "model_y"]
    found = games(tmp_path, text.replace("right,bob", "model_y,bob"))
    assert read_back(found) == [("97", "98", 0), ("98", "5", 1)]


def test_one_and_two(tmp_path):
    text = "model_1,model_2,winner\nada,bob,1\nbob,eve,{}\n"
    assert games(tmp_path, text.format(2)).comparisons.outcome.tolist() == [-1, 1]
    assert games(tmp_path, text.format(-1)).comparisons.outcome.tolist() == [1, -1]
    refuses(
        tmp_path, text.format("tie"), "1 in column 'winner' could be read in two ways, as model_1 and as 'the right"
    )


def test_items_that_are_called_by_numbers(tmp_path):
    signs = "left,right,outcome\n1,2,1\n3,1,-1\n0,1,0\n1,0,1\n"
    assert read_back(games(tmp_path, signs)) == [("1", "2", 1), ("3", "1", -1), ("0", "1", 0), ("1", "0", 1)]
    names = "left,right,winner\n1,57,1\n57,3,57\n3,1,1\n3,1,0\n"
    assert read_back(games(tmp_path, names)) == [("1", "57", -1), ("57", "3", -1), ("3", "1", 1), ("3", "1", 0)]
    refuses(tmp_path, "left,right,winner\n1,2,1\n1,3,1\n", "'1' could be read in two ways", line=2)
    refuses(tmp_path, names + "57,3,1\n", "is '1', neither '57' nor '3'", line=6)


def test_a_word_that_is_a_name_as_well(tmp_path):
    text = "model_a,model_b,winner\n{}\n"
    assert games(tmp_path, text.format("a,b,a\na,b,b")).comparisons.outcome.tolist() == [-1, 1]
    said = ("the outcome (column 'winner') 'a' could be read in two ways", "a word for the left one")
    refuses(tmp_path, text.format("a,b,b\nb,a,a"), *said, "the right item's name", line=3)
    refuses(tmp_path, text.format("a,b,b\nb,c,a"), *said, "an item that is not compared here", line=3)
    refuses(tmp_path, text.format("x,tie,x\nx,tie,tie"), "a word for a tie and as the right item's name", line=3)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("", "the outcome (column 'winner') is missing; remove the row, or write"),
        ("win", "the outcome (column 'winner') is 'win'; write 1, < or right"),
        ("model_c", "the outcome (column 'winner') is 'model_c'"),
        ("ada", "the outcome (column 'winner') is 'ada', neither 'bob' nor 'eve', which are compared here"),
    ],
)
def test_outcomes_that_say_nothing(tmp_path, bad, said):
    first = "ada" if bad == "ada" else "model_a"
    refuses(tmp_path, f"model_a,model_b,winner\nada,bob,{first}\nbob,eve,{bad}\n", said, line=3)


def test_an_item_better_than_itself(tmp_path):
    refuses(tmp_path, "winner,loser\na,b\na,a\n", "'a' is compared with itself and found better", line=3)
    refuses(tmp_path, VOTES + "eve,eve,eve\n", "'eve' is compared with itself", line=5)
    refuses(tmp_path, "winner,loser\na,b\na,\n", "the name (column 'loser') is missing", line=3)


def test_columns_without_a_role(tmp_path):
    text = "day,model_a,model_b,winner,length_a,judge,weight\n3,ada,bob,model_a,10,x,2\n1,bob,eve,tie,,y,1\n"
    found = games(tmp_path, text, time="day")
    assert found.columns.to_dict(as_series=False) == {"length_a": [None, 10.0], "judge": ["y", "x"]}
    assert found.comparisons.weight.tolist() == [1.0, 2.0]
    assert found.take(np.array([False, True])).columns.rows() == [(10.0, "x")]
    assert found.comparisons.take(np.array([1])).names.tolist() == found.items.ids.tolist()
    assert found.understood == (
        f"{found.source}: 2 comparisons of 3 items: model_a against model_b, outcome in winner (model_a 1, model_b 0, "
        "tie 1), weight in weight, time in day; other columns: length_a, judge"
    )


def test_columns_that_nobody_needs_are_no_reason_to_refuse_a_file(tmp_path):
    rows = "".join(f"ada,bob,model_a,{length}\n" for length in [*range(20), "1o"])
    found = games(tmp_path, "model_a,model_b,winner,length\n" + rows)
    assert found.columns["length"].dtype == pl.String
    ids = ["1765432109876543210", "1765432109876543211"]
    found = games(tmp_path, f"model_a,model_b,winner,id\nada,bob,a,{ids[0]}\nada,bob,a,{ids[1]}\n")
    assert found.columns["id"].to_list() == ids
    votes = pl.DataFrame({"model_a": ["x"], "model_b": ["y"], "winner": ["a"], "turns": [[1, 2]]})
    votes.write_parquet(tmp_path / "votes.parquet")
    found = read(tmp_path / "votes.parquet")
    assert found.columns is None
    assert found.understood.endswith("; lists and objects, which are not read: turns")


def test_a_target_goes_before_everything(tmp_path):
    text = "home,away,home_score,away_score,grade\na,b,1,0,3\nb,c,1,2,1\n"
    assert read(put(tmp_path, text), target="grade").y.tolist() == [3.0, 1.0]
    assert read(put(tmp_path, text), target="home_score").y.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("levels", [None, ["model_a", "model_b", "tie"]])
def test_who_won_is_no_grade(tmp_path, levels):
    said = ("'winner' says which of model_a and model_b is better", "leave target= out: the file is then read as")
    refuses(tmp_path, VOTES, *said, "wellorder rate", target="winner", levels=levels)
    refuses(tmp_path, VOTES.replace("winner", "verdict"), "outcome='verdict'", target="verdict", levels=levels)
    text = VOTES.replace("model_a,model_b", "this,that")
    if levels is None:
        refuses(tmp_path, text, "looks like the outcomes of votes", "left= and right=", "rate", target="winner")


def test_a_model_reads_each_file_by_its_own_columns(tmp_path):
    model = TableRanker(wo.ratings.RatingRanker(wo.ratings.Davidson())).fit(games(tmp_path, VOTES))
    assert model.signs_ == ("model_a", "tie", "model_b")
    asked = put(tmp_path, "this,that,who\nbob,eve,that\n", "asked.csv")
    pairs = wo.data.read_for(model, asked, left="this", right="that")
    assert model.predict(pairs).tolist() == [1]
    judged = wo.data.read_for(model, asked, judged=True, left="this", right="that", outcome="who")
    assert judged.comparisons.outcome.tolist() == [1]
    with pytest.raises(ValueError, match="give a file with the columns left, right and outcome, or name them"):
        wo.data.read_for(model, asked, judged=True)
    with pytest.raises(ValueError, match="it has no column 'outcome'"):
        wo.data.read_for(model, put(tmp_path, "left,right\nbob,eve\n"), judged=True)
    with pytest.raises(ValueError, match="could be read in two ways: left against right; or model_a against model_b"):
        wo.data.read_for(model, put(tmp_path, "left,right,model_a,model_b\nbob,eve,ada,eve\n"))
    graded = TableRanker(wo.RankSVM(), target="y").fit(pl.DataFrame({"x": [1.0, 2.0], "y": [1, 2]}))
    with pytest.raises(ValueError, match="left= goes with comparisons, and the model was learned from grades"):
        wo.data.read_for(graded, asked, left="this", right="that")


def test_words_of_an_arena_are_understood_wherever_the_columns_are_named(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("x1,x2,res\nada,bob,model_a\nbob,eve,Model B\neve,ada,tie(bothbad)\n", encoding="utf-8")
    table = wo.read(path, left="x1", right="x2", outcome="res")
    assert table.comparisons.outcome.tolist() == [-1, 1, 0]
    assert table.both_bad.tolist() == [False, False, True]


def test_ones_and_zeros_of_who_won(tmp_path):
    header = "id,model_a,model_b,prompt,winner_model_a,winner_model_b,winner_tie\n"
    found = games(tmp_path, header + "1,ada,bob,x,1,0,0\n2,bob,eve,y,0,1,0\n3,eve,ada,z,0,0,1\n")
    assert read_back(found) == AS_VOTED
    assert found.columns.columns == ["id", "prompt"]
    assert "by winner_model_a, winner_model_b and winner_tie" in found.understood
    refuses(tmp_path, header + "1,ada,bob,x,1,0,1\n", "should have one 1 among them", line=2)
    refuses(tmp_path, header + "1,ada,bob,x,2,0,0\n", "in column 'winner_model_a' is neither 1 nor 0", line=2)


def test_results_as_of_chess(tmp_path):
    chess = "White,Black,Result\nada,bob,1-0\nbob,eve,0-1\neve,ada,1/2-1/2\n"
    assert read_back(games(tmp_path, chess)) == AS_VOTED
    # beside scores, which say more, it is a column as any other
    league = "home_team,away_team,home_score,away_score,result\nada,bob,2,1,H\nbob,eve,0,1,A\neve,ada,1,1,D\n"
    found = games(tmp_path, league)
    assert read_back(found) == AS_VOTED
    assert found.columns.columns == ["result"]


def test_times_reach_ratings_that_fade(tmp_path):
    days = "".join(f"ada,bob,{1 if k % 3 else -1},2024-01-{k + 1:02d}\n" for k in range(20))
    text = f"left,right,outcome,day\n{days}eve,ada,1,2034-01-01\n"
    plain, dated = games(tmp_path, text), games(tmp_path, text, time="day")
    assert dated.comparisons.times.dtype.kind == "M"
    ada = list(dated.items.ids).index("ada")

    def rated(table, system):
        return wo.ratings.RatingRanker(system).fit(table.items.X, table.comparisons).system_

    # ten years on, little is known of ada
    by_order, by_time = (rated(table, wo.ratings.Glicko()).deviations_[ada] for table in (plain, dated))
    assert by_time > 1.5 * by_order
    by_order, by_time = (rated(table, wo.ratings.Elo()).ratings_.tolist() for table in (plain, dated))
    assert by_time == by_order
