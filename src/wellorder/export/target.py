"""What a target is: a place where models are scored, how one is written for it, and who reads what was written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..sweeps import Floats
from .forms import Form


@dataclass(frozen=True)
class Job:
    """A model on its way out.

    Attributes
    ----------
    model : estimator
    form : Form
        What it computes; for a target that keeps a model without a form, a form of its columns alone.
    name : str
        What the target is to call it.
    options : dict
        What else was asked for.
    """

    model: Any
    form: Form
    name: str
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Scored:
    """What was read from the file that was written: by whom, and the score of each row."""

    reader: str
    scores: Floats


@dataclass(frozen=True)
class Target:
    """A runtime that models can be written for.

    Attributes
    ----------
    name : str
    title : str
        Who reads such a file.
    takes : str
        Which models.
    ending : str, optional
        Of files that are of this target unless another is named.
    write : function of (job, path)
        Writes the file, and others beside it; returns what whoever uses it must know, one sentence each.
    score : function of (job, path, rows)
        Scores rows by what was written: in the target's own runtime where it is installed, else by a reader that
        knows nothing of the model.
    is_single : bool
        Whether the runtime keeps features, thresholds and scores in single precision.
    missing : bool
        Whether rows with missing values are scored as the model scores them.
    nothing : float
        Numbers of at most this size are zero to the runtime.
    needs_form : bool
        Whether it is written from the form; else the model itself is kept.
    options : tuple of str
        What else can be asked for, by name.
    """

    name: str
    title: str
    takes: str
    write: Callable[[Job, Path], list[str]]
    score: Callable[[Job, Path, Any], Scored]
    ending: str | None = None
    is_single: bool = False
    missing: bool = True
    nothing: float = 0.0
    needs_form: bool = True
    options: tuple[str, ...] = ()
