"""Models that are fitted whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

_SETTINGS = frozenset({"_metadata_request", "_sklearn_output_config"})
"""What scikit-learn keeps on an estimator beside its parameters: the metadata it wants, and the form of its answers."""


class WholeFit:
    """An estimator whose ``fit``, where it fails or is interrupted, leaves a model that is not fitted.

    Otherwise some of what was fitted would be new, some old and some missing; and the old model as it was might not be
    that of parameters set since. It is wrapped around each ``fit`` once, when a class is made. It adds a frame to the
    stack, and so one to the ``stacklevel`` of warnings from inside a ``fit``.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "fit" in vars(cls):
            setattr(cls, "fit", _whole(vars(cls)["fit"]))  # noqa: B010 (mypy takes no other function for a method)


def _whole(fit: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(fit)
    def fit_whole(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            _forget_all(self)
            raise

    return fit_whole


def _forget_all(estimator: Any) -> None:
    """Take everything from an estimator that a fit may have put there."""
    for name in list(vars(estimator)):
        if (name.startswith("_") or name.endswith("_")) and name not in _SETTINGS:
            delattr(estimator, name)
