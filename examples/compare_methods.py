"""
Compare methods, write a report
===============================

Which ordering to trust, and how much: methods on the same splits, searched inside the training parts only.
"""

import tempfile
from pathlib import Path

from sklearn.datasets import load_diabetes

import wellorder as wo
from wellorder.report import write

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
folder = Path(tempfile.mkdtemp())
X.assign(progression=y).to_csv(folder / "diabetes.csv", index=False)
table = wo.read(folder / "diabetes.csv", target="progression")

# %%
# Swapped pairs over five folds. "Not told apart" means that these splits do not show which of the two is better.

board = wo.compare(table, ["rank-svm", "ridge", "best-feature"], n_repeats=1)
for standing in board.standings:
    against = "" if standing.p_value is None else "worse" if standing.is_told_apart else "not told apart"
    print(f"{standing.method:13} {standing.mean:.1%}  ({standing.low:.1%} to {standing.high:.1%})  {against}")

# %%
# The same as a page: one file that opens offline. ``wellorder compare … --report`` adds a closer look at the leader.

write(board, folder / "report.html")
print("report.html:", (folder / "report.html").stat().st_size // 1_000, "kB")

display = wo.plot.LeaderboardDisplay.from_leaderboard(board)
display.plot()
