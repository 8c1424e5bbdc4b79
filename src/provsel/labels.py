"""Targets: labels as signs, for two classes or for each class against the rest, and numbers to regress on."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provsel.checks import check_choice

TASKS = ("auto", "classification", "regression")
FOR_NUMBERS = (
    "for numbers, take SVMRFESelector, LassoSelector or AlphaInvestingSelector"
)
MANY_CLASSES, FEW_ROWS = 20, 5
"""Numbers are rarely classes if there are more than this many, with fewer than this many rows each on average."""


def hardly_classes(y: NDArray[Any]) -> bool:
    """Return whether y, shape (n,), holds very many different numbers for its rows."""
    count = np.unique(y).size if y.dtype.kind in "iuf" else 0
    return count > MANY_CLASSES and y.size < FEW_ROWS * count


def _are_whole_by_type(y: Any) -> bool:
    """Return whether y is an array of integers or booleans, which takes scikit-learn a millisecond to check."""
    return isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "biu"


def check_classes(
    subject: str, y: NDArray[Any], advice: str = FOR_NUMBERS, *, is_said: bool = False
) -> None:
    """Raise unless y, shape (n,), holds class labels; real numbers that are not all whole are not.

    `subject` is the name of the calling class, `advice` the next step at the end of the
    message. Also raises for floats that are hardly classes, see `_check_float_classes`,
    unless the caller stated that y has classes.
    """
    if _are_whole_by_type(y):
        return
    # slow import, which readers of a store do not need
    from sklearn.utils.multiclass import type_of_target

    kind = type_of_target(y)
    if kind in ("binary", "multiclass"):
        if not is_said:
            _check_float_classes(subject, np.asarray(y), advice)
        return
    # scikit-learn's wording for an array of objects that are not strings
    if kind != "continuous":
        raise ValueError(
            f"{subject}: Unknown label type. Expected classes as strings or numbers, got {y.flat[0]!r:.80} in an array "
            f"of dtype {y.dtype}; convert it."
        )
    fraction = y[y != np.round(y)][0].item()
    raise ValueError(
        f"{subject}: expected classes, got {np.unique(y).size} different real numbers, such as {fraction!r}; {advice}."
    )


def _check_float_classes(
    subject: str, y: NDArray[Any], advice: str = FOR_NUMBERS
) -> None:
    """Raise for floats, shape (n,), that are hardly classes, but a numeric target that happens to be whole.

    Integers may be class codes: `_warn_of_many_classes` warns of many.
    """
    if y.dtype.kind == "f" and hardly_classes(y):
        raise ValueError(
            f"{subject}: expected classes, got {np.unique(y).size} different floats in {y.size} rows, such as "
            f"{y[0].item()!r}; {advice}, or if they are classes, pass integers or strings."
        )


def _warn_of_many_classes(subject: str, y: NDArray[Any], advice: str) -> None:
    """Warn, as if from `fit` of `subject`, of numbers that are hardly classes; called below its `_select`."""
    if hardly_classes(y):
        warnings.warn(
            f"{subject}: expected classes, got {np.unique(y).size} different whole numbers in {y.size} rows, which "
            f"were treated as classes; {advice}.",
            UserWarning,
            stacklevel=6,
        )


def target_of(
    subject: str, y: NDArray[Any] | None, task: str
) -> tuple[NDArray[Any] | None, NDArray[Any]]:
    """Return the classes of y, sorted, and their numbers, int64, shape (n,); None and y as float64 to be regressed on.

    `task` is "classification", "regression", or "auto": numbers that are not all whole
    are a regression. Raises if "auto" would treat whole numbers as very many classes;
    for another task; for labels that `task` does not allow; for one class; and for
    numbers that are all equal or whose squares are not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.labels import target_of
    >>> target_of("example", np.array([1, 2, 3]), "auto")
    (array([1, 2, 3]), array([0, 1, 2]))
    >>> target_of("example", np.array([1, 2, 3]), "regression")
    (None, array([1., 2., 3.]))
    """
    from sklearn.utils.multiclass import type_of_target

    from provsel.validation import check_magnitude

    check_choice(subject, "task", task, TASKS)
    if y is None:
        raise ValueError(
            f"{subject}: expected labels or numbers, got y=None; pass y to fit."
        )
    numeric = y.dtype.kind in "biuf" or all(isinstance(value, Real) for value in y)
    may_be_numbers = numeric and not _are_whole_by_type(y)
    if task == "auto" and may_be_numbers and type_of_target(y) == "continuous":
        task = "regression"
    if task == "auto" and hardly_classes(y):
        raise ValueError(
            f"{subject}: expected classes or numbers to be predicted, got {np.unique(y).size} different whole numbers "
            f"in {y.size} rows, which may be either; set task='regression' or task='classification'."
        )
    if task != "regression":
        check_classes(subject, y, "take task='regression'", is_said=True)
        classes, labels = np.unique(y, return_inverse=True)
        check_several(subject, classes)
        return classes, labels.ravel()
    if not numeric:
        raise ValueError(
            f"{subject}: expected numbers with task='regression', got {y[0]!r:.80}; convert the target."
        )
    numbers = y.astype(np.float64)
    check_magnitude(subject, numbers, "y")
    if not np.ptp(numbers) > 0:
        raise ValueError(
            f"{subject}: expected different numbers, got {float(numbers[0])!r} only, n_samples = {y.size}; check y."
        )
    return None, numbers


def signs_of_two_classes(
    subject: str, y: NDArray[Any] | None
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return the two classes, sorted, shape (2,), and -1.0 or 1.0 for each row, shape (n,); raise if they are not two.

    `subject` is the name of the calling class.
    """
    if y is None:
        raise ValueError(
            f"{subject}: expected labels of two classes, got y=None; pass y to fit."
        )
    classes, labels = np.unique(y, return_inverse=True)
    if classes.size != 2:
        shown = ", ".join(map(repr, classes[:5].tolist())) + (
            ", ..." if classes.size > 5 else ""
        )
        raise ValueError(
            f"{subject}: expected labels of two classes, got {classes.size} "
            f"{'class' if classes.size == 1 else 'classes'} ({shown}); fit it on two of them at a time."
        )
    return classes, np.where(labels.ravel() == 1, 1.0, -1.0)


