"""How long a fitted model takes to score a few rows, beside other runtimes: in a running process and in a fresh one."""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import joblib
import lightgbm
import numpy as np
import pandas as pd
import polars as pl
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

import wellorder as wo
from wellorder.data import TableRanker
from wellorder.spaces import Forest

PAGE = Path("docs/results/latency.md")

SIZES = (1, 100, 10_000)
_N_COLUMNS, _N_TEXT, _N_TREES, _N_LEAVES = 136, 6, 150, 7
_SECONDS = 0.05
"""How long one contender works in one turn; its median call counts."""

Call = Callable[[], Any]
Scorer = Callable[[Any], Any]


def write(path: Path, turns: int) -> None:
    """Measure, and write the page."""
    with threadpool_limits(limits=1):
        lines = _measured(turns)
    kept = path.read_text(encoding="utf-8").partition(_NOTES) if path.exists() else ("", "", "")
    path.write_text("\n".join([*lines, "", _NOTES]) + (kept[2] or "\n"), encoding="utf-8")
    print(path.read_text(encoding="utf-8"))


def _measured(turns: int) -> list[str]:
    X, y, frame = _data(2_000)
    arrays, tables = {"linear": _linear(X, y), "trees": _trees(X, y)}, _tables(frame)
    lines = [_TITLE.format(trees=_N_TREES, leaves=_N_LEAVES, columns=_N_COLUMNS, text=_N_TEXT, turns=turns)]
    inputs = {n: _data(n, seed=1) for n in SIZES}
    for name, contenders in arrays.items():
        timed = {n: _race({who: _bind(f, inputs[n][0]) for who, f in contenders.items()}, turns) for n in SIZES}
        lines += [f"\n## {name.capitalize()}: an array\n", *_table(timed)]
    timed = {}
    for n in SIZES:
        table = inputs[n][2].drop("y")
        forms = {"dicts": table.to_dicts(), "polars": table, "pandas": pd.DataFrame(table.to_dict(as_series=False))}
        timed[n] = _race({who: _bind(score, forms[form]) for who, (score, form) in tables.items()}, turns)
    lines += ["\n## A table of numbers and text\n", *_table(timed)]
    with tempfile.TemporaryDirectory() as folder:
        lines += ["\n## A fresh process: load, and score one row\n", *_fresh(Path(folder), X, y, frame, turns)]
    return lines


_TITLE = """# How long a score takes

Medians of calls to a fitted model, in microseconds; contenders take turns ({turns} of them), so that a slow moment of
the machine, which others worked on, hits all of them. {columns} columns; trees: {trees} of {leaves} leaves; the table
has {text} columns of text among them. Every library is held to one thread. Made by `python -m benchmarks latency`."""

_NOTES = "## What it shows"


def _data(n: int, seed: int = 0) -> tuple[Any, Any, pl.DataFrame]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, _N_COLUMNS))
    y = np.digitize(X[:, :10].sum(axis=1) + rng.normal(size=n), [-3, 0, 3])
    columns: dict[str, Any] = {f"number {k}": X[:, k] for k in range(_N_COLUMNS - _N_TEXT)}
    columns |= {f"text {k}": rng.choice(["red", "green", "blue", "violet"], n) for k in range(_N_TEXT)}
    return X, y, pl.DataFrame(columns | {"y": y})


def _linear(X: Any, y: Any) -> dict[str, Scorer]:
    model = wo.RankSVM().fit(X, y)
    pipeline = make_pipeline(StandardScaler(), Ridge()).fit(X, y)
    found: dict[str, Scorer] = {"wellorder RankSVM": model.predict, "scikit-learn scaler, Ridge": pipeline.predict}
    if _has_onnx():
        found["onnxruntime"] = _onnx_scorer(_onnx_linear(model.coef_))
    return found | {"NumPy, `X @ w` alone": lambda rows: rows @ model.coef_}


def _trees(X: Any, y: Any) -> dict[str, Scorer]:
    model = wo.OrderBoost(learner="tree", n_estimators=_N_TREES, max_leaf_nodes=_N_LEAVES).fit(X, y)
    booster = _booster(X, y)
    peer = HistGradientBoostingRegressor(max_iter=_N_TREES, max_leaf_nodes=_N_LEAVES, early_stopping=False).fit(X, y)
    found: dict[str, Scorer] = {
        "wellorder OrderBoost": model.predict,
        "LightGBM": lambda rows: booster.predict(rows, num_threads=1),
        "scikit-learn HistGradientBoosting": peer.predict,
    }
    if _has_onnx():
        found["onnxruntime"] = _onnx_scorer(_onnx_trees(Forest.from_arrays(model.pieces_)))
    return found


