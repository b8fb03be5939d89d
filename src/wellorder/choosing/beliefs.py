r"""What is believed of items before, between and after votes: normal ratings, and how sure they are.

.. math:: r = \mu + G w + u, \qquad w \sim N(0, \sigma_w^2 I),\; u \sim N(0, \sigma_u^2 I)

G holds what features say (a linear model, or a kernel by its Nyström features), and is absent without features. Votes
are Davidson's, with ties and without effects: sides are drawn at random by those who ask, so that what a side is worth
evens out. Expectation propagation gives a mean and a covariance at any moment, also where :func:`wellorder.rate` has
infinite ratings, islands, or nothing at all: a prior takes part, and says what is not known yet. Of more than 1,000
items, variances are found by a sample of them, the mean by Laplace's approximation, and 64 draws stand in for the
covariance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy import linalg
from scipy.sparse.csgraph import breadth_first_order, connected_components

from ..data import ComparisonTable
from ..losses import log_total, outcome_shares
from ..order import Comparisons, as_objects
from ..spaces import Kernel, NystroemMap
from ..suggest import suggest
from ..sweeps import Array, Bools, Floats, Ints, one_blas_thread, sums_at

MOST_EXACT = 1_000
"""Items up to which the covariance is exact; of more, draws stand in for it."""

_N_DRAWN = 64

_SAMPLED = 1_000
"""Items by which the variances are found, where there are too many for an exact covariance."""

TYPICAL_VARIANCE = 2.0
"""The variance of ratings before anything is known, in squared log-odds."""

WORTH_OF_TYPICAL = 2.0
"""How many items' ratings that is worth, against those that votes tell."""

_LEAST, _MOST = 1e-3, 100.0
"""Variances that are looked at."""

_ROUNDS = 60
_DAMPED = 0.8
"""The part of the way that all factors go at once."""
STILL = 0.005
"""What they may move by in the end, and the logarithms of variances with them."""
_GRID = np.linspace(-5.0, 5.0, 33)
_IN_CACHE = 1 << 10
"""Pairs whose moments are found at once."""
_MOSTLY_NEW = 0.5
"""Where more pairs than this share are new, the most likely ratings are found first."""
_STEEPEST = 0.75
"""The map's slope that variances leap by at most."""
_MOST_STEPS = 100
_N_LANDMARKS = 200


