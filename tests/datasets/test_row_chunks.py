"""row_chunks: the same rows and labels from every source, as often as wanted, memory, and every refusal."""

import bz2
import gzip
import lzma
import os
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import stream_files
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from stream_files import (
    dense,
    npz_of,
    parquet_of,
    peak_memory,
    truncated,
    write_memmap,
    write_npy,
    written,
    zeroed,
)

from provsel.streams import row_chunks

N, M = 150, 24
PACK = {".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress}
Y = np.where(np.random.default_rng(1).random(N) < 0.5, -1, 1)


def made(dtype=np.float64):
    rng = np.random.default_rng(0)
    X = 10 * rng.standard_normal((N, M)) * (rng.random((N, M)) < 0.5)
    X[:, -1] = 1  # the largest index occurs
    return (np.abs(X) if np.dtype(dtype).kind == "u" else X).astype(dtype)


def write_npz(folder, X, form=sparse.csr_array):
    return stream_files.write_npz(folder, X, form)


def write_parquet(folder, X, y=Y, **options):
    columns = {f"f{i}": pa.array(column) for i, column in enumerate(X.T)}
    if y is not None:
        columns = {"f0": columns.pop("f0"), "label": pa.array(y), **columns}  # somewhere between the features
    pq.write_table(pa.table(columns), folder / "X.parquet", **options)
    return folder / "X.parquet"


def write_svmlight(folder, X, name="X.svm", zero_based=False):
    rows = [[f"{j + (not zero_based)}:{float(x[j])!r}" for j in np.flatnonzero(x)] for x in X]
    text = "# made here\n" + "".join(f"{label:+d} {' '.join(row)}\n" for label, row in zip(Y, rows, strict=False))
    (folder / name).write_bytes(PACK.get(os.path.splitext(name)[1], bytes)(text.encode()))
    return folder / name


# source, y
SOURCES = {
    "array": lambda folder, X: (X, Y),
    "Fortran array": lambda folder, X: (np.asfortranarray(X), Y.tolist()),
    "memmap": lambda folder, X: (write_memmap(folder, X), Y),
    "npy": lambda folder, X: (write_npy(folder, X), Y),
    "Fortran npy": lambda folder, X: (str(write_npy(folder, X, "F")), Y),
    "csr": lambda folder, X: (sparse.csr_array(X), Y),
    "csr matrix": lambda folder, X: (sparse.csr_matrix(X), Y),
    "npz": lambda folder, X: (write_npz(folder, X), Y),
    "parquet": lambda folder, X: (write_parquet(folder, X), "label"),
    "parquet in row groups": lambda folder, X: (write_parquet(folder, X, row_group_size=7), "label"),
    "parquet and labels": lambda folder, X: (write_parquet(folder, X, None), Y),
    "svm": lambda folder, X: (write_svmlight(folder, X), None),
    "svm from 0": lambda folder, X: (write_svmlight(folder, X, zero_based=True), None),
    "svmlight.gz": lambda folder, X: (write_svmlight(folder, X, "X.svmlight.gz"), None),
    "libsvm.xz": lambda folder, X: (write_svmlight(folder, X, "X.libsvm.xz"), None),
    "TXT.bz2": lambda folder, X: (write_svmlight(folder, X, "X.TXT.bz2"), None),
}
TEXT = {"svm", "svm from 0", "svmlight.gz", "libsvm.xz", "TXT.bz2"}
SPARSE = {"csr", "csr matrix", "npz", *TEXT}
every_source = pytest.mark.parametrize("source", SOURCES)


@every_source
@pytest.mark.parametrize("size", [1, 64, N, 1000])
def test_all_rows_in_order_and_again(source, size, tmp_path):
    X = made()
    data, y = SOURCES[source](tmp_path, X)
    chunks = row_chunks(data, y=y, chunk_rows=size)
    assert (chunks.n_samples, chunks.n_features) == (N, M)
    for _ in range(2):
        parts = list(chunks)
        assert [part.shape[0] for part, _ in parts] == [min(size, N - start) for start in range(0, N, size)]
        assert all(part.format == "csr" if source in SPARSE else type(part) is np.ndarray for part, _ in parts)
        np.testing.assert_array_equal(np.concatenate([dense(part) for part, _ in parts]), X)
        np.testing.assert_array_equal(np.concatenate([labels for _, labels in parts]), Y)


def test_two_passes_can_run_at_once(tmp_path):
    for source, make in SOURCES.items():
        data, y = make(tmp_path, made())
        chunks = row_chunks(data, y=y, chunk_rows=40)
        for (first, _), (second, _) in zip(chunks, chunks, strict=True):
            np.testing.assert_array_equal(dense(first), dense(second), err_msg=source)


def test_without_labels(tmp_path):
    for name, make in SOURCES.items():
        data, _ = make(tmp_path, made())
        chunks = row_chunks(data, chunk_rows=40)
        assert all((labels is not None) == (name in TEXT) for _, labels in chunks), name
        assert chunks.n_features == M + (name in ("parquet", "parquet in row groups"))  # the labels look like a feature


@pytest.mark.parametrize(
    ("source", "dtype"),
    [
        *((source, dtype) for source in SOURCES if source not in TEXT for dtype in ("f4", "f8", "i8", "u1", "?")),
        *((source, dtype) for source in ("array", "memmap", "npy") for dtype in ("f2", ">f4", ">f8", ">i2")),
    ],
)
def test_float32_stays_and_other_numbers_become_float64(source, dtype, tmp_path):
    X = made(dtype)
    data, y = SOURCES[source](tmp_path, X)
    parts = [part for part, _ in row_chunks(data, y=y, chunk_rows=40)]
    assert {part.dtype for part in parts} == {np.dtype(np.float32 if dtype.endswith("f4") else np.float64)}
    np.testing.assert_array_equal(np.concatenate([dense(part) for part in parts]), X)


def test_labels_of_other_kinds(tmp_path):
    words = np.array(["spam", "ham"] * (N // 2))
    for given in (words, words.astype(object), Y.astype(np.float32), Y > 0):
        path = write_parquet(tmp_path, made(), given)
        for data, y in ((made(), given), (path, "label")):
            found = np.concatenate([labels for _, labels in row_chunks(data, y=y, chunk_rows=40)])
            np.testing.assert_array_equal(found, given)


def test_parquet_names_with_dots_are_no_nested_columns(tmp_path):
    names = ["a", "a.b", "", "a.b.c"]
    pq.write_table(pa.table([pa.array([1.0 * i, 4.0 + i]) for i in range(4)], names), tmp_path / "X.parquet")
    ((X, y),) = row_chunks(tmp_path / "X.parquet", y="a")
    np.testing.assert_array_equal(X, [[1, 2, 3], [5, 6, 7]])
    np.testing.assert_array_equal(y, [0, 4])


def test_svmlight_text_as_scikit_learn_reads_it(tmp_path):
    text = b"# head\n\n+1 qid:3 2:0.5 7:1e-3 # first\n-1\n  \n1 1:-2\n0 7:0 # last, without end of line"
    path = written(tmp_path, "X.txt", text)
    expected, labels = load_svmlight_file(str(path))
    for size in (1, 2, 10):
        chunks = row_chunks(path, chunk_rows=size)
        assert (chunks.n_samples, chunks.n_features) == (4, 7)
        np.testing.assert_array_equal(np.concatenate([dense(X) for X, _ in chunks]), expected.toarray())
        np.testing.assert_array_equal(np.concatenate([y for _, y in chunks]), labels)


def test_given_n_features_save_the_scan(tmp_path):
    path = written(tmp_path, "X.svm", b"1 2:0.5\n-1 3:1\nbroken\n")
    chunks = row_chunks(path, n_features=10, chunk_rows=2)
    assert (chunks.n_samples, chunks.n_features) == (None, 10)
    X, y = next(iter(chunks))
    np.testing.assert_array_equal(X.toarray(), [[0, 0.5] + 8 * [0], [0, 0, 1] + 7 * [0]])
    np.testing.assert_array_equal(y, [1, -1])
    with pytest.raises(ValueError, match="in row 2"):
        row_chunks(path)


@pytest.mark.parametrize("form", ["npy", "parquet", "svm", "svmlight.gz"])
def test_memory_is_that_of_a_few_chunks(form, tmp_path):
    """A few chunks of 250 rows of many thousands; one chunk of all shows that the measure sees a whole file."""
    n, m = (20_000, 250) if form in ("npy", "parquet") else (8000, 25)
    held = 8 * n * m
    if form == "npy":
        path = write_npy(tmp_path, np.random.default_rng(0).random((n, m)))
    elif form == "parquet":
        path = write_parquet(tmp_path, np.random.default_rng(0).random((n, m)), None, row_group_size=500)
    else:
        line = " ".join(f"{j}:{value:.17f}" for j, value in enumerate(np.random.default_rng(0).random(m), 1))
        text = f"1 {line}\n".encode() * n
        path = written(tmp_path, f"X.{form}", PACK.get(form[-3:], bytes)(text))
        held = 12 * n * m  # the numbers and their columns; no text

    def peak(size):
        def read():
            assert sum(chunk.shape[0] for chunk, _ in row_chunks(path, chunk_rows=size)) == n

        return peak_memory(read)

    assert peak(250) < held / 3
    assert peak(n) > held


BAD_VALUES = {
    "array": lambda folder, X: X,
    "npy": write_npy,
    "csr": lambda folder, X: sparse.csr_array(X),
    "npz": write_npz,
    "parquet": lambda folder, X: write_parquet(folder, X, None),
    "svm": write_svmlight,
}


@pytest.mark.parametrize("source", BAD_VALUES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_none_are_refused_in_their_chunk(source, dtype, value, tmp_path):
    X = made(dtype)
    X[[123, 125], [0, 3]] = value
    parts = iter(row_chunks(BAD_VALUES[source](tmp_path, X), chunk_rows=7))
    for _ in range(17):
        next(parts)
    with pytest.raises(
        ValueError,
        match=r"^row_chunks: chunk 17( in .*)?: expected finite numbers, got NaN or infinity in rows 123, 125 of all",
    ):
        next(parts)


def test_many_bad_rows_are_counted_and_large_numbers_are_none():
    X = np.ones((20, 3))
    X[4:] = np.nan
    with pytest.raises(ValueError, match=r"chunk 0: .* in rows 4, 5, 6, 7, 8 and 11 more of all"):
        next(iter(row_chunks(X)))
    large = np.full((20, 3), np.finfo(float).max)
    for X in (large, sparse.csr_array(large), large.astype(np.float64).clip(max=3e38).astype(np.float32)):
        with np.errstate(over="ignore"):
            assert np.isinf(X.sum())
        assert len(list(row_chunks(X))) == 1


@pytest.mark.parametrize("labels", [[1.0, np.nan, -1.0], [1, None, -1], ["a", None, "b"], [True, None, False]])
def test_missing_labels_are_refused_in_their_chunk(labels, tmp_path):
    path = write_parquet(tmp_path, np.ones((3, 2)), labels)
    text = written(tmp_path, "X.svm", b"1 1:2\nnan 1:3\n-1 2:4\n")
    for source, y in ((np.ones((3, 2)), labels), (path, "label"), (text, None)):
        with pytest.raises(
            ValueError,
            match=r"^row_chunks: chunk 1( in .*)?: expected a label for each row, got none or NaN in rows 1 of all",
        ):
            list(row_chunks(source, y=y, chunk_rows=1))


CSR_ENTRIES = {"format": b"csr", "shape": (3, 2), "data": np.ones(2), "indices": [0, 7], "indptr": [0, 1, 1, 2]}


KINDS = (
    r"expected a NumPy array without mask, a SciPy CSR matrix, or the path of a \.npy, \.npz, \.parquet or svmlight "
    r"file \(\.svm, \.svmlight, \.libsvm, \.txt, also \.gz, \.xz, \.bz2\), got "
)
SHAPE = r"expected array to be real numbers of shape \(n, d\), got "
LINES = r"expected lines 'label index:value \.\.\.' with increasing indices "
BAD = {
    "list": (lambda folder: [[1.0]], KINDS + "list; convert"),
    "none": (lambda folder: None, KINDS + "NoneType"),
    "masked": (lambda folder: np.ma.masked_invalid([[1.0, np.nan]]), KINDS + "MaskedArray"),
    "suffix": (lambda folder: "table.csv", KINDS + "'table.csv'"),
    "packed array": (lambda folder: "X.npy.gz", KINDS + "'X.npy.gz'"),
    "1-D": (lambda folder: np.ones(3), SHAPE + r"float64 of shape \(3,\); pass a matrix"),
    "complex": (lambda folder: np.ones((2, 3), complex), SHAPE + "complex128"),
    "object": (lambda folder: np.ones((2, 3), object), SHAPE + "object"),
    "csc": (lambda folder: sparse.csc_array(made()), r"expected sparse matrix in CSR form.*got CSC; .*\.tocsr\(\)"),
    "npy 1-D": (lambda folder: write_npy(folder, np.ones(5)), r"X.npy to be real numbers.*got float64 of shape \(5,\)"),
    "npy text": (lambda folder: write_npy(folder, np.array([["a"]])), "X.npy to be real numbers.*got <U1"),
    "npy cut": (lambda folder: truncated(write_npy(folder, made()), 0.5), "a whole .npy file of numbers, got"),
    "npy empty": (lambda folder: written(folder, "X.npy", b""), "a whole .npy file of numbers, got"),
    "npz csc": (lambda folder: write_npz(folder, made(), sparse.csc_array), r"X.npz in CSR.*got CSC; .*\.tocsr\(\)"),
    "npz cut": (lambda folder: truncated(write_npz(folder, made()), 0.5), "a whole .npz file as scipy.sparse.save_npz"),
    "npz columns": (
        lambda folder: npz_of(folder, **CSR_ENTRIES),
        "a whole .npz file as scipy.*indices from 0 to 7 where 0 to 1 are",
    ),
    "parquet cut": (lambda folder: truncated(write_parquet(folder, made()), 0.5), "expected a whole Parquet file, got"),
    "parquet text": (
        lambda folder: parquet_of(folder, fine=[1.0, 2.0], name=["a", "b"]),
        "X.parquet: expected numeric columns, got string in column 'name'; drop or convert",
    ),
    "svm empty": (
        lambda folder: written(folder, "X.svm", b"# nothing\n"),
        "X.svm: expected at least one row, got none",
    ),
    "svm without label": (
        lambda folder: written(folder, "X.svm", b"1 1:2\n1:0.5 2:3\n"),
        LINES + r"from 0 on, got could not convert string to float: b'1:0.5' in row 1; write the file again",
    ),
    "svm order": (lambda folder: written(folder, "X.svm", b"1 3:2 2:1\n"), LINES + "from 0 on, got Feature indices"),
    "svm word": (lambda folder: written(folder, "X.svm", b"1 1:1\n1 2:x\n"), LINES + "from 0 on, got .*in row 1;"),
    "svm huge index": (lambda folder: written(folder, "X.svm", b"1 99999999999:1\n"), LINES + ".* in row 0;"),
    "svm cut after a colon": (
        lambda folder: written(folder, "X.svm", b"1 1:2\n# c\n-1 3:0.5 7:"),
        LINES + ".* in row 1;",
    ),
    "svm cut in an index": (lambda folder: written(folder, "X.svm", b"1 1:2\n-1 3:0.5 7"), LINES + ".* in row 1;"),
    "svm cut in a label": (lambda folder: written(folder, "X.svm", b"1 1:2\n-"), LINES + ".* in row 1;"),
    **{
        f"{name} cut": (
            lambda folder, name=name: truncated(write_svmlight(folder, made(), name), 0.5),
            rf"{name}: expected rows from 0 on in good order, got .*(end-of-stream|EOF).* on reading; write it again",
        )
        for name in ("X.svm.gz", "X.svm.xz", "X.svm.bz2")
    },
    "svm.gz of text": (lambda folder: written(folder, "X.svm.gz", b"1 1:2\n"), "got BadGzipFile.* on reading"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_sources_are_refused(case, tmp_path):
    make, message = BAD[case]
    with pytest.raises(ValueError, match=f"^row_chunks: .*{message}"):
        row_chunks(make(tmp_path))


BAD_OPTIONS = {
    "chunk_rows": ({"chunk_rows": 0}, "chunk_rows must be an integer of at least 1, got 0"),
    "n_features": ({"n_features": 0}, "n_features must be an integer of at least 1, got 0"),
    "another width": (
        {"n_features": M + 1},
        f"expected rows of n_features = {M + 1} values, got {M}; check the source",
    ),
    "few labels": ({"y": Y[1:]}, rf"expected y of shape \({N},\), a label for each row, got shape \({N - 1},\)"),
    "2-D labels": ({"y": Y[:, None]}, rf"expected y of shape \({N},\), a label for each row, got shape \({N}, 1\)"),
    "named labels": ({"y": "label"}, "expected y an array, or a column of a .parquet file, got 'label'; pass the"),
}


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_bad_options_are_refused(case):
    options, message = BAD_OPTIONS[case]
    with pytest.raises(ValueError, match=f"^row_chunks: {message}"):
        row_chunks(made(), **options)


def test_labels_of_files(tmp_path):
    with pytest.raises(ValueError, match=r"^row_chunks: expected no y for an svmlight file, which has its labels"):
        row_chunks(write_svmlight(tmp_path, made()), y=Y)
    with pytest.raises(
        ValueError, match=r"X.parquet: expected a column 'target' of labels, got none of that name; pass"
    ):
        row_chunks(write_parquet(tmp_path, made()), y="target")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"1 1:1\n1 4:1\n", "from 1 to 3, got n_features was set to 3, but input file contains 4 features in row 1;.*"),
        (b"1 0:1\n", "from 1 to 3, got Invalid index 0 in .* in row 0; write the file again, or leave out n_features"),
    ],
)
def test_another_width_in_text_is_refused_in_its_row(text, message, tmp_path):
    with pytest.raises(ValueError, match=LINES + message):
        list(row_chunks(written(tmp_path, "X.svm", text), n_features=3))


def test_parquet_rows_that_cannot_be_read(tmp_path):
    path = parquet_of(tmp_path, a=[1.0, 2.0], b=[1, None])
    parts = iter(row_chunks(path, chunk_rows=1))
    next(parts)
    with pytest.raises(ValueError, match=r"X.parquet: expected numbers without nulls, got nulls in column 'b'; fill"):
        next(parts)
    path = zeroed(parquet_of(tmp_path, a=np.arange(50.0), b=np.arange(50.0)), 500)
    with pytest.raises(ValueError, match=r"^row_chunks: .*X.parquet: expected rows from 0 on in good order, got"):
        list(row_chunks(path))


@pytest.mark.parametrize("source", ["npy", "parquet", "svmlight.gz"])
def test_a_file_cut_between_two_passes_is_refused(source, tmp_path):
    path, y = SOURCES[source](tmp_path, made())
    chunks = row_chunks(path, y=y, chunk_rows=10)
    list(chunks)
    truncated(path, 0.5)
    with pytest.raises(ValueError, match=r"^row_chunks: .*(whole|in good order).*; write it again"):
        list(chunks)


def test_a_text_cut_between_two_lines_has_fewer_rows(tmp_path):
    path = written(tmp_path, "X.svm", b"1 1:2\n-1 2:3\n1 1:4\n")
    chunks = row_chunks(path, chunk_rows=2)
    written(tmp_path, "X.svm", b"1 1:2\n-1 2:3\n")
    with pytest.raises(
        ValueError, match=r"X.svm: expected 3 rows as on the first pass, got 2; leave the file as it is"
    ):
        list(chunks)


@pytest.mark.parametrize("name", ["none.npy", "none.npz", "none.parquet", "none.svm.xz", "folder.npy"])
def test_missing_files(name, tmp_path):
    (tmp_path / "folder.npy").mkdir()
    with pytest.raises(FileNotFoundError, match=f"^row_chunks: expected a file, got .*{re.escape(name)}, which is"):
        row_chunks(tmp_path / name)