def _booster(X: Any, y: Any) -> lightgbm.Booster:
    settings = {"verbosity": -1, "num_leaves": _N_LEAVES, "num_threads": 1}
    return lightgbm.train(settings, lightgbm.Dataset(X, y), _N_TREES)


def _tables(frame: pl.DataFrame) -> dict[str, tuple[Scorer, str]]:
    """Return scorers, and the form of the rows that each takes."""
    linear, trees = _linear_table(frame), _tree_table(frame)
    peer, of_dicts = _pipeline(frame), _dict_pipeline(frame)
    names = frame.drop("y").columns
    return {
        "wellorder TableRanker(RankSVM), list of dicts": (linear.predict, "dicts"),
        "wellorder TableRanker(RankSVM), polars": (linear.predict, "polars"),
        "wellorder TableRanker(RankSVM), pandas": (linear.predict, "pandas"),
        "wellorder TableRanker(OrderBoost), list of dicts": (trees.predict, "dicts"),
        "wellorder TableRanker(OrderBoost), pandas": (trees.predict, "pandas"),
        "scikit-learn column transformer, Ridge: pandas": (peer.predict, "pandas"),
        "the same: list of dicts, made a pandas frame": (lambda rows: peer.predict(pd.DataFrame(rows)[names]), "dicts"),
        "scikit-learn DictVectorizer, scaler, Ridge: list of dicts": (of_dicts.predict, "dicts"),
    }


def _linear_table(frame: pl.DataFrame) -> Any:
    return TableRanker(wo.RankSVM(), target="y").fit(frame)


def _tree_table(frame: pl.DataFrame) -> Any:
    trees = wo.OrderBoost(learner="tree", n_estimators=_N_TREES, max_leaf_nodes=_N_LEAVES)
    return TableRanker(trees, target="y").fit(frame)


def _pipeline(frame: pl.DataFrame) -> Any:
    names = frame.drop("y").columns
    table = pd.DataFrame(frame.to_dict(as_series=False))
    numbers, text = [name for name in names if "number" in name], [name for name in names if "text" in name]
    columns = make_column_transformer((StandardScaler(), numbers), (OneHotEncoder(), text))
    return make_pipeline(columns, Ridge()).fit(table[names], table["y"])


def _dict_pipeline(frame: pl.DataFrame) -> Any:
    rows = frame.drop("y").to_dicts()
    return make_pipeline(DictVectorizer(sparse=False), StandardScaler(), Ridge()).fit(rows, frame["y"].to_numpy())


# --------------------------------------------------------------------------------------------------
# In a running process.


def _bind(score: Scorer, rows: Any) -> Call:
    return lambda: score(rows)


def _race(contenders: dict[str, Call], turns: int) -> dict[str, float]:
    """Return the median over turns of the median call of a turn, in seconds."""
    found: dict[str, list[float]] = {name: [] for name in contenders}
    for call in contenders.values():
        call()
    for _ in range(turns):
        for name, call in contenders.items():
            found[name].append(statistics.median(_timed(call)))
    return {name: statistics.median(times) for name, times in found.items()}


def _timed(call: Call) -> Iterator[float]:
    end, calls = time.perf_counter() + _SECONDS, 0
    while calls < 3 or time.perf_counter() < end:
        begin = time.perf_counter()
        call()
        yield time.perf_counter() - begin
        calls += 1


def _table(timed: dict[int, dict[str, float]]) -> list[str]:
    header = " | ".join(f"{n:,} row{'s' * (n > 1)}" for n in timed)
    lines = [f"| microseconds | {header} |", "| --- |" + " ---: |" * len(timed)]
    return lines + [
        f"| {name} | " + " | ".join(_shown(times[name] * 1e6) for times in timed.values()) + " |"
        for name in timed[SIZES[0]]
    ]


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


# --------------------------------------------------------------------------------------------------
# In a fresh process.


