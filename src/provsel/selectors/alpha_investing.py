"""Alpha-investing: supervised streamwise selection that looks at each feature once."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from provsel.kernels.alpha_investing import P_VALUES, alpha_investing
from provsel.labels import target_of
from provsel.selectors._base import BaseSelector, Selection, checked_count
from provsel.training_view import TrainingView

TARGETS = ("codes", "one_vs_rest")


class AlphaInvestingSelector(BaseSelector):
    r"""Accept features one by one in column order, with control of false acceptances; it chooses how many.

    Use it if features arrive one by one and each is kept or refused at once, for
    classes or a numeric target. If all columns are available and their order is
    arbitrary, other selectors are better.

    A wealth w pays for the tests. Column i, counted from 1, is tested at level a = w /
    (2 i). Let z be its part orthogonal to the constant and the accepted columns, and r
    the residual of the target on these. Then

        drop = (z . r)^2 / (z . z),   p = exp(-n drop / (2 ||r||^2)).

    If p < a, the column is accepted and w <- w + delta - a; otherwise w <- w - a. The
    result is deterministic. By design it depends on the order of the columns, and
    rejected columns are never reconsidered. The cost is O(n k) per column with k
    accepted columns.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        Keep the first features that are accepted, up to this number, as if the stream
        stopped there. All columns are still tested, and fewer are kept if the wealth
        does not suffice. None keeps all that are accepted. If there are several passes,
        they run in parallel, and a column counts once even if several passes accept it.
    wealth : float, default=0.5
        Initial w.
    delta : float, default=0.5
        Reward for an acceptance, below 1. The expected share of false acceptances is
        controlled at about this level.
    p_value : {"likelihood_ratio", "chi2"}, default="likelihood_ratio"
        "likelihood_ratio" is the authors' formula, given above. "chi2" is the upper
        tail of chi-squared with one degree of freedom at n drop / ||r||^2; it is the
        smaller of the two, so single tests pass more easily.
    target : {"codes", "one_vs_rest"}, default="codes"
        Coding of class labels; a numeric target is not coded. "codes" are the numbers
        0, 1, ... of the classes in sorted order, in one regression, as is common. With
        more than two classes it detects only effects that are linear in this order.
        "one_vs_rest" runs a pass with its own wealth for each class and keeps the
        features that any pass accepts. Two classes always need only one pass.
    task : {"auto", "classification", "regression"}, default="auto"
        Kind of the target. "auto" means regression for numbers that are not all
        integers, and classification for integers and strings, as in scikit-learn's
        `type_of_target`. It raises an error for integers with very many distinct
        values.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        Increasing, which is the order of acceptance. If no feature is accepted, the one
        with the smallest p-value.
    weights_ : ndarray of shape (n_selected,)
        Ones.
    p_values_ : ndarray of shape (n_targets, n_features)
        p of each column in each pass; 1 if a column is in the span of the constant and
        the accepted columns.
    wealth_ : ndarray of shape (n_targets, n_features)
        After each column.
    n_accepted_ : int
        Total number of accepted features, kept or not.
    classes_ : ndarray of shape (n_classes,)
        Not for numbers.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if there is only one class, numbers are all equal, more features are
        requested than exist, or an option is out of range or does not apply to numbers.

    Warns
    -----
    UserWarning
        If nothing is accepted.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import AlphaInvestingSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20))
    >>> y = np.where(X[:, 3] > 0, 1, -1)
    >>> AlphaInvestingSelector().fit(X, y).indices_.tolist()
    [3]
    >>> AlphaInvestingSelector().fit(X, 2 * X[:, 5] - X[:, 3]).indices_.tolist()
    [3, 5]

    References
    ----------
    Zhou, Foster, Stine, Ungar (2005), Streaming feature selection using
    alpha-investing, KDD; (2006), Streamwise feature selection, Journal of Machine
    Learning Research 7, section 3.
    """

    algorithm_version = 2
    needs_labels: ClassVar[bool] = True

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        wealth: float = 0.5,
        delta: float = 0.5,
        p_value: Literal["likelihood_ratio", "chi2"] = "likelihood_ratio",
        target: Literal["codes", "one_vs_rest"] = "codes",
        task: Literal["auto", "classification", "regression"] = "auto",
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.wealth = wealth
        self.delta = delta
        self.p_value = p_value
        self.target = target
        self.task = task

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        most = (
            None
            if self.n_features_to_select is None
            else checked_count(self, view.n_features)
        )
        wealth, delta = self._checked_options()
        classes, target = target_of("AlphaInvestingSelector", view.y, self.task)
        targets = _targets(classes, target, self.target)
        options: dict[str, Any] = {
            "wealth": wealth,
            "delta": delta,
            "p_value": self.p_value,
        }
        passes = view.shared(  # independent of the requested number of features
            f"alpha-investing {options} {'numbers' if classes is None else self.target}",
            lambda: [alpha_investing(view.X, target, **options) for target in targets],
        )
        p_values = np.array([single_pass.p_values for single_pass in passes])
        accepted = np.unique(
            np.concatenate([single_pass.accepted for single_pass in passes])
        )
        # the passes are independent, and later acceptances change nothing
        kept = accepted[:most]
        if accepted.size == 0:
            kept = np.array([np.argmin(p_values.min(axis=0))])
            warnings.warn(
                f"AlphaInvestingSelector: none of {view.n_features} features was accepted; kept the one with the "
                f"smallest "
                f"p-value, {p_values.min():.3g}. Raise wealth, or put likely features first.",
                UserWarning,
                stacklevel=4,
            )
        return Selection.unweighted(
            kept,
            p_values=p_values,
            wealth=np.array([single_pass.wealth for single_pass in passes]),
            n_accepted=int(accepted.size),
            **({} if classes is None else {"classes": classes}),
        )

    def _checked_options(self) -> tuple[float, float]:
        """Return wealth and delta, or raise."""
        for name, limit in (("wealth", np.inf), ("delta", 1.0)):
            value = getattr(self, name)
            number = isinstance(value, int | float | np.number) and not isinstance(
                value, bool
            )
            if not (number and 0 < value < limit):
                raise ValueError(
                    f"AlphaInvestingSelector: expected {name} to be a positive number below {limit:g}, got {value!r}."
                )
        for name, choices in (("p_value", tuple(P_VALUES)), ("target", TARGETS)):
            if getattr(self, name) not in choices:
                raise ValueError(
                    f"AlphaInvestingSelector: expected {name} to be one of {choices}, got {getattr(self, name)!r}."
                )
        return float(self.wealth), float(self.delta)


def _targets(
    classes: NDArray[Any] | None, target: NDArray[Any], kind: str
) -> NDArray[np.float64]:
    """Return the regression targets, shape (n_targets, n), from numbers or class codes; or raise."""
    if classes is None:
        if kind != "codes":
            raise ValueError(
                f"AlphaInvestingSelector: a numeric target needs target='codes', got {kind!r}; leave it out."
            )
        return target[None, :]
    if kind == "codes" or classes.size == 2:
        return target[None, :].astype(np.float64)
    return (target == np.arange(classes.size)[:, None]).astype(np.float64)
