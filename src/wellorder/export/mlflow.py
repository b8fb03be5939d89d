"""A folder that ``mlflow.pyfunc.load_model`` reads: the model file as it is, and no pickle.

MLflow imports this module by its name, which the folder's ``MLmodel`` holds, and calls :func:`_load_pyfunc`.
"""

from __future__ import annotations

import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

from .. import __version__
from ..persistence import load, save
from .target import Job, Scored, Target

_FILE = "model.wo"


class Loaded:
    """A model as MLflow holds it: ``predict`` of rows.

    ``params={"method": "decision_function"}`` asks for another method, where the signature that MLflow knows has that.
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def predict(self, rows: Any, params: dict[str, Any] | None = None) -> Any:
        """Return what the model's own ``predict`` does, or another of its methods that ``params`` names."""
        method = (params or {}).get("method", "predict")
        if method not in ("predict", "decision_function", "predict_proba") or not hasattr(self.model, method):
            raise ValueError(f"{type(self.model).__name__} has no {method!r}; predict and decision_function it has")
        return getattr(self.model, method)(rows)


def _load_pyfunc(path: str) -> Loaded:
    """Return the model of a file, for MLflow; nothing in the file is run."""
    return Loaded(load(path))


def write(job: Job, path: Path) -> list[str]:
    """Write the folder."""
    path.mkdir()
    save(job.model, path / _FILE)
    needs = [f"wellorder=={__version__}", *(f"{name}=={version(name)}" for name in ("numpy", "scikit-learn"))]
    (path / "requirements.txt").write_text("\n".join(needs) + "\n", encoding="utf-8")
    environment = {"python": platform.python_version(), "dependencies": ["-r requirements.txt"]}
    (path / "python_env.yaml").write_text(json.dumps(environment, indent=1) + "\n", encoding="utf-8")
    flavor = {
        "loader_module": __name__,
        "data": _FILE,
        "python_version": platform.python_version(),
        "env": {"virtualenv": "python_env.yaml"},
    }
    document = {"flavors": {"python_function": flavor}}
    (path / "MLmodel").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")  # JSON is YAML, too
    return ["mlflow.pyfunc.load_model reads the folder where wellorder is installed; the model is model.wo, no pickle"]


def score(job: Job, path: Path, rows: Any) -> Scored:
    """Score rows by the model that is loaded as MLflow does it."""
    from .exporting import model_scores

    told = json.loads((path / "MLmodel").read_text(encoding="utf-8"))["flavors"]["python_function"]
    again = _load_pyfunc(str(path / told["data"])).model
    return Scored("the loader that MLflow calls", model_scores(Job(again, job.form, job.name), rows))


TARGET = Target(
    name="mlflow",
    title="MLflow's pyfunc",
    takes="every model that a file can hold",
    write=write,
    score=score,
    needs_form=False,
)
