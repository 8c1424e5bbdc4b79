"""Loading of data sets by name, with parsed data cached as uncompressed npz files without pickles.

The cache saves 170 of 172 seconds for CIFAR-10, whose images are decoded, and most of
the time for other data sets (docs/decisions/data.md). If a cache file is damaged, the
source files are read.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from provlab.project.documents import digest
from provsel.files import replacing

from .controls import controlled
from .dataset import (
    CONTROLS,
    NOTHING,
    SAMPLE,
    Dataset,
    sampled,
    separated,
    with_shuffled_columns,
    with_unit_rows,
)
from .files import data_dir, locate
from .identity import (
    FileOfData,
    checked_parameters,
    digests_of,
    files_of,
    identity_from,
    loader,
)
from .registry import SourceFile, source_names

_FORMAT = 3
_VECTORS = ("official_train", "groups", "sample_weight", "folds")
_log = logging.getLogger(__name__)


def load_dataset(name: str, /, **params: Any) -> Dataset:
    """Load a data set by name. Nothing is downloaded; `provsel fetch NAME` does that.

    Parameters
    ----------
    name : str
        One of `dataset_names()`.
    unit_rows : bool, default=False
        Scale every row to length 1; zero rows are unchanged. In a config:
        `+dataset.unit_rows=true`.
    shuffle_columns : int, default=None
        Seed that shuffles the order of the features; None keeps the order of the files.
        In a config: `+dataset.shuffle_columns=0`.
    sample_rows, sample_classes : int, default=None
        Number of rows to draw, with the same share of each class, and number of classes
        to keep, the largest ones; None means all. In a config:
        `+dataset.sample_rows=500`.
    sample_seed : int, default=0
        Seed of the draw of rows.
    min_class_size : int, default=None
        Leave out classes with fewer rows, with a warning; None keeps all. In a config:
        `+dataset.min_class_size=10`.
    distinct_rows : bool, default=False
        Leave out rows that equal an earlier one in all columns and the target, before
        rows are drawn. In a config: `+dataset.distinct_rows=true`.
    permute_labels : int, default=None
        Seed for permuting the target among the drawn rows, as a control, because
        nothing can be learned then. None keeps the target. In a config:
        `+dataset.permute_labels=1`.
    noise_columns : {"permuted", "corrupted", "products"}, default=None
        Add as many columns as there are, without further information, as a control, see
        `provlab.data.controls.with_noise_columns`.
    simulated_relevant : int, default=None
        Number of columns that determine a simulated target, and are moved to the front,
        as a control, see `provlab.data.controls.with_simulated_target`.
    control_seed : int, default=0
        Seed of noise columns and simulated targets.
    **params
        Parameters of the loader, see the docstring of
        `provlab.data.loaders.<name>.load`.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If a name or parameter is unknown, a value is invalid, or a file is damaged.
    MissingDataError
        If a file is in none of the searched folders.

    Examples
    --------
    >>> from provlab import load_dataset
    >>> load_dataset("synthetic", n_samples=60, n_features=120, unit_rows=True).X.shape
    (60, 120)
    """
    preparation, loader_params = separated(name, params)
    parameters = checked_parameters(name, loader_params)
    sample = {key: preparation.pop(key) for key in SAMPLE}
    if name in source_names():
        dataset = _parsed(name, parameters, sample)
    else:
        dataset = sampled(loader(name).load(**parameters), **sample)
    # in neither step do rows affect each other; steps such as scaling columns are
    # fitted in each fold
    if preparation["unit_rows"]:
        dataset = with_unit_rows(dataset)
    dataset = controlled(dataset, **{key: preparation[key] for key in CONTROLS})
    if preparation["shuffle_columns"] is not None:
        dataset = with_shuffled_columns(dataset, preparation["shuffle_columns"])
    return dataset


def _parsed(
    name: str, parameters: Mapping[str, Any], sample: Mapping[str, Any]
) -> Dataset:
    """Return the data set built by a loader from verified files, or the cached one if it is intact."""
    files = files_of(name, parameters)
    paths = [*map(_path_of, files)]
    digests = digests_of(files)
    # the name is for people who browse the folder
    identity = identity_from(name, parameters, {**NOTHING, **sample})
    cached = data_dir() / "cache" / f"{name}-{_FORMAT}-{identity[:40]}.npz"
    try:
        return _read(cached)
    except FileNotFoundError:
        pass
    except Exception as error:  # damaged files raise any error
        _log.warning("cache file %s is damaged (%s): rebuilding it", cached, error)
    if sample != SAMPLE:
        dataset = sampled(_parsed(name, parameters, SAMPLE), **sample)
    else:
        digest_of_all = digests[0] if len(digests) == 1 else digest(digests)
        dataset = loader(name).load(paths, digest_of_all, **parameters)
    try:
        _write(cached, dataset)
    except OSError as error:
        _log.info(
            "cache folder %s is not writable (%s): continuing without it",
            cached.parent,
            error,
        )
    return dataset


def _path_of(file: FileOfData) -> FileOfData:
    return locate(file) if isinstance(file, SourceFile) else file


def _write(path: Path, dataset: Dataset) -> None:
    parts = {**dataset.arrays, "y": dataset.y}
    for name in _VECTORS:
        if getattr(dataset, name) is not None:
            parts[name] = getattr(dataset, name)
    # Names are stored as one string, because an array would use the width of the
    # longest word for each, and a TechTC "word" has 3757 letters.
    meta: dict[str, Any] = {
        "name": dataset.name,
        "source": dataset.source,
        "content": dataset.content,
    }
    meta["feature_names"] = dataset.feature_names.tolist()
    meta["categories"] = {
        column: texts.tolist() for column, texts in dataset.categories.items()
    }
    meta["class_names"] = (
        None if dataset.class_names is None else dataset.class_names.tolist()
    )
    text = json.dumps(meta)
    with replacing(path) as temporary, temporary.open("xb") as file:
        np.savez(
            file,
            allow_pickle=False,
            meta=np.frombuffer(text.encode(), dtype=np.uint8),
            **parts,
        )


def _read(path: Path) -> Dataset:
    """Read a cached data set and compare its content with the recorded digest."""
    with path.open("rb") as file, np.load(file, allow_pickle=False) as parts:
        meta = json.loads(parts["meta"].tobytes())
        names = np.array(meta["feature_names"], dtype=object)
        vectors = {name: parts.get(name) for name in _VECTORS}
        y = parts["y"]
        if "dense" in parts:
            X = parts["dense"]
        else:
            X = sparse.csr_array(
                (parts["data"], parts["indices"], parts["indptr"]), (y.size, names.size)
            )
    # files written before these existed lack them
    categories = {
        column: np.array(texts, dtype=object)
        for column, texts in meta.get("categories", {}).items()
    }
    stated = meta.get("class_names")
    class_names = None if stated is None else np.array(stated, dtype=object)
    dataset = Dataset(
        X,
        y,
        names,
        meta["name"],
        meta["source"],
        class_names=class_names,
        categories=categories,
        **vectors,
    )
    if dataset.content != meta["content"]:
        raise ValueError("its content does not have the recorded digest")
    return dataset
