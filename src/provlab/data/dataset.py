"""The `Dataset` that every loader returns, the digest of its content, and operations on data sets."""

import hashlib
import json
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from provlab.project.messages import listed
from provsel.checks import check_choice, check_integer

_FINGERPRINT_FORMAT = b"provsel-dataset-1"

SAMPLE: dict[str, Any] = {
    "sample_rows": None, "sample_classes": None, "sample_seed": 0, "min_class_size": None, "distinct_rows": False,
}  # fmt: skip
"""Parameters of `sampled` with their defaults, which keep all rows."""

CONTROLS: dict[str, Any] = {
    "permute_labels": None, "noise_columns": None, "simulated_relevant": None, "control_seed": 0,
}  # fmt: skip
"""Parameters of `provlab.data.controls.controlled` with their defaults, which add no control."""

NOTHING: dict[str, Any] = {
    "unit_rows": False,
    "shuffle_columns": None,
    **SAMPLE,
    **CONTROLS,
}
"""Parameters that every data set has, with their defaults."""

SMALLEST = {
    "shuffle_columns": 0, "sample_rows": 2, "sample_classes": 2, "sample_seed": 0, "min_class_size": 2,
    "permute_labels": 0, "simulated_relevant": 1, "control_seed": 0,
}  # fmt: skip

NOISE_COLUMNS = ("permuted", "corrupted", "products")
"""Kinds of noise columns, see `provlab.data.controls.with_noise_columns`."""

MAX_RATIO_OF_RANGES = 1000.0
"""Ratio of column ranges above which a warning is issued."""


