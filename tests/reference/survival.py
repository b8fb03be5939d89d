"""Censored times, pair by pair and event by event."""

from __future__ import annotations

import numpy as np


def outlived(time, event, group=None):
    """Return [(i, j)]: i is known to have outlived j, by Harrell's rules."""
    group = np.zeros(len(time)) if group is None else group
    return [
        (i, j)
        for i in range(len(time))
        for j in range(len(time))
        if i != j and group[i] == group[j] and event[j] and (time[j] < time[i] or (time[j] == time[i] and not event[i]))
    ]


def concordance(time, event, scores, group=None, weight=None):
    """Share of such pairs in the right order, each with the weight of the one that was outlived."""
    weight = np.ones(len(time)) if weight is None else weight
    right = total = 0.0
    for i, j in outlived(time, event, group):
        right += weight[j] * (1.0 if scores[i] > scores[j] else 0.5 if scores[i] == scores[j] else 0.0)
        total += weight[j]
    return right / total


def not_censored(time, event, at):
    """Kaplan–Meier: the chance not to have been censored up to and including ``at``; events come first."""
    chance = 1.0
    for t in sorted({t for t, seen in zip(time, event, strict=True) if not seen and t <= at}):
        censored = sum(1 for each, seen in zip(time, event, strict=True) if each == t and not seen)
        struck = sum(1 for each, seen in zip(time, event, strict=True) if each == t and seen)
        at_risk = sum(1 for each in time if each >= t) - struck
        chance *= 1.0 - censored / at_risk
    return chance


def cumulative_auc(time, event, scores, horizon):
    """The AUC of events up to the horizon against those watched beyond it, by inverse probability of censoring."""
    right = total = 0.0
    for j in range(len(time)):
        if not event[j] or time[j] > horizon:
            continue
        weight = 1.0 / not_censored(time, event, time[j])
        for i in range(len(time)):
            if time[i] > horizon:
                right += weight * (1.0 if scores[i] > scores[j] else 0.5 if scores[i] == scores[j] else 0.0)
                total += weight
    return right / total


def partial_likelihood(time, event, weight, group, scores, ties):
    """−log of Cox's partial likelihood of risks −scores."""
    risk = np.exp(-np.asarray(scores))
    value = 0.0
    for g in set(group):
        for t in {time[k] for k in range(len(time)) if event[k] and group[k] == g}:
            struck = [k for k in range(len(time)) if event[k] and time[k] == t and group[k] == g]
            at_risk = sum(weight[k] * risk[k] for k in range(len(time)) if time[k] >= t and group[k] == g)
            tied = sum(weight[k] * risk[k] for k in struck)
            mean = sum(weight[k] for k in struck) / len(struck)
            value -= sum(weight[k] * np.log(risk[k]) for k in struck)
            for place in range(len(struck)):
                value += mean * np.log(at_risk - (place / len(struck) * tied if ties == "efron" else 0.0))
    return value
