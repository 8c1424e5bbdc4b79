"""Load a data set by its name."""

from typing import Any

import numpy as np

from ._cache import cached_names
from ._identity import checked_parameters, dataset_identity
from ._loaders import loader
from ._preparing import column_order, prepared, separated, warn_of_scales
from ._record import Dataset


def load_dataset(name: str, /, **params: Any) -> Dataset:
    """Load a data set by name. Nothing is downloaded; `provsel fetch NAME` does that.

    Parameters
    ----------
    name : str
        One of `dataset_names()`.
    unit_rows : bool, default=False
        Scale every row to length 1; rows of zeros stay. In a config: `+dataset.unit_rows=true`.
    column_scaling : {None, "standard", "range", "norm"}, default=None
        Columns of mean 0 and variance 1, from 0 to 1, or of length 1, over all rows, before rows are scaled. Sparse
        data take "norm" only. In a config: `+dataset.column_scaling=standard`.
    shuffle_columns : int, default=None
        Seed of another order of the features; None is that of the files. In a config: `+dataset.shuffle_columns=0`.
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

    Examples
    --------
    >>> from provlab import load_dataset
    >>> load_dataset("synthetic", n_samples=60, n_features=120, column_scaling="norm").X.shape
    (60, 120)
    """
    preparation, _ = separated(name, params)
    dataset = loader(name).load(**checked_parameters(name, params))
    if name == "file" and preparation["column_scaling"] is None:
        warn_of_scales(dataset)
    return prepared(dataset, **preparation)


def dataset_feature_names(name: str, /, **params: Any) -> np.ndarray:
    """Return `feature_names` of `load_dataset`, of data that were parsed before without loading them.

    Raises
    ------
    ValueError, MissingDataError
        As `load_dataset`.
    """
    preparation, plain = separated(name, params)
    names = cached_names(name, dataset_identity(name, **plain))
    if names is None:
        names = load_dataset(name, **plain).feature_names
    return names[column_order(names.size, preparation["shuffle_columns"])]


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
