"""The folder is the registry: every module here without a leading underscore is a loader."""

import importlib
import inspect
import pkgutil
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from sklearn.preprocessing import normalize

from ._record import Dataset, fingerprint

_FOLDER = Path(__file__).parent


def dataset_names() -> list[str]:
    """Return the names that `load_dataset` knows, sorted."""
    modules = pkgutil.iter_modules([str(_FOLDER)])
    return sorted(module.name for module in modules if not module.ispkg and not module.name.startswith("_"))


def load_dataset(name: str, /, *, unit_rows: bool = False, **params: Any) -> Dataset:
    """Load a data set by name. Nothing is downloaded; `provsel fetch NAME` does that.

    Parameters
    ----------
    name : str
        One of `dataset_names()`.
    unit_rows : bool, default=False
        Scale every row to length 1; rows of zeros stay. In a config: `+dataset.unit_rows=true`.
    **params
        Keyword parameters of the loader, see the docstring of `provsel.datasets.<name>.load`.

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
    load = _loader(name).load
    accepted = list(inspect.signature(load).parameters)
    unknown = sorted(set(params) - set(accepted))
    if unknown:
        raise ValueError(f"data set {name!r} has no parameter {', '.join(unknown)}; it accepts {', '.join(accepted)}")
    if not isinstance(unit_rows, bool):
        raise ValueError(f"data set {name!r}: unit_rows must be true or false, got {unit_rows!r}")
    return _with_unit_rows(load(**params)) if unit_rows else load(**params)


def dataset_members(name: str) -> list[str]:
    """Return the members of a collection that can be loaded now, or [] when `name` is a single data set.

    Parameters
    ----------
    name : str
        One of `dataset_names()`.

    Returns
    -------
    list of str
        Sorted.
    """
    members = getattr(_loader(name), "members", None)
    return [] if members is None else members()


def _loader(name: str) -> ModuleType:
    """Import a loader; the name is checked first, so that a config cannot import anything else."""
    known = dataset_names()
    if name not in known:
        raise ValueError(f"unknown data set {name!r}; known data sets are {', '.join(known)}")
    return importlib.import_module(f"provsel.datasets.{name}")


def _with_unit_rows(dataset: Dataset) -> Dataset:
    X = normalize(dataset.X, copy=True)
    split = dataset.official_train
    return replace(dataset, X=X, fingerprint=fingerprint(X, dataset.y, dataset.feature_names, split))
