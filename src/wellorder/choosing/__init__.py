"""Which two to ask about next, when to stop, how far to trust the answers, and judges to practise on."""

from .batches import Batch, choose_pairs, next_pairs
from .beliefs import Beliefs, believe
from .goals import Goal
from .judges import Agreement, judge_checks, pair_agreement
from .reliability import Reliability, reliability
from .simulating import Judge, Plan, SimulatedJudges, Sitting, plan, simulate
from .stopping import Progress, progress, reached

__all__ = [
    "Agreement",
    "Batch",
    "Beliefs",
    "Goal",
    "Judge",
    "Plan",
    "Progress",
    "Reliability",
    "SimulatedJudges",
    "Sitting",
    "believe",
    "choose_pairs",
    "judge_checks",
    "next_pairs",
    "pair_agreement",
    "plan",
    "progress",
    "reached",
    "reliability",
    "simulate",
]
