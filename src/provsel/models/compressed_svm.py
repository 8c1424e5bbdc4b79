"""Linear SVM trained on Gaussian random combinations of the features, streamed from disk."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets

from provsel.checks import check_positive
from provsel.kernels.gaussian_blocks import GaussianBlocks, check_store, is_kept
from provsel.kernels.hinge_dual import PrimalDual
from provsel.labels import check_several
from provsel.models._base import BaseBinarySVM
from provsel.models._losses import LOSSES
from provsel.models._recovery import (
    Passes,
    Recovered,
    by_dual,
    by_refinement,
    by_transpose,
)
from provsel.models._row_stream import RowSlices, RowStream
from provsel.validation import as_generator

CHOICES = {
    "recovery": ["dual", "transpose"],
    "variance": ["1/m", "1/l"],
    "loss": [*LOSSES],
}


class CompressedLinearSVM(BaseBinarySVM):
    r"""Two-class linear SVM whose solver sees l random combinations of the m features.

    Use it for rows that do not fit in memory, read in a few passes, with a certified
    gap to the optimum. The defaults work well; `recovery="transpose", variance="1/m"`
    is the paper's method.

    With Phi, shape (n, m), the rows and Lambda, shape (l, m), Gaussian, Phi Lambda^T is
    summed chunk by chunk and

        min_w (1/n) sum_i max(0, 1 - y_i <Lambda Phi_i, w>) + c ||w||^2

    is solved with a duality gap as certificate. With `loss="logistic"` a row costs
    log(1 + exp(-y_i <Lambda Phi_i, w>)). The solution w_bar gives back m coefficients:

    - `recovery="transpose"`, of Giesen et al.: Lambda^T w_bar, which loses all but l
      directions. One pass.
    - `recovery="dual"`, of Zhang et al.: Phi^T (y alpha) with the dual variables 0 <=
      alpha <= 1 / (2 c n) of the compressed problem, which are minus the derivatives of
      the losses. Three passes: to compress, for this sum, and for `objective_`.

    `refinements` improves "dual": each adds the last image Phi^T (y alpha) to the
    compressed rows as one more feature, <Phi_i, image>, and solves again, in the
    subspace of all features that these l + 1, l + 2, ... span. The objective never
    rises, the certified gap to the optimum falls, and each costs two passes.

    Memory O((n + m) l): the rows are never in memory all at once, Lambda only as
    `store` allows. With refinements the compressed rows are held twice, plus n + m
    numbers for each; with the logistic loss they are held twice as well.

    Parameters
    ----------
    n_components : int, default=100
        l.
    c : float, default=1e-4
        Weight of ||w||^2 relative to the mean loss, the same for the compressed and the
        original problem. In terms of a sum of losses, C = 1 / (2 c n).
    recovery : {"dual", "transpose"}, default="dual"
        "dual" returns the weights of the dual solution on the original rows,
        "transpose" returns Lambda^T w_bar.
    refinements : int, default=0
        Steps from the compressed towards the original problem, for "dual"; 2 to 4 are
        usually enough to predict as well as `HingeSVM`. Fewer are made when
        `original_gap_` reaches `tol`. For the hinge loss only.
    variance : {"1/m", "1/l"}, default="1/l"
        Variance of the entries of Lambda. "1/l" keeps inner products (Lemmas 1-2), and
        "dual" then approximates the optimum for the same c; the vector of "transpose"
        then has a length of about sqrt(m / l) ||w_bar||. "1/m" is the printed one, for
        `recovery="transpose"`; it makes ||Lambda^T w|| about ||w|| (Lemma 4), but
        shrinks the rows: E[Lambda Phi_i . Lambda Phi_k] = (l/m) Phi_i . Phi_k. The
        compressed problem at c therefore corresponds to the original one at c m / l,
        with stronger regularisation, and the vector of "dual" is m / l times as long as
        its solution.
    tol : float, default=1e-6
        Target for the relative duality gap in the compressed problem, and in each
        refinement.
    loss : {"hinge", "logistic"}, default="hinge"
        "hinge" is a support vector machine, the subject of Theorem 5; "logistic" is
        logistic regression without an intercept, as scikit-learn's with C = 1 / (2 c
        n).
    random_state : int, Generator, RandomState or None, default=None
        Seed of Lambda.
    store : "auto" or bool, default="auto"
        Keep Lambda, 8 l m bytes, in memory during the fit instead of regenerating its
        blocks for each chunk; "auto": if it takes at most 256 MB. The results are the
        same bit for bit.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    coef_ : ndarray of shape (1, n_features)
        In the original space, as recovered: see `best_scale_` for the best length. With
        refinements it is the SVM in the subspace, which already has the best length,
        and not just the image of `dual_coef_`.
    intercept_ : ndarray of shape (1,)
        Zero: the problem above has no intercept. Append a constant feature for a
        (penalised) one.
    compressed_coef_ : ndarray of shape (l,)
        w_bar.
    dual_coef_ : ndarray of shape (n_samples,)
        y_i alpha_i of the compressed problem; with refinements the best found for the
        original one.
    blocks_ : GaussianBlocks
        Lambda: `blocks_.expand(w)` is Lambda^T w, `blocks_.dense()` the matrix; blocks
        kept by `store` are dropped.
    objective_ : float
        f(coef) = (1/n) sum_i max(0, 1 - y_i <Phi_i, coef>) + c ||coef||^2 over the
        training rows, for the hinge loss.
    best_scale_, scaled_objective_ : float
        The t >= 0 that minimises f(t coef), and the minimum: the quality of the
        direction alone.
    lower_bound_ : float
        A lower bound on the optimum of f, from the original dual at the best multiple
        of alpha; NaN for "transpose".
    original_gap_ : float
        (scaled_objective_ - lower_bound_) / scaled_objective_: the largest possible
        relative distance to the optimum, which was not computed.
    compressed_objective_, gap_ : float
        Optimum of the compressed problem, and its relative duality gap.
    compression_ratio_ : float
        m / l, without the columns of refinements.
    n_features_in_ : int
    n_iter_ : int
        Newton steps of the solver, including refinements.
    n_passes_ : int
        Passes over the rows: 1 for "transpose", 3 for "dual", 2 + 2 k for k
        refinements.

    Raises
    ------
    ValueError
        From `fit` and `fit_stream`; afterwards the model is unfitted.

    Warns
    -----
    ConvergenceWarning
        If `gap_`, or the gap of a refinement, stays above `tol`.

    Notes
    -----
    With variance "1/l" and rows whose rank is far below l, the vector of "dual" is
    close to the optimum. Otherwise, if n and the rank exceed l, the compressed rows are
    harder to separate than the original ones: alpha fills its box and the vector is far
    too long, so that `objective_` is large even if the predictions are good:
    `scaled_objective_` depends on the direction alone. If a few directions dominate the
    rows, as in uncentred pixels, "dual" can predict worse than "transpose"; refinements
    help there, too.

    The seed determines Lambda, which equals that of `GaussianCompression` with the same
    seed, n_components and variance. A different chunk size changes the compressed rows
    by rounding only (1e-12, relative), and the coefficients by about as much as the gap
    allows.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.models import CompressedLinearSVM
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20))
    >>> y = np.where(X[:, 3] > 0, 1, -1)
    >>> model = CompressedLinearSVM(10, c=1e-2, random_state=0).fit(X, y)
    >>> model.coef_.shape, bool(model.lower_bound_ <= model.objective_)
    ((1, 20), True)

    References
    ----------
    Giesen, Laue, Mueller (2013), Compressing support vector machines, sections 2 and 3.
    Zhang, Mahdavi, Jin, Yang (2013), Recovering the optimal solution by dual random
    projection, COLT.
    """

    algorithm_version = 1
    # in experiments each fold repeats the draw of Lambda
    is_random: ClassVar[bool] = True

    def __init__(
        self,
        n_components: int = 100,
        *,
        c: float = 1e-4,
        recovery: Literal["dual", "transpose"] = "dual",
        refinements: int = 0,
        variance: Literal["1/m", "1/l"] = "1/l",
        tol: float = 1e-6,
        random_state: Any = None,
        store: bool | str = "auto",
        loss: Literal["hinge", "logistic"] = "hinge",
    ) -> None:
        self.n_components = n_components
        self.c = c
        self.recovery = recovery
        self.refinements = refinements
        self.variance = variance
        self.tol = tol
        self.random_state = random_state
        self.store = store
        self.loss = loss

    def fit(self, X: Any, y: Any) -> Self:
        """Fit on X of shape (n, m), dense or sparse, and labels y of shape (n,) with two distinct values."""
        with self._whole_or_nothing():
            return super().fit(X, y)

    def fit_rows(self, X: Any, y: NDArray[Any]) -> Self:
        """Like `fit`, for rows that are already validated."""
        with self._whole_or_nothing():
            return super().fit_rows(X, y)

    def fit_stream(self, chunks: Any) -> Self:
        """Fit on the rows of `chunks`, an iterable of (X_chunk, y_chunk) that can be iterated several times.

        X_chunk of shape (b, m), dense or sparse, and y_chunk of shape (b,); b may vary.
        They are read `n_passes_` times, and every pass is checked.

        Raises
        ------
        ValueError
            If parameters are out of range, chunks have different widths, values are NaN
            or infinite, labels are missing or do not have two classes, or rows are
            missing or in another order on a later pass.
        """
        with self._whole_or_nothing():
            stream = RowStream(type(self).__name__, chunks)
            Z, projection = self._compress(stream)
            check_classification_targets(stream.labels)
            self.classes_, labels = np.unique(stream.labels, return_inverse=True)
            check_several(type(self).__name__, self.classes_)
            self.n_features_in_ = stream.n_features
            self._recover(stream, Z, projection, labels)
        return self

    def _solve(self, X: Any, labels: NDArray[np.int64]) -> None:
        stream = RowStream(type(self).__name__, RowSlices(X, labels))
        self._recover(stream, *self._compress(stream), labels)

    def _compress(
        self, stream: RowStream
    ) -> tuple[NDArray[np.float64], GaussianBlocks]:
        """Return Z = Phi Lambda^T, shape (n, l), and Lambda."""
        size = self._checked_components()
        Z, projection = np.empty((0, size)), None
        for X in stream.first_pass():
            if projection is None:
                variance = 1.0 / (X.shape[1] if self.variance == "1/m" else size)
                # as `GaussianCompression` does
                key = int(as_generator(self.random_state).integers(2**63))
                store = is_kept(self.store, size, X.shape[1])
                projection = GaussianBlocks(
                    size, X.shape[1], variance=variance, key=key, store=store
                )
            start = Z.shape[0]
            # realloc moves pages, not values: no second copy of Z, as from
            # concatenating parts
            Z.resize((start + X.shape[0], size), refcheck=False)
            Z[start:] = projection.project(X)
        assert projection is not None  # an empty stream is refused
        return Z, projection

    def _recover(
        self,
        stream: RowStream,
        Z: NDArray[np.float64],
        projection: GaussianBlocks,
        labels: NDArray[np.int64],
    ) -> None:
        signs = self._signs(labels)
        self.n_iter_, self.compression_ratio_ = 0, self.n_features_in_ / Z.shape[1]
        solved = self._solved(Z, signs)
        self.compressed_coef_, self.compressed_objective_, self.gap_ = (
            solved.w,
            solved.primal,
            solved.gap,
        )
        passes = Passes(stream)
        if self.recovery == "transpose":
            recovered = by_transpose(solved, Z, signs, projection)
        elif self.refinements == 0:
            recovered = by_dual(solved, signs, self.c, passes, LOSSES[self.loss])
        else:
            limits: dict[str, Any] = {"steps": self.refinements, "tol": self.tol}
            limits["solve"] = lambda rows: self._solved(rows, signs)
            recovered = by_refinement(
                solved, Z, signs, self.c, passes, projection, **limits
            )
        self._keep(recovered, signs)
        self.n_passes_ = passes.count
        self.blocks_ = copy(projection)  # a copy leaves out what `store` keeps

    def _solved(
        self, rows: NDArray[np.float64], signs: NDArray[np.float64]
    ) -> PrimalDual:
        """Return the solution on few features and count its steps; warn if its gap stays open."""
        solved = LOSSES[self.loss].solve(rows, signs, self.c, tol=self.tol)
        self.n_iter_ += solved.n_iter
        if not solved.converged:
            warnings.warn(
                f"{type(self).__name__}: expected a relative duality gap of at most {self.tol:g}, got {solved.gap:.2g} "
                f"after {solved.n_iter} Newton steps; scale the features, or raise c or tol.",
                ConvergenceWarning,
                stacklevel=5,
            )
        return solved

    def _keep(self, recovered: Recovered, signs: NDArray[np.float64]) -> None:
        square = float(recovered.coef @ recovered.coef)
        self.coef_, self.intercept_ = recovered.coef[None, :], np.zeros(1)
        self.dual_coef_ = signs * recovered.alpha
        loss = LOSSES[self.loss]
        self.objective_ = float(
            loss.of_scores(recovered.scores).mean() + self.c * square
        )
        self.best_scale_, self.scaled_objective_ = loss.best_scale(
            recovered.scores, square, self.c
        )
        self.lower_bound_ = recovered.lower
        # rounding, if both are the optimum
        self.original_gap_ = float(
            np.maximum(self.scaled_objective_ - recovered.lower, 0.0)
            / self.scaled_objective_
        )

    def _checked_components(self) -> int:
        """Return l, or raise for any parameter out of range."""
        name, size = type(self).__name__, self.n_components
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
            raise ValueError(
                f"{name}: expected n_components to be a positive integer, got {size!r}."
            )
        check_positive(name, c=self.c, tol=self.tol)
        for parameter, choices in CHOICES.items():
            value = getattr(self, parameter)
            if value not in choices:
                raise ValueError(
                    f"{name}: expected {parameter} to be one of {choices}, got {value!r}."
                )
        check_store(name, self.store)
        steps = self.refinements
        if (
            isinstance(steps, bool)
            or not isinstance(steps, int | np.integer)
            or steps < 0
        ):
            raise ValueError(
                f"{name}: expected refinements to be an integer of at least 0, got {steps!r}."
            )
        if steps and self.recovery != "dual":
            raise ValueError(
                f'{name}: expected refinements=0 with recovery="{self.recovery}", got {steps}; use recovery="dual".'
            )
        if steps and self.loss != "hinge":
            raise ValueError(
                f'{name}: expected refinements=0 with loss="{self.loss}", got {steps}; use loss="hinge".'
            )
        return int(size)

    @contextmanager
    def _whole_or_nothing(self) -> Iterator[None]:
        """Remove the attributes of an earlier or failed fit."""
        self._forget()
        try:
            yield
        except BaseException:
            self._forget()
            raise

    def _forget(self) -> None:
        for name in [
            name
            for name in vars(self)
            if name.endswith("_") and not name.startswith("_")
        ]:
            delattr(self, name)
