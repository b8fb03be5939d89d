r"""What is believed of items before, between and after votes: normal ratings, and how sure they are.

.. math:: r = \mu + G w + u, \qquad w \sim N(0, \sigma_w^2 I),\; u \sim N(0, \sigma_u^2 I)

G holds what features say (a linear model, or a kernel by its Nyström features), and is absent without features. Votes
are Davidson's, with ties and without effects: sides are drawn at random by those who ask, so that what a side is worth
evens out. Laplace's approximation gives a mean and a covariance at any moment, also where :func:`wellorder.rate` has
infinite ratings, islands, or nothing at all: a prior takes part, and says what is not known yet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy import linalg
from scipy.sparse.csgraph import connected_components

from ..data import ComparisonTable
from ..losses import outcome_shares
from ..order import Comparisons, as_objects
from ..spaces import Kernel, NystroemMap
from ..suggest import suggest
from ..sweeps import Array, Bools, Floats, Ints, sums_at

MOST_EXACT = 2_000
"""Items up to which the covariance is exact; of more, draws stand in for it."""

_N_DRAWN = 64
_N_DRAWN_FOR_SPREADS = 16

TYPICAL_VARIANCE = 2.0
"""The variance of ratings before anything is known, in squared log-odds."""

WORTH_OF_TYPICAL = 4.0
"""How many items' ratings that is worth, against those that votes tell."""

_LEAST, _MOST = 1e-3, 100.0
"""Variances that are looked at."""

