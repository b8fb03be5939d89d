"""Which two to ask about next, when to stop, how far to trust the answers, and judges to practise on."""

from .batches import Batch, choose_pairs, next_pairs
from .beliefs import Beliefs, believe
from .goals import Goal
from .judges import Agreement, judge_checks, pair_agreement
from .simulating import Judge, SimulatedJudges, Sitting, VotePlan, plan, simulate
from .stopping import VoteProgress, progress, reached
from .trust import VoteReliability, reliability

__all__ = [
    "Agreement",
    "Batch",
    "Beliefs",
    "Goal",
    "Judge",
    "SimulatedJudges",
    "Sitting",
    "VotePlan",
    "VoteProgress",
    "VoteReliability",
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