class Classes(NamedTuple):
    """Sorted classes as in y, and their labels: strings, or numbers and booleans if all names are such."""

    codes: np.ndarray
    labels: np.ndarray

    def labels_of(self, y: np.ndarray) -> np.ndarray:
        """Return the labels of the given rows, shape (n,)."""
        labels: np.ndarray = self.labels[np.searchsorted(self.codes, y)]
        return labels


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A data set in memory. Build it with `make_dataset`, which validates its parts.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n, d), float64
        Samples in rows. Sparse data are in canonical form: sorted indices, no
        duplicates, no stored zeros.
    y : ndarray of shape (n,), int64 or float64
        Classes as integers, with -1 and +1 for two classes; real numbers for a
        regression.
    feature_names : ndarray of shape (d,), object
        Distinct names, each a `str`. The dtype has no fixed width, because one long
        word would inflate the array.
    name : str
        Short name for tables.
    source : str
        Origin of the data: description, URL, citation.
    official_train : ndarray of shape (n,), bool, or None
        True for the rows on which the publishers' own split trains; None if there is no
        such split.
    class_names : ndarray of str, or None
        Names of the sorted classes; None if the labels need no explanation.
    categories : mapping of str to ndarray of str
        Names of the categories of each text column, by column name; X has their numbers
        from 0. A data set with such columns, or with NaN for missing values, needs a
        preparation, see `check_complete`.
    groups : ndarray of shape (n,), int64, or None
        Group of each row, such as a patient; the rows of a group are never in different
        folds.
    sample_weight : ndarray of shape (n,), float64, or None
    folds : ndarray of shape (n,), int64, or None
        Number of the fold that tests each row; -1 for rows that are never tested.
    splits : tuple of (ndarray, ndarray), each int64, or None
        Training and test row numbers of each fold.
    """

    X: np.ndarray | sparse.csr_array
    y: np.ndarray
    feature_names: np.ndarray
    name: str
    source: str
    official_train: np.ndarray | None = None
    class_names: np.ndarray | None = None
    categories: Mapping[str, np.ndarray] = field(default_factory=dict)
    groups: np.ndarray | None = None
    sample_weight: np.ndarray | None = None
    folds: np.ndarray | None = None
    splits: tuple[tuple[np.ndarray, np.ndarray], ...] | None = None

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """Arrays that make up X, by name; X itself if it is dense."""
        X = self.X
        if isinstance(X, np.ndarray):
            return {"dense": X}
        return {"indptr": X.indptr, "indices": X.indices, "data": X.data}

    @cached_property
    def content(self) -> str:
        """SHA-256 of the content, independent of byte order and index width; attributes that are None are ignored.

        It shows whether data differ in bits, as generated data may between processors.
        Data sets are identified by `dataset_identity` instead.
        """
        digest = hashlib.sha256(
            _FINGERPRINT_FORMAT + "|{}x{}|".format(*self.X.shape).encode()
        )
        vectors = {
            "y": self.y,
            "groups": self.groups,
            "sample_weight": self.sample_weight,
            "folds": self.folds,
        }
        for label, array in {**self.arrays, **vectors}.items():
            if array is not None:
                dtype = f"<{array.dtype.kind}8"
                digest.update(f"|{label}|{dtype}|{array.size}|".encode())
                digest.update(np.ascontiguousarray(array, dtype=dtype).data)
        # Lengths precede the text, because the names ("ab", "c") and ("a", "bc") must
        # differ.
        lengths = ",".join(map(str, map(len, self.feature_names)))
        digest.update(f"|names|{lengths}|{''.join(self.feature_names)}".encode())
        if self.official_train is not None:
            digest.update(f"|official_train|{self.official_train.size}|".encode())
            digest.update(
                np.ascontiguousarray(self.official_train, dtype=np.uint8).data
            )
        for column, texts in self.categories.items():
            digest.update(f"|categories|{json.dumps([column, *texts])}|".encode())
        for train, test in self.splits or ():
            for part in (train, test):
                digest.update(
                    f"|split|{part.size}|".encode()
                    + np.ascontiguousarray(part, dtype="<i8").data
                )
        return digest.hexdigest()

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return int(self.y.size)

    @property
    def is_regression(self) -> bool:
        """Whether the target is a real number."""
        return self.y.dtype.kind == "f"

    @cached_property
    def n_classes(self) -> int:
        """Number of distinct labels; 0 for a regression."""
        return 0 if self.is_regression else np.unique(self.y).size

    @cached_property
    def classes(self) -> "Classes | None":
        """The classes and their labels; None for a regression."""
        if self.is_regression:
            return None
        codes = np.unique(self.y)
        return Classes(
            codes, codes if self.class_names is None else _typed_names(self.class_names)
        )

    @property
    def labels(self) -> np.ndarray:
        """Original labels of y, shape (n,): class labels, or the numbers of a regression."""
        return self.y if self.classes is None else self.classes.labels_of(self.y)

    def make_read_only(self) -> None:
        """Make all arrays read-only, because the data set is shared."""
        beside = (
            self.y,
            self.feature_names,
            self.official_train,
            self.groups,
            self.sample_weight,
            self.folds,
        )
        for array in (*self.arrays.values(), *beside):
            if array is not None:
                array.flags.writeable = False

    def check_complete(self) -> None:
        """Raise if there are missing values or text columns, which a preparation turns into numbers.

        Raises
        ------
        ValueError
            If there are any. The message names the columns, the first such cell, and
            the remedy.
        """
        if self.categories:
            column, texts = next(iter(self.categories.items()))
            more = len(self.categories) - 1
            and_more = f" and texts in {more} more" if more else ""
            raise ValueError(
                f"data set {self.name}: expected numbers, got the string {texts[0]!r:.40} in column {column!r:.80}"
                f"{and_more}; encode strings in each fold by preparation=one_hot, or leave them out: "
                f"dataset.left_out=[{','.join(self.categories):.200}]."
            )
        if sparse.issparse(self.X):
            return
        missing = np.argwhere(np.isnan(self.X))
        if len(missing):
            row, column = missing[0]
            raise ValueError(
                f"data set {self.name}: expected no missing values, got {len(missing)} in "
                f"{np.unique(missing[:, 1]).size} columns, the first in row {row} from 0 of column "
                f"{self.feature_names[column]!r:.80}; fill them in each fold by preparation=impute, or leave these "
                f"columns out: dataset.left_out=[...]."
            )

    def __repr__(self) -> str:
        n, d = self.X.shape
        kind = "sparse" if sparse.issparse(self.X) else "dense"
        return f"Dataset({self.name!r}, n={n}, d={d}, {kind}, content={self.content[:12]!r})"


def make_dataset(
    X: np.ndarray | sparse.sparray | sparse.spmatrix,
    y: Iterable[int] | np.ndarray,
    feature_names: Iterable[str] | None = None,
    *,
    name: str,
    source: str,
    official_train: Iterable[bool] | np.ndarray | None = None,
    regression: bool = False,
    missing: bool = False,
    **more: Any,
) -> Dataset:
    """Bring arrays to canonical form and validate them.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Finite numbers.
    y : array-like of shape (n,)
        Whole numbers, or finite real numbers for a regression.
    feature_names : iterable of d distinct str, default=None
        One name per column; None means "1", "2", ... .
    name, source : str
        See `Dataset`.
    official_train : array-like of shape (n,), bool, or None, default=None
        Official split: True for training rows, False for test rows. Both kinds must
        occur.
    regression : bool, default=False
        Whether y holds real numbers instead of classes.
    missing : bool, default=False
        Whether X may contain NaN.
    **more
        Further parameters of `Dataset`.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If the parts are empty, do not fit each other, or contain NaN, infinities or
        invalid labels.
    """
    X = _canonical(name, X)
    n, d = X.shape
    if n == 0 or d == 0:
        raise ValueError(
            f"data set {name!r}: expected at least one sample and one feature, got shape {X.shape}"
        )
    values = X.data if sparse.issparse(X) else X
    if np.isinf(values).any() or (not missing and np.isnan(values).any()):
        raise ValueError(
            f"data set {name!r}: X holds NaN or infinite values; expected finite numbers. Clean it first"
        )
    stated = np.asarray(y)
    if stated.shape != (n,):
        raise ValueError(
            f"data set {name!r}: expected {n} labels for {n} samples, got shape {stated.shape}"
        )
    # NaN becomes a number, which then differs from NaN
    with np.errstate(invalid="ignore"):
        labels = stated.astype(np.float64 if regression else np.int64)
    if (labels != stated).any() or not np.isfinite(labels).all():
        kind = (
            "finite numbers as the target"
            if regression
            else "labels that are whole numbers"
        )
        raise ValueError(f"data set {name!r}: expected {n} {kind}, got {stated!r:.80}")
    if feature_names is None:
        feature_names = map(str, range(1, d + 1))
    names = np.array([*feature_names], dtype=object)
    if names.shape != (d,) or len(set(names)) != d:
        raise ValueError(
            f"data set {name!r}: expected {d} distinct feature names, got {len(set(names))}"
        )
    split = None if official_train is None else np.array(official_train, dtype=bool)
    return Dataset(X, labels, names, name, source, split, **more)


def _canonical(
    name: str, X: np.ndarray | sparse.sparray | sparse.spmatrix
) -> np.ndarray | sparse.csr_array:
    """Return a float64 copy: C-ordered if dense, otherwise CSR with sorted, distinct, nonzero entries."""
    if not sparse.issparse(X):
        X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(
            f"data set {name!r}: X must have two dimensions (samples, features), got shape {X.shape}"
        )
    if X.dtype.kind not in "biuf":
        raise ValueError(
            f"data set {name!r}: expected real numbers in X, got {X.dtype}. Convert them first"
        )
    if not sparse.issparse(X):
        dense = np.array(X, dtype=np.float64, order="C")
        dense += 0.0  # -0.0 and 0.0 are equal numbers with different bytes
        return dense
    rows = sparse.csr_array(X, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    # LIBSVM accepts no wider indices
    if max(rows.nnz, *rows.shape) <= np.iinfo(np.int32).max:
        rows.indices = rows.indices.astype(np.int32)
        rows.indptr = rows.indptr.astype(np.int32)
    return rows


def _typed_names(class_names: np.ndarray) -> np.ndarray:
    """Return class names as whole numbers or booleans if they are such in increasing order."""
    names = np.asarray(class_names, dtype=object)
    if names.tolist() == ["False", "True"]:
        return np.array([False, True])
    try:
        numbers = names.astype(np.float64)
    except ValueError:
        return names
    if (np.diff(numbers) <= 0).any():
        return names
    is_whole = bool((numbers == np.floor(numbers)).all())
    return numbers.astype(np.int64) if is_whole else numbers


def rows_from(rows: Any, n_rows: int) -> np.ndarray:
    """Return row numbers from row numbers or a mask.

    Raises
    ------
    ValueError
        If a number is not that of one of the `n_rows` rows.
    """
    array = np.asarray(rows)
    if array.dtype == bool and array.shape == (n_rows,):
        array = np.flatnonzero(array)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ValueError(f"expected row numbers, got {rows!r:.80}")
    outside = array[(array < 0) | (array >= n_rows)]
    if outside.size:
        raise ValueError(
            f"expected row numbers from 0 to {n_rows - 1}, got {outside[0]}"
        )
    return array.astype(np.int64)


def separated(
    name: str, params: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the checked and completed parameters common to all data sets, and those of the loader.

    Raises
    ------
    ValueError
        If a common parameter has an invalid value.
    """
    preparation = {
        **NOTHING,
        **{key: value for key, value in params.items() if key in NOTHING},
    }
    for key in ("unit_rows", "distinct_rows"):
        if not isinstance(preparation[key], bool):
            raise ValueError(
                f"data set {name!r}: {key} must be true or false, got {preparation[key]!r:.80}"
            )
    for key, smallest in SMALLEST.items():
        if preparation[key] is not NOTHING[key]:
            check_integer(f"data set {name!r}", key, preparation[key], minimum=smallest)
    if preparation["sample_seed"] != 0 and preparation["sample_rows"] is None:
        raise ValueError(
            f"data set {name!r}: expected sample_rows with sample_seed={preparation['sample_seed']}, got none. Set "
            "the number of rows to draw, or leave sample_seed out"
        )
    if preparation["noise_columns"] is not None:
        check_choice(
            f"data set {name!r}",
            "noise_columns",
            preparation["noise_columns"],
            NOISE_COLUMNS,
        )
    is_drawn = (
        preparation["noise_columns"] is not None
        or preparation["simulated_relevant"] is not None
    )
    if preparation["control_seed"] != 0 and not is_drawn:
        raise ValueError(
            f"data set {name!r}: expected noise_columns or simulated_relevant with "
            f"control_seed={preparation['control_seed']}, got neither. Add one, or leave control_seed out"
        )
    return preparation, {
        key: value for key, value in params.items() if key not in NOTHING
    }