@dataclass(frozen=True, eq=False)
class PairFactors:
    """exp(push · d − ½ bend · d²), which stands for what the votes on a pair say of its difference d.

    Attributes
    ----------
    pair : array of int
        The pairs a < b of m items, as a·m + b, in ascending order.
    n : array of float
        Votes on each.
    bend, push : arrays of float
    """

    pair: Ints
    n: Floats
    bend: Floats
    push: Floats


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Ratings as they are believed to be: normal, in log-odds.

    Attributes
    ----------
    names : array of objects, shape (n_items,)
    mean : array of shape (n_items,)
    root : array of shape (n_items, k)
        The covariance is ``root @ root.T``: exactly up to 1,000 items; of more, ``root`` holds k draws.
    log_nu : float
        Of ties.
    spread : float
        The standard deviation of ratings beside what features say.
    weight_spread : float
        The standard deviation of what features say; 0 without features.
    island : array of int, shape (n_items,)
        Items that votes link have one number.
    n_votes : float
    factors : PairFactors, optional
        What stands for the votes on each pair: beliefs from nearly the same votes begin with it.
    """

    names: Array
    mean: Floats
    root: Floats
    log_nu: float
    spread: float
    weight_spread: float
    island: Ints
    n_votes: float
    factors: PairFactors | None = None

    def __len__(self) -> int:
        return len(self.names)

    @property
    def has_features(self) -> bool:
        """Whether features say something of items that nobody has voted on."""
        return self.weight_spread > 0

    def variances(self) -> Floats:
        """Return the variance of each rating."""
        return np.asarray(np.einsum("ik,ik->i", self.root, self.root))

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
    kernel: str | Kernel = "linear",
    expected: Any = None,
    start: Beliefs | None = None,
    typical_items: float = WORTH_OF_TYPICAL,
    still: float = STILL,
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
    typical_items : float, default=2
        How many items' ratings what is usual of their variance is worth, against what votes tell of it.
    still : float, default=0.005
        What moves by less in a round of expectation propagation is found: more is quicker.
    random_state : None, int or Generator, optional
        Of draws (beyond 1,000 items) and landmarks (of kernels).

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
    ['-0.6', '1.2', '-0.6', '0.0']
    """
    names = _check_names(items)
    rng = np.random.default_rng(random_state)
    counts = count_votes(names, votes)
    G = None if features is None else _spoken(features, kernel, len(names), rng)
    before = np.zeros(len(names)) if expected is None else _numbers(expected, (len(names),), "expected")
    if start is not None and list(start.names) != list(names):
        start = None
    with one_blas_thread():
        return _Posterior(names, counts, G, before, rng, typical_items, still).beliefs(start)


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
        # a kernel with parameters of its own was made for the features as they are
        rows, spoken = (given, kernel) if isinstance(kernel, Kernel) else (X, Kernel("rbf", 1.0 / X.shape[1]))
        G = NystroemMap.fit(spoken, rows, min(n, _N_LANDMARKS), rng).transform(rows)
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

    @property
    def pair(self) -> Ints:
        """The pairs as numbers, ascending."""
        return self.first * self.n_items + self.second

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
            return np.asarray(x / self.of_u)
        return np.asarray((x - self.G @ (self.inner() @ (self.G.T @ x))) / self.of_u)

    def inner(self) -> Floats:
        """Return (GᵀG + (σ_u²/σ_w²) I)⁻¹."""
        assert self.G is not None
        k = self.G.shape[1]
        return np.asarray(linalg.inv(self.G.T @ self.G + self.of_u / self.of_w * np.eye(k)))

    def matrix(self) -> Floats:
        """Return P."""
        return np.asarray(self.times(np.eye(len(self.mean))))

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw r − μ, a column a draw."""
        drawn = np.sqrt(self.of_u) * rng.standard_normal((len(self.mean), n))
        if self.G is not None:
            drawn += np.sqrt(self.of_w) * (self.G @ rng.standard_normal((self.G.shape[1], n)))
        return np.asarray(drawn)

    def learned(self, r: Floats, root: Floats, worth: float) -> tuple[float, float]:
        """Return the two variances that suit what is believed, by MacKay's fixed point with a few typical items.

        A variance is the sum of squared estimates over how many of them the votes tell, rather than the prior.
        """
        n, off = len(self.mean), r - self.mean
        pulled, rooted = self.times(off), self.times(root)
        typical = TYPICAL_VARIANCE if self.G is None else 0.5 * TYPICAL_VARIANCE
        if self.G is None:
            told = n - float(np.square(root).sum()) / self.of_u
            return self._variance(self.of_u**2 * float(pulled @ pulled), told, typical, worth), 0.0
        S = self.G.T @ self.G
        inner = self.inner()
        trace_p = (n - float(np.einsum("ij,ji->", inner, S))) / self.of_u
        told_u = self.of_u * (trace_p - float(np.square(rooted).sum()))
        trace_g = float(np.trace(S - S @ inner @ S)) / self.of_u
        told_w = self.of_w * (trace_g - float(np.square(self.G.T @ rooted).sum()))
        to_w = self.of_w * (self.G.T @ pulled)
        return (
            self._variance(self.of_u**2 * float(pulled @ pulled), told_u, typical, worth),
            self._variance(float(to_w @ to_w), told_w, typical, worth),
        )

    def _variance(self, squares: float, told: float, typical: float, worth: float) -> float:
        found = (squares + worth * typical) / (max(told, 0.0) + worth)
        return float(np.clip(found, _LEAST, _MOST))


class _Posterior:
    """The posterior, under variances and a weight of ties that suit the votes."""

    def __init__(
        self,
        names: Array,
        counts: Counts,
        G: Floats | None,
        expected: Floats,
        rng: Any,
        worth: float,
        still: float,
    ) -> None:
        self.names, self.counts, self.G, self.expected, self.rng = names, counts, G, expected, rng
        self.exact, self.worth, self.still = len(names) <= MOST_EXACT, worth, still
        m = len(counts.first)
        cells = (np.tile(np.arange(m), 2), np.r_[counts.second, counts.first])
        self.design = sp.csr_array((np.r_[np.ones(m), -np.ones(m)], cells), shape=(m, len(names)))

    def beliefs(self, start: Beliefs | None) -> Beliefs:
        """Return the ratings: by expectation propagation, or, of many items, by Laplace's approximation."""
        typical = TYPICAL_VARIANCE if self.G is None else 0.5 * TYPICAL_VARIANCE
        prior = _Prior(self.expected, self.G, typical, typical)
        r, log_nu = self.expected.copy(), -1.0
        if start is not None:
            r, log_nu = start.mean.copy(), start.log_nu
            prior = replace(prior, of_u=start.spread**2, of_w=max(start.weight_spread**2, _LEAST))
        factors = None
        if self.exact:
            known = None if start is None else start.factors
            r, root, log_nu, prior, factors = self._propagate(prior, r, log_nu, known)
        else:
            prior, log_nu = self._of_a_sample(prior, log_nu, start)
            r = self._most_likely(prior, r, log_nu)
            root = self._drawn(prior, r, log_nu)
        return Beliefs(
            self.names,
            r,
            root,
            log_nu,
            float(np.sqrt(prior.of_u)),
            0.0 if self.G is None else float(np.sqrt(prior.of_w)),
            self.counts.islands(),
            float(self.counts.n.sum()),
            factors,
        )

    # -- expectation propagation -----------------------------------------------------------------------

    def _propagate(
        self, prior: _Prior, r: Floats, log_nu: float, known: PairFactors | None = None
    ) -> tuple[Floats, Floats, float, _Prior, PairFactors]:
        """Let a normal factor stand for the votes on each pair: that which gives d the moments that the votes do.

        All factors are found anew at once, with a step of the variances and of log ν, until nothing moves. Laplace's
        approximation would make variances of ratings from few votes far too small (by half, from two votes an item).
        """
        c, design = self.counts, self.design
        bend, push = self._first_factors(prior, r, log_nu, known)
        leap_u, leap_w = _Leaps(), _Leaps()
        for _ in range(_ROUNDS):
            root = self._exact_root(prior, bend)
            r = root @ (root.T @ (design.T @ push + prior.times(prior.mean)))
            own = np.einsum("ik,ik->i", root, root)
            covariance = root @ root.T if len(c.first) > len(r) else None
            with_other = (
                np.einsum("ik,ik->i", root[c.first], root[c.second])
                if covariance is None
                else covariance[c.first, c.second]
            )
            variance = np.maximum(own[c.first] + own[c.second] - 2.0 * with_other, 1e-12)
            new_bend, new_push, by_nu, bend_nu = _matched(c, design @ r, variance, bend, push, log_nu)
            of_u, of_w = prior.learned(r, root, self.worth)
            step_nu = float(np.clip(by_nu / bend_nu, -1.0, 1.0))
            moved = abs(np.log(of_u / prior.of_u)) + (abs(np.log(of_w / prior.of_w)) if of_w else 0.0) + abs(step_nu)
            off_bend, off_push = new_bend - bend, new_push - push
            slope = off_push - off_bend * (design @ r)  # by how much a factor pulls otherwise, where d is now
            moved += float(np.max(np.abs(off_bend) * variance + np.abs(slope) * np.sqrt(variance), initial=0.0))
            if moved < self.still:
                break
            bend, push = bend + _DAMPED * off_bend, push + _DAMPED * off_push
            log_nu += step_nu
            prior = replace(prior, of_u=leap_u.from_to(prior.of_u, of_u), of_w=leap_w.from_to(prior.of_w, of_w))
        return r, root, log_nu, prior, PairFactors(c.pair, c.n, bend, push)

    def _first_factors(
        self, prior: _Prior, r: Floats, log_nu: float, known: PairFactors | None
    ) -> tuple[Floats, Floats]:
        """Return factors to begin with: those that were there, of pairs with as many votes; else Laplace's."""
        c = self.counts
        bend: Floats = np.zeros(len(c.n))
        push: Floats = np.zeros(len(c.n))
        new = np.ones(len(c.n), dtype=bool)
        if known is not None and len(known.pair):
            at = np.minimum(np.searchsorted(known.pair, c.pair), len(known.pair) - 1)
            new = (known.pair[at] != c.pair) | (known.n[at] != c.n)
            bend, push = known.bend[at], known.push[at]
        if new.any():
            if new.mean() > _MOSTLY_NEW:
                r = self._most_likely(prior, r, log_nu, fine=1e-3)
            left, _, right = outcome_shares(self.design @ r, log_nu)
            laplace = self._bends(r, log_nu)
            bend = np.where(new, laplace, bend)
            push = np.where(new, laplace * (self.design @ r) + 0.5 * ((c.won - c.lost) - c.n * (right - left)), push)
        return bend, push

    def _exact_root(self, prior: _Prior, bends: Floats) -> Floats:
        """Return a root of the inverse precision."""
        lower = linalg.cholesky(self._precision(prior, bends), lower=True, check_finite=False)
        inverse, _ = linalg.lapack.dtrtri(lower, lower=1)
        return np.ascontiguousarray(inverse.T)

    # -- many items ------------------------------------------------------------------------------------

    def _of_a_sample(self, prior: _Prior, log_nu: float, start: Beliefs | None) -> tuple[_Prior, float]:
        """Return the variances and log ν that suit the votes among some items that hang together."""
        if not len(self.counts.first) or (start is not None and start.n_votes > 0.9 * self.counts.n.sum()):
            return prior, log_nu
        c, m = self.counts, len(self.names)
        links = sp.csr_array((c.n, (c.first, c.second)), shape=(m, m))
        busiest = int(np.argmax(sums_at(c.first, c.n, m) + sums_at(c.second, c.n, m)))
        some = np.sort(breadth_first_order(links, busiest, directed=False, return_predecessors=False)[:_SAMPLED])
        place = np.full(m, -1)
        place[some] = np.arange(len(some))
        inside = (place[c.first] >= 0) & (place[c.second] >= 0)
        counts = Counts(
            len(some),
            place[c.first[inside]],
            place[c.second[inside]],
            *(each[inside] for each in (c.won, c.lost, c.tied)),
        )
        G = None if self.G is None else self.G[some]
        part = _Posterior(self.names[some], counts, G, self.expected[some], self.rng, self.worth, self.still)
        _, _, log_nu, of_part, _ = part._propagate(
            _Prior(self.expected[some], G, prior.of_u, prior.of_w), self.expected[some], log_nu
        )
        return replace(prior, of_u=of_part.of_u, of_w=of_part.of_w), log_nu

    def _drawn(self, prior: _Prior, r: Floats, log_nu: float) -> Floats:
        """Return draws from the normal law around r, as a root of its covariance.

        b = Bᵀ W^½ ε + P (r₀ − μ), with r₀ from the prior, has the precision for its covariance, and what solves for it
        the inverse.
        """
        bends = self._bends(r, log_nu)
        noise = np.sqrt(bends)[:, None] * self.rng.standard_normal((len(bends), _N_DRAWN))
        b = self.design.T @ noise + prior.times(prior.draw(_N_DRAWN, self.rng))
        return np.asarray(self._solver(prior, bends)(b) / np.sqrt(_N_DRAWN))

    # -- Laplace's approximation -----------------------------------------------------------------------

    def _bends(self, r: Floats, log_nu: float) -> Floats:
        left, _, right = outcome_shares(self.design @ r, log_nu)
        return np.asarray(self.counts.n * 0.25 * (right + left - (right - left) ** 2))

    def _value(self, prior: _Prior, r: Floats, log_nu: float) -> float:
        """Return the logarithm of the density of r and the votes."""
        c, off, d = self.counts, r - prior.mean, self.design @ r
        return float(0.5 * (c.won - c.lost) @ d - c.n @ log_total(d, log_nu) - 0.5 * off @ prior.times(off))

    def _most_likely(self, prior: _Prior, r: Floats, log_nu: float, fine: float = 1e-9) -> Floats:
        """Newton's steps in r; those that go too far are halved."""
        c = self.counts
        value = self._value(prior, r, log_nu)
        for _ in range(_MOST_STEPS):
            left, _, right = outcome_shares(self.design @ r, log_nu)
            slope = self.design.T @ (0.5 * ((c.won - c.lost) - c.n * (right - left))) - prior.times(r - prior.mean)
            step = self._solver(prior, self._bends(r, log_nu))(slope[:, None])[:, 0]
            length, new = 1.0, self._value(prior, r + step, log_nu)
            while new < value and length > 1e-6:
                length *= 0.5
                new = self._value(prior, r + length * step, log_nu)
            if new < value:
                break
            r, gained, value = r + length * step, new - value, new
            if gained <= fine * (1.0 + float(c.n.sum())):
                break
        return r

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


