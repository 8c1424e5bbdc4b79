"""Load a data set by its name."""

from dataclasses import replace
from typing import Any

import numpy as np

from ._cache import cached_names
from ._identity import checked_parameters, dataset_identity
from ._loaders import loader
from ._record import Dataset, content_digest


def load_dataset(name: str, /, *, unit_rows: bool = False, **params: Any) -> Dataset:
    """Load a data set by name. Nothing is downloaded; `provsel fetch NAME` does that.

    Parameters
    ----------
    name : str
        One of `dataset_names()`.
    unit_rows : bool, default=False
        Scale every row to length 1; rows of zeros stay. In a config: `+dataset.unit_rows=true`.
    **params
        Keyword parameters of the loader, see the docstring of `provlab.datasets.<name>.load`.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        For an unknown name, an unknown parameter, a bad value, or a damaged file.
    MissingDataError
        When a file is in none of the searched folders.
    """
    dataset = loader(name).load(**checked_parameters(name, unit_rows, params))
    return _with_unit_rows(dataset) if unit_rows else dataset


def dataset_feature_names(name: str, /, *, unit_rows: bool = False, **params: Any) -> np.ndarray:
    """Return `feature_names` of `load_dataset`, of data that were parsed before without loading them.

    Raises
    ------
    ValueError, MissingDataError
        As `load_dataset`.
    """
    names = cached_names(name, dataset_identity(name, **params))
    return load_dataset(name, **params).feature_names if names is None else names


def dataset_members(name: str) -> list[str]:
    """Return the members of a collection that `set: all` means, or [] when `name` is a single data set.

    Parameters
    ----------
    name : str
        One of `dataset_names()`.

    Returns
    -------
    list of str
        Sorted, and the same on every machine, whatever is downloaded there.
    """
    members = getattr(loader(name), "members", None)
    return [] if members is None else members()


def present_members(name: str) -> list[str]:
    """Return the members of a collection that are in the searched folders, sorted; [] of a single data set."""
    present = getattr(loader(name), "present", None)
    return [] if present is None else present()


def _with_unit_rows(dataset: Dataset) -> Dataset:
    from sklearn.preprocessing import normalize  # most runs need none of it

    X = normalize(dataset.X, copy=True)
    split = dataset.official_train
    return replace(dataset, X=X, content=content_digest(X, dataset.y, dataset.feature_names, split))
