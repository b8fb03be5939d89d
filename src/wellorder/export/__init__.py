"""Models written for other runtimes, each file checked against the model before it is kept."""

from .forms import ExportError, Form
from .reading import form_of

__all__ = ["ExportError", "Form", "form_of"]
