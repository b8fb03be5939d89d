"""What fuzzing has found is tried again, and a few new cases; ``python -m tools.fuzz`` tries millions."""

from __future__ import annotations

import pytest
from tools.fuzz.target import CORPUS, load_case, save_case
from tools.fuzz.work import TARGETS

KEPT = sorted(CORPUS.glob("*.json"))
FEW = {"readers": 150, "model-files": 80, "commands": 12, "estimators": 40}


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_what_was_found_stays_mended(path):
    name, case = load_case(path)
    TARGETS[name].run(case)


@pytest.mark.parametrize("name", TARGETS)
def test_a_few_cases_find_nothing(name):
    for number in range(FEW[name]):
        TARGETS[name].run(TARGETS[name].case(0, number))


@pytest.mark.parametrize("name", TARGETS)
def test_a_case_can_be_drawn_and_kept_again(name, tmp_path):
    case = TARGETS[name].case(3, 5)
    assert TARGETS[name].case(3, 5) == case
    assert TARGETS[name].case(3, 6) != case
    assert load_case(save_case(name, case, "why", tmp_path)) == (name, case)