def with_unit_rows(dataset: Dataset) -> Dataset:
    """Return the data set with its rows scaled to length 1."""
    dataset.check_complete()
    from sklearn.preprocessing import normalize  # most runs do not need it

    return replace(dataset, X=normalize(dataset.X, copy=True))


def with_shuffled_columns(dataset: Dataset, seed: int) -> Dataset:
    """Return the data set with its columns in a random order."""
    order = np.random.default_rng(seed).permutation(dataset.X.shape[1])
    X: Any = dataset.X[:, order]
    if sparse.issparse(X):
        X.sort_indices()
    return replace(dataset, X=X, feature_names=dataset.feature_names[order])


def sampled(
    dataset: Dataset,
    *,
    sample_rows: int | None,
    sample_classes: int | None,
    sample_seed: int,
    min_class_size: int | None,
    distinct_rows: bool,
) -> Dataset:
    """Return a stratified sample of the rows of a data set, in their original order.

    With `distinct_rows`, only the first of several rows with equal columns and target
    is kept, because equal rows could be both trained on and tested. Classes with fewer
    than `min_class_size` rows are left out, with a warning. Only the `sample_classes`
    largest classes are kept, and the first of equally large ones. If two classes are
    left, they get the labels -1 and +1; more classes keep theirs. None means all.
    Sparse columns without an entry in the remaining rows are left out.

    Raises
    ------
    ValueError
        If there are too few rows or classes, or if classes are requested for a
        regression.
    """
    if distinct_rows:
        dataset = _without_repeated_rows(dataset)
    if min_class_size is not None:
        dataset = _without_small_classes(dataset, min_class_size)
    if sample_rows is None and sample_classes is None:
        return dataset
    y = dataset.y
    classes = np.zeros_like(y) if dataset.is_regression else y
    _, codes, counts = np.unique(classes, return_inverse=True, return_counts=True)
    largest = np.argsort(-counts, kind="stable")[:sample_classes]
    rows = np.flatnonzero(np.isin(codes, largest))
    limits = (
        ("sample_classes", sample_classes, dataset.n_classes),
        ("sample_rows", sample_rows, rows.size),
    )
    for parameter, value, most in limits:
        if value is not None and value > most:
            raise ValueError(
                f"data set {dataset.name}: {parameter} must be at most {most}, got {value}. Lower it"
            )
    if sample_rows is not None:
        drawn = np.random.default_rng(sample_seed).permutation(rows)
        # row k of m of a class is at (k + 1/2) / m, so the first places are shared
        # evenly
        place = np.empty(rows.size)
        for code in largest:
            place[codes[drawn] == code] = (np.arange(counts[code]) + 0.5) / counts[code]
        rows = np.sort(drawn[np.argsort(place, kind="stable")[:sample_rows]])
    return _of_classes(dataset, rows, codes, largest, as_signs=sample_classes == 2)


