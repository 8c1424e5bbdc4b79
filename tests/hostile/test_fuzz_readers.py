"""Readers of bytes and text from anywhere: a whole result or one clear error; no pickles, no memory for mere claims."""

import contextlib
import gzip
import io
import lzma
import pickle
import re
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hostile_bytes import Reader, bounded, fuzz, saved, tree
from scipy import sparse

from provlab.core.store import SCHEMA, TrialStore
from provlab.custody.agreement import OUTCOMES
from provlab.custody.audit_runs import TRIALS, AuditRun, read_audits
from provlab.project.documents import read_plain_yaml
from provlab.verdicts.claims.table import TableEvidence
from provsel.selectors import OnlineLeverageSelector
from provsel.streams import column_blocks, row_chunks

X = np.arange(24.0).reshape(6, 4) * (np.arange(24).reshape(6, 4) % 3 > 0)
SMALL = 30 << 20
HUGE = 1 << 40


# ---- what reading each kind of file must give


def values(X):
    return X.data if sparse.issparse(X) else np.asarray(X)


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


STATE = saved(
    lambda f: np.savez(
        f,
        **OnlineLeverageSelector(sampling_rate=1.5).partial_fit_columns(X).get_state(),
    )
)


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


TRIAL = [
    "k",
    "c",
    "d",
    "BSSSelector",
    "x",
    0,
    1,
    0,
    True,
    "different",
    [("error", "1", "2")],
    [],
]
RUN = AuditRun(
    "2026-01-02T03:04:05+00:00", "1", "x", "{}", 1, 0.5, None, "", 3, 1, skipped={"why": 2},
    trials=pd.DataFrame([TRIAL], columns=[*TRIALS]),
)  # fmt: skip


def ledger():
    with tempfile.TemporaryDirectory() as folder:
        return RUN.write(Path(folder)).read_bytes()


def ledgers_of(path):
    runs = read_audits(path.parent.parent)
    if path.read_bytes() == ledger():
        assert [run.different for run in runs] == [RUN.different]
    for run in runs:
        assert {*run.trials["outcome"]} <= {*OUTCOMES}
        assert all(
            isinstance(n, int)
            for n in (run.n_drawn, run.n_stored, *run.skipped.values())
        )


def results_of(path):
    table = TableEvidence(path, {"row": "m", "dataset": "d", "fold": "f", "error": "e"})
    assert not np.isinf(table.lines["error"]).any()
    assert len(table.lines)
    assert all(
        name.isprintable() for role in ("row", "dataset") for name in table.lines[role]
    )


def store_of(path):
    """A file that is damaged is set aside, and what is in the others counts."""
    store = TrialStore(path.parent)
    store.keys()
    trials = store.query(["c" * 64])
    assert set(trials["cell"].to_pylist()) <= {"c" * 64}
    store.read(["cell", "error"], encoded=True)


def parquet(table, **options):
    return saved(lambda f: pq.write_table(table, f, **options))


