from __future__ import annotations

import gc
from pathlib import Path

import pytest
from hypothesis import settings

import wellorder
from wellorder.order import pairs
from wellorder.sweeps import dispatch, nodes

settings.register_profile("wellorder", deadline=None, derandomize=True, max_examples=80)
settings.register_profile("quick", settings.get_profile("wellorder"), max_examples=10)
settings.load_profile("wellorder")


def pytest_report_header():
    """Say what is tested: the working tree, or what is installed."""
    return f"wellorder: {Path(wellorder.__file__).resolve().parent}"


def pytest_collection_finish():
    """Take what pytest keeps of thousands of tests out of the collector's sight: each of its rounds took .1 s."""
    gc.collect()
    gc.freeze()


@pytest.fixture(params=["numpy", "numba"])
def form(request, monkeypatch):
    """Run a test with both forms of the sweeps, whatever the size of its data."""
    monkeypatch.setattr(dispatch, "COMPILED_FROM", 10**12 if request.param == "numpy" else 0)
    monkeypatch.setattr(nodes, "is_loaded", lambda _: False)
    return request.param


@pytest.fixture(params=["edges", "ladder"])
def cell_form(request, monkeypatch):
    """Run a test with pairs of cells, and with ladders wherever the order allows one."""
    monkeypatch.setattr(pairs, "LADDER_FROM", 10**9 if request.param == "edges" else 0)
    monkeypatch.setattr(pairs, "PAIRS_PER_ROW", 10**9)
    return request.param
