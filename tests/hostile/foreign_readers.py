"""The readers of untrusted bytes, each with whole files to damage."""

import bz2
import gzip
import io
import lzma
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from hostile_bytes import Reader
from scipy import sparse

from provlab.agreement import OUTCOMES
from provlab.audit import TRIALS, AuditRun, read_audits
from provlab.claims.table import TableEvidence
from provlab.store import SCHEMA, TrialStore
from provsel.selectors import OnlineLeverageSelector
from provsel.streams import column_blocks, row_chunks

X = np.arange(24.0).reshape(6, 4) * (np.arange(24).reshape(6, 4) % 3 > 0)


def saved(save, *args, **kwargs):
    file = io.BytesIO()
    save(file, *args, **kwargs)
    return file.getvalue()


def values(X):
    return X.data if sparse.issparse(X) else np.asarray(X)


# ---- streams


def rows_of(path, **options):
    chunks = row_chunks(path, chunk_rows=4, **options)
    n = 0
    for X, y in chunks:
        assert X.shape[1] == chunks.n_features
        assert np.isfinite(values(X)).all()
        assert y is None or y.shape == (X.shape[0],)
        n += X.shape[0]
    assert chunks.n_samples in (None, n)


def columns_of(path):
    blocks = column_blocks(path, block_size=3)
    d = 0
    for X, features in blocks:
        assert X.shape == (blocks.n_samples, features.size)
        assert values(X).dtype.kind == "f"
        d += features.size
    assert d == blocks.n_features


SVMLIGHT = b"+1 1:0.5 3:2e1 # a comment\n-1 2:1\n1\n# nothing\n-1 1:-1 2:.5 4:3\n+1 4:1\n"
SVM_WORDS = (b"qid:3 ", b"1:", b" 4:1", b"0:1", b"-3:1", b"4294967299:1", b"99999999999999999999:1", b"1:nan", b"1,-1 ")
PARQUET = saved(lambda f: pq.write_table(pa.table({f"c{j}": X[:, j] for j in range(4)}), f))
PACKED = saved(lambda f: pq.write_table(pa.table({"a": [1, 2, 3], "label": [1, -1, 1]}), f, compression="zstd"))
NPY = saved(np.save, X)
NPY_WORDS = (
    *(b"(6, 4)", b"(1099511627776, 4)", b"(-6, -4)", b"(6, 4, 1)", b"()", b"(6,)", b"'<f8'", b"'|O'", b"'<U8'"),
    *(b"'V8'", b"'<m8'", b"'<c16'", b"'>f4'", b"True", b"[('a', '<f8')]", b"-" * 60, b"(" * 60, b"\x93NUMPY\x02\x00"),
)  # fmt: skip
NPZ = saved(sparse.save_npz, sparse.csr_array(X))
PLAIN_NPZ = saved(sparse.save_npz, sparse.csr_array(X), compressed=False)
CSC = saved(sparse.save_npz, sparse.csc_array(X), compressed=False)
ZIP_WORDS = (
    *NPY_WORDS,
    b"PK\x03\x04",
    b"PK\x01\x02",
    b"PK\x05\x06",
    b"csr",
    b"coo",
    b"data.npy",
    b"\x01\x00",
    b"\x0c\x00",
)


# ---- loaders


def whole_dataset(data):
    n, d = data.X.shape
    assert data.y.shape == (n,)
    assert len(set(data.feature_names)) == d
    assert np.isfinite(values(data.X)).all()


TOKENS = b"+1 a alpha beta\xa0x beta\n-1 b gamma\n1 a \n-1 b alpha  gamma\n"
"""Any text, to pack."""


# ---- state


STATE = saved(lambda f: np.savez(f, **OnlineLeverageSelector(sampling_rate=1.5).partial_fit_columns(X).get_state()))


def state_of(path):
    """What the documentation of `set_state` names: the arrays that `numpy.load` gives."""
    selector = OnlineLeverageSelector(sampling_rate=1.5)
    with path.open("rb") as file:
        try:
            arrays = np.load(file, allow_pickle=False)
        except Exception:  # this much is NumPy's own reading
            return
        selector.set_state(arrays)
    assert np.isfinite(selector.weights_).all()
    assert np.isfinite(selector.partial_fit_columns(X[:, :1], [10_000]).scores_).all()


