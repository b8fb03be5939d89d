"""Davidson's model with effects, vote by vote, by a general optimiser: slow and obvious."""

import numpy as np
from scipy.optimize import minimize


def vote_log_likelihood(d, outcome, log_nu):
    """Return log P of one vote."""
    terms = np.array([-d / 2, log_nu, d / 2])
    return terms[outcome + 1] - np.log(np.exp(terms).sum())


def log_likelihood(theta, left, right, outcome, z, n_items):
    """θ = (ratings, effects, log ν)."""
    ratings, beta, log_nu = theta[:n_items], theta[n_items:-1], theta[-1]
    total = 0.0
    for a, b, result, extra in zip(left, right, outcome, z, strict=True):
        total += vote_log_likelihood(ratings[b] - ratings[a] + beta @ extra, result, log_nu)
    return total


def gradient(f, x, step=1e-6):
    """Return central differences."""
    out = np.empty(len(x))
    for place in range(len(x)):
        up, down = x.copy(), x.copy()
        up[place] += step
        down[place] -= step
        out[place] = (f(up) - f(down)) / (2 * step)
    return out


def most_likely(left, right, outcome, z, n_items):
    """Maximise the log-likelihood; ratings have mean zero."""

    def loss(theta):
        return -log_likelihood(theta, left, right, outcome, z, n_items) + 0.5 * theta[:n_items].sum() ** 2

    found = minimize(loss, np.zeros(n_items + z.shape[1] + 1), method="BFGS", options={"gtol": 1e-7})
    return found.x


def scores(theta, left, right, outcome, z, n_items):
    """Return the derivative of each vote's log-likelihood in θ, a row each."""
    rows = []
    for vote in range(len(left)):
        part = (left[[vote]], right[[vote]], outcome[[vote]], z[[vote]])
        rows.append(gradient(lambda t, part=part: log_likelihood(t, *part, n_items), theta))
    return np.array(rows)


def information(theta, left, right, outcome, z, n_items):
    """Return minus the Hessian, by differences of differences."""
    size = len(theta)
    out = np.empty((size, size))
    for place in range(size):
        unit = np.zeros(size)
        unit[place] = 1e-4
        slopes = [
            gradient(lambda t: log_likelihood(t, left, right, outcome, z, n_items), theta + s * unit) for s in (1, -1)
        ]
        out[place] = -(slopes[0] - slopes[1]) / 2e-4
    return 0.5 * (out + out.T)
