"""The model file: a fitted model and all that it needs to score, in a form that cannot run code."""

from .errors import ModelFileError, ModelFileWarning
from .files import load, save

__all__ = ["ModelFileError", "ModelFileWarning", "load", "save"]
