"""When to stop asking: how near a goal is, whether another answer would tell anything, and how many it may take."""

from __future__ import annotations

import numpy as np
from scipy import special

from ..sweeps import Floats
from .beliefs import Beliefs
from .goals import Goal


def reached(beliefs: Beliefs, goal: Goal) -> float:
    return expected_tau(beliefs)

def expected_tau(beliefs):
    cov = beliefs.covariance(); v=np.diag(cov)
    a,b=np.triu_indices(len(beliefs),1)
    var=v[a]+v[b]-2*cov[a,b]
    return float(np.mean(2*special.ndtr(np.abs(beliefs.mean[a]-beliefs.mean[b])/np.sqrt(var))-1))
