"""The model file: a fitted model and all that it needs to score, in a form that cannot run code."""

from .files import load, save
from .rules import ModelFileError, ModelFileWarning

__all__ = ["ModelFileError", "ModelFileWarning", "load", "save"]