RECORD = {
    "key": "k" * 64,
    "cell": "c" * 64,
    "dataset": "d",
    "error": 0.5,
    "features": [1, 2],
    "config": None,
}
STORE = parquet(
    pa.Table.from_pylist([RECORD, {**RECORD, "key": "l" * 64}], schema=SCHEMA),
    compression="zstd",
    write_page_checksum=True,
)
RESULTS = b'm,d,f,e\nA,one,0,0.5\n"B",one,1,\nA,two,0,1e-1\nB,two,0,NaN\n'
RESULT_TABLE = parquet(
    pa.table({"m": ["A", "B"], "d": ["x", "x"], "f": [0, 1], "e": [0.5, 1]})
)
SVMLIGHT = (
    b"+1 1:0.5 3:2e1 # a comment\n-1 2:1\n1\n# nothing\n-1 1:-1 2:.5 4:3\n+1 4:1\n"
)
SVM_WORDS = (
    b"qid:3 ",
    b"1:",
    b" 4:1",
    b"0:1",
    b"-3:1",
    b"4294967299:1",
    b"99999999999999999999:1",
    b"1:nan",
    b"1,-1 ",
)
PARQUET = parquet(pa.table({f"c{j}": X[:, j] for j in range(4)}))
PACKED = parquet(pa.table({"a": [1, 2, 3], "label": [1, -1, 1]}), compression="zstd")
NPY_WORDS = (
    *(b"(6, 4)", b"(1099511627776, 4)", b"(-6, -4)", b"(6, 4, 1)", b"()", b"(6,)", b"'<f8'", b"'|O'", b"'<U8'"),
    *(b"'V8'", b"'<m8'", b"'<c16'", b"'>f4'", b"True", b"[('a', '<f8')]", b"-" * 60, b"(" * 60, b"\x93NUMPY\x02\x00"),
)  # fmt: skip
ZIP_WORDS = (
    *NPY_WORDS,
    b"PK\x03\x04",
    b"PK\x01\x02",
    b"PK\x05\x06",
    b"csr",
    b"coo",
    b"data.npy",
    b"\x01\0",
    b"\x0c\0",
)
NPZ = tuple(
    saved(sparse.save_npz, sparse.csr_array(X), compressed=packed)
    for packed in (True, False)
)
LEDGER_WORDS = (b"[[", b"{}", b"NaN", b"1e999", b'"when": "0001-01-01T00:00:00+23:59"')

READERS = {
    "svmlight": Reader("X.svm", (SVMLIGHT,), rows_of, SVM_WORDS),
    "svmlight gz": Reader("X.svm.gz", (gzip.compress(SVMLIGHT, mtime=0),), rows_of),
    "npy rows": Reader("X.npy", (saved(np.save, X),), rows_of, NPY_WORDS),
    "npy columns": Reader("X.npy", (saved(np.save, X),), columns_of, NPY_WORDS),
    "npz rows": Reader("X.npz", NPZ, rows_of, ZIP_WORDS),
    "npz columns": Reader(
        "X.npz", (saved(sparse.save_npz, sparse.csc_array(X)),), columns_of, ZIP_WORDS
    ),
    "parquet rows": Reader("X.parquet", (PARQUET,), rows_of),
    "parquet labels": Reader(
        "X.parquet", (PACKED,), lambda path: rows_of(path, y="label")
    ),
    "parquet columns": Reader("X.parquet", (PARQUET, PACKED), columns_of),
    "results": Reader(
        "results.csv",
        (RESULTS,),
        results_of,
        (b"m", b"e", b",", b'"', b"A,one,0,0.5\n"),
    ),
    "results Parquet": Reader("results.parquet", (RESULT_TABLE,), results_of),
    "audit": Reader("audits/a.json", (ledger(),), ledgers_of, LEDGER_WORDS),
    "store": Reader("data/store/x.parquet", (STORE,), store_of),
    "state of a stream": Reader(
        "state.npz", (STATE,), state_of, ZIP_WORDS, "OnlineLeverageSelector.set_state: "
    ),
}


@pytest.mark.parametrize("name", READERS)
def test_damaged_files(name, tmp_path):
    fuzz(READERS[name], tmp_path)


# ---- memory


