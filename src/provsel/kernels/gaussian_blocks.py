"""Gaussian matrix that is generated in blocks of columns, each from its own random bits, and never stored whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg.blas import dsyrk

from provsel.kernels.spectral import Matrix

Array = NDArray[np.float64]

WIDTH = 256
"""Columns per block. Seeding a block takes as long as some 800 normals; a sparse chunk pays for whole blocks."""

PANEL = 2**20
"""Entries, 8 MB, generated before one product, and at least as many as its result has: then adding up the results costs
little beside the products.
"""

PRODUCT = 2**21
"""Entries, 16 MB, of a product before it is added to the result. A larger one would get its own pages from the system,
whose zeroing took as long as everything else at 18,000 sparse rows and l = 2,361.
"""

KEPT_BYTES = 2**28
"""With store="auto", a Lambda of up to this size, 256 MB, is kept."""


def check_store(subject: str, store: bool | str) -> None:
    """Raise if the parameter `store` of an estimator named `subject` is neither True, False nor "auto"."""
    if not (isinstance(store, bool) or store == "auto"):
        raise ValueError(
            f'{subject}: expected store to be True, False or "auto", got {store!r}.'
        )


def is_kept(store: bool | str, n_components: int, n_features: int) -> bool:
    """Return whether Lambda, shape (l, m), is kept with an estimator's parameter `store`."""
    return (
        8 * n_components * n_features <= KEPT_BYTES if store == "auto" else bool(store)
    )


