"""From file to compressed file: the same bits, the same result for any chunks, and every refusal."""

import errno
import gc
import json
import os
import resource
from contextlib import contextmanager

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError

from provsel.selectors import GaussianCompression, _compression_stream
from provsel.streams import compressed_file as _compressed_file
from provsel.streams import row_chunks

pytestmark = pytest.mark.filterwarnings("error")
N = 200
M = 40
L = 6
NAME = r"^GaussianCompression\.compress_to: "


def random_rows(n=N, m=M, seed=0, dtype=np.float64, density=0.3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, m)) * (rng.random((n, m)) < density)
    X[:, -1] = 1
    y = np.where(X[:, :4].sum(axis=1) + 0.3 * rng.standard_normal(n) > 0, 1, -1)
    return X.astype(dtype), y


def cut(X, y, size):
    parts = [slice(start, start + size) for start in range(0, X.shape[0], size)]
    if y is None:
        return [(X[part], None) for part in parts]
    return [(X[part], y[part]) for part in parts]


def read(path, y=None):
    parts = list(row_chunks(path, y=y, chunk_rows=33))
    Z = np.concatenate([rows for rows, _ in parts])
    if y is None:
        return Z, None
    return Z, np.concatenate([labels for _, labels in parts])


def compression(**options):
    return GaussianCompression(L, random_state=0, **options)


@pytest.fixture(params=[1])
def small_steps(request, monkeypatch):
    """Let few rows be compressed together: of all but short streams some are in the file before an error."""
    monkeypatch.setattr(_compression_stream, "TOGETHER", request.param)


LABELS = {
    "none": lambda y: None,
    "int": lambda y: y,
    "float32": lambda y: (y / 3).astype(np.float32),
    "bool": lambda y: y > 0,
    "str": lambda y: np.where(y > 0, "spam", "häm"),
    "object": lambda y: np.where(y > 0, "spam", "ham").astype(object),
}


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_the_file_has_the_bits_of_transform(form, dtype, labels, tmp_path):
    X, y = random_rows(dtype=dtype)
    y, path = LABELS[labels](y), tmp_path / "Z.parquet"
    fitted = compression()
    assert fitted.compress_to(path, [(form(X), y)]) == N
    Z, labels_read = read(path, None if y is None else "label")
    assert_array_equal(Z, fitted.transform(form(X)), strict=True)
    if y is not None:
        assert_array_equal(labels_read, y)
    assert_allclose(Z, X @ compression().fit(X).blocks_.dense().T, rtol=1e-5, atol=1e-5)
    assert os.listdir(tmp_path) == ["Z.parquet"]


def test_the_file_says_what_it_is_and_is_plain(tmp_path):
    X, y = random_rows()
    fitted = compression(variance="1/l")
    fitted.compress_to(str(tmp_path / "Z.parquet"), cut(X, y, 50))
    about = json.loads(
        pq.read_schema(tmp_path / "Z.parquet").metadata[_compressed_file.METADATA]
    )
    assert about == {
        "n_components": L,
        "n_features": M,
        "variance": 1 / L,
        "key": fitted.blocks_.key,
    }
    column = pq.ParquetFile(tmp_path / "Z.parquet").metadata.row_group(0).column(0)
    assert column.compression == "UNCOMPRESSED"
    assert not column.has_dictionary_page
    assert column.path_in_schema == "z0"
    assert "PLAIN" in column.encodings


@pytest.mark.parametrize("store", [True, False])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("small_steps", [8 * 30 * (M + L)], indirect=True)
def test_any_number_of_workers_gives_the_same_file(form, store, tmp_path, small_steps):
    X, y = random_rows()
    contents = []
    for n_jobs in (1, 2, 3, -1):
        fitted = compression(store=store)
        path = tmp_path / f"{n_jobs}.parquet"
        assert fitted.compress_to(path, cut(form(X), y, 10), n_jobs=n_jobs) == N
        assert pq.ParquetFile(path).num_row_groups > 3
        contents.append(path.read_bytes())
    assert len(set(contents)) == 1
    assert_allclose(read(path, "label")[0], fitted.transform(X), rtol=1e-12, atol=1e-13)
    assert_array_equal(read(path, "label")[1], y)


def test_a_second_file_goes_on_with_the_same_matrix(tmp_path):
    X, y = random_rows()
    fitted = GaussianCompression(L)  # no seed: what was drawn stays
    for name in "ab":
        fitted.compress_to(tmp_path / f"{name}.parquet", cut(X, y, 50))
    assert (tmp_path / "a.parquet").read_bytes() == (
        tmp_path / "b.parquet"
    ).read_bytes()
    with pytest.raises(
        ValueError,
        match=NAME
        + rf"chunk 0: expected {M} features as before, got {M - 1}; give all",
    ):
        fitted.compress_to(tmp_path / "a.parquet", cut(X[:, 1:], y, 50))
    assert fitted.transform(X).shape == (N, L)


