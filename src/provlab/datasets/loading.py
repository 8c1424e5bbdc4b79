"""Load a data set by its name; what was parsed once is kept as an uncompressed npz file without pickles.

The cache is a shortcut: it saves 170 of 172 seconds for CIFAR-10, whose images are decoded, and most of the time of all
others (docs/decisions/data.md). Whatever is wrong with it, the source files decide.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from provsel.files import replacing
from provsel.streams.npz import compressed, read_npz

from .dataset import Dataset, column_order, content_digest, prepared, separated, warn_of_scales
from .files import data_dir
from .identity import checked_parameters, content_of, dataset_identity, files_of, identity_from, loader, paths_of

_FORMAT = 2
_log = logging.getLogger(__name__)


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
        Keyword parameters of the loader, see the docstring of `provlab.datasets.loaders.<name>.load`.

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
    try:
        names = _names(read_npz(cache_path(name, dataset_identity(name, **plain)), ["names", "name_lengths"]))
    except Exception:  # not there, or damaged
        names = load_dataset(name, **plain).feature_names
    return names[column_order(names.size, preparation["shuffle_columns"])]


def dataset_members(name: str) -> list[str]:
    """Return the members of a collection that `set: all` means, sorted; [] when `name` is a single data set.

    They are the same on every machine, whatever is downloaded there.
    """
    members = getattr(loader(name), "members", None)
    return [] if members is None else members()


def parsed(name: str, parameters: Mapping[str, Any], build: Callable[[list[Path], str], Dataset]) -> Dataset:
    """Return what a loader makes of its files: from the cache, or built of their verified paths and their SHA-256.

    Parameters
    ----------
    name : str
        Of the loader.
    parameters : mapping
        All of the loader's, see `checked_parameters`.
    build : callable
        Parses the files.

    Raises
    ------
    MissingDataError, DataIntegrityError
        See `locate`.
    """
    files = files_of(name, parameters)
    paths, content = paths_of(files), content_of(files)
    cached = cache_path(name, identity_from(name, parameters, files))
    try:
        return _read(cached)
    except FileNotFoundError:
        pass
    except Exception as error:  # whatever a damaged file raises
        _log.warning("cache file %s is damaged (%s): it is built again", cached, error)
        with suppress(OSError):
            cached.unlink()
    dataset = build(paths, content)
    try:
        _write(cached, dataset)
    except OSError as error:
        _log.info("cache folder %s is not writable (%s): continuing without it", cached.parent, error)
    return dataset


def cache_path(name: str, identity: str) -> Path:
    """Return the file of one entry: the name is for people who look into the folder."""
    return data_dir() / "cache" / f"{name}-{_FORMAT}-{identity[:40]}.npz"


def _write(path: Path, dataset: Dataset) -> None:
    """Write an entry under a temporary name and move it: readers never see half a file."""
    X = dataset.X
    if isinstance(X, np.ndarray):
        parts = {"dense": X}
    else:
        shape = np.array(X.shape, dtype=np.int64)
        parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": shape}
    # Names as one text with lengths: a fixed-width array would take the longest word's width for each, and
    # a single TechTC "word" has 3757 letters.
    text = "".join(dataset.feature_names).encode()
    parts["names"] = np.frombuffer(text, dtype=np.uint8)
    parts["name_lengths"] = np.array([len(name) for name in dataset.feature_names], dtype=np.int64)
    meta = {"name": dataset.name, "source": dataset.source, "content": dataset.content}
    parts["meta"] = np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)
    if dataset.official_train is not None:
        parts["official_train"] = dataset.official_train
    with replacing(path) as temporary, temporary.open("xb") as handle:
        np.savez(handle, allow_pickle=False, y=dataset.y, **parts)


def _read(path: Path) -> Dataset:
    """Read an entry and compare its content with the digest that was taken when it was built."""
    parts = read_npz(path)
    meta = json.loads(parts["meta"].tobytes())
    names = _names(parts)
    X = parts["dense"] if "dense" in parts else compressed(parts)
    split = parts.get("official_train")
    if content_digest(X, parts["y"], names, split) != meta["content"]:
        raise ValueError("its content does not have the recorded digest")
    return Dataset(X, parts["y"], names, meta["name"], meta["content"], meta["source"], split)


def _names(parts: dict[str, np.ndarray]) -> np.ndarray:
    text = parts["names"].tobytes().decode()
    ends = np.cumsum(parts["name_lengths"]).tolist()
    return np.array([text[a:b] for a, b in zip([0, *ends], ends, strict=False)], dtype=object)
