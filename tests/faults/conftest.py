from __future__ import annotations

import contextlib
import gc
import os
import tempfile
from functools import partial

import pytest

from tests.cli.conftest import Outcome

from .commands import here, workshop  # noqa: F401


def open_files():
    """Return the plain files that this process has open."""
    if not os.path.isdir("/proc/self/fd"):
        return set()
    names = set()
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            names.add(os.readlink(f"/proc/self/fd/{number}"))
    return {
        name
        for name in names
        if name.startswith("/") and not name.startswith(("/dev", "/proc")) and "site-packages" not in name
    }


@pytest.fixture
def say(capsys, here, monkeypatch, tmp_path):  # noqa: F811
    """Run a command in a copy of the workshop; return its exit code, and what it printed."""
    import warnings

    from wellorder import evaluation
    from wellorder.cli.main import main

    quick = partial(evaluation.compare, methods=["ridge"], n_folds=2, n_repeats=1)

    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))

    def said(*words):
        capsys.readouterr()
        gc.collect()
        before = open_files()
        with warnings.catch_warnings(), monkeypatch.context() as patched:
            warnings.simplefilter("default")
            if words[0] == "demo":  # the commands are tried here, not the methods
                patched.setattr(evaluation, "compare", quick)
            with pytest.raises(SystemExit) as leaving:
                main([str(word) for word in words])
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        assert os.listdir(scratch) == []  # however it ended
        gc.collect()
        assert open_files() <= before
        return Outcome(int(leaving.value.code or 0), printed.out, printed.err)

    return said
