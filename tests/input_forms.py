"""X as it may come: sparse objects whose arrays do not fit together, and every form of the same numbers."""

import numpy as np
from scipy import sparse

MATRICES = {
    "csr": (sparse.csr_array, sparse.csr_matrix), "csc": (sparse.csc_array, sparse.csc_matrix),
    "bsr": (sparse.bsr_array, sparse.bsr_matrix), "coo": (sparse.coo_array, sparse.coo_matrix),
    "dia": (sparse.dia_array, sparse.dia_matrix), "lil": (sparse.lil_array, sparse.lil_matrix),
    "dok": (sparse.dok_array, sparse.dok_matrix),
}  # fmt: skip


def _put(name, place, value):
    def damage(X):
        getattr(X, name)[place] = value

    return damage


def _set(name, change):
    return lambda X: setattr(X, name, change(getattr(X, name)))


def _index(axis, value):
    """Of COO: set an entry of its coordinates, which are read-only attributes in some versions."""

    def damage(X):
        X.coords[axis][3] = value

    return damage


COMPRESSED = {
    "negative index": (_put("indices", 3, -7), "indices from -7 to"),
    "index too large": (
        _put("indices", 3, 10**6),
        "indices from 0 to 1000000 where 0 to",
    ),
    "index at the end": (_put("indices", -1, 2**31 - 1), "to 2147483647 where"),
    "indptr falls": (_put("indptr", 2, 10**6), r"indptr that falls, after position 2"),
    "indptr begins late": (_put("indptr", 0, 1), "indptr from 1 to"),
    "indptr begins below 0": (_put("indptr", 0, -5), "indptr from -5 to"),
    "indptr ends late": (
        _put("indptr", -1, 10**6),
        "indptr from 0 to 1000000 where data has",
    ),
    "indptr short": (
        _set("indptr", lambda part: part[:-1]),
        "entries in indptr where the shape has",
    ),
    "indptr of floats": (
        _set("indptr", lambda part: part.astype(float)),
        "indptr of float64 where int32 or int64",
    ),
    "indices of floats": (
        _set("indices", lambda part: part + 0.5),
        "indices of float64 where int32 or int64",
    ),
    "indices of one byte": (
        _set("indices", lambda part: part.astype(np.uint8)),
        "indices of uint8 where",
    ),
    "indices short": (
        _set("indices", lambda part: part[:-4]),
        "entries in indices where data has",
    ),
    "data short": (
        _set("data", lambda part: part[:-4]),
        "entries in indices where data has",
    ),
    "no indices": (_set("indices", lambda part: None), "indices of NoneType where"),
    "data in a table": (
        _set("data", lambda part: part[None]),
        r"data of shape \(1, .* where an array of",
    ),
}
BLOCKS = {
    "blocks of another size": (
        _set("data", lambda part: np.ones((len(part), 7, 1))),
        "blocks of shape .7, 1.,",
    )
}
DAMAGES = {
    "csr": COMPRESSED,
    "csc": COMPRESSED,
    "bsr": COMPRESSED | BLOCKS,
    "coo": {
        "negative row": (_index(0, -1), "row from -1 to"),
        "row too large": (_index(0, 10**6), "row from 0 to 1000000 where"),
        "column too large": (_index(1, 10**9), "col from 0 to 1000000000 where"),
        "coordinates short": (
            _set("coords", lambda pair: (pair[0], pair[1][:-3])),
            "entries in col where data has",
        ),
        "coordinates of floats": (
            _set("coords", lambda pair: (pair[0], pair[1] + 0.5)),
            "col of float64 where",
        ),
    },
    "dia": {
        "offsets short": (
            _set("offsets", lambda part: part[:-2]),
            "entries in offsets where rows of data has",
        ),
        "offset too large": (
            _set("offsets", lambda part: part + np.int64(2**40)),
            "where SciPy reads 32 bits",
        ),
        "offsets of floats": (
            _set("offsets", lambda part: part + 0.5),
            "offsets of float64 where",
        ),
        "data in a line": (
            _set("data", np.ravel),
            r"data of shape \(\d+,\) where an array of 2 dimensions",
        ),
    },
    "lil": {
        "column too large": (
            lambda X: X.rows[0].__setitem__(-1, 10**6),
            "rows from 0 to 1000000 where",
        ),
        "negative column": (lambda X: X.rows[0].__setitem__(0, -1), "rows from -1 to"),
        "values short": (
            lambda X: X.data[1].pop(),
            r"entries in rows\[1\] where data\[1\] has",
        ),
        "rows short": (
            _set("rows", lambda part: part[:-1]),
            "entries in rows where rows of the matrix has",
        ),
        "a row of floats": (
            lambda X: X.rows[0].__setitem__(0, 0.5),
            "rows of float64 where",
        ),
        "a row that is no list": (_put("rows", 1, None), "rows that are not all lists"),
    },
    "dok": {
        "column too large": (
            lambda X: X._dict.__setitem__((0, 10**6), 1.0),
            "col from 0 to 1000000 where",
        ),
        "negative row": (lambda X: X._dict.__setitem__((-1, 0), 1.0), "row from -1 to"),
        "a key of three": (
            lambda X: X._dict.__setitem__((0, 0, 0), 1.0),
            "keys that are not all pairs",
        ),
        "a key of floats": (
            lambda X: X._dict.__setitem__((0.5, 0), 1.0),
            "row of float64 where",
        ),
    },
}


