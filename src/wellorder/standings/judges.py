r"""Judges: each has a leaning to one side and a sharpness of their own, shrunk towards the others by the data.

.. math:: d = \kappa_j\,(r_R - r_L + \beta^\top z + \delta_j s), \qquad
   \delta_j \sim N(0, \sigma_\delta^2),\; \log \kappa_j \sim N(0, \sigma_\kappa^2)

with s = 1, or 0 on neutral ground. A judge with κ = 0 votes at random, one with κ = 2 decides as if things were twice
as far apart. (θ, δ, log κ) maximise the likelihood times the density of δ and log κ; the most likely variances are
found by steps of EM with Laplace's approximation, and others that may be, along each of the two, say how much less sure
all else is as they are not known (``variances.py``). The joint information has a block of two a judge, which is
eliminated: costs grow with the judges, not with their cube.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp
from scipy import linalg, special
from scipy.optimize import minimize_scalar

from ..metrics import semidefinite
from ..sweeps import Floats, Ints
from .likelihood import Expansion, assemble, expand, log_chances, shares_of_islands, spread
from .sureness import sums_by_cluster
from .variances import likely, log_prior, middle_of, most_likely_variance, shares_of
from .votes import Votes, add_up

_ROUNDS = 100
_FINE = 1e-3
"""How exactly standard deviations among judges are found."""

_HASTE = 8.0
"""EM's steps are lengthened up to this many times, while none of them turns back."""

_OWN_STEPS = 3
"""Newton's steps in a judge's own parameters, from close by."""

_NODES, _SHARES = np.polynomial.hermite_e.hermegauss(9)

_LEAST, _MOST = 1e-4, 4.0
"""Variances below the first are none; beyond the second, judges have nothing in common."""


@dataclass(frozen=True, eq=False)
class JudgeFit:
    """The most likely parameters with judges, and what is needed to say how sure they are.

    Attributes
    ----------
    theta : array of shape (n_parameters,)
    own : array of shape (n_judges, 2)
        δ and log κ.
    error : array of shape (n_judges, 2)
        Their standard errors.
    variance : array of shape (2,)
    at : Expansion
    bend : array of shape (n_parameters,) * 2
        The information on θ that is left when the judges have taken theirs.
    widening : array of shape (n_parameters,) * 2
        What the covariance of θ is larger by, as the variances are not known.
    shorter : float
        What ratings, effects and δ are multiplied by, so that they are the most likely ones over all κ that may be.
    """

    theta: Floats
    own: Floats
    error: Floats
    variance: Floats
    at: Expansion
    bend: Floats
    widening: Floats
    shorter: float
    _votes: Votes
    _kappa: Floats
    _h: Floats
    _share: Floats

    def sums_by_cluster(self, number: Ints, n_clusters: int) -> Floats:
        """Return Σ wψ over the votes of each cluster, less what the judges' own parameters take of it."""
        votes = self._votes
        assert votes.judge is not None
        whole = sums_by_cluster(votes, _scaled(self.at, self._kappa), number, n_clusters)
        pushed = (votes.weight * self.at.by_d)[:, None] * self._h
        rows, columns = np.repeat(number, 2), np.column_stack([2 * votes.judge, 2 * votes.judge + 1]).ravel()
        own = sp.csr_array((pushed.ravel(), (rows, columns)), shape=(n_clusters, 2 * votes.n_judges))
        first = np.zeros(votes.n_judges, np.int64)
        first[votes.judge] = number
        if (
            first[votes.judge] == number
        ).all():  # a judge's prior goes with all of the judge's votes, if they are together
            cells = (np.repeat(first, 2), np.arange(2 * votes.n_judges))
            own = own + sp.csr_array((-(self.own / self.variance).ravel(), cells), shape=own.shape)
        return np.asarray(whole.toarray() - own @ self._share.T)


def _scaled(at: Expansion, kappa: Floats) -> Expansion:
    """Return the expansion in d/κ, which is what ratings and effects make up."""
    return Expansion(
        at.value,
        kappa * at.by_d,
        at.by_tie,
        kappa**2 * at.bend_d,
        kappa[:, None] * at.bend_cross,
        at.bend_tie,
    )


@dataclass(frozen=True, eq=False)
class _JudgedPoint:
    theta: Floats
    own: Floats


@dataclass(frozen=True, eq=False)
class _JudgedSystem:
    """Newton's equations at a point, the judges' part eliminated."""

    at: Expansion
    kappa: Floats
    h: Floats
    bend: Floats
    share: Floats
    blocks: Floats
    slope: Floats
    own_slope: Floats


