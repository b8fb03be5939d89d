"""Built-in items: pictures of dots. Which has more is hard to see where numbers are close, and everybody can count."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

QUESTION = "Which picture has more dots?"
_COUNTS = (20, 23, 26, 30, 34, 39, 44, 50, 57, 65, 74, 84)
_SIDE, _MARGIN, _RADII, _APART = 400, 16, (4.0, 9.0), 3.0


def write_dots(folder: str | os.PathLike[str]) -> None:
    """Write the pictures into a folder; each is called by how many dots it has."""
    os.makedirs(folder, exist_ok=True)
    for count in _COUNTS:
        Path(folder, f"{count} dots.svg").write_text(_draw(count), encoding="utf-8")


def _draw(count: int) -> str:
    random = Random(count)
    dots: list[tuple[float, float, float]] = []
    while len(dots) < count:
        radius = random.uniform(*_RADII)
        x, y = (random.uniform(_MARGIN, _SIDE - _MARGIN) for _ in range(2))
        if all((x - a) ** 2 + (y - b) ** 2 > (radius + c + _APART) ** 2 for a, b, c in dots):
            dots.append((x, y, radius))
    circles = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"/>' for x, y, radius in dots)
    paper = f'<rect width="{_SIDE}" height="{_SIDE}" fill="#ffffff"/>'
    size = f'viewBox="0 0 {_SIDE} {_SIDE}" width="{_SIDE}" height="{_SIDE}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{paper}<g fill="#0072b2">{circles}</g></svg>\n'
