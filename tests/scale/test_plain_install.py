"""Nothing of Dask is loaded until somebody brings a Dask collection."""

from __future__ import annotations

import subprocess
import sys

_CODE = """
import sys
import numpy as np
import wellorder as wo
from wellorder.cli.main import wellorder as command
from click.testing import CliRunner
import wellorder.evaluation, wellorder.data, wellorder.figures, wellorder.report
X = np.random.default_rng(0).random((40, 2))
model = wo.RankSVM(kernel="rbf", n_components=5).fit(X, np.arange(40) % 3, groups=np.arange(40) // 20)
model.score(X, np.arange(40) % 3)
wo.CompareSVM().fit(X, wo.Comparisons([0, 1], [2, 3], [1, 0]))
assert CliRunner().invoke(command, ["fit", "--help"]).exit_code == 0
print([name for name in sys.modules if name.split(".")[0] in ("dask", "distributed")])
"""


def test_dask_is_not_imported_unless_used():
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", _CODE], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