_ROUNDS = 30
_MOST_STEPS = 100
_N_LANDMARKS = 200


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Ratings as they are believed to be: normal, in log-odds.

    Attributes
    ----------
    names : array of objects, shape (n_items,)
    mean : array of shape (n_items,)
    root : array of shape (n_items, k)
        The covariance is ``root @ root.T``: exactly up to 2,000 items; of more, ``root`` holds k draws.
    log_nu : float
        Of ties.
    spread : float
        The standard deviation of ratings beside what features say.
    weight_spread : float
        The standard deviation of what features say; 0 without features.
    island : array of int, shape (n_items,)
        Items that votes link have one number.
    n_votes : float
    """

    names: Array
    mean: Floats
    root: Floats
    log_nu: float
    spread: float
    weight_spread: float
    island: Ints
    n_votes: float

    def __len__(self) -> int:
        return len(self.names)

    @property
    def has_features(self) -> bool:
        """Whether features say something of items that nobody has voted on."""
        return self.weight_spread > 0

    def variances(self) -> Floats:
        """Return the variance of each rating."""
        return np.einsum("ik,ik->i", self.root, self.root)

    def covariances(self, a: Ints, b: Ints) -> Floats:
        """Return the covariance of the ratings at places a and b, one by one."""
        if self.root.shape[1] > 256 and len(a) > len(self.names):
            return np.asarray(self.covariance()[a, b])
        out = np.empty(len(a))
        for begin in range(0, len(a), _BLOCK):
            some = slice(begin, begin + _BLOCK)
            out[some] = np.einsum("ik,ik->i", self.root[a[some]], self.root[b[some]])
        return out

    def covariance(self) -> Floats:
        """Return the covariance as a matrix; for thousands of items it is large."""
        return np.asarray(self.root @ self.root.T)

    def places(self, names: Sequence[Any]) -> Ints:
        """Return where items stand among ``names``."""
        return places_of(names, {name: place for place, name in enumerate(self.names)})

    def difference(self, a: Any, b: Any) -> tuple[float, float]:
        """Return by how much a is believed to be above b, and the standard deviation of that."""
        i, j = self.places([a, b])
        apart = self.root[i] - self.root[j]
        return float(self.mean[i] - self.mean[j]), float(np.sqrt(apart @ apart))


_BLOCK = 1 << 17


def places_of(names: Sequence[Any], place_of: dict[Any, int]) -> Ints:
    """Return the places of names; one that is not known is refused."""
    found = np.array([place_of.get(str(name), -1) for name in names], dtype=np.int64)
    if (found < 0).any():
        unknown = str(list(names)[int(np.argmax(found < 0))])
        raise ValueError(f"there is no item {unknown!r}; {suggest(unknown, map(str, place_of))}")
    return found


def believe(
    items: Sequence[Any],
    votes: Comparisons | ComparisonTable | None = None,
    *,
    features: Any = None,
    kernel: str = "linear",
    expected: Any = None,
    start: Beliefs | None = None,
    random_state: Any = None,
) -> Beliefs:
    """Say what votes on items, and features of them, let one believe of their ratings.

    Parameters
    ----------
    items : sequence of names
        All of them, also those that nobody has voted on.
    votes : Comparisons or ComparisonTable, optional
        By names that are among ``items``, as ``wo.Comparisons.from_names`` makes them; or, without names, by places.
    features : array of shape (n_items, n_features), optional
        Standardised inside.
    kernel : {"linear", "rbf"} or Kernel, default="linear"
        How features speak of ratings.
    expected : array of shape (n_items,), optional
        What ratings are expected to be before the votes, in log-odds; zero unless given.
    start : Beliefs, optional
        What was believed of the same items before: the way from there is shorter.
    random_state : None, int or Generator, optional
        Of draws (beyond 2,000 items) and landmarks (of kernels).

    Returns
    -------
    Beliefs

    Examples
    --------
    >>> import wellorder as wo
    >>> from wellorder.choosing import believe
    >>> votes = wo.Comparisons.from_names(["tea", "tea"], ["milk", "cocoa"], ["left", "left"])
    >>> beliefs = believe(["milk", "tea", "cocoa", "water"], votes)
    >>> [f"{each:.1f}" for each in beliefs.mean]
    ['-0.5', '0.9', '-0.5', '0.0']
    """
    names = _check_names(items)
    rng = np.random.default_rng(random_state)
    counts = count_votes(names, votes)
    G = None if features is None else _spoken(features, kernel, len(names), rng)
    before = np.zeros(len(names)) if expected is None else _numbers(expected, (len(names),), "expected")
    if start is not None and list(start.names) != list(names):
        start = None
    return _Laplace(names, counts, G, before, rng).beliefs(start)


def _check_names(items: Sequence[Any]) -> Array:
    names = as_objects([str(each) for each in items])
    if len(names) < 2:
        raise ValueError(f"there must be two items at least to ask about, got {len(names)}")
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"two items are called {name!r}; give each a name of its own")
        seen.add(name)
    return names


def _numbers(given: Any, shape: tuple[int, ...], what: str) -> Floats:
    values = np.asarray(given, dtype=float)
    if values.shape != shape:
        raise ValueError(f"{what} has the shape {values.shape}, and should have {shape}: one row an item")
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values).reshape(len(values), -1).all(axis=1)))
        raise ValueError(f"{what} is missing or infinite for item {row}; give finite numbers")
    return values


def _spoken(features: Any, kernel: Any, n: int, rng: np.random.Generator) -> Floats:
    """Return G, rows of a mean square of one: standardised features, or those that a kernel makes of them."""
    given = np.asarray(features.toarray() if hasattr(features, "toarray") else features, dtype=float)
    X = _numbers(given, (n, given.shape[1] if given.ndim == 2 else 0), "features")
    X = X - X.mean(axis=0)
    scale = X.std(axis=0)
    X = X[:, scale > 0] / scale[scale > 0]
    if not X.shape[1]:
        raise ValueError("no feature differs among the items: they say nothing; leave features= out")
    if kernel == "linear":
        G = X
    elif kernel == "rbf" or isinstance(kernel, Kernel):
        spoken = kernel if isinstance(kernel, Kernel) else Kernel("rbf", 1.0 / X.shape[1])
        G = NystroemMap.fit(spoken, X, min(n, _N_LANDMARKS), rng).transform(X)
        G = G - G.mean(axis=0)
    else:
        raise ValueError(f"kernel={kernel!r} is neither 'linear' nor 'rbf'")
    return np.asarray(G / np.sqrt(max(float(np.mean(np.einsum("ij,ij->i", G, G))), 1e-300)))


# --------------------------------------------------------------------------------------------------
# Votes, counted by pairs.


@dataclass(frozen=True, eq=False)
class Counts:
    """How often each two items were compared, and how it ended: ``first`` < ``second``."""

    n_items: int
    first: Ints
    second: Ints
    won: Floats
    """By the second one."""
    lost: Floats
    tied: Floats

    @property
    def n(self) -> Floats:
        """Votes on each pair."""
        return self.won + self.lost + self.tied

    def islands(self) -> Ints:
        """Return the number of each item's island: items that votes link."""
        links = sp.coo_array((self.n, (self.first, self.second)), shape=(self.n_items,) * 2)
        return np.asarray(connected_components(links, directed=False)[1], dtype=np.int64)


