"""What can go wrong with a model file."""

from __future__ import annotations


class ModelFileError(ValueError):
    """The file is no model file, is damaged, or asks for something that a model file may not hold."""


class ModelFileWarning(UserWarning):
    """The file was written with another version of a package whose estimators it holds."""