NAN = np.where(np.isin(np.arange(N), (175, 178))[:, None], np.nan, random_rows()[0])
X0, Y0 = random_rows()
FLOATS = Y0 / 2
GAP = np.where(np.arange(N) == 33, np.nan, FLOATS)
WORDS = np.where(Y0 > 0, "a", "b").astype(object)
BAD = {
    "width": (
        cut(X0, Y0, 10)[:3] + cut(X0[:, 1:], Y0, 10),
        rf"chunk 3: expected {M} features as before, got {M - 1};",
    ),
    "NaN": (
        cut(NAN, Y0, 10),
        r"chunk 17: expected finite numbers, got NaN or infinity in rows 175, 178 of all",
    ),
    "sparse NaN": (
        cut(sparse.csr_array(NAN), Y0, 10),
        r"chunk 17: .* in rows 175, 178 of all, counted from 0; fill",
    ),
    "infinity": (
        [(np.full((9, M), -np.inf), None)],
        r"chunk 0: .* in rows 0, 1, 2, 3, 4 and 4 more of all",
    ),
    "no labels later": (
        [*cut(X0, Y0, 10)[:3], *cut(X0, None, 10)],
        r"chunk 3: expected labels of int64 as in the chunks before, got no labels; give all chunks the same form",
    ),
    "labels later": (
        [*cut(X0, None, 10)[:3], *cut(X0, Y0, 10)],
        r"chunk 3: expected no labels as in the chunks before, got labels of int64; give",
    ),
    "other labels": (
        [*cut(X0, Y0, 10)[:3], *cut(X0, WORDS.astype(str), 10)],
        r"chunk 3: expected labels of int64 as .*, got labels of strings; give",
    ),
    "other values": (
        [*cut(X0, Y0, 10)[:3], *cut(X0.astype(np.float32), Y0, 10)],
        r"chunk 3: expected values of float64 as .*, got values of float32; give",
    ),
    "NaN label": (
        cut(X0, GAP, 10),
        r"chunk 3: expected a label for each row, got none or NaN in rows 33 of all",
    ),
    "None label": (
        cut(X0, np.where(np.arange(N) == 33, None, WORDS), 10),
        r"chunk 3: expected a label for each row, got none or NaN in rows 33 of all",
    ),
    "mixed labels": (
        cut(X0, np.where(np.arange(N) == 33, 7, WORDS), 10),
        r"expected labels to be all numbers, all "
        r"strings",
    ),
    "few labels": (
        [(X0, Y0[1:])],
        rf"chunk 0: expected one label for each of its {N} rows, got labels of shape",
    ),
    "no pairs": (
        [X0],
        r"chunk 0: expected \(X_chunk, y_chunk or None\), got ndarray; yield pairs",
    ),
    "1-D": (
        [(X0[0], None)],
        r"chunk 0: expected real numbers of shape \(b, m\), got float64 of shape \(40,\)",
    ),
    "text": (
        [(X0.astype(str), None)],
        r"chunk 0: expected real numbers of shape \(b, m\), got <U",
    ),
    "no columns": (
        [(X0[:, :0], None)],
        r"chunk 0: expected at least 1 features, got 0",
    ),
    "nothing": (
        [],
        r"expected chunks with at least one row, got none; check the source",
    ),
    "no rows": (
        [(X0[:0], None)],
        r"expected chunks with at least one row, got none; check the source",
    ),
    "number": (
        3,
        r"expected an iterable of \(X_chunk, y_chunk or None\), got int; pass row_chunks",
    ),
}


@contextmanager
def nothing_left(fitted, path, error, match):
    """Expect the error; neither a fit nor a file is left, and a file that was there is."""
    path.write_bytes(b"earlier")
    before = dict(vars(fitted))
    # what is older is not looked at below: a large heap takes longer than the rest
    gc.freeze()
    with pytest.raises(error, match=match) as caught:
        yield caught
    assert os.listdir(path.parent) == [path.name]
    assert path.read_bytes() == b"earlier"
    assert vars(fitted) == before
    with pytest.raises(NotFittedError):
        fitted.transform(X0)
    gc.collect()  # a writer that was left open would complain now
    gc.unfreeze()


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("case", BAD)
def test_bad_chunks_leave_nothing(case, n_jobs, tmp_path, small_steps):
    chunks, message = BAD[case]
    with nothing_left(
        fitted := compression(),
        tmp_path / "Z.parquet",
        ValueError,
        f"{NAME.rstrip()[:-1]}.*{message}",
    ):
        fitted.compress_to(tmp_path / "Z.parquet", chunks, n_jobs=n_jobs)


