"""Papers, one folder each: their tables as data, their protocol as code.

:mod:`.reproducing` runs them; it is loaded where that is asked for, as it needs nearly everything else.
"""

from .registry import PAPERS, Paper

__all__ = ["PAPERS", "Paper"]
