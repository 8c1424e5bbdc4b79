"""Small images of handwritten digits that come with scikit-learn: real data without a download."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from provlab.data.dataset import Dataset, make_dataset
from provsel.checks import check_classes

VERSION = 1
LICENCE = "CC BY 4.0, of the UCI Machine Learning Repository."

_SOURCE = (
    "scikit-learn's load_digits: test set of Optical Recognition of Handwritten Digits, "
    "Alpaydin and Kaynak (1998), UCI Machine Learning Repository"
)


def load(*, classes: Sequence[int] | None = None) -> Dataset:
    """Load 1797 images of 8 by 8 pixels with values from 0 to 16.

    Parameters
    ----------
    classes : sequence of int or None, default=None
        Digits to keep, at least two; None keeps all ten. Exactly two digits give a
        two-class problem: the first digit gets the label -1 and the second +1.
        Otherwise the label is the digit.

    Returns
    -------
    Dataset
        Dense X of shape (n, 64); the features are named "pixel_<row>_<column>".
    """
    from sklearn.datasets import load_digits  # the identity does not need it

    bunch = load_digits()
    rows, y, name = keep_classes("digits", bunch.target, classes)
    return make_dataset(
        bunch.data[rows], y, bunch.feature_names, name=name, source=_SOURCE
    )


def checked(*, classes: Sequence[int] | None) -> dict[str, Any]:
    """Check the parameter of `load`, and return it in one spelling."""
    return {"classes": checked_classes("digits", classes)}


def keep_classes(
    name: str, y: np.ndarray, kept: Sequence[int] | None
) -> tuple[Any, np.ndarray, str]:
    """Return a mask of the rows in the classes `kept`, their labels, and the name of that part.

    `name` is the name of the whole data set. Of exactly two classes, the first gets the
    label -1 and the second +1; more classes keep their labels.
    """
    if kept is None:
        return slice(None), y, name
    rows = np.isin(y, kept)
    labels = y[rows]
    if len(kept) == 2:
        labels = np.where(labels == kept[1], 1, -1)
    return rows, labels, "_".join([name, *map(str, kept)])


def checked_classes(name: str, classes: Sequence[int] | None) -> list[int] | None:
    """Return checked digits in one spelling: sorted, unless there are two, whose order sets their labels."""
    if classes is None:
        return None
    kept = check_classes(name, classes)
    if len(kept) > 2:
        kept = sorted(kept)
    return None if kept == [*range(10)] else kept