@pytest.mark.parametrize(
    ("path", "options", "message"),
    [
        (
            "Z.npy",
            {},
            r"expected a path that ends with \.parquet, got '.*Z\.npy'; rename the file\.",
        ),
        (
            "folder.parquet",
            {},
            r"expected the path of a file, got the folder .*folder\.parquet; add a file name\.",
        ),
        (
            "Z.parquet",
            {"n_jobs": 0},
            "expected n_jobs to be a non-zero integer \\(-1 uses all cores\\), got 0",
        ),
        ("Z.parquet", {"n_jobs": True}, "expected n_jobs .* got True"),
        ("Z.parquet", {"n_jobs": 1.5}, "expected n_jobs .* got 1.5"),
    ],
)
def test_bad_arguments_leave_nothing(path, options, message, tmp_path):
    (tmp_path / "folder.parquet").mkdir()
    fitted = compression()
    with pytest.raises(ValueError, match=NAME + message):
        fitted.compress_to(tmp_path / path, [(X0, Y0)], **options)
    assert os.listdir(tmp_path) == ["folder.parquet"]
    assert not hasattr(fitted, "blocks_")


@contextmanager
def largest_file(size):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Python ignores SIGXFSZ: write fails with EFBIG
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("has_length", [True, False])
def test_no_room_is_told_with_what_is_needed(has_length, n_jobs, tmp_path, small_steps):
    """48 bytes a row and 8 of its label; the limit is reached in the fourth row group, whose pages come one by one."""
    X, y = random_rows(n=20_000)
    chunks = (
        row_chunks(X, y=y, chunk_rows=2000) if has_length else iter(cut(X, y, 2000))
    )
    needed = (
        r"about 1\.1 MB for 20,000 rows" if has_length else "about 56 bytes per row"
    )
    message = (
        NAME
        + r"expected room for .*Z\.parquet, got 'File too large' after 6,000 rows and 0\.4 MB; "
        rf"it needs {needed}: make room, write to another disk, or take a smaller n_components\. Nothing is left"
    )
    with (
        nothing_left(
            fitted := compression(),
            tmp_path / "Z.parquet",
            OSError,
            f"(?s).*{message[1:]}",
        ) as caught,
        largest_file(400_000),
    ):
        fitted.compress_to(tmp_path / "Z.parquet", chunks, n_jobs=n_jobs)
    assert caught.value.errno == errno.EFBIG


@pytest.mark.parametrize(
    ("code", "is_room"),
    [(errno.ENOSPC, True), (errno.EDQUOT, True), (errno.EIO, False)],
)
@pytest.mark.parametrize("where", ["__init__", "write_table", "close"])
def test_other_errors_of_the_disk(where, code, is_room, tmp_path, monkeypatch):
    def failing(*_, **__):
        raise OSError(code, "from the disk")

    monkeypatch.setattr(pq.ParquetWriter, where, failing)
    message = f"expected room for .*, got {os.strerror(code)!r} after {N if where == 'close' else 0} rows"
    with nothing_left(
        fitted := compression(),
        tmp_path / "Z.parquet",
        OSError,
        message if is_room else "from the disk",
    ) as caught:
        fitted.compress_to(tmp_path / "Z.parquet", [(X0, WORDS.astype("S"))])
    assert caught.value.errno == code
    monkeypatch.undo()


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_interrupt_leaves_nothing(error, n_jobs, tmp_path, small_steps):

    def interrupted():
        yield from cut(X0, Y0, 10)[:12]
        raise error("now")

    with nothing_left(fitted := compression(), tmp_path / "Z.parquet", error, "now"):
        fitted.compress_to(tmp_path / "Z.parquet", interrupted(), n_jobs=n_jobs)


def test_an_error_in_a_worker_leaves_nothing(tmp_path, small_steps, monkeypatch):

    def failing(self, X):
        raise MemoryError("in a worker")

    monkeypatch.setattr(
        "provsel.kernels.gaussian_blocks.GaussianBlocks.project", failing
    )
    with nothing_left(
        fitted := compression(), tmp_path / "Z.parquet", MemoryError, "in a worker"
    ):
        fitted.compress_to(tmp_path / "Z.parquet", cut(X0, Y0, 10), n_jobs=2)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_chunks_of_any_size_give_the_same(form):
    X, y = random_rows(n=1100, m=300, density=0.05)  # two blocks of Lambda
    expected = compression().fit_transform(form(X))
    for size in (1, 7, 64, 1024):
        fitted = compression(store=True)
        Z = np.concatenate(
            [fitted.partial_compress(part) for part, _ in cut(form(X), y, size)]
        )
        assert_allclose(Z, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())
