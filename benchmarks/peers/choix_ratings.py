"""choix: Bradley and Terry's model of games without ties."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..shapes import Games, Result
from .peer import Peer, Settings


def _model(name: str, **options: Any) -> Callable[[Games, Settings], Callable[[], Result]]:
    def start(games: Games, settings: Settings) -> Callable[[], Result]:
        import choix

        pairs = list(zip(games.winner.tolist(), games.loser.tolist(), strict=True))
        return lambda: Result(strengths=getattr(choix, name)(games.n_items, pairs, alpha=1e-6, **options))

    return start


PEERS = (
    Peer("choix-newton", "rate", _model("opt_pairwise"), package="choix"),
    Peer("choix-ilsr", "rate", _model("ilsr_pairwise", max_iter=1_000), package="choix", warm_rows=5_000),
)
