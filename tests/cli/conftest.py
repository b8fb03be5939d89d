"""The command line in this process: what it prints, and how it exits."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import pytest


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Run ``wellorder`` with some arguments, in an empty folder."""
    from wellorder.cli.main import main

    monkeypatch.chdir(tmp_path)

    def run_in_process(*arguments):
        capsys.readouterr()
        with warnings.catch_warnings():
            warnings.simplefilter("default")  # as for a user: shown, not raised
            with pytest.raises(SystemExit) as leaving:
                main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        return Outcome(int(leaving.value.code or 0), printed.out, printed.err)

    return run_in_process


@pytest.fixture
def wines(tmp_path):
    """A CSV of graded wines with names, a nominal column and a gap; written in the folder where commands run."""
    rng = np.random.default_rng(0)
    lines = ["name,acid,sugar,colour,quality"]
    for number in range(120):
        acid, sugar = rng.standard_normal(2)
        colour = "red" if rng.random() < 0.5 else "white"
        quality = int(np.digitize(acid - 0.5 * sugar + (colour == "red") + 0.7 * rng.standard_normal(), [-1, 0.5, 2]))
        lines.append(f"wine {number},{acid:.4f},{'' if number == 7 else f'{sugar:.4f}'},{colour},{3 + quality}")
    path = tmp_path / "wines.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def letor(tmp_path):
    """A LETOR file of 30 queries with text ids and documents' names."""
    rng = np.random.default_rng(1)
    lines = []
    for query in range(30):
        for document in range(8):
            x = rng.standard_normal(4)
            grade = int(np.digitize(x[0] + 0.5 * x[2] + 0.5 * rng.standard_normal(), [0, 1]))
            features = " ".join(f"{index + 1}:{value:.4f}" for index, value in enumerate(x))
            lines.append(f"{grade} qid:q{query} {features} # doc {query}-{document}")
    path = tmp_path / "train.letor"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def games(tmp_path):
    """Games of 12 players with draws, and a file about the players."""
    rng = np.random.default_rng(2)
    strength = np.linspace(-2, 2, 12)
    players = ["name,strength,noise"] + [f"p{i},{strength[i]:.3f},{rng.standard_normal():.3f}" for i in range(12)]
    (tmp_path / "players.csv").write_text("\n".join(players) + "\n", encoding="utf-8")
    lines = ["left,right,outcome"]
    for _ in range(150):
        left, right = rng.choice(12, 2, replace=False)
        margin = strength[right] - strength[left] + 0.5 * rng.standard_normal()
        lines.append(f"p{left},p{right},{'=' if abs(margin) < 0.4 else '<' if margin > 0 else '>'}")
    path = tmp_path / "games.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
