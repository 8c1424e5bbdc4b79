"""Small tables that come with scikit-learn: real data without a download."""

from typing import Any

import numpy as np

from provlab.data.dataset import Dataset, make_dataset

VERSION = 1
LICENCE = "CC BY 4.0, of the UCI Machine Learning Repository."

CHOICES = {"set": ("breast_cancer", "iris", "wine")}

_CITATIONS = {
    "breast_cancer": "Breast Cancer Wisconsin (Diagnostic), Wolberg, Street and Mangasarian (1995)",
    "iris": "Iris, Fisher (1936)",
    "wine": "Wine, Aeberhard and Forina (1991)",
}


def load(*, set: str = "breast_cancer") -> Dataset:
    """Load a table of measurements.

    Parameters
    ----------
    set : {"breast_cancer", "iris", "wine"}, default="breast_cancer"
        "breast_cancer": 569 cell nuclei with 30 features; +1 is benign, -1 malignant.
        "iris": 150 flowers of three species with 4 features. "wine": 178 wines of three
        growers with 13 features. With three classes the labels are 0, 1, 2.

    Returns
    -------
    Dataset
        Dense X; the feature names are those of scikit-learn.
    """
    import sklearn.datasets  # the identity does not need it

    bunch: Any = getattr(sklearn.datasets, f"load_{set}")()
    y = bunch.target
    if len(bunch.target_names) == 2:
        y = np.where(y == 1, 1, -1)
    source = (
        f"scikit-learn's load_{set}: {_CITATIONS[set]}, UCI Machine Learning Repository"
    )
    names = [*map(str, bunch.feature_names)]
    return make_dataset(
        bunch.data, y, names, name=set, source=source, class_names=bunch.target_names
    )
