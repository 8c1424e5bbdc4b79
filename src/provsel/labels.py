"""Labels of two classes as signs."""

from __future__ import annotations

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
