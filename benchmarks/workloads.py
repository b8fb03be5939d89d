"""The workloads: which data, which methods take part, and what is known of the answer."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from . import generators
from .peers import PEERS, Settings
from .peers.peer import Task


@dataclass(frozen=True)
class Workload:
    """Data by name, and who works on it."""

    name: str
    family: str
    about: str
    sizes: Mapping[str, int]
    """What grows within the family: rows n, columns d, levels, groups."""
    make: Callable[[], tuple[Any, Any]]
    """The part to learn from and the part to be judged on (None where nothing is predicted)."""
    methods: tuple[str, ...]
    settings: Settings = field(default_factory=Settings)
    exact: float | None = None
    """The optimum of the objective over every pair, as other software found it."""
    quick: tuple[str, ...] = ()
    """The methods of a quick run; none: not part of it."""
    busy: int = 0
    """Processes beside the job that count without end; the job then has every processor, as a fit at a desk has."""
    first_use: bool = False
    """As on a machine that has never run it: nothing compiled, no warming up, and the first work is measured."""

    @property
    def task(self) -> Task:
        """What is asked: that of all its methods."""
        return PEERS[self.methods[0]].task


_LINEAR = ("wellorder", "wellorder-exact", "floor", "ridge", "scikit-survival", "linear-svc-drawn-pairs")
_LEVELS = ("wellorder-odds", "mord", "skordinal-pom", "statsmodels")
_TREES = ("lightgbm", "xgboost-pairwise")
_OUR_TREES = ("wellorder-trees", "wellorder-trees-hinge")
_KERNEL = ("wellorder-rbf", "wellorder-rbf-exact", "wellorder-rbf-softer", "svr", "kernel-ridge", "lightgbm")
_KERNEL_LEVELS = ("wellorder-svor-rbf", "skordinal-svor", "skordinal-redsvm")
_TIES = ("wellorder-compare", "wellorder-compare-exact", "wellorder-compare-squared")
_TIES_PEERS = ("mord-on-differences", "linear-svc", "svc", "svc-flipped")
_GROWTH = ("wellorder", "ridge", "floor")

_EXACT = {"levels-2e4": 283.6868, "continuous-2e4": 413.4147, "continuous-1e6": 417.4878}
"""At C0 = 1000: LIBLINEAR-ranksvm with its tolerance at 1e-5, and scikit-survival."""

_QUICK = {
    "levels": ("wellorder", "wellorder-exact", "floor", "ridge", "scikit-survival", "mord", "skordinal-pom"),
    "continuous": ("wellorder", "wellorder-exact", "floor", "ridge", "scikit-survival", "lightgbm"),
}

_KINDS: dict[str, int | None] = {"levels": 5, "continuous": None}


def short(n: int) -> str:
    """Write a number of rows as in the names: 2e4.

    Examples
    --------
    >>> short(20_000), short(1_000_000), short(800)
    ('2e4', '1e6', '8e2')
    """
    zeros = len(str(n)) - len(str(n).rstrip("0"))
    return f"{n // 10**zeros}e{zeros}"


def _one_list(kind: str, n: int) -> Workload:
    methods = _LINEAR + _TREES + (_LEVELS if kind == "levels" else ())
    return Workload(
        name=f"{kind}-{short(n)}",
        family=kind,
        about=f"one list, {'5 levels' if kind == 'levels' else 'continuous grades'}, linear latent score, 50 columns",
        sizes={"n": n, "d": 50},
        make=partial(generators.one_list, n, _KINDS[kind]),
        methods=methods + (("linear-svc-all-pairs",) if n <= 2_000 else ()),
        settings=Settings(C0=1_000.0),
        exact=_EXACT.get(f"{kind}-{short(n)}"),
        quick=_QUICK[kind] if n == 20_000 else (),
    )


def _floors(kind: str, n: int, d: int) -> Workload:
    return Workload(
        name=f"floors-{kind}-{short(n)}",
        family=f"floors-{kind}",
        about=f"one list, {'5 levels' if kind == 'levels' else 'continuous grades'}, default parameters (C = 1)",
        sizes={"n": n},
        make=partial(generators.one_list, n, _KINDS[kind], d=d),
        methods=("wellorder", "wellorder-exact", "floor"),
        settings=Settings(C0=float(n)),
    )


def _distorted(kind: str, n: int) -> Workload:
    return Workload(
        name=f"distorted-{kind}-{short(n)}",
        family=f"distorted-{kind}",
        about="one list whose order is linear, under steeply growing grades, with long tails in columns and noise",
        sizes={"n": n, "d": 50},
        make=partial(generators.distorted_list, n, _KINDS[kind]),
        methods=(
            "wellorder",
            "wellorder-exact",
            "floor",
            "ridge",
            "scikit-survival",
            "linear-svc-drawn-pairs",
            *_TREES,
        ),
        settings=Settings(C0=1_000.0),
        quick=("wellorder", "wellorder-exact", "ridge") if n == 2_000 and kind == "continuous" else (),
    )


def _sparse(groups: int, n: int, d: int, *, small: bool = False) -> Workload:
    return Workload(
        name=f"sparse-{groups}" if not small else f"sparse-{groups}-small",
        family=f"sparse-{groups}",
        about=f"{d:,} sparse columns, 5 levels, {groups} group{'s' * (groups > 1)}",
        sizes={"n": n, "d": d},
        make=partial(generators.sparse_lists, groups, n=n, d=d),
        methods=("wellorder", "wellorder-exact", "floor", "ridge", "linear-svc-drawn-pairs"),
        settings=Settings(C0=1e5),
        quick=("wellorder", "wellorder-exact", "ridge") if small else (),
    )


def _queries(name: str, n_queries: int, *, small: bool = False) -> Workload:
    linear = ("wellorder", "wellorder-exact", "floor", "ridge", "linear-svc-drawn-pairs")
    theirs = ("lightgbm", "lightgbm-lambdarank", "xgboost-pairwise", "xgboost-ndcg", "catboost-yetirank")
    return Workload(
        name=name,
        family="queries",
        about="lists of 60 rows with 136 columns, five levels, few good rows, interactions",
        sizes={"n": 60 * n_queries, "d": 136},
        make=partial(generators.queries, n_queries),
        methods=linear + _OUR_TREES + (() if small else ("wellorder-ensemble",)) + theirs,
        settings=Settings(C0=60.0 * n_queries, trees=20 if small else 100),
        quick=("wellorder", "wellorder-exact", "ridge", "wellorder-trees", *theirs[:3]) if small else (),
    )


def _rbf(kind: str, n: int) -> Workload:
    levels = _KERNEL_LEVELS if kind == "levels" else ()
    return Workload(
        name=f"rbf-{kind}-{short(n)}",
        family=f"rbf-{kind}",
        about="a bent latent score of 8 columns; kernel machines with gamma 1/8, and trees",
        sizes={"n": n, "d": 8},
        make=partial(generators.ball, n, _KINDS[kind]),
        methods=_KERNEL + levels + _OUR_TREES + ("xgboost-pairwise", "wellorder-ensemble"),
        settings=Settings(C0=10.0 * n, gamma=1 / 8),
        quick=(*_KERNEL, "wellorder-svor-rbf", "skordinal-svor") if n == 500 and kind == "levels" else (),
    )


def _ball(kind: str, n: int) -> Workload:
    return Workload(
        name=f"ball-{kind}-{short(n)}",
        family=f"ball-{kind}",
        about="the same bent score, too many rows for kernels: trees",
        sizes={"n": n, "d": 8},
        make=partial(generators.ball, n, _KINDS[kind]),
        methods=_OUR_TREES + _TREES,
    )


def _ties(n: int) -> Workload:
    return Workload(
        name=f"ties-{short(n)}",
        family="ties",
        about="comparisons with ties, 10 columns, linear score",
        sizes={"n": n, "d": 10},
        make=partial(generators.duels, n),
        methods=_TIES + tuple(name for name in _TIES_PEERS if n <= 50_000 or not name.startswith("svc")),
        settings=Settings(C0=1.0),
        quick=(*_TIES[:2], "mord-on-differences", "linear-svc", "svc-flipped") if n == 800 else (),
    )


def _games(n: int, *, small: bool = False) -> Workload:
    return Workload(
        name=f"games-{short(n)}",
        family="games",
        about="games without ties between 300 items",
        sizes={"n": n},
        make=partial(generators.games, n),
        methods=("wellorder-davidson", "choix-newton", "choix-ilsr"),
        quick=("wellorder-davidson", "choix-newton") if small else (),
    )


def _metric(metric: str, n: int, *, small: bool = False) -> Workload:
    lists = metric == "ndcg@10"
    arrays = ("wellorder-metrics", "scikit-learn-metrics")
    return Workload(
        name=f"{'ndcg' if lists else metric}-{short(n)}",
        family="ndcg" if lists else metric,
        about="NDCG@10 of lists of 100 rows, linear gains" if lists else "AUC of one list, two levels",
        sizes={"n": n},
        make=partial(generators.judged_lists, n, 100 if lists else None, 5 if lists else 2),
        methods=(*arrays, "pytrec-eval", "ranx") if lists else arrays,
        settings=Settings(metric=metric),
        quick=arrays if small else (),
    )


def _letor(n_queries: int, *, small: bool = False) -> Workload:
    return Workload(
        name=f"letor-{short(n_queries)}",
        family="letor",
        about="reading a LETOR file: queries of 60 rows, 136 features",
        sizes={"n": 60 * n_queries},
        make=lambda: generators.letor_file(Path(tempfile.gettempdir()), n_queries),
        methods=("wellorder-read", "load-svmlight-file"),
        quick=("wellorder-read", "load-svmlight-file") if small else (),
    )


def _growth(what: str, value: int) -> Workload:
    n, sizes = 100_000, {"n": 100_000, "d": 50, "levels": 5, "groups": 1} | {what: value}
    make: Callable[[], tuple[Any, Any]] = partial(generators.one_list, n, sizes["levels"], d=sizes["d"])
    if what == "groups":
        make = partial(generators.many_lists, n, value)
    return Workload(
        name=f"growth-{what}-{value}",
        family=f"growth-{what}",
        about=f"100,000 rows, the number of {'columns' if what == 'd' else what} growing",
        sizes={what: value},
        make=make,
        methods=_GROWTH,
        settings=Settings(C0=1_000.0),
    )


def _busy(busy: int) -> Workload:
    return Workload(
        name=f"lists-5e3-busy-{busy}",
        family="busy",
        about="5,000 rows × 136 columns in 50 lists, beside processes that do nothing but count, on all processors",
        sizes={},
        make=partial(generators.many_lists, 5_000, 50, d=136, n_test=5_000),
        methods=("wellorder", "ridge", "floor"),
        settings=Settings(C0=5_000.0),
        busy=busy,
    )


def _first_use(kind: str) -> Workload:
    return Workload(
        name=f"first-use-{kind}-6e3",
        family="first-use",
        about="the very first fit on a machine, in a new process, after the import: with all that is compiled for it",
        sizes={},
        make=partial(generators.one_list, 6_000, _KINDS[kind]),
        methods=("wellorder",),
        settings=Settings(C0=1_000.0),
        first_use=True,
    )


_ROWS = (200, 500, 2_000, 5_000, 20_000, 200_000, 1_000_000)
"""From what most people have to what few have."""

_ALL = (
    *(_one_list(kind, n) for kind in _KINDS for n in _ROWS),
    *(_floors(kind, n, 50) for kind in _KINDS for n in (100_000, 1_000_000)),
    _floors("levels", 10_000_000, 20),
    *(_distorted(kind, n) for kind in _KINDS for n in (2_000, 20_000, 200_000, 1_000_000)),
    _sparse(1, 5_000, 2_000, small=True),
    *(_sparse(groups, 100_000, 50_000) for groups in (1, 20)),
    Workload(
        name="search-1e3",
        family="search",
        about="1,000 rows with continuous grades: 20 values of C × 5 folds, then a fit on all rows",
        sizes={"n": 1_000},
        make=partial(generators.one_list, 1_000, None),
        methods=("search-wellorder", "search-scikit-survival", "search-linear-svc-drawn-pairs", "search-svr"),
        quick=("search-wellorder", "search-svr"),
    ),
    *(_busy(busy) for busy in (0, 4)),
    *(_first_use(kind) for kind in _KINDS),
    _queries("queries-small", 100, small=True),
    _queries("queries", 2_000),
    *(_rbf(kind, n) for kind in _KINDS for n in (500, 2_000, 8_000)),
    *(_ball(kind, 100_000) for kind in _KINDS),
    *(_ties(n) for n in (800, 5_000, 50_000, 200_000)),
    _games(2_000, small=True),
    _games(50_000),
    _metric("auc", 100_000, small=True),
    _metric("auc", 10_000_000),
    _metric("ndcg@10", 100_000, small=True),
    _metric("ndcg@10", 10_000_000),
    _letor(20, small=True),
    _letor(2_000),
    *(_growth("d", d) for d in (10, 50, 250)),
    *(_growth("levels", levels) for levels in (2, 20, 200, 2_000, 20_000)),
    *(_growth("groups", groups) for groups in (1, 10, 100, 1_000, 10_000)),
)

WORKLOADS: dict[str, Workload] = {workload.name: workload for workload in _ALL}
"""In the order in which they are run and shown."""


def find_workloads(names: list[str]) -> list[Workload]:
    """Return workloads by name or by family; an unknown one is an error that lists them."""
    found: dict[str, Workload] = {}
    for name in names:
        some = {key: each for key, each in WORKLOADS.items() if name in (key, each.family)}
        if not some:
            families = ", ".join(dict.fromkeys(each.family for each in WORKLOADS.values()))
            raise SystemExit(f"there is no workload or family {name!r}; families: {families}")
        found |= some
    return list(found.values())