class _Leaps:
    """Steps of a variance beyond what a fixed point's map says: by how much its last two steps differed.

    With few votes an item that map goes only a quarter of the way.
    """

    def __init__(self) -> None:
        self._at = self._to = np.nan

    def from_to(self, variance: float, mapped: float) -> float:
        """Return the variance to go on with."""
        if mapped == 0.0:
            return variance
        at, to = np.log([variance, mapped])
        slope = (to - self._to) / (at - self._at) if at != self._at else 0.0
        slope = min(max(slope, 0.0), _STEEPEST) if np.isfinite(slope) else 0.0
        self._at, self._to = at, to
        return float(np.clip(np.exp(at + (to - at) / (1.0 - slope)), _LEAST, _MOST))


def _matched(
    c: Counts, mean: Floats, variance: Floats, bend: Floats, push: Floats, log_nu: float
) -> tuple[Floats, Floats, float, float]:
    """Return the factors that give each d the moments it has by its votes and all else, and a step in log ν.

    A factor is exp(push · d − ½ bend · d²). What is known of d but for its own votes is the normal law without its
    factor. Ties: the derivative of the expected log-likelihood in log ν, of a tie in one vote and a half on equals as
    well, so that a tie may always come; and the second one.
    """
    precision = np.maximum(1.0 / variance - bend, 1e-10)
    without = (mean / variance - push) / precision
    moments = np.empty((len(mean), 4))
    for begin in range(0, len(mean), _IN_CACHE):
        some = slice(begin, begin + _IN_CACHE)
        place = np.sqrt(variance[some])[:, None] * _GRID
        d = mean[some, None] + place
        half = np.exp(-0.5 * np.abs(d))  # the larger of the two terms is taken out, so that none overflows
        others = half * (half + np.exp(log_nu))
        log_weight = 0.5 * (c.won - c.lost)[some, None] * d - c.n[some, None] * (0.5 * np.abs(d) + np.log1p(others))
        log_weight -= 0.5 * precision[some, None] * (d - without[some, None]) ** 2
        weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
        weight /= weight.sum(axis=1, keepdims=True)
        tie = np.exp(log_nu) * half / (1.0 + others)
        moments[some, :2] = weight @ np.column_stack([_GRID, _GRID**2])
        moments[some, 2] = np.einsum("ij,ij->i", weight, tie)
        moments[some, 3] = moments[some, 2] - np.einsum("ij,ij,ij->i", weight, tie, tie)
    middle = mean + np.sqrt(variance) * moments[:, 0]
    spread = np.maximum(variance * (moments[:, 1] - moments[:, 0] ** 2), 1e-12)
    new = np.maximum(1.0 / spread - precision, 1e-10)
    even = 1.0 / (1.0 + 2.0 * np.exp(-log_nu))
    by_nu = float(c.tied.sum() + 0.5 - c.n @ moments[:, 2] - 1.5 * even)
    bend_nu = float(c.n @ moments[:, 3] + 1.5 * even * (1.0 - even))
    return new, middle * (precision + new) - without * precision, by_nu, bend_nu


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
