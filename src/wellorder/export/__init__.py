"""Models written for other runtimes, each file checked against the model before it is kept.

The room is called as the function that everybody wants of it: ``wellorder.export(model, path)``.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from .exporting import Parity, export, find_target
from .forms import ExportError, Form
from .reading import form_of
from .target import Job, Scored, Target
from .targets import TARGETS

__all__ = ["TARGETS", "ExportError", "Form", "Job", "Parity", "Scored", "Target", "export", "find_target", "form_of"]


class _CalledRoom(ModuleType):
    """A package and a function cannot share a name in Python, as importing the one hides the other; so it is both."""

    __call__ = staticmethod(export)


sys.modules[__name__].__class__ = _CalledRoom

if TYPE_CHECKING:
    from . import exporting, forms, reading, target, targets

    class Face:
        """``wellorder.export`` as type checkers see it, to whom no module can be called."""

        __call__ = staticmethod(exporting.export)
        find_target = staticmethod(exporting.find_target)
        form_of = staticmethod(reading.form_of)
        ExportError = forms.ExportError
        Form = forms.Form
        Job = target.Job
        Parity = exporting.Parity
        Scored = target.Scored
        TARGETS = targets.TARGETS
        Target = target.Target