def npy(shape, descr="<f8", content=b"\0" * 64):
    """Return the bytes of a .npy file that claims some shape."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        file, {"descr": descr, "fortran_order": False, "shape": shape}
    )
    return file.getvalue() + content


def array(values):
    return saved(np.save, np.asarray(values))


def npz(path, compression=zipfile.ZIP_STORED, **changes):
    """Write the file of a 2 x 3 matrix with some other members."""
    members = {
        "format": array(b"csr"), "shape": array([2, 3]), "data": array([1.0, 2.0]),
        "indices": array(np.array([0, 1], np.int32)), "indptr": array(np.array([0, 1, 2], np.int32)), **changes,
    }  # fmt: skip
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return path


CLAIMS = {
    "data of 2^40": (
        {"data": npy((HUGE,))},
        "a header of 8796093022208 bytes in 'data.npy', which has",
    ),
    "indices of 2^28": (
        {"indices": npy((1 << 28,), "<i4")},
        "a header of 1073741824 bytes in 'indices.npy'",
    ),
    "a format of 2^28 characters": (
        {"format": npy((), f"<U{1 << 28}")},
        "a header of 1073741824 bytes",
    ),
    "negative": ({"data": npy((-1,))}, r"an array of shape \(-1,\)"),
    "nested header": (
        {"data": npy((3,)).replace(b"(3,)", b"(" * 100 + b"3")},
        "TokenError",
    ),
    "records": ({"data": npy((HUGE,), [("a", "<f8", (1 << 20,))])}, "a header of"),
}


@pytest.mark.parametrize("case", CLAIMS)
@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_headers_of_packed_arrays_are_not_believed(case, compression, tmp_path):
    members, message = CLAIMS[case]
    path = npz(tmp_path / "X.npz", compression, **members)
    with (
        bounded(headroom=SMALL),
        pytest.raises(ValueError, match=rf"X\.npz: expected .*{message}"),
    ):
        rows_of(path)


def test_directories_of_archives_are_not_believed(tmp_path):
    path = npz(tmp_path / "X.npz", data=npy((1 << 28,)))
    size = len(npy((1 << 28,))).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(size, (1 << 31).to_bytes(4, "little")))
    with (
        bounded(headroom=SMALL),
        pytest.raises(
            ValueError, match=r"X\.npz: expected .* bytes in 'data\.npy'|share"
        ),
    ):
        rows_of(path)
    for compression in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        with pytest.raises(ValueError, match=r"X\.npz: expected .*"):
            rows_of(npz(path, compression))
    npz(path)
    with (
        zipfile.ZipFile(path, "a") as archive,
        pytest.warns(UserWarning, match="Duplicate"),
    ):
        archive.writestr("data.npy", array([3.0, 4.0]))
    with pytest.raises(
        ValueError, match=r"X\.npz: expected .*a member that occurs twice"
    ):
        rows_of(path)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        *(
            (shape, r"expected a whole \.npy file")
            for shape in [(HUGE, 4), (HUGE, HUGE), (1 << 31, 2), (-3, -4)]
        ),
        # or they were read for ever
        *((shape, r"to have rows and columns") for shape in [(HUGE, 0), (0, HUGE)]),
    ],
)
def test_headers_of_mapped_arrays_are_not_believed(shape, message, tmp_path):
    (tmp_path / "X.npy").write_bytes(
        npy(shape, content=b"" if 0 in shape else b"\0" * 64)
    )
    for read in (rows_of, columns_of):
        with (
            bounded(headroom=SMALL),
            pytest.raises(ValueError, match=rf"X\.npy.*{message}|{message}.*X\.npy"),
        ):
            read(tmp_path / "X.npy")


@pytest.mark.parametrize("name", ["X.svm", "X.svm.gz", "X.svm.xz"])
def test_a_line_without_end_is_not_read_as_a_whole(name, tmp_path, monkeypatch):
    monkeypatch.setattr("provsel.streams.svmlight_rows.MAX_LINE", 1 << 16)
    pack = {
        ".gz": lambda text: gzip.compress(text, 1),
        ".xz": lambda text: lzma.compress(text, preset=0),
    }
    write = lambda text: (tmp_path / name).write_bytes(pack.get(name[5:], bytes)(text))  # noqa: E731
    write(b"1 1:1\n" + b" " * ((1 << 16) - 1) + b"\n1 2:1\n")
    rows_of(tmp_path / name)
    write(b"\0" * (100 << 20))
    with (
        bounded(headroom=SMALL),
        pytest.raises(
            ValueError, match=f"{name}: expected .*a line of more than 65536 byte"
        ),
    ):
        row_chunks(tmp_path / name)


def test_pages_with_fewer_rows_than_the_footer_states(tmp_path):
    """Arrow returns what there is, and says nothing."""
    path = tmp_path / "X.parquet"
    pq.write_table(
        pa.table({"a": np.arange(77.0)}), path, compression="none", use_dictionary=False
    )
    whole = path.read_bytes()
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    # 77, as varints
    numbers = [
        match.start()
        for match in re.finditer(b"\x9a\x01", whole)
        if match.start() >= footer
    ]
    for place in numbers:
        path.write_bytes(whole[:place] + b"\x9c" + whole[place + 1 :])
        if pq.ParquetFile(path).metadata.num_rows == 78:
            break
    else:
        pytest.fail("the number of rows is not in the footer")
    for read in (rows_of, columns_of):
        with pytest.raises(
            ValueError,
            match=r"X\.parquet: expected 78 rows, the number in its footer, got 77",
        ):
            read(path)


# ---- code and text


class Canary:
    """Makes a folder when it is unpickled."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return (__import__("os").mkdir, (self.path,))


