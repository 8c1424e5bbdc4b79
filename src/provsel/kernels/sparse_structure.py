"""Whether arrays are a sparse matrix: native code takes their numbers as places in memory, and checks none of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray


def check_compressed(
    form: str,
    shape: Sequence[int],
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
) -> None:
    """Raise unless three arrays are a matrix in CSR or CSC form, in one pass over the numbers.

    Order and repetitions within a line are not looked at: they are no danger.

    Parameters
    ----------
    form : {"csr", "csc"}
    shape : (n, d)
    data, indices : ndarray of shape (nnz,)
    indptr : ndarray of shape (n + 1,) or (d + 1,)

    Raises
    ------
    ValueError
        With what was got, without a subject and a next step, which the caller knows.
    """
    if len(shape) != 2 or min(shape) < 0:
        raise ValueError(f"a matrix of shape {tuple(shape)}")
    lines, width = shape if form == "csr" else shape[::-1]
    for name, array in (("data", data), ("indices", indices), ("indptr", indptr)):
        if array.ndim != 1:
            raise ValueError(f"{name} of shape {array.shape}, where one dimension is right")
        if name != "data" and array.dtype.kind not in "iu":
            raise ValueError(f"{name} of {array.dtype}, where whole numbers are right")
    if indptr.size != lines + 1:
        raise ValueError(
            f"indptr of {indptr.size} values, where {form.upper()} of shape {tuple(shape)} has {lines + 1}"
        )
    if indptr[0] != 0:
        raise ValueError(f"indptr that starts at {indptr[0]}, where 0 is right")
    falls = indptr[1:] < indptr[:-1]  # no difference, which could overflow
    if falls.any():
        at = int(falls.argmax())
        raise ValueError(f"indptr that falls from {indptr[at]} to {indptr[at + 1]} at {at + 1}")
    if not indptr[-1] == indices.size == data.size:
        raise ValueError(f"indptr that ends at {indptr[-1]}, with {indices.size} indices and {data.size} values")
    if indices.size:
        for at in (int(indices.argmin()), int(indices.argmax())):
            if not 0 <= indices[at] < width:
                raise ValueError(f"an index of {indices[at]} at {at}, where 0 to {width - 1} are right")