def fit_judges(votes: Votes, theta: Floats, pull: Floats | None = None, *, how_sure: bool = True) -> JudgeFit:
    """Fit θ and the judges' own parameters, from the θ without judges.

    Without ``how_sure`` the variances are the most likely ones, and nothing allows for others.
    """
    assert votes.judge is not None
    penalty = np.zeros((votes.n_parameters,) * 2) if pull is None else pull
    point = _JudgedPoint(theta, np.zeros((votes.n_judges, 2)))
    variance, haste, last = np.array([0.1, 0.1]), np.ones(2), np.zeros(2)
    for _ in range(_ROUNDS):
        point, gain = _improve(votes, point, variance, penalty)
        spread_own = point.own - [0.0, point.own[:, 1].mean()]
        expected = spread_own**2 + _posterior(votes, _pose(votes, point, variance, penalty))
        move = np.log(most_likely_variance(expected.sum(axis=0), votes.n_judges) / variance)
        # EM goes the right way in small steps: longer ones, as long as none turns back
        haste = np.where(move * last > 0, np.minimum(2.0 * haste, _HASTE), 1.0)
        last, before = move, variance
        variance = np.clip(variance * np.exp(haste * move), _LEAST, _MOST)
        settled = np.abs(np.sqrt(variance) - np.sqrt(before)).max() < _FINE
        if settled and gain < 1e-8 * float(votes.weight.sum()):
            break
    others = _LikelyVariances(votes, penalty, point) if how_sure else None
    if others is not None:
        variance = others.look(variance)
        point = others.at(variance).point
    point, variance = _centred(votes, point, variance)
    system = _pose(votes, point, variance, penalty)
    own_variance, widening = _posterior(votes, system), np.zeros_like(penalty)
    if others is not None:
        own_variance, widening = others.widened(point, system)
    shorter = _shorter(votes, point, variance, penalty) if how_sure else 1.0
    return JudgeFit(
        point.theta,
        point.own,
        np.sqrt(own_variance),
        variance,
        system.at,
        system.bend,
        widening,
        shorter,
        votes,
        system.kappa,
        system.h,
        system.share,
    )


@dataclass(frozen=True, eq=False)
class _JudgedNode:
    """What follows from two variances among judges."""

    point: _JudgedPoint
    system: _JudgedSystem
    density: float


class _LikelyVariances:
    """The variances among judges that may be: along each of the two, the other one held."""

    def __init__(self, votes: Votes, penalty: Floats, point: _JudgedPoint) -> None:
        self.votes, self.penalty, self.start = votes, penalty, point
        self.kept = shares_of_islands(votes)
        self.rows: list[tuple[Floats, list[_JudgedNode]]] = []
        self._known: dict[tuple[float, ...], _JudgedNode] = {}

    def at(self, variance: Floats) -> _JudgedNode:
        """Fit everything else under two variances."""
        key = tuple(variance.tolist())
        if key not in self._known:
            point, votes = self.start, self.votes
            enough = 1e-8 * float(votes.weight.sum())
            for _ in range(_ROUNDS):
                point, gain = _improve(votes, point, variance, self.penalty)
                if gain < enough:
                    break
            point, centred = _centred(votes, point, variance)
            system = _pose(votes, point, centred, self.penalty)
            finite = np.where(np.isfinite(point.theta), point.theta, 0.0)
            loss = float((point.own**2 / centred).sum()) + votes.n_judges * float(np.log(centred).sum())
            loss += float(np.linalg.slogdet(system.bend + self.kept)[1] - np.linalg.slogdet(system.blocks)[1].sum())
            loss += float(finite @ self.penalty @ finite)
            density = system.at.value - 0.5 * loss + log_prior(np.log(variance))
            self._known[key] = _JudgedNode(point, system, density)
        return self._known[key]

    def look(self, best: Floats) -> Floats:
        """Look along both variances, and return those in the middle."""
        logs = np.log(best)
        middle = logs.copy()
        for place in range(2):
            row = likely(partial(self._density, logs, place), float(logs[place]))
            nodes = [self._moved(logs, place, float(log)) for log in row]
            shares = shares_of([node.density for node in nodes])
            middle[place] = middle_of(shares, row)
            self.rows.append((shares, nodes))
        return np.asarray(np.exp(middle))

    def _moved(self, logs: Floats, place: int, log: float) -> _JudgedNode:
        return self.at(np.exp(np.where(np.arange(2) == place, log, logs)))

    def _density(self, logs: Floats, place: int, log: float) -> float:
        return self._moved(logs, place, log).density

    def widened(self, point: _JudgedPoint, system: _JudgedSystem) -> tuple[Floats, Floats]:
        """Return the variances of δ and log κ, and what the covariance of θ is larger by than the system's."""
        own = _posterior(self.votes, system)
        covariance = linalg.pinvh(system.bend + self.kept)
        whole_own, whole = own.copy(), np.zeros_like(covariance)
        for shares, nodes in self.rows:
            more_own, more = -own, -covariance
            for share, node in zip(shares, nodes, strict=True):
                apart = _finite_difference(node.point.theta, point.theta)
                more_own = more_own + share * (_posterior(self.votes, node.system) + (node.point.own - point.own) ** 2)
                more = more + share * (linalg.pinvh(node.system.bend + self.kept) + np.outer(apart, apart))
            whole_own += np.maximum(more_own, 0.0)
            whole += semidefinite(more)
        return whole_own, whole


