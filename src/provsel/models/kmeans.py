"""k-means by Lloyd's iterations, with as many clusters as classes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_consistent_length

from provsel.labels import check_classes
from provsel.validation import DocumentedMixin, validated


class KMeansClustering(ClusterMixin, DocumentedMixin, BaseEstimator):
    """k-means by scikit-learn, with the defaults of MATLAB's `kmeans`; Wang, Shen, Li (2018) do not state theirs.

    Use it to cluster like MATLAB's `kmeans`, which papers often use without stating its
    settings.

    The defaults are k-means++ seeds, one replicate, and at most 100 iterations, until
    no row changes its cluster. One difference remains: each seed is the best of 2 + log
    k candidates, where MATLAB draws one (`n_local_trials=1`). Needs one copy of X;
    sparse or float32 X keeps its form.

    Parameters
    ----------
    n_clusters : int, default=None
        k; None is the number of classes in y.
    n_init : int, default=1
        Runs from different seeds; the cheapest is kept. MATLAB's "Replicates".
    max_iter : int, default=100
        Limit on the iterations of a run.
    tol : float, default=0.0
        Also stop if the squared movement of the centres is at most this multiple of the
        mean variance of the columns; 0 waits until no row changes its cluster.
    n_local_trials : int, default=None
        Candidates for each seed but the first; the one that lowers the cost most is
        chosen. None: 2 + log k.
    random_state : int, RandomState or None, default=None
        Random state of the seeds.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,), int64
        Clusters, from 0 on.
    cluster_centers_ : ndarray of shape (n_clusters_, n_features)
    inertia_ : float
        Sum of the squared distances of the rows to their centres.
    n_iter_ : int
    n_clusters_ : int
        The k used.
    n_features_in_ : int

    Warns
    -----
    ConvergenceWarning
        If there are fewer distinct rows than clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.models import KMeansClustering
    >>> X = np.array([[0.0], [0.1], [9.0], [9.1]])
    >>> labels = KMeansClustering(2, random_state=0).fit(X).labels_
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True

    References
    ----------
    Lloyd (1982), Least squares quantization in PCM; Arthur, Vassilvitskii (2007),
    k-means++.
    """

    algorithm_version = 1

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 0.0,
        n_local_trials: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_local_trials = n_local_trials
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the rows of X, shape (n, d), dense or sparse; y, shape (n,), only gives their number.

        Raises
        ------
        ValueError
            If X has NaN or infinite values, the number of labels is wrong, neither
            `n_clusters` nor y is given, there are more clusters than rows, or
            `n_local_trials` is not positive.
        """
        # slow import, needed only here
        from sklearn.cluster import KMeans, kmeans_plusplus

        X = validated(self, X)
        if y is not None:
            check_consistent_length(X, y)
        self.n_clusters_ = self._count(X.shape[0], y)
        trials = self.n_local_trials
        if trials is not None and (
            isinstance(trials, bool)
            or not isinstance(trials, int | np.integer)
            or trials < 1
        ):
            raise ValueError(
                f"KMeansClustering: expected n_local_trials to be None or a positive integer, got {trials!r}; 1 is "
                f"the value of MATLAB."
            )

        def seeds(rows: Any, n_clusters: int, random_state: Any) -> NDArray[np.float64]:
            return kmeans_plusplus(
                rows, n_clusters, random_state=random_state, n_local_trials=trials
            )[0]

        clustering = KMeans(
            self.n_clusters_,
            init="k-means++" if trials is None else seeds,
            n_init=self.n_init,
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=self.random_state,
            # dense rows are centred in the copy; sparse ones are only read, and copied
            # by the seeding anyway
            copy_x=not (sparse.issparse(X) and X.data.flags.writeable),
            algorithm="lloyd",
        ).fit(X)
        self.labels_ = clustering.labels_.astype(np.int64)
        self.cluster_centers_, self.inertia_, self.n_iter_ = (
            clustering.cluster_centers_,
            clustering.inertia_,
            clustering.n_iter_,
        )
        return self

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int64]:
        """Cluster the rows of X, shape (n, d), and return `labels_`; scikit-learn's method would ignore y."""
        return self.fit(X, y).labels_

    def _count(self, n_samples: int, y: Any) -> int:
        """Return the number of clusters, or raise."""
        count = self.n_clusters
        if count is None:
            if y is None:
                raise ValueError(
                    "KMeansClustering: expected n_clusters, or labels y whose classes are counted, got neither; "
                    "pass y to fit, or set n_clusters."
                )
            check_classes("KMeansClustering", np.asarray(y), "set n_clusters")
            return np.unique(y).size
        if (
            isinstance(count, bool)
            or not isinstance(count, int | np.integer)
            or not 1 <= count <= n_samples
        ):
            raise ValueError(
                f"KMeansClustering: expected n_clusters to be None or an integer between 1 and the number of rows, "
                f"{n_samples}, got {count!r}."
            )
        return int(count)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
