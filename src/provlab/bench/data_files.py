"""Arrays saved as a file whose folder is named after its content.

The SHA-256 of the data file is part of the identity of trials.

Worker processes, audits and feature pages read the file. Equal arrays are written only
once.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy import sparse

from provlab.data.own.target import known_labels
from provlab.project.documents import digest
from provsel.files import replacing
from provsel.sparse_input import check_sparse

Vectors = dict[str, NDArray[Any]]
"""The labels under "y", and other vectors with a value per row, such as groups, under their role."""


def write_data(
    X: Any,
    y: Any,
    feature_names: Sequence[str] | None,
    beside: Mapping[str, Any],
    folder: Path,
    name: str,
    subject: str = "compare",
) -> dict[str, Any]:
    """Write data to a subfolder, and return the settings of `dataset=file` that read them.

    Numbers are written as arrays, and a table with text columns as a Parquet file.

    Parameters
    ----------
    X, y : see `compare`
    feature_names : sequence of str, optional
    beside : mapping
        Arrays of shape (n_samples,) by their role.
    folder : path
    name : str
        Name of the file, without suffix.
    subject : str
        Name that begins error messages, such as "compare".

    Raises
    ------
    ValueError
        If the data are not a table with a label in each row.
    """
    if hasattr(X, "to_pandas"):
        X = X.to_pandas()
    if isinstance(X, np.ndarray) and X.dtype.kind in "OU":
        X = pd.DataFrame(X).infer_objects()
    vectors = _vectors(subject, y, beside, np.shape(X)[0])
    names = _column_names(subject, X, feature_names)
    if isinstance(X, pd.DataFrame) and not all(
        pd.api.types.is_numeric_dtype(kind) for kind in X.dtypes
    ):
        return _write_table(subject, X.set_axis(names, axis=1), vectors, folder, name)
    return _write_arrays(subject, X, vectors, names, folder, name)


def _vectors(
    subject: str, y: Any, beside: Mapping[str, Any], n_samples: int
) -> Vectors:
    """Return the labels, groups and other vectors after checking that each row has a value."""
    if np.ndim(y) == 2 and np.shape(y)[1] == 1:
        y = np.ravel(y)
    labels = known_labels(subject, y)
    vectors = {"y": labels.astype(str) if labels.dtype.kind == "O" else labels}
    for role, value in beside.items():
        series = pd.Series(np.asarray(value))
        n_missing = int(series.isna().sum())
        if n_missing:
            raise ValueError(
                f"{subject}: {role}: expected a value in each row, got {n_missing} without."
            )
        is_number = series.dtype.kind in "iufb"
        vectors[role] = (
            series.to_numpy() if is_number else series.astype(str).to_numpy(str)
        )
    for role, vector in vectors.items():
        if vector.shape != (n_samples,):
            got = (
                len(vector) if vector.ndim == 1 else f"an array of shape {vector.shape}"
            )
            raise ValueError(
                f"{subject}: expected {n_samples} values in {role}, one for each row of X, got {got}; correct it."
            )
    return vectors


def _column_names(
    subject: str, X: Any, feature_names: Sequence[str] | None
) -> list[str] | None:
    """Return distinct names of the columns; None if they have no names."""
    columns = getattr(X, "columns", None) if feature_names is None else feature_names
    if columns is None:
        return None
    names = [str(column) for column in columns]
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise ValueError(
            f"{subject}: expected distinct column names, got {repeated[0]!r} more than once; rename one."
        )
    return names


def _write_arrays(
    subject: str,
    X: Any,
    vectors: Vectors,
    names: list[str] | None,
    folder: Path,
    name: str,
) -> dict[str, Any]:
    arrays: dict[str, Any] = {}
    if sparse.issparse(X):
        check_sparse(subject, X)
        rows = sparse.csr_array(X, dtype=np.float64)
        arrays |= {
            "data": rows.data,
            "indices": rows.indices,
            "indptr": rows.indptr,
            "shape": rows.shape,
        }
    else:
        if isinstance(X, pd.DataFrame):
            X = X.to_numpy(dtype=np.float64, na_value=np.nan)
        arrays["X"] = np.ascontiguousarray(X, dtype=np.float64)
    arrays["y"] = vectors["y"]
    if names is not None:
        arrays["feature_names"] = names
    roles = [role for role in vectors if role != "y"]
    arrays |= {role: vectors[role] for role in roles}
    arrays = {part: np.asarray(value) for part, value in arrays.items()}
    path = _path_of(folder, arrays, f"{name}.npz")
    if not path.is_file():
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.savez(file, **arrays)
    return {"path": str(path), **{role: role for role in roles}}


def _write_table(
    subject: str, X: pd.DataFrame, vectors: Vectors, folder: Path, name: str
) -> dict[str, Any]:
    """Write a table with text columns; labels, groups and weights get names that no feature has."""
    longest = "_" * max(len(column) for column in X.columns)
    names = {role: f"{role}{longest}" if role in X else role for role in vectors}
    beside = pd.DataFrame({names[role]: vector for role, vector in vectors.items()})
    table = pd.concat([X.reset_index(drop=True), beside], axis=1)
    hashes = {
        column: pd.util.hash_pandas_object(table[column], index=False).to_numpy()
        for column in table
    }
    path = _path_of(folder, hashes, f"{name}.parquet")
    if not path.is_file():
        try:
            content = pa.Table.from_pandas(
                table, preserve_index=False
            ).replace_schema_metadata(None)
        except pa.ArrowException as error:
            raise ValueError(
                f"{subject}: expected columns of numbers or strings, got {error!s:.200}; convert it."
            ) from None
        with replacing(path) as temporary:
            pq.write_table(content, temporary)
    target = names.pop("y")
    return {"path": str(path), "target": target, **names}


def _path_of(folder: Path, arrays: Mapping[str, NDArray[Any]], name: str) -> Path:
    """Create a folder named after the digest of the arrays, and return the absolute path of their file."""
    content = {}
    for part, array in arrays.items():
        content[part] = [
            str(array.dtype),
            list(array.shape),
            hashlib.sha256(array.tobytes()).hexdigest(),
        ]
    inside = folder / digest(content)[:32]
    inside.mkdir(parents=True, exist_ok=True)
    return (inside / name).absolute()