def _shorter(votes: Votes, point: _JudgedPoint, variance: Floats, penalty: Floats) -> float:
    """Return by what ratings are to be multiplied so that the votes are most likely over all κ that a judge may have.

    Of few votes, log κ is known to be not much larger than the best one, but perhaps much smaller: its mean is below
    it. With the best κ of each, ratings would be too far apart: by a seventh with twenty votes a judge, and 3 % now.
    """
    free = votes.n_items + votes.n_effects

    def loss(log: float) -> float:
        theta = point.theta.copy()
        theta[:free] *= np.exp(log)
        own = point.own * [np.exp(log), 1.0] - [0.0, log]
        for _ in range(_OWN_STEPS):
            _, blocks, slope = _own_system(votes, _JudgedPoint(theta, own), variance)
            own = own + np.clip(np.linalg.solve(blocks, slope[:, :, None])[:, :, 0], -1.0, 1.0)
        finite = np.where(np.isfinite(theta), theta, 0.0)
        return 0.5 * float(finite @ penalty @ finite) - _over_all_kappa(votes, theta, own, variance, blocks)

    return float(np.exp(minimize_scalar(loss, bounds=(-1.0, 0.2), method="bounded", options={"xatol": 2e-3}).x))


def _over_all_kappa(votes: Votes, theta: Floats, own: Floats, variance: Floats, blocks: Floats) -> float:
    """Return the log-likelihood of θ over all that judges may be: log κ by quadrature, δ by Laplace's approximation."""
    assert votes.judge is not None
    assert votes.stands is not None
    of_delta, cross = blocks[:, 0, 0], blocks[:, 0, 1]
    error = 1.0 / np.sqrt(blocks[:, 1, 1] - cross**2 / of_delta)
    level, log_nu = votes.differences(theta), theta[votes.n_items + votes.n_effects :]
    terms = np.empty((len(_NODES), votes.n_judges))
    for k, (node, share) in enumerate(zip(_NODES, _SHARES, strict=True)):
        log_kappa = own[:, 1] + error * node
        delta = own[:, 0] - cross / of_delta * error * node
        d = np.exp(log_kappa)[votes.judge] * (level + delta[votes.judge] * votes.stands)
        came = add_up(votes.judge, votes.weight * log_chances(votes, d, log_nu), votes.n_judges)
        prior = 0.5 * (delta**2 / variance[0] + log_kappa**2 / variance[1])
        terms[k] = came - prior + 0.5 * node**2 + np.log(share)
    return float((special.logsumexp(terms, axis=0) + np.log(error) - 0.5 * np.log(of_delta)).sum())


def _own_system(votes: Votes, point: _JudgedPoint, variance: Floats) -> tuple[Expansion, Floats, Floats]:
    """Return the expansion, and Newton's equations in the judges' own parameters, θ held."""
    assert votes.judge is not None
    at, _, h = _expanded(votes, point)
    blocks = np.empty((votes.n_judges, 2, 2))
    pushed, bent = votes.weight * at.by_d, votes.weight * at.bend_d
    for k in range(2):
        for other in range(2):
            blocks[:, k, other] = add_up(votes.judge, bent * h[:, k] * h[:, other], votes.n_judges)
        blocks[:, k, k] += 1.0 / variance[k]
    slope = np.column_stack([add_up(votes.judge, pushed * h[:, k], votes.n_judges) for k in range(2)])
    return at, blocks, slope - point.own / variance


def _finite_difference(one: Floats, other: Floats) -> Floats:
    """Return one − other; zero for what is not fitted, and infinite in both."""
    return np.where(np.isfinite(one), one, 0.0) - np.where(np.isfinite(other), other, 0.0)


def _centred(votes: Votes, point: _JudgedPoint, variance: Floats) -> tuple[_JudgedPoint, Floats]:
    """Move the judges' mean sharpness into what they judge: no vote becomes more or less likely."""
    level = float(point.own[:, 1].mean())
    theta, own = point.theta.copy(), point.own.copy()
    theta[: votes.n_items + votes.n_effects] *= np.exp(level)
    own[:, 0] *= np.exp(level)
    own[:, 1] -= level
    return _JudgedPoint(theta, own), variance * [np.exp(2.0 * level), 1.0]


