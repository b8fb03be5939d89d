from __future__ import annotations

from functools import partial

import pytest

from tests.cli.conftest import Outcome

from .commands import here, workshop  # noqa: F401


@pytest.fixture
def say(capsys, here, monkeypatch):  # noqa: F811
    """Run a command in a copy of the workshop; return its exit code, and what it printed."""
    import warnings

    from wellorder import evaluation
    from wellorder.cli.main import main

    quick = partial(evaluation.compare, methods=["ridge"], n_folds=2, n_repeats=1)

    def said(*words):
        capsys.readouterr()
        with warnings.catch_warnings(), monkeypatch.context() as patched:
            warnings.simplefilter("default")
            if words[0] == "demo":  # the commands are tried here, not the methods
                patched.setattr(evaluation, "compare", quick)
            with pytest.raises(SystemExit) as leaving:
                main([str(word) for word in words])
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        return Outcome(int(leaving.value.code or 0), printed.out, printed.err)

    return said
