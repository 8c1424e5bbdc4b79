"""Small images of handwritten digits that come with scikit-learn: real data without a download."""

from collections.abc import Sequence
from typing import Any

from provlab.datasets._classes import keep_classes, spelled_classes
from provlab.datasets._record import Dataset, make_dataset

VERSION = 1

_SOURCE = (
    "scikit-learn's load_digits: test set of Optical Recognition of Handwritten Digits, "
    "Alpaydin and Kaynak (1998), UCI Machine Learning Repository"
)


def load(*, classes: Sequence[int] | None = None) -> Dataset:
    """Load 1797 images of 8 by 8 pixels with values from 0 to 16.

    Parameters
    ----------
    classes : sequence of int or None, default=None
        Digits to keep, at least two; None keeps all ten. Exactly two digits give a two-class problem: the
        first gets the label -1, the second +1. Otherwise the label is the digit.

    Returns
    -------
    Dataset
        Dense X of shape (n, 64); the features are named "pixel_<row>_<column>".

    Raises
    ------
    ValueError
        When `classes` does not hold at least two distinct digits.
    """
    from sklearn.datasets import load_digits  # its identity is known without

    bunch = load_digits()
    rows, y, name = keep_classes("digits", bunch.target, classes)
    return make_dataset(bunch.data[rows], y, bunch.feature_names, name=name, source=_SOURCE)


def spelled(*, classes: Sequence[int] | None) -> dict[str, Any]:
    """Check the parameter of `load`, and return it in one spelling."""
    return {"classes": spelled_classes("digits", classes)}
