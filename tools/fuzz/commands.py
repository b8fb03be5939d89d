"""The command line: any options with any values; exit code 0, 1 or 2, one line about what is wrong, no trace."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import click

from wellorder.cli.main import main, wellorder

from .target import Case, Target

WORDS = ["", "-", "=", "a", "a=", "=1", "x,y", ",", "0", "-1", "1e999", "nan", "inf", "9" * 30, "ü", "\x1b[31m", "none"]
WORDS += ["1.5", "C=1", "C=nan", "tol=1", "gamma=0.1", "ndcg", "ndcg@10", "ndcg@0", "map", "swapped_pairs", "ridge"]
WORDS += ["name", "list", "grade", "quality", "left", "right", "outcome", "judge", "rank-svm", "best-feature", "elo"]
WORDS += ["davidson", "top 3", "rank", "low,mid,high", "*.csv", "nosuch", "rank 1", "acid=+", "acid=-,sugar=+", "text"]
WORDS += ["markdown", "365d", "2y"]
NAMES = ["graded.csv", "votes.csv", "items.csv", "truth.csv", "graded.wo", "pairs.wo", "standings.wo", "kept.jsonl"]
NAMES += ["votes.db", "run.txt", "qrels.txt", "t.letor", "empty.csv", "folder", "none.csv"]
OUTPUTS = [
    "out.csv",
    "out.wo",
    "out.html",
    "out.tsv.gz",
    "out.parquet",
    "folder",
    "none/out",
    "-",
    "/dev/null",
    "graded.csv",
]

QUICK = {
    "compare": ("--models", "ridge", "--folds", "2", "--repeats", "1", "--time-budget", "2", "--jobs", "1"),
    "collect": ("--simulate", "truth.csv", "--votes", "3"),
    "reproduce": ("--from", "none.gz"),
    "demo": ("--time-budget", "-1"),
    "fit": ("--no-bands",),
}
"""What stands last, so that nothing takes minutes, serves pages or computes a paper."""
NEVER = ("--engine", "--scheduler", "--open", "--no-open", "--host", "--address", "--search", "--data")


@cache
def _folder() -> Path:
    """Make a folder with small files of each kind."""
    from tests.faults.commands import write

    folder = Path(tempfile.mkdtemp(prefix="wellorder-fuzz-"))
    rows = [("name", "list", "acid", "sugar", "kind", "grade")]
    rows += [(f"n{r}", "ab"[r % 2], (r * 7) % 11, (r * 5) % 13 / 3, "xyz"[r % 3], r * 3 % 7 % 3) for r in range(24)]
    write(folder / "graded.csv", *rows)
    votes = [(f"i{v % 4}", f"i{(v + 1 + v % 3) % 4}", "<=>"[v * 5 % 3], "jk"[v % 2]) for v in range(30)]
    write(folder / "votes.csv", ("left", "right", "outcome", "judge"), *[v for v in votes if v[0] != v[1]])
    write(folder / "items.csv", ("name", "size"), *((f"i{item}", item * item) for item in range(4)))
    write(folder / "truth.csv", ("name", "worth"), *((f"i{item}", item) for item in range(4)))
    (folder / "empty.csv").write_text("")
    (folder / "folder").mkdir()
    (folder / "run.txt").write_text("q1 Q0 a 1 2.5 t\nq1 Q0 b 2 1.5 t\n")
    (folder / "qrels.txt").write_text("q1 0 a 1\nq1 0 b 0\n")
    (folder / "t.letor").write_text("".join(f"{r % 3} qid:{r // 6} 1:{r % 5} 2:{r % 7}\n" for r in range(30)))
    with contextlib.chdir(folder):
        for words in (
            ("fit", "graded.csv", "--target", "grade", "--group", "list", "--item", "name", "-o", "graded.wo"),
            ("fit", "votes.csv", "--model", "davidson", "--no-bands", "-o", "pairs.wo"),
            ("rate", "votes.csv", "--save", "standings.wo"),
            (
                "compare",
                "graded.csv",
                "--target",
                "grade",
                "--item",
                "name",
                *QUICK["compare"],
                "--records",
                "kept.jsonl",
            ),
            ("collect", "items.csv", "--into", "votes.db", *QUICK["collect"]),
        ):
            code, _, said = _call(list(words))
            if code:
                raise RuntimeError(f"{words}: {said}")
    return folder


@cache
def _commands() -> dict[str, click.Command]:
    from wellorder.cli.commands.collect import export

    context = click.Context(wellorder)
    return {name: wellorder.get_command(context, name) for name in wellorder.list_commands(context)} | {
        "collect export": export
    }


def _value(param: click.Parameter, random: Random) -> str:
    """Draw a value that an option may take, or one that it may not."""
    kind: Any = param.type
    if random.random() < 0.15:
        return random.choice(WORDS)
    if isinstance(kind, click.Choice):
        return random.choice(list(kind.choices))
    if isinstance(kind, click.IntRange):
        return str(random.choice([kind.min or 0, (kind.min or 0) + 1, 3, kind.max or 9]))
    if isinstance(kind, click.FloatRange):
        return str(random.choice([0, 0.5, 0.9, 1, 2]))
    called = getattr(param.callback, "__name__", "")
    if called == "_are_there":
        return random.choice(NAMES)
    if called == "output_file":
        return random.choice(OUTPUTS)
    return random.choice(WORDS)


def draw(random: Random) -> Case:
    """Draw a command, some of its options, and values for them."""
    name = random.choice(list(_commands()))
    command = _commands()[name]
    words: list[str] = name.split()
    chance = random.choice((0.0, 0.02, 0.05, 0.3))
    good = {"target": "grade", "group": "list", "item": "name"} if random.random() < 0.7 else {}
    for param in command.params:
        if isinstance(param, click.Argument):
            continue
        if param.name in good and "data" in {each.name for each in command.params}:
            words += [param.opts[-1], good[param.name]]
        if set(param.opts) & set(NEVER) or random.random() >= (0.9 if param.required else chance):
            continue
        option = random.choice([*param.opts, *param.secondary_opts])
        words += [option] if getattr(param, "is_flag", False) else [option, _value(param, random)]
    for param in command.params:
        if isinstance(param, click.Argument):
            usual = {"model": NAMES[4:7], "data": NAMES[:2], "records": NAMES[7:8], "votes": ["votes.db"]}
            likely = usual.get(str(param.name), NAMES) if random.random() < 0.8 else WORDS
            if param.required or random.random() < 0.5:
                words += [random.choice(likely) for _ in range(1 if param.nargs == 1 else random.choice((1, 1, 2)))]
    return {"words": [*words, *QUICK.get(name, ())] if "--help" not in words else words}


def _call(words: list[str]) -> tuple[int, str, str]:
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
    code, shown = 0, warnings.showwarning
    with warnings.catch_warnings(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        warnings.simplefilter("default")
        try:
            main(words)
        except SystemExit as left:
            code = int(left.code or 0)
        finally:
            warnings.showwarning = shown
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode("utf-8"))  # type: ignore[attr-defined]
    return code, texts[0], texts[1]


def run(case: Case) -> str:
    """Run it in this process, in a copy of the folder."""
    with tempfile.TemporaryDirectory(prefix="wellorder-fuzz-", ignore_cleanup_errors=True) as place:
        folder = Path(place, "here")
        shutil.copytree(_folder(), folder)
        with contextlib.chdir(folder):
            code, out, err = _call(list(case["words"]))
            left = [name for name in os.listdir() if name.endswith(".tmp")]
    if "Traceback" in err or "did not expect" in err or code not in (0, 1, 2):
        raise AssertionError(f"exit code {code}: {err[-600:]}")
    if left:
        raise AssertionError(f"left behind: {left}")
    if code == 2 and not err.strip().splitlines()[-1:]:
        raise AssertionError("exit code 2 without a word")
    if any(ord(letter) < 32 and letter not in "\n\t" for letter in err + (out if sys.stdout.isatty() else "")):
        raise AssertionError(f"a control character: {err!r}")
    return f"exit {code}"


COMMANDS = Target("commands", 0.1, draw, run)
