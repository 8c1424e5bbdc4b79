"""Data sets of the registry that are one MATLAB file, with a matrix of samples and a vector of labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from .dataset import Dataset, make_dataset
from .registry import read_source


def mat_loader(
    name: str,
    *,
    version: int,
    holds: str,
    about: str,
    citation: str,
    variables: Sequence[str] = ("X", "Y"),
    columns_are_samples: bool = False,
) -> SimpleNamespace:
    """Return the loader of a data set that the section `mat` of its source describes: what a module would have.

    Of two labels the smaller becomes -1 and the larger +1; more are kept as they are. The features are named "1", "2",
    ... .

    Parameters
    ----------
    name : str
    version : int
        Raised when the same file gives other data.
    holds, about : str
        What is in the file, after "Load", and what labels and features mean: the docstring.
    citation : str
        For `Dataset.source`, which records have.
    variables : (str, str), default=("X", "Y")
        Names of the matrix and of the labels.
    columns_are_samples : bool, default=False
        The matrix is stored with one sample a column, in place of one a row.
    """

    def load(paths: list[Path], digest: str) -> Dataset:
        from scipy.io import loadmat

        content = loadmat(paths[0], variable_names=variables)
        X, y = (content[variable] for variable in variables)
        X, y = X.T if columns_are_samples else X, y.ravel()
        classes = np.unique(y)
        labels = np.where(y == classes[1], 1, -1) if classes.size == 2 else y
        [file] = read_source(name).published()
        source = f"{citation}; {file.path}, SHA-256 {digest}"
        return make_dataset(X, labels, name=name, source=source)

    load.__doc__ = f"Load {holds}.\n\n{about}\n"
    return SimpleNamespace(VERSION=version, load=load)
