"""Forms of `cv` that scikit-learn accepts: a splitter, or an iterable of training and test rows.

A public splitter of scikit-learn with plain arguments is identified by these arguments.
All other forms are identified by their rows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provlab.core.protocols.folds import groups_for
from provlab.data import rows_from
from provlab.project.estimators import as_config, estimators_in_hand, public_name
from provlab.project.scikit_learn import kind_of
from provsel.files import replacing

Splits = tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...]

FORM = (
    "a number of folds, the fold of each row, a splitter of scikit-learn's kind, or an iterable of (training rows, "
    "test rows)"
)


def splitter_config(cv: Any) -> dict[str, Any] | None:
    """Return the config of a public scikit-learn splitter with plain arguments; None for other forms."""
    if kind_of(public_name(type(cv))) != "splitter":
        return None
    values = vars(cv).values()
    if any(isinstance(value, np.ndarray | np.random.RandomState) for value in values):
        return None
    with estimators_in_hand():
        config: dict[str, Any] = as_config(cv)
    return config


def folds_of_rows(cv: Any) -> NDArray[Any] | None:
    """Return the fold of each row from an array, a list or a `PredefinedSplit`; None for other forms."""
    if public_name(type(cv)) == "sklearn.model_selection.PredefinedSplit":
        return np.asarray(cv.test_fold)
    if hasattr(cv, "split") or not hasattr(cv, "__len__"):
        return None
    is_flat = all(np.isscalar(value) for value in cv)
    return np.asarray(cv) if len(cv) and is_flat else None


def splits_of(
    subject: str, cv: Any, X: Any, y: Any, groups: Any, names: Sequence[str] = ()
) -> Splits:
    """Return the training and test rows of each fold.

    Parameters
    ----------
    subject : str
        Name that begins error messages, such as "compare".
    cv : splitter or iterable of pairs
        Rows are given as numbers from 0, or as masks.
    X, y, groups : see `compare`
    names : sequence of str
        Names that are also accepted, for the error message.

    Raises
    ------
    ValueError
        If `cv` has any other form.
    """
    n_rows = np.shape(X)[0]
    if hasattr(cv, "split") and not isinstance(cv, str | type):
        cv = cv.split(X, np.ravel(np.asarray(y)), groups_for(cv, groups))
    folds = [] if isinstance(cv, str) or not hasattr(cv, "__iter__") else list(cv)
    if not folds or not all(_is_pair(fold) for fold in folds):
        expected = ", ".join([*names, FORM])
        raise ValueError(
            f"{subject}: cv: expected {expected}, got {cv!r:.80}; choose one."
        )
    splits = []
    for place, (train, test) in enumerate(folds):
        try:
            splits.append((rows_from(train, n_rows), rows_from(test, n_rows)))
        except ValueError as error:
            raise ValueError(
                f"{subject}: cv: fold {place}: {error}; correct it."
            ) from error
    return tuple(splits)


def _is_pair(fold: Any) -> bool:
    return isinstance(fold, tuple | list | np.ndarray) and len(fold) == 2


def write_splits(splits: Splits, folder: Path) -> str:
    """Write splits as JSON integers into a folder, and return the file name, which contains their digest."""
    content = json.dumps(
        [[train.tolist(), test.tolist()] for train, test in splits]
    ).encode()
    name = f"splits-{hashlib.sha256(content).hexdigest()[:16]}.json"
    if not (folder / name).is_file():
        with replacing(folder / name) as temporary:
            temporary.write_bytes(content)
    return name
