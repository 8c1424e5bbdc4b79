"""Labels as signs: of two classes, or of each class against the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def signs_of_two_classes(subject: str, y: NDArray[Any] | None) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return the two classes, sorted, shape (2,), and -1.0 or 1.0 for each row, shape (n,); raise if they are not two.

    `subject` is the name of the class that asks.
    """
    if y is None:
        raise ValueError(f"{subject}: expected labels of two classes, got y=None; pass y to fit.")
    classes, labels = np.unique(y, return_inverse=True)
    if classes.size != 2:
        shown = ", ".join(map(repr, classes[:5].tolist())) + (", ..." if classes.size > 5 else "")
        raise ValueError(
            f"{subject}: expected labels of two classes, got {classes.size} "
            f"{'class' if classes.size == 1 else 'classes'} ({shown}); fit it on two of them at a time."
        )
    return classes, np.where(labels.ravel() == 1, 1.0, -1.0)


def one_against_rest(subject: str, y: NDArray[Any] | None) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return the classes, sorted, and the signs of each problem, shape (n_problems, n); raise for fewer than two.

    Two classes are one problem, in which the second is 1.0; of more, each is 1.0 in its own problem, and the rest -1.0.

    Examples
    --------
    >>> from provsel.labels import one_against_rest
    >>> one_against_rest("example", ["a", "b", "c"])[1].tolist()
    [[1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]
    """
    if y is None:
        raise ValueError(f"{subject}: expected labels of at least two classes, got y=None; pass y to fit.")
    from sklearn.utils.multiclass import check_classification_targets  # what reads a store imports no scikit-learn

    check_classification_targets(y)
    classes, labels = np.unique(y, return_inverse=True)
    check_several(subject, classes)
    positive = np.array([1]) if classes.size == 2 else np.arange(classes.size)
    return classes, np.where(labels.ravel() == positive[:, None], 1.0, -1.0)


def by_total_weight(sizes: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the sum of the sizes |w| over the problems, shape (d,), and the features where it is not 0, largest first.

    `sizes` has shape (n_problems, d); ties are in order of index.
    """
    total: NDArray[np.float64] = sizes.sum(axis=0)
    kept = np.flatnonzero(total)
    return total, kept[np.argsort(-total[kept], kind="stable")]


def of_problems(values: Sequence[Any]) -> Any:
    """Return the value of the only problem, or an array with that of each."""
    return values[0] if len(values) == 1 else np.array(values)


def check_several(name: str, classes: NDArray[Any]) -> None:
    """Raise unless the distinct labels `classes` are at least two; `name` is the name of the class that asks."""
    if classes.size < 2:
        raise ValueError(
            f"{name}: expected labels of at least two classes, got 1 class ({classes.tolist()[0]!r}); check the labels "
            f"or how the rows were split."
        )