def test_pickles_are_refused_and_not_run(tmp_path):
    canary = tmp_path / "canary"
    objects = np.empty((2, 2), dtype=object)
    objects[:] = Canary(canary)
    pickled = array(objects)
    # the control: the canary sings where pickles are read
    np.load(io.BytesIO(pickled), allow_pickle=True)
    canary.rmdir()
    (tmp_path / "array.npy").write_bytes(pickled)
    (tmp_path / "joblib.npy").write_bytes(pickle.dumps(objects))
    (tmp_path / "pickle.npz").write_bytes(pickle.dumps(objects))
    for name in ("data", "indices", "shape", "format", "more"):
        npz(tmp_path / f"{name}.npz", **{name: pickled})
    before = tree(tmp_path)
    for path in sorted(tmp_path.glob("*.np[yz]")):
        for read in (rows_of, columns_of):
            with pytest.raises(ValueError, match=path.name):
                read(path)
    assert tree(tmp_path) == before
    with np.load(io.BytesIO(STATE)) as arrays:
        np.savez(tmp_path / "state", **{**arrays, "scores": objects})
    with pytest.raises(
        ValueError,
        match=r"set_state: expected scores to be readable, got ValueError\('Object arrays",
    ):
        state_of(tmp_path / "state.npz")
    # Arrow has a type that is a pickle in the metadata of a schema; pandas and NumPy
    # never see it here.
    extension = {
        "ARROW:extension:name": "arrow.py_extension_type",
        "ARROW:extension:metadata": pickled,
    }
    schema = pa.schema(
        [pa.field("a", pa.float64(), metadata=extension)], metadata={"pandas": pickled}
    )
    pq.write_table(pa.table({"a": [1.0, 2.0]}).cast(schema), tmp_path / "X.parquet")
    for read in (rows_of, columns_of):
        with contextlib.suppress(ValueError):  # both are fine
            read(tmp_path / "X.parquet")
    assert not canary.exists()


@pytest.mark.parametrize(
    "name", ["\x1b[31mred\x07", "a\nb", "../../x", "<script>", "n" * 5000]
)
def test_hostile_names_of_columns_are_shown_escaped(name, tmp_path):
    pq.write_table(pa.table({name: ["text"]}), tmp_path / "X.parquet")
    with pytest.raises(
        ValueError, match=r"X\.parquet: expected numeric columns, got string"
    ) as error:
        column_blocks(tmp_path / "X.parquet")
    assert str(error.value).isprintable()


YAML = {
    "a: !!python/object/apply:os.mkdir [canary]": "could not determine a constructor",
    **dict.fromkeys(
        [
            "a: !!timestamp x",
            "a: !!bool x",
            "a: !!int ''",
            "a: 2001-99-99",
            "a: \x01",
            "[" * 5,
        ],
        r"\w",
    ),
    "9" * 50000: r"\w",
}


@pytest.mark.parametrize("text", YAML, ids=lambda text: f"{text:.20}")
def test_yaml_is_plain_values_and_bounded(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("made.yaml").write_text(text)
    with bounded(), pytest.raises(ValueError, match=YAML[text]) as error:
        read_plain_yaml(Path("made.yaml"))
    assert len(str(error.value)) < 1000
    assert not Path("canary").exists()
    Path("made.yaml").write_text("a: &t a long text\nb: *t")
    assert read_plain_yaml(Path("made.yaml")) == {
        "a": "a long text",
        "b": "a long text",
    }