LEDGER_WORDS = (b"[[", b"{}", b"NaN", b"1e999", b'"when": "0001-01-01T00:00:00+23:59"')
TRIAL = ["k", "c", "d", "BSSSelector", "x", 0, 1, 0, True, "different", [("error", "1", "2")], []]
RUN = AuditRun(
    "2026-01-02T03:04:05+00:00", "1", "x", "{}", 1, 0.5, None, "", 3, 1, skipped={"why": 2},
    trials=pd.DataFrame([TRIAL], columns=[*TRIALS]),
)  # fmt: skip


def ledger():
    with tempfile.TemporaryDirectory() as folder:
        return RUN.write(Path(folder)).read_bytes()


def ledgers_of(path):
    found = read_audits(path.parent.parent)
    if path.read_bytes() == ledger():
        assert [run.different for run in found] == [RUN.different]
    for run in found:
        assert {*run.trials["outcome"]} <= {*OUTCOMES}
        assert all(isinstance(n, int) for n in (run.n_drawn, run.n_stored, *run.skipped.values()))


RECORD = {"key": "k" * 64, "cell": "c" * 64, "dataset": "d", "error": 1.5, "features": [1, 2], "config": "{}"}
RESULTS = b'm,d,f,e\nA,one,0,0.5\n"B",one,1,\nA,two,0,1e-1\nB,two,0,NaN\n'
RESULT_TABLE = saved(
    lambda f: pq.write_table(pa.table({"m": ["A", "B"], "d": ["x", "x"], "f": [0, 1], "e": [0.5, 1]}), f)
)


def results_of(path):
    table = TableEvidence(path, {"row": "m", "dataset": "d", "fold": "f", "error": "e"})
    assert not np.isinf(table.lines["error"]).any()
    assert len(table.lines)
    assert all(name.isprintable() for role in ("row", "dataset") for name in table.lines[role])


STORE = saved(lambda f: pq.write_table(
    pa.Table.from_pylist([RECORD, {**RECORD, "key": "l" * 64}], schema=SCHEMA), f,
    compression="zstd", write_page_checksum=True,
))  # fmt: skip


def store_of(path):
    """A file that is damaged is set aside, and what is in the others counts."""
    store = TrialStore(path.parent)
    store.keys()
    found = store.query(["c" * 64])
    assert set(found["cell"].to_pylist()) <= {"c" * 64}
    store.read(["cell", "error"], encoded=True)


TEXT = {
    "svmlight": Reader("X.svm", (SVMLIGHT,), rows_of, SVM_WORDS),
    "svmlight of known width": Reader("X.svm", (SVMLIGHT,), lambda path: rows_of(path, n_features=4), SVM_WORDS),
    "results": Reader("results.csv", (RESULTS,), results_of, (b"m", b"e", b",", b"\"", b"A,one,0,0.5\n")),
    "audit": Reader("audits/a.json", (ledger(),), ledgers_of, LEDGER_WORDS),
}  # fmt: skip

BINARY = {
    "svmlight gz": Reader("X.svm.gz", (gzip.compress(SVMLIGHT, mtime=0),), rows_of),
    "svmlight xz": Reader("X.svm.xz", (lzma.compress(SVMLIGHT),), rows_of),
    "svmlight bz2": Reader("X.svm.bz2", (bz2.compress(SVMLIGHT),), rows_of),
    "npy rows": Reader("X.npy", (NPY,), rows_of, NPY_WORDS),
    "npy columns": Reader("X.npy", (NPY,), columns_of, NPY_WORDS),
    "npz rows": Reader("X.npz", (NPZ, PLAIN_NPZ), rows_of, ZIP_WORDS),
    "npz columns": Reader("X.npz", (CSC,), columns_of, ZIP_WORDS),
    "parquet rows": Reader("X.parquet", (PARQUET,), rows_of),
    "parquet labels": Reader("X.parquet", (PACKED,), lambda path: rows_of(path, y="label")),
    "parquet columns": Reader("X.parquet", (PARQUET, PACKED), columns_of),
    "results Parquet": Reader("results.parquet", (RESULT_TABLE,), results_of),
    "store": Reader("data/store/x.parquet", (STORE,), store_of),
    "state of a stream": Reader("state.npz", (STATE,), state_of, ZIP_WORDS, "OnlineLeverageSelector.set_state: "),
}