def malformed(X):
    """Yield (name, sparse object with the numbers of X and one fault, regular expression of the fault)."""
    for form, classes in MATRICES.items():
        for cls in classes:
            for name, (damage, fault) in DAMAGES[form].items():
                damaged = cls(X)
                damage(damaged)
                yield f"{cls.__name__}: {name}", damaged, fault


def same_numbers(X):
    """Yield (name, X in another form): layouts, formats, types of indices, order, duplicates, stored zeros."""
    wide = np.zeros((X.shape[0], 2 * X.shape[1]))
    wide[:, ::2] = X
    yield "dense C", np.ascontiguousarray(X)
    yield "dense F", np.asfortranarray(X)
    yield "dense view", wide[:, ::2]
    yield "dense reversed", np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]
    for cls, _ in MATRICES.values():
        yield cls.__name__, cls(X)
    spare = sparse.csr_array(X)
    spare.data, spare.indices = (
        np.append(part, [7, 7]).astype(part.dtype)
        for part in (spare.data, spare.indices)
    )
    yield "csr_array with spare room", spare
    rng = np.random.default_rng(0)
    for cls, kind in (
        (sparse.csr_array, np.int64),
        (sparse.csr_matrix, np.int32),
        (sparse.csc_matrix, np.int64),
    ):
        for name, change in {
            "unsorted": _shuffled,
            "duplicates": _halved,
            "stored zeros": _with_zeros,
        }.items():
            changed = change(cls(X), rng)
            changed.indices, changed.indptr = (
                changed.indices.astype(kind),
                changed.indptr.astype(kind),
            )
            yield f"{cls.__name__} of {kind.__name__}, {name}", changed


def _shuffled(X, rng):
    for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        order = start + rng.permutation(stop - start)
        X.indices[start:stop], X.data[start:stop] = X.indices[order], X.data[order]
    X.has_sorted_indices = False
    return X


def _halved(X, rng):
    """Each value in two halves, which add up to it without rounding."""
    parts = np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr
    return _shuffled(type(X)(parts, shape=X.shape), rng)


def _with_zeros(X, rng):
    lines = X.indptr.size - 1
    places = X.shape[0 if X.format == "csc" else 1]
    used = {
        (line, place)
        for line in range(lines)
        for place in X.indices[X.indptr[line] : X.indptr[line + 1]]
    }
    free = [
        (line, place)
        for line in range(lines)
        for place in range(0, places, 7)
        if (line, place) not in used
    ]
    rows, columns = np.array(free).T if X.format == "csr" else np.array(free).T[::-1]
    full = X.tocoo()
    merged = sparse.coo_array(
        (
            np.append(full.data, 0.0 * rows),
            (np.append(full.row, rows), np.append(full.col, columns)),
        ),
        shape=X.shape,
    )
    return type(X)(merged.asformat(X.format))


def arrays_of(X):
    """Return the arrays of X, which SciPy may share with others."""
    names = ("data", "indices", "indptr", "coords", "offsets", "rows")
    if not sparse.issparse(X):
        return [X]
    arrays = []
    for name in names:
        part = getattr(X, name, ())
        arrays += part if isinstance(part, tuple) else [part]
    return arrays


def frozen(X):
    """Return X after its arrays became read-only; SciPy itself cannot convert lists in such arrays."""
    for array in arrays_of(X):
        array.flags.writeable = array.dtype == object
    return X