class GaussianBlocks:
    """Lambda, shape (l, m), with independent N(0, variance) entries, regenerated whenever needed.

    Block b, columns 256 b, ..., 256 b + 255, is the output of SFC64 for the child b of
    the seed `key`. It depends on l, the key and b only, and neither on m nor on earlier
    requests.

    Parameters
    ----------
    n_components, n_features : int
        l and m.
    variance : float
    key : int
        Not negative.
    store : bool, default=False
        Whether to keep the generated blocks, which take 8 l m bytes in total. The
        results are the same bit for bit.

    Notes
    -----
    Generating a normal takes about 8 ns, the time of about 350 floating point
    operations of a matrix product on one core. A chunk of n dense rows needs 2 n
    operations per normal. So chunks of n = 1,024 rows run at about 0.8 of the rate of a
    plain product on one core, of 4,096 rows at 0.9 or more. A sparse chunk with at
    least about 10 non-zeros per feature takes less than three times its product with a
    stored matrix. With fewer, nearly all the time goes into normals: use larger chunks
    or `store`, which takes about as long as that product. Beside the result it needs
    memory of the result's size, at least 8 MB, 16 MB for products, and twice the size
    of sparse rows. Threads can share an object.
    """

    def __init__(
        self,
        n_components: int,
        n_features: int,
        *,
        variance: float,
        key: int,
        store: bool = False,
    ) -> None:
        self.n_components, self.n_features = n_components, n_features
        self.variance, self.key, self.store = variance, key, store
        self._edges = np.minimum(np.arange(0, n_features + WIDTH, WIDTH), n_features)
        self._kept: Array | None = None
        self._made: set[int] = set()
        self._lock = Lock()

    def project(self, X: Matrix) -> NDArray[Any]:
        """Return X Lambda^T, shape (n, l), dense, for the rows X.

        Parameters
        ----------
        X : ndarray, CSR or CSC of shape (n, m), float32 or float64
            Only the blocks of a sparse X with a non-zero are generated. float32 gives
            float32, with Lambda rounded.
        """
        needed, parts = None, None
        width = WIDTH * self._blocks_a_panel(X.shape[0] * self.n_components)
        if sparse.issparse(X):
            X = X.tocsr()
            needed = np.zeros(self._edges.size - 1, dtype=bool)
            needed[X.indices // WIDTH] = True
            parts = _column_parts(X, width)
        projected = np.zeros((X.shape[0], self.n_components), dtype=X.dtype)
        height = max(1, PRODUCT // self.n_components)
        for start, stop, panel in self._panels(width // WIDTH, needed):
            part = (
                X[:, start:stop]
                if parts is None
                else parts(start // width, stop - start)
            )
            panel = panel.astype(X.dtype, copy=False)
            for first in range(0, X.shape[0], height):
                projected[first : first + height] += (
                    part[first : first + height] @ panel
                )
        return projected

    def expand(self, w: Array) -> Array:
        """Return Lambda^T w, shape (m,) or (m, k), for w of shape (l,) or (l, k)."""
        w = np.asarray(w, dtype=np.float64)
        expanded = np.empty((self.n_features, *w.shape[1:]))
        for start, stop, panel in self._panels(self._blocks_a_panel(0)):
            expanded[start:stop] = panel @ w
        return expanded

    def dense(self) -> Array:
        """Return Lambda, shape (l, m)."""
        return self.expand(np.eye(self.n_components)).T

    def gram(self) -> Array:
        """Return Lambda Lambda^T, shape (l, l), computing only one half."""
        gram = np.zeros((self.n_components, self.n_components), order="F")
        for _, _, panel in self._panels(1):
            gram = dsyrk(1.0, panel.T, beta=1.0, c=gram, overwrite_c=1)
        gram += np.triu(gram, 1).T  # BLAS leaves zeros below
        return gram

    def _blocks_a_panel(self, size: int) -> int:
        """Return how many blocks are generated for one product whose result has `size` entries."""
        return max(1, max(PANEL, size) // (WIDTH * self.n_components))

    def _panels(
        self, count: int, needed: NDArray[np.bool_] | None = None
    ) -> Iterator[tuple[int, int, Array]]:
        """Yield start, stop, and the rows start, ..., stop - 1 of Lambda^T, in panels of `count` blocks.

        Rows of blocks that are not `needed` are arbitrary.
        """
        n_blocks = self._edges.size - 1
        held = (
            self._all_kept()
            if self.store
            else np.zeros((min(count * WIDTH, self.n_features), self.n_components))
        )
        for first in range(0, n_blocks, count):
            last = min(first + count, n_blocks)
            wanted = (
                np.arange(first, last)
                if needed is None
                else first + np.flatnonzero(needed[first:last])
            )
            if wanted.size:
                start, stop = int(self._edges[first]), int(self._edges[last])
                panel = held[start:stop] if self.store else held[: stop - start]
                with (
                    self._lock if self.store else nullcontext()
                ):  # otherwise another thread would read unscaled normals
                    for block in wanted:
                        if block not in self._made:
                            self._make(
                                int(block),
                                panel[
                                    self._edges[block] - start : self._edges[block + 1]
                                    - start
                                ],
                            )
                    if self.store:
                        self._made.update(wanted.tolist())
                yield start, stop, panel

    def _all_kept(self) -> Array:
        """Return the stored rows of Lambda^T, shape (m, l); only the blocks in `_made` are filled."""
        with self._lock:
            if self._kept is None:
                self._kept = np.zeros((self.n_features, self.n_components))
            return self._kept

    def _make(self, block: int, out: Array) -> None:
        """Write the columns of a block, as rows, to `out`, C-contiguous of shape (up to 256, l)."""
        # the fastest of NumPy's bit generators; `spawn_key` makes independent streams
        stream = np.random.SFC64(np.random.SeedSequence(self.key, spawn_key=(block,)))
        np.random.Generator(stream).standard_normal(out=out)
        out *= np.sqrt(self.variance)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the kept blocks out of copies and pickles, which can regenerate them."""
        return {**self.__dict__, "_kept": None, "_made": set(), "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=Lock())


def _column_parts(X: Any, width: int) -> Callable[[int, int], Any]:
    """Return a function of (k, w): the w columns of the CSR matrix X from k `width` on, as CSR.

    One counting sort puts the columns of each part below the earlier ones, where their
    rows form a slice. Slicing CSC and converting each part to CSR takes twice as long,
    and a product with CSC would visit rows repeatedly.
    """
    n, m = X.shape
    k = -(-m // width)
    if k == 1:
        return lambda _, __: X
    kind = np.int32 if max(k * n, m, X.nnz) < 2**31 else np.int64
    part = (X.indices // width).astype(kind, copy=False)
    rows = np.repeat(np.arange(n, dtype=kind), np.diff(X.indptr))
    rows += n * part
    entries = (X.data, (rows, X.indices - width * part))
    below = sparse.coo_array(entries, shape=(k * n, width)).tocsr()
    return lambda part, w: below[part * n : (part + 1) * n, :w]