def count_votes(names: Array, votes: Comparisons | ComparisonTable | None, chosen: Bools | None = None) -> Counts:
    """Count votes by pairs of items, or some of them."""
    if votes is None:
        none = np.zeros(0, np.int64)
        return Counts(len(names), none, none, np.zeros(0), np.zeros(0), np.zeros(0))
    compared = votes.comparisons if isinstance(votes, ComparisonTable) else votes
    known = votes.items.names() if isinstance(votes, ComparisonTable) else compared.names
    if known is None:
        at: Ints = np.arange(len(names))
        most = int(max(compared.left.max(initial=-1), compared.right.max(initial=-1)))
        if most >= len(names):
            raise ValueError(f"a vote is on item {most}, and there are {len(names):,}; numbers are places among items")
    else:
        at = places_of(list(known), {name: place for place, name in enumerate(names)})
    left, right, outcome = at[compared.left], at[compared.right], compared.outcome
    weight = np.ones(len(outcome)) if compared.weight is None else np.asarray(compared.weight, dtype=float)
    if chosen is not None:
        left, right, outcome, weight = left[chosen], right[chosen], outcome[chosen], weight[chosen]
    first, second = np.minimum(left, right), np.maximum(left, right)
    flat, place = np.unique(first * len(names) + second, return_inverse=True)
    turned = np.where(left < right, outcome, -outcome)
    won, lost, tied = (sums_at(place, weight * (turned == each), len(flat)) for each in (1, -1, 0))
    return Counts(len(names), flat // len(names), flat % len(names), won, lost, tied)


# --------------------------------------------------------------------------------------------------
# The prior, and the posterior by Laplace's approximation.


@dataclass(frozen=True, eq=False)
class _Prior:
    """μ, G and the two variances; the precision P of r by Woodbury's identity, never formed for many items."""

    mean: Floats
    G: Floats | None
    of_u: float
    of_w: float

    def times(self, x: Floats) -> Floats:
        """Return P x."""
        if self.G is None:
            return x / self.of_u
        return np.asarray((x - self.G @ (self.inner() @ (self.G.T @ x))) / self.of_u)

    def inner(self) -> Floats:
        """Return (GᵀG + (σ_u²/σ_w²) I)⁻¹."""
        assert self.G is not None
        k = self.G.shape[1]
        return np.asarray(linalg.inv(self.G.T @ self.G + self.of_u / self.of_w * np.eye(k)))

    def matrix(self) -> Floats:
        """Return P."""
        return self.times(np.eye(len(self.mean)))

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw r − μ, a column a draw."""
        drawn = np.sqrt(self.of_u) * rng.standard_normal((len(self.mean), n))
        if self.G is not None:
            drawn += np.sqrt(self.of_w) * (self.G @ rng.standard_normal((self.G.shape[1], n)))
        return drawn

    def learned(self, r: Floats, root: Floats) -> tuple[float, float]:
        """Return the two variances that suit what is believed, by MacKay's fixed point with a few typical items.

        A variance is the sum of squared estimates over how many of them the votes tell, rather than the prior.
        """
        n, off = len(self.mean), r - self.mean
        pulled, rooted = self.times(off), self.times(root)
        typical = TYPICAL_VARIANCE if self.G is None else 0.5 * TYPICAL_VARIANCE
        if self.G is None:
            told = n - float(np.square(root).sum()) / self.of_u
            return self._variance(self.of_u**2 * float(pulled @ pulled), told, typical), 0.0
        S = self.G.T @ self.G
        inner = self.inner()
        trace_p = (n - float(np.einsum("ij,ji->", inner, S))) / self.of_u
        told_u = self.of_u * (trace_p - float(np.square(rooted).sum()))
        trace_g = float(np.trace(S - S @ inner @ S)) / self.of_u
        told_w = self.of_w * (trace_g - float(np.square(self.G.T @ rooted).sum()))
        to_w = self.of_w * (self.G.T @ pulled)
        return (
            self._variance(self.of_u**2 * float(pulled @ pulled), told_u, typical),
            self._variance(float(to_w @ to_w), told_w, typical),
        )

    def _variance(self, squares: float, told: float, typical: float) -> float:
        found = (squares + WORTH_OF_TYPICAL * typical) / (max(told, 0.0) + WORTH_OF_TYPICAL)
        return float(np.clip(found, _LEAST, _MOST))


class _Laplace:
    """The posterior under variances that suit the votes."""

    def __init__(self, names: Array, counts: Counts, G: Floats | None, expected: Floats, rng: Any) -> None:
        self.names, self.counts, self.G, self.expected, self.rng = names, counts, G, expected, rng
        self.exact = len(names) <= MOST_EXACT
        m = len(counts.first)
        cells = (np.tile(np.arange(m), 2), np.r_[counts.second, counts.first])
        self.design = sp.csr_array((np.r_[np.ones(m), -np.ones(m)], cells), shape=(m, len(names)))

    def beliefs(self, start: Beliefs | None) -> Beliefs:
        """Find the variances, and with them the ratings."""
        typical = TYPICAL_VARIANCE if self.G is None else 0.5 * TYPICAL_VARIANCE
        prior = _Prior(self.expected, self.G, typical, typical)
        r, log_nu = self.expected.copy(), -1.0
        if start is not None:
            r, log_nu = start.mean.copy(), start.log_nu
            prior = replace(prior, of_u=start.spread**2, of_w=max(start.weight_spread**2, _LEAST))
        for _ in range(_ROUNDS if self.exact else 4):
            r, log_nu = self._most_likely(prior, r, log_nu)
            of_u, of_w = prior.learned(r, self._root(prior, r, log_nu, _N_DRAWN_FOR_SPREADS))
            moved = abs(np.log(of_u / prior.of_u)) + (abs(np.log(of_w / prior.of_w)) if of_w else 0.0)
            prior = replace(prior, of_u=of_u, of_w=of_w or prior.of_w)
            if moved < (0.01 if self.exact else 0.1):
                break
        r, log_nu = self._most_likely(prior, r, log_nu)
        return Beliefs(
            self.names,
            r,
            self._root(prior, r, log_nu, _N_DRAWN),
            log_nu,
            float(np.sqrt(prior.of_u)),
            0.0 if self.G is None else float(np.sqrt(prior.of_w)),
            self.counts.islands(),
            float(self.counts.n.sum()),
        )

    def _bends(self, r: Floats, log_nu: float) -> Floats:
        left, _, right = outcome_shares(self.design @ r, log_nu)
        return np.asarray(self.counts.n * 0.25 * (right + left - (right - left) ** 2))

    def _value(self, prior: _Prior, r: Floats, log_nu: float) -> float:
        """Return the logarithm of the density of r and the votes, and of a tie in one vote and a half on equals."""
        c, off = self.counts, r - prior.mean
        d = self.design @ r
        log_total = np.logaddexp(np.logaddexp(0.5 * d, -0.5 * d), log_nu)
        votes = 0.5 * (c.won - c.lost) @ d + c.tied.sum() * log_nu - c.n @ log_total
        supposed = 0.5 * log_nu - 1.5 * np.logaddexp(np.log(2.0), log_nu)
        return float(votes + supposed - 0.5 * off @ prior.times(off))

    def _most_likely(self, prior: _Prior, r: Floats, log_nu: float) -> tuple[Floats, float]:
        """Newton's steps in r and log ν in turn; steps that go too far are halved."""
        c = self.counts
        value = self._value(prior, r, log_nu)
        for _ in range(_MOST_STEPS):
            left, tie, right = outcome_shares(self.design @ r, log_nu)
            slope = self.design.T @ (0.5 * ((c.won - c.lost) - c.n * (right - left))) - prior.times(r - prior.mean)
            step = self._solver(prior, self._bends(r, log_nu))(slope[:, None])[:, 0]
            even = 1.0 / (1.0 + 2.0 * np.exp(-log_nu))
            by_nu = c.tied.sum() + 0.5 - c.n @ tie - 1.5 * even
            step_nu = float(np.clip(by_nu / (c.n @ (tie * (1.0 - tie)) + 1.5 * even * (1.0 - even)), -2.0, 2.0))
            length = 1.0
            while length > 1e-6:
                trial = r + length * step, log_nu + length * step_nu
                new = self._value(prior, *trial)
                if new >= value:
                    break
                length *= 0.5
            gained = new - value
            if gained >= 0:
                (r, log_nu), value = trial, new
            if gained <= 1e-9 * (1.0 + float(c.n.sum())):
                break
        return r, log_nu

    def _solver(self, prior: _Prior, bends: Floats) -> Callable[[Floats], Floats]:
        """Return what solves (BᵀWB + P) x = b for columns b."""
        if self.exact:
            factor = linalg.cho_factor(self._precision(prior, bends), lower=True)
            return lambda b: np.asarray(linalg.cho_solve(factor, b))
        information = (self.design.T @ self.design.multiply(bends[:, None])).tocsr()
        return lambda b: conjugate_gradients(
            lambda x: information @ x + prior.times(x), information.diagonal() + 1.0 / prior.of_u, b
        )

    def _precision(self, prior: _Prior, bends: Floats) -> Floats:
        c = self.counts
        out = np.diag(np.full(len(self.names), 1.0 / prior.of_u)) if self.G is None else prior.matrix()
        out[c.first, c.second] -= bends
        out[c.second, c.first] -= bends
        own = sums_at(c.first, bends, len(out)) + sums_at(c.second, bends, len(out))
        out[np.arange(len(out)), np.arange(len(out))] += own
        return out

    def _root(self, prior: _Prior, r: Floats, log_nu: float, n_drawn: int) -> Floats:
        """Return a root of the covariance: of the inverse precision, or draws from it.

        b = Bᵀ W^½ ε + P (r₀ − μ), with r₀ from the prior, has the precision for its covariance; solved for, its inverse.
        """
        bends = self._bends(r, log_nu)
        if self.exact:
            lower = linalg.cholesky(self._precision(prior, bends), lower=True)
            return np.ascontiguousarray(linalg.solve_triangular(lower, np.eye(len(lower)), lower=True).T)
        noise = np.sqrt(bends)[:, None] * self.rng.standard_normal((len(bends), n_drawn))
        b = self.design.T @ noise + prior.times(prior.draw(n_drawn, self.rng))
        return np.asarray(self._solver(prior, bends)(b) / np.sqrt(n_drawn))


def conjugate_gradients(times: Callable[[Floats], Floats], diagonal: Floats, b: Floats, *, tol: float = 1e-5) -> Floats:
    """Solve A x = b for each column of b, A symmetric and positive, with its diagonal for a preconditioner."""
    x = np.zeros_like(b)
    rest = b.copy()
    z = rest / diagonal[:, None]
    way = z.copy()
    size = np.einsum("ij,ij->j", rest, z)
    goal = tol**2 * np.maximum(size, 1e-300)
    for _ in range(1_000):
        image = times(way)
        length = size / np.maximum(np.einsum("ij,ij->j", way, image), 1e-300)
        x += length * way
        rest -= length * image
        z = rest / diagonal[:, None]
        new = np.einsum("ij,ij->j", rest, z)
        if (new <= goal).all():
            break
        way = z + (new / np.maximum(size, 1e-300)) * way
        size = new
    return x