def _fresh(folder: Path, X: Any, y: Any, frame: pl.DataFrame, turns: int) -> list[str]:
    """Return a table of the processor's seconds, in processes of their own: the clock tells of who else works."""
    trees = wo.OrderBoost(learner="tree", n_estimators=_N_TREES, max_leaf_nodes=_N_LEAVES).fit(X, y)
    models = {"linear": wo.RankSVM().fit(X, y), "trees": trees, "table": _linear_table(frame)}
    for name, model in models.items():
        wo.save(model, folder / f"{name}.wo")
    joblib.dump(make_pipeline(StandardScaler(), Ridge()).fit(X, y), folder / "linear.pickle")
    _booster(X, y).save_model(folder / "trees.txt")
    row = "import numpy as np; X = np.zeros((1, 136)); "
    of_dict = f"row = {frame.drop('y').to_dicts()[0]!r}; "
    programs = {
        "`import numpy` alone": "import numpy",
        "`import sklearn.base` alone": "import sklearn.base",
        "wellorder, linear": row + "import wellorder as wo; wo.load('linear.wo').predict(X)",
        "wellorder, trees": row + "import wellorder as wo; wo.load('trees.wo').predict(X)",
        "wellorder, table, a dict": of_dict + "import wellorder as wo; wo.load('table.wo').predict([row])",
        "scikit-learn scaler and Ridge, by joblib": row + "import joblib; joblib.load('linear.pickle').predict(X)",
        "LightGBM, its text file": row + "import lightgbm; lightgbm.Booster(model_file='trees.txt').predict(X)",
    }
    if _has_onnx():
        (folder / "linear.onnx").write_bytes(_onnx_linear(models["linear"].coef_))
        programs["onnxruntime, linear"] = (
            row + "import onnxruntime as ort; ort.InferenceSession('linear.onnx').run(None, {'X': X})"
        )
    found: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(max(3, turns // 3)):
        for name, program in programs.items():
            found[name].append(_spent(program, folder))
    lines = ["| | seconds of the processor |", "| --- | ---: |"]
    lines += [f"| {name} | {statistics.median(seconds):.2f} |" for name, seconds in found.items()]
    python, packages = platform.python_version(), ("numpy", "scikit-learn", "scipy", "pandas", "lightgbm")
    named = ", ".join(f"{name} {version(name)}" for name in packages)
    return [*lines, "", f"Python {python}, {named}."]


def _spent(program: str, folder: Path) -> float:
    before = os.times()
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], cwd=folder, check=True, env=_environment())
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def _environment() -> dict[str, str]:
    paths = [str(Path(wo.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


# --------------------------------------------------------------------------------------------------
# The same models as ONNX graphs.


def _has_onnx() -> bool:
    return find_spec("onnx") is not None and find_spec("onnxruntime") is not None


def _onnx_scorer(graph: bytes) -> Scorer:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(graph, options)
    kind = np.float32 if "float" in session.get_inputs()[0].type.replace("double", "") else np.float64
    made: dict[int, Any] = {}  # rows in the graph's type are made once, off the clock

    def score(rows: Any) -> Any:
        if id(rows) not in made:
            made[id(rows)] = rows.astype(kind)
        return session.run(None, {"X": made[id(rows)]})

    return score


def _onnx_graph(node: Any, kind: int, initializers: list[Any], domain: str = "") -> bytes:
    from onnx import helper

    X = helper.make_tensor_value_info("X", kind, [None, _N_COLUMNS])
    score = helper.make_tensor_value_info("score", kind, [None, 1])
    graph = helper.make_graph([node], "scores", [X], [score], initializers)
    opsets = [helper.make_opsetid("", 17), *([helper.make_opsetid(domain, 3)] if domain else [])]
    return bytes(helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString())


def _onnx_linear(coef: Any) -> bytes:
    from onnx import TensorProto, helper, numpy_helper

    weights = numpy_helper.from_array(np.asarray(coef, dtype=np.float64)[:, None], "w")
    return _onnx_graph(helper.make_node("MatMul", ["X", "w"], ["score"]), TensorProto.DOUBLE, [weights])


def _onnx_trees(forest: Forest) -> bytes:
    from onnx import TensorProto, helper

    n, leaf = len(forest.left), forest.left < 0
    tree = np.searchsorted(forest.roots, np.arange(n), side="right") - 1
    within = np.arange(n) - forest.roots[tree]
    attributes = {
        "nodes_treeids": tree.tolist(),
        "nodes_nodeids": within.tolist(),
        "nodes_featureids": np.maximum(forest.feature, 0).tolist(),
        "nodes_values": forest.threshold.tolist(),
        "nodes_modes": np.where(leaf, "LEAF", "BRANCH_LEQ").tolist(),
        "nodes_truenodeids": np.where(leaf, 0, forest.left - forest.roots[tree]).tolist(),
        "nodes_falsenodeids": np.where(leaf, 0, forest.right - forest.roots[tree]).tolist(),
        "target_treeids": tree[leaf].tolist(),
        "target_nodeids": within[leaf].tolist(),
        "target_ids": [0] * int(leaf.sum()),
        "target_weights": forest.value[leaf].tolist(),
        "n_targets": 1,
    }
    node = helper.make_node("TreeEnsembleRegressor", ["X"], ["score"], domain="ai.onnx.ml", **attributes)
    return _onnx_graph(node, TensorProto.FLOAT, [], "ai.onnx.ml")
