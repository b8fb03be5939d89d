"""Which pair next, slowly: information by numerical integration, posteriors by weighted draws."""

import numpy as np
from scipy import stats
from scipy.integrate import quad


def chances(d, log_nu):
    """Return P(left), P(tie), P(right) of one difference."""
    odds = np.array([np.exp(-d / 2), np.exp(log_nu), np.exp(d / 2)])
    return odds / odds.sum()


def entropy(p):
    """Return Σ −p log p."""
    return -sum(each * np.log(each) for each in p if each > 0)


def information_gain(mean, variance, log_nu):
    """Return H(E p(d)) − E H(p(d)) under d ~ N(mean, variance)."""
    error = np.sqrt(variance)

    def average(f):
        return quad(
            lambda z: f(mean + error * z) * stats.norm.pdf(z), -9, 9, limit=400, points=[max(-9, min(9, -mean / error))]
        )[0]

    mixed = [average(lambda d, y=y: chances(d, log_nu)[y]) for y in range(3)]
    return entropy(mixed) - average(lambda d: entropy(chances(d, log_nu)))


def sign_gain(z, lost):
    """Return by how much the entropy of the sign of N(z, 1) falls, when the share ``lost`` of the variance is told."""

    def of_sign(mean, variance):
        p = stats.norm.cdf(mean / np.sqrt(variance))
        return entropy([p, 1 - p])

    after = quad(lambda x: of_sign(z + np.sqrt(lost) * x, 1 - lost) * stats.norm.pdf(x), -9, 9, limit=400)[0]
    return of_sign(z, 1) - after


def doubt_told(mean, variance, part):
    """Return by how much p(1 − p) is expected to fall, p = P(d > 0), when so much of the variance of d is told."""

    def doubt(m, v):
        p = stats.norm.cdf(m / np.sqrt(v))
        return p * (1 - p)

    after = quad(lambda x: doubt(mean + np.sqrt(part) * x, variance - part) * stats.norm.pdf(x), -9, 9, limit=400)[0]
    return doubt(mean, variance) - after


def order_gain(mean, cov, a, b, told, small=1e-3):
    """Return how fast an answer on (a, b), of the expected information told, lowers the doubt over all pairs."""
    share = told / (1 + told * (cov[a, a] + cov[b, b] - 2 * cov[a, b]))
    total = 0.0
    for i in range(len(mean)):
        for j in range(i):
            part = share * (cov[i, a] - cov[i, b] - cov[j, a] + cov[j, b]) ** 2
            variance = cov[i, i] + cov[j, j] - 2 * cov[i, j]
            total += doubt_told(mean[i] - mean[j], variance, small * part) / small
    return total


def posterior(left, right, outcome, n_items, log_nu, variance, n_draws=400_000, seed=0):
    """Return the mean and the covariance of ratings: draws of the prior, weighted by the likelihood of the votes."""
    r = np.sqrt(variance) * np.random.default_rng(seed).standard_normal((n_draws, n_items))
    log_weight = np.zeros(n_draws)
    for a, b, result in zip(left, right, outcome, strict=True):
        d = r[:, b] - r[:, a]
        terms = np.stack([-d / 2, np.full(n_draws, log_nu), d / 2])
        log_weight += terms[result + 1] - np.log(np.exp(terms).sum(axis=0))
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    mean = weight @ r
    return mean, (r - mean).T @ (weight[:, None] * (r - mean))


def islands(n_items, pairs):
    """Return how many islands pairs leave, by walking from each item."""
    near = {item: set() for item in range(n_items)}
    for a, b in pairs:
        near[a].add(b)
        near[b].add(a)
    left, count = set(range(n_items)), 0
    while left:
        count += 1
        todo = [left.pop()]
        while todo:
            new = near[todo.pop()] & left
            left -= new
            todo += new
    return count