def _without_small_classes(dataset: Dataset, min_class_size: int) -> Dataset:
    """Return the rows of the sufficiently large classes; `sampled` describes the parameters."""
    if dataset.is_regression:
        raise ValueError(
            f"data set {dataset.name}: expected classes with min_class_size={min_class_size}, got a numeric "
            f"target. Leave it out"
        )
    classes, codes, counts = np.unique(
        dataset.y, return_inverse=True, return_counts=True
    )
    large = np.flatnonzero(counts >= min_class_size)
    if large.size == classes.size:
        return dataset
    if large.size < 2:
        raise ValueError(
            f"data set {dataset.name}: expected at least two classes of min_class_size={min_class_size} rows, got "
            f"{large.size}. Lower it"
        )
    names = classes if dataset.class_names is None else dataset.class_names
    small = [
        f"{names[code]} ({counts[code]} rows)"
        for code in np.flatnonzero(counts < min_class_size)
    ]
    warnings.warn(
        f"data set {dataset.name}: classes with fewer than min_class_size={min_class_size} rows are left out: "
        f"{listed(small):.300}.",
        stacklevel=3,
    )
    rows = np.flatnonzero(np.isin(codes, large))
    return _of_classes(dataset, rows, codes, large, as_signs=large.size == 2)


def _without_repeated_rows(dataset: Dataset) -> Dataset:
    """Return the rows that differ from every earlier row in a column or the target."""
    first: dict[Any, int] = {}
    X = sparse.csr_array(dataset.X)
    for row, label in enumerate(dataset.y.tolist()):
        entries = slice(X.indptr[row], X.indptr[row + 1])
        first.setdefault(
            (label, X.indices[entries].tobytes(), X.data[entries].tobytes()), row
        )
    if len(first) == dataset.n_rows:
        return dataset
    return _rows_of(dataset, np.array([*first.values()]))


