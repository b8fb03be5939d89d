"""What a ranker is told of a table's columns once they are numbers: which hold categories, and which are monotone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.utils import get_tags

from ..suggest import suggest
from .encode import TableEncoder


def takes_categories(ranker: Any) -> bool:
    """Say whether a ranker takes columns as they are: missing values, and numbers that stand for categories."""
    tags = get_tags(ranker).input_tags
    return bool(tags.categorical and tags.allow_nan)


def encoder_for(ranker: Any) -> TableEncoder:
    """Return the encoder that makes of a table what a ranker takes, not yet fitted."""
    return TableEncoder(for_trees=takes_categories(ranker))


def tell_columns(ranker: Any, encoder: TableEncoder) -> Any:
    """Tell a ranker, and those inside it, what the table's columns have become; it is changed, and returned.

    Columns of categories join those that it was given by name; the names in ``monotone`` and ``interactions`` become
    places.
    """
    told: dict[str, Any] = {}
    names = [str(name) for name in encoder.get_feature_names_out()]
    for path, given in ranker.get_params().items():
        option = path.rpartition("__")[2]
        if option == "categories" and encoder.for_trees:
            places = {_place(each, path, names, encoder) for each in given or ()} | {*encoder.category_places()}
            if places:
                told[path] = sorted(places)
        elif option == "interactions" and given is not None:
            told[path] = [[_place(each, path, names, encoder) for each in columns] for columns in given]
        elif option == "monotone" and isinstance(given, Mapping):
            told[path] = {_number_place(each, path, names, encoder): sign for each, sign in given.items()}
    return ranker.set_params(**told) if told else ranker


def _number_place(given: Any, option: str, names: list[str], encoder: TableEncoder) -> Any:
    """Return the place of a column of numbers; refuse one of categories, which trees take as it is."""
    place = _place(given, option, names, encoder)
    if encoder.for_trees and place in [*encoder.category_places()]:
        raise ValueError(
            f"{option} names the column {names[place]!r}, which holds text: there is no more or less of it"
        )
    return place


def _place(given: Any, option: str, names: list[str], encoder: TableEncoder) -> Any:
    """Return the place of a column that is given by name; a place stays as it is, for the ranker to look at."""
    if not isinstance(given, str):
        return given
    if given in names:
        return names.index(given)
    known = [str(name) for name in encoder.columns_]
    if given not in known:
        raise ValueError(f"{option} names the column {given!r}, which the table has not; {suggest(given, known)}")
    if encoder.categories_[known.index(given)] is not None:
        raise ValueError(f"{option} names the column {given!r}, which holds text: there is no more or less of it")
    raise ValueError(f"{option} names the column {given!r}, which is constant in the training data; leave it out")
