from __future__ import annotations

import pytest

from tests.persistence.small_models import Small, small_models


@pytest.fixture(scope="session")
def models() -> list[Small]:
    """A small fitted model of every class that a model file may hold, of those that score."""
    found = [small for small in small_models() if hasattr(small.model, "decision_function")]
    return [small for small in found if type(small.model).__name__ != "LogisticRegression"]
