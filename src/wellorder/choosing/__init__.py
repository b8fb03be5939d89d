"""Which two to ask about next, when to stop, how far to trust the answers, and judges to practise on."""

from .batches import Batch, choose_pairs, next_pairs
from .beliefs import Beliefs, believe
from .goals import Goal
from .simulating import SimulatedJudges
from .stopping import progress

__all__ = ["Batch", "Beliefs", "Goal", "SimulatedJudges", "believe", "choose_pairs", "next_pairs", "progress"]