def one_against_rest(
    subject: str, y: NDArray[Any] | None
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return the classes, sorted, and the signs of each problem, shape (n_problems, n); raise for fewer than two.

    Two classes make one problem, in which the second is 1.0; with more, each is 1.0 in
    its own problem, and the rest -1.0. Warns of whole numbers that are hardly classes,
    like `target_of`.

    Examples
    --------
    >>> from provsel.labels import one_against_rest
    >>> one_against_rest("example", ["a", "b", "c"])[1].tolist()
    [[1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]
    """
    if y is None:
        raise ValueError(
            f"{subject}: expected labels of at least two classes, got y=None; pass y to fit."
        )
    check_classes(subject, y)
    classes, labels = np.unique(y, return_inverse=True)
    check_several(subject, classes)
    _warn_of_many_classes(subject, np.asarray(y), FOR_NUMBERS)
    positive = np.array([1]) if classes.size == 2 else np.arange(classes.size)
    return classes, np.where(labels.ravel() == positive[:, None], 1.0, -1.0)


def by_total_weight(
    sizes: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the sums of the sizes |w| over the problems, shape (d,), and the features with a sum > 0, largest first.

    `sizes` has shape (n_problems, d); ties are in order of index.
    """
    total: NDArray[np.float64] = sizes.sum(axis=0)
    kept = np.flatnonzero(total)
    return total, kept[np.argsort(-total[kept], kind="stable")]


def of_problems(values: Sequence[Any]) -> Any:
    """Return the value of the only problem, or an array with one value per problem."""
    return values[0] if len(values) == 1 else np.array(values)


def check_several(name: str, classes: NDArray[Any]) -> None:
    """Raise unless there are at least two distinct labels `classes`; `name` is the name of the calling class."""
    if classes.size < 2:
        raise ValueError(
            f"{name}: expected labels of at least two classes, got 1 class ({classes.tolist()[0]!r}); check the labels "
            f"or how the rows were split."
        )
