"""Checks of the blocks of columns passed to `OnlineLeverageSelector`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from provsel.selectors._online_state import Stream

NAME = "OnlineLeverageSelector.partial_fit_columns"


def checked_indices(
    feature_indices: Any, count: int, stream: Stream
) -> NDArray[np.int64]:
    """Return the feature numbers of the `count` columns of a block, shape (count,); raise for wrong or known ones."""
    if feature_indices is None:
        indices = stream.sampler.n_seen + np.arange(count)
    else:
        indices = np.asarray(feature_indices)
        if (
            indices.shape != (count,)
            or indices.dtype.kind not in "iu"
            or (indices < 0).any()
        ):
            raise ValueError(
                f"{NAME}: expected feature_indices to be {count} non-negative integers, one for each column of the "
                f"block, got {indices.dtype} of shape {indices.shape}; pass the column numbers."
            )
    if repeated := stream.repeated(indices):
        raise ValueError(
            f"{NAME}: expected every feature to arrive once, got {repeated[:5]} again; "
            f"pass feature_indices that are distinct over the whole stream."
        )
    return indices.astype(np.int64)


def check_finite(block: Any, indices: NDArray[np.int64]) -> None:
    """Raise, with the names of the features, if a block of shape (n, b) has NaN or infinity."""
    finite = np.isfinite(
        block.data[: block.indptr[-1]] if sparse.issparse(block) else block
    )
    if finite.all():
        return
    if sparse.issparse(block):
        columns = np.repeat(indices, np.diff(block.indptr))[~finite]
    else:
        columns = indices[~finite.all(axis=0)]
    features = np.unique(columns).tolist()
    raise ValueError(
        f"{NAME}: expected finite numbers in the block, got NaN or infinity in {len(features)} of "
        f"its {indices.size} features, {features[:5]}{' and more' if len(features) > 5 else ''}; impute or leave them "
        f"out."
    )
