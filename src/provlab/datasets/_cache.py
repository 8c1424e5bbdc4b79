"""Parsed data sets, kept as uncompressed npz files without pickles."""

import json
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from provsel.files import replacing
from provsel.streams.npz import compressed, read_npz

from ._identity import content_of, files_of, identity_from, paths_of
from ._paths import data_dir
from ._record import Dataset, content_digest

_FORMAT = 2
_log = logging.getLogger(__name__)


def cached(name: str, identity: str, build: Callable[[], Dataset]) -> Dataset:
    """Return the data set from the cache, or build it and keep it there.

    Parameters
    ----------
    name : str
        Of the loader; for people who look into the folder.
    identity : str
        See `dataset_identity`, of data as they are loaded: all that the result depends on.
    build : callable
        Parses the source files.

    Returns
    -------
    Dataset
        The same whether it was built or read: a damaged entry is deleted and built again.
    """
    path = cache_path(name, identity)
    try:
        return _read(path)
    except FileNotFoundError:
        pass
    except Exception as error:  # a cache is a shortcut only: whatever is wrong with it, the source files decide
        _log.warning("cache file %s is damaged (%s): it is built again", path, error)
        _forget(path)
    dataset = build()
    try:
        _write(path, dataset)
    except OSError as error:
        _log.info("cache folder %s is not writable (%s): continuing without it", path.parent, error)
    return dataset


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
    return cached(name, identity_from(name, parameters, files), lambda: build(paths, content))


def cache_path(name: str, identity: str) -> Path:
    """Return the file of one entry."""
    return data_dir() / "cache" / f"{name}-{_FORMAT}-{identity[:40]}.npz"


def cached_names(name: str, identity: str) -> np.ndarray | None:
    """Return the feature names of an entry without reading the rest of it; None where there is no whole entry."""
    try:
        return _names(read_npz(cache_path(name, identity), ["names", "name_lengths"]))
    except Exception:  # as in `cached`: the source files decide
        return None


def _forget(path: Path) -> None:
    """Delete a damaged entry if that is allowed."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        _log.info("cannot delete %s: %s", path, error)


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