def _rows_of(dataset: Dataset, rows: np.ndarray) -> Dataset:
    """Return the data set restricted to the given rows; sparse columns without entries there are left out."""
    if dataset.splits is not None:
        raise ValueError(
            f"data set {dataset.name}: expected all rows with dataset.splits, got {rows.size} of {dataset.n_rows}; "
            f"leave out settings that select rows, such as sample_rows and min_class_size."
        )
    X: Any = dataset.X[rows]
    names = dataset.feature_names
    if sparse.issparse(X):
        used = np.unique(X.indices)
        X, names = X[:, used], names[used]
    changes: dict[str, Any] = {"X": X, "y": dataset.y[rows], "feature_names": names}
    for name in ("official_train", "groups", "sample_weight", "folds"):
        vector = getattr(dataset, name)
        if vector is not None:
            changes[name] = vector[rows]
    return replace(dataset, **changes)


def _of_classes(
    dataset: Dataset,
    rows: np.ndarray,
    codes: np.ndarray,
    classes: np.ndarray,
    *,
    as_signs: bool,
) -> Dataset:
    """Return the rows of the given classes; with `as_signs`, two classes become -1 and +1.

    `codes` holds the class number of each row, and `classes` the chosen numbers.
    """
    sample = _rows_of(dataset, rows)
    if as_signs:
        sample = replace(sample, y=np.where(codes[rows] == classes.max(), 1, -1))
    if dataset.class_names is not None:
        sample = replace(sample, class_names=dataset.class_names[np.sort(classes)])
    return sample


def warn_of_scales(dataset: Dataset) -> None:
    """Warn if the ranges of dense columns differ so much that an SVM would train for minutes."""
    if sparse.issparse(dataset.X):
        return
    ranges = np.nanmax(dataset.X, axis=0, initial=-np.inf) - np.nanmin(
        dataset.X, axis=0, initial=np.inf
    )
    ranges[
        ~np.isfinite(ranges) | np.isin(dataset.feature_names, [*dataset.categories])
    ] = 0
    if not np.any(ranges > 0):
        return
    small = np.argmin(np.where(ranges > 0, ranges, np.inf))
    large = np.argmax(ranges)
    if ranges[large] > MAX_RATIO_OF_RANGES * ranges[small]:
        names = dataset.feature_names
        warnings.warn(
            f"data set {dataset.name!r}: expected columns of similar size, got ranges from {ranges[small]:.2g} "
            f"({names[small]}) to {ranges[large]:.2g} ({names[large]}): an SVM takes a long time to train on them, "
            f"and large ones dominate distances; preparation=standardise, range or robust scales them in each "
            f"fold.",
            stacklevel=2,
        )