def _expanded(votes: Votes, point: _JudgedPoint) -> tuple[Expansion, Floats, Floats]:
    """Return the expansion, κ of each vote's judge, and ∂d/∂(δ, log κ)."""
    assert votes.judge is not None
    assert votes.stands is not None
    delta, log_kappa = point.own[votes.judge].T
    kappa = np.exp(log_kappa)
    d = kappa * (votes.differences(point.theta) + delta * votes.stands)
    at = expand(votes, d, point.theta[votes.n_items + votes.n_effects :])
    return at, kappa, np.column_stack([kappa * votes.stands, d])


def _pose(votes: Votes, point: _JudgedPoint, variance: Floats, penalty: Floats) -> _JudgedSystem:
    assert votes.judge is not None
    judge, n_judges, n = votes.judge, votes.n_judges, votes.n_items
    at, kappa, h = _expanded(votes, point)
    scaled, w = _scaled(at, kappa), votes.weight
    bend = assemble(votes, w * scaled.bend_d, w[:, None] * scaled.bend_cross, w[:, None, None] * at.bend_tie) + penalty
    blocks = np.zeros((n_judges, 2, 2))
    cross = np.zeros((votes.n_parameters, n_judges, 2))
    for k in range(2):
        for other in range(2):
            blocks[:, k, other] = add_up(judge, w * at.bend_d * h[:, k] * h[:, other], n_judges)
        blocks[:, k, k] += 1.0 / variance[k]
        of_d = w * kappa * at.bend_d * h[:, k]
        to_right = add_up(votes.right * n_judges + judge, of_d, n * n_judges)
        to_left = add_up(votes.left * n_judges + judge, of_d, n * n_judges)
        cross[:n, :, k] = (to_right - to_left).reshape(n, n_judges)
        others = [of_d * column for column in votes.z.T] + [w * each * h[:, k] for each in at.bend_cross.T]
        for place, column in enumerate(others):
            cross[n + place, :, k] = add_up(judge, column, n_judges)
    inverse = np.linalg.inv(blocks)
    share = np.einsum("mjk,jkl->mjl", cross, inverse).reshape(votes.n_parameters, -1)
    left = bend - share @ cross.reshape(votes.n_parameters, -1).T
    finite = np.where(np.isfinite(point.theta), point.theta, 0.0)
    slope = spread(votes, w * scaled.by_d, w[:, None] * at.by_tie) - penalty @ finite
    slope[~votes.fitted] = 0.0
    own_slope = np.column_stack([add_up(judge, w * at.by_d * h[:, k], n_judges) for k in range(2)])
    own_slope -= point.own / variance
    return _JudgedSystem(at, kappa, h, 0.5 * (left + left.T), share, inverse, slope, own_slope)


def _improve(votes: Votes, point: _JudgedPoint, variance: Floats, penalty: Floats) -> tuple[_JudgedPoint, float]:
    """Take one of Newton's steps, halved until it gains; return the new point, and what the step promised."""
    system = _pose(votes, point, variance, penalty)
    kept = shares_of_islands(votes)
    reduced = system.slope - system.share @ system.own_slope.reshape(-1)
    step = linalg.solve(system.bend + kept, reduced, assume_a="sym")
    own = np.einsum("jkl,jl->jk", system.blocks, system.own_slope) - (system.share.T @ step).reshape(-1, 2)
    gain = float(system.slope @ step + (system.own_slope * own).sum())

    def value(at: Expansion, trial: _JudgedPoint) -> float:
        finite = np.where(np.isfinite(trial.theta), trial.theta, 0.0)
        return at.value - 0.5 * float((trial.own**2 / variance).sum()) - 0.5 * float(finite @ penalty @ finite)

    before = value(system.at, point)
    share = 1.0
    while share > 1e-6:
        trial = _JudgedPoint(point.theta + share * step, point.own + share * own)
        if value(_expanded(votes, trial)[0], trial) >= before + 1e-4 * share * gain - 1e-12 * abs(before):
            return trial, gain
        share /= 2
    return point, 0.0


def _posterior(votes: Votes, system: _JudgedSystem) -> Floats:
    """Return the variances of δ and log κ given the votes, that of θ included."""
    inverse = linalg.pinvh(system.bend + shares_of_islands(votes)) - shares_of_islands(votes)
    through = np.einsum("mj,mn,nj->j", system.share, inverse, system.share, optimize=True)
    own = np.einsum("jkk->jk", system.blocks)
    return np.asarray(np.maximum(own + through.reshape(-1, 2), 0.0))
