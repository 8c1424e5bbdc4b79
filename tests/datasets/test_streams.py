"""Arrays and files in chunks of rows and blocks of columns: the same numbers from every source, and every refusal."""

import bz2
import gzip
import lzma
import os
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal
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

from provsel.streams import column_blocks, row_chunks

N = 24
D = 150
PACK = {".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress}
AXIS = {"rows": 0, "columns": 1}
FORM = {"rows": sparse.csr_array, "columns": sparse.csc_array}


def values(dtype=np.float64):
    """Return rows for `column_blocks`, of rank 6 and with zeros; `row_chunks` gets their transpose."""
    rng = np.random.default_rng(0)
    left, right = (
        rng.standard_normal(shape) * (rng.random(shape) < 0.6)
        for shape in ((N, 6), (6, D))
    )
    X = 10 * left @ right
    X[-1] = 1  # the largest index of svmlight text occurs
    return (np.abs(X) if np.dtype(dtype).kind == "u" else X).astype(dtype)


Y = np.where(np.random.default_rng(1).random(D) < 0.5, -1, 1)


def write_npz(folder, X, form):
    sparse.save_npz(folder / "X.npz", form(X))
    return folder / "X.npz"


def write_parquet(folder, X, names=None, **options):
    names = names or [f"f{i}" for i in range(X.shape[1])]
    pq.write_table(
        pa.table([pa.array(column) for column in X.T], names),
        folder / "X.parquet",
        **options,
    )
    return folder / "X.parquet"


def write_labelled(folder, X, y=Y, **options):
    # the labels stand between the features
    names = ["f0", "label", *(f"f{i}" for i in range(1, X.shape[1]))]
    columns = [X[:, 0], y, *X[:, 1:].T]
    pq.write_table(
        pa.table([pa.array(column) for column in columns], names),
        folder / "X.parquet",
        **options,
    )
    return folder / "X.parquet"


def write_svmlight(folder, X, name="X.svm", zero_based=False):
    text = "# made here\n"
    for label, x in zip(Y, X, strict=False):
        pairs = [f"{j + (not zero_based)}:{float(x[j])!r}" for j in np.flatnonzero(x)]
        text += f"{label:+d} {' '.join(pairs)}\n"
    (folder / name).write_bytes(
        PACK.get(os.path.splitext(name)[1], bytes)(text.encode())
    )
    return folder / name


COMMON = {
    "array": lambda folder, X: X,
    "Fortran array": lambda folder, X: np.asfortranarray(X),
    "memmap": write_memmap,
    "npy": write_npy,
    "Fortran npy": lambda folder, X: str(write_npy(folder, X, "F")),
    "parquet": write_parquet,
    "parquet in row groups": lambda folder, X: write_parquet(
        folder, X, row_group_size=7
    ),
    "upper case": lambda folder, X: write_npy(folder, X).rename(folder / "X.NPY"),
}
CSR = {"csr": lambda folder, X: sparse.csr_array(X), "csr matrix": lambda folder, X: sparse.csr_matrix(X),
       "csr npz": lambda folder, X: write_npz(folder, X, sparse.csr_array)}  # fmt: skip
CSC = {"csc": lambda folder, X: sparse.csc_array(X), "csc matrix": lambda folder, X: sparse.csc_matrix(X),
       "csc npz": lambda folder, X: write_npz(folder, X, sparse.csc_array),
       "npz of a matrix": lambda folder, X: write_npz(folder, X, sparse.csc_matrix)}  # fmt: skip
TEXT = {
    "svm": write_svmlight,
    "svm from 0": lambda folder, X: write_svmlight(folder, X, zero_based=True),
    **{name: lambda folder, X, name=name: write_svmlight(folder, X, f"X.{name}")
       for name in ("svmlight.gz", "libsvm.xz", "TXT.bz2")},
}  # fmt: skip
LABELLED = {
    "labelled parquet": lambda folder, X: write_labelled(folder, X),
    "labelled row groups": lambda folder, X: write_labelled(
        folder, X, row_group_size=7
    ),
}
CASES = [
    *(("columns", name, make) for name, make in {**COMMON, **CSC}.items()),
    *(
        ("rows", name, make)
        for name, make in {**COMMON, **CSR, **TEXT, **LABELLED}.items()
    ),
]
every_source = pytest.mark.parametrize(
    ("lines", "source", "make"),
    CASES,
    ids=[f"{lines} of {two}" for lines, two, _ in CASES],
)


def matrix(lines, dtype=np.float64):
    return values(dtype) if lines == "columns" else values(dtype).T


def labels_of(source):
    """Return what `y` must be: text has its labels, and a table may."""
    if source in TEXT:
        return None
    return "label" if source in LABELLED else Y


def stream(lines, source, streamed, size, **options):
    if lines == "columns":
        return column_blocks(streamed, block_size=size, **options)
    return row_chunks(streamed, y=labels_of(source), chunk_rows=size, **options)


@every_source
@pytest.mark.parametrize("size", [1, 64, D, 1000])
def test_all_lines_in_order_and_again(lines, source, make, size, tmp_path):
    X = matrix(lines)
    parts = stream(lines, source, make(tmp_path, X), size)
    assert (parts.n_samples, parts.n_features) == X.shape
    # two passes may run at once
    for (first, _), (second, _) in zip(parts, parts, strict=True):
        assert_array_equal(dense(first), dense(second))
    blocks = list(parts)
    sizes = [part.shape[AXIS[lines]] for part, _ in blocks]
    assert sizes == [min(size, D - start) for start in range(0, D, size)]
    is_sparse = source in {**CSR, **CSC, **TEXT}
    assert all(sparse.issparse(part) == is_sparse for part, _ in blocks)
    assert all(
        part.format == FORM[lines].__name__[:3] for part, _ in blocks if is_sparse
    )
    assert_array_equal(
        np.concatenate([dense(part) for part, _ in blocks], axis=AXIS[lines]), X
    )
    beside = np.concatenate([beside for _, beside in blocks])
    assert_array_equal(beside, np.arange(D) if lines == "columns" else Y)


@pytest.mark.parametrize(
    ("lines", "source", "make"), [case for case in CASES if case[0] == "columns"]
)
@pytest.mark.parametrize("start", [1, 64, D - 1, D])
def test_columns_from_a_start(lines, source, make, start, tmp_path):
    X = values()
    blocks = column_blocks(make(tmp_path, X), block_size=64, start=start)
    assert len(blocks) == len(list(blocks)) == -(-(D - start) // 64)
    for block, features in blocks:
        assert features.dtype == np.int64
        assert_array_equal(dense(block), X[:, features])
    assert_array_equal(
        np.concatenate([[], *(features for _, features in blocks)]), np.arange(start, D)
    )


@every_source
def test_float32_stays_and_other_numbers_become_float64(lines, source, make, tmp_path):
    types = ["f4", "f8", "i8", "u1", "?"] if source not in TEXT else []
    types += ["f2", ">f4", ">f8", ">i2"] if source in ("array", "memmap", "npy") else []
    for dtype in types:
        X = matrix(lines, dtype)
        parts = [part for part, _ in stream(lines, source, make(tmp_path, X), 40)]
        assert {part.dtype for part in parts} == {
            np.dtype(np.float32 if dtype.endswith("f4") else np.float64)
        }
        assert_array_equal(
            np.concatenate([dense(part) for part in parts], axis=AXIS[lines]), X
        )


def test_tables_of_mixed_types_and_of_names_with_dots(tmp_path):
    table = pa.table(
        {"a": np.float32([1, 2]), "b": np.float32([3, 4]), "c": np.int32([5, 6])}
    )
    pq.write_table(table, tmp_path / "mixed.parquet")
    assert [
        block.dtype
        for block, _ in column_blocks(tmp_path / "mixed.parquet", block_size=1)
    ] == [np.float64] * 3
    # no nested columns
    path = write_parquet(
        tmp_path, np.arange(8.0).reshape(2, 4), ["a", "a.b", "", "a.b.c"]
    )
    blocks = np.hstack([block for block, _ in column_blocks(path, block_size=1)])
    assert_array_equal(blocks, np.arange(8.0).reshape(2, 4))
    ((X, y),) = row_chunks(path, y="a")
    assert_array_equal(np.column_stack([y, X]), blocks)


@pytest.mark.parametrize(
    ("lines", "form"),
    [*((lines, form) for lines in FORM for form in ("npy", "parquet")), ("columns", "Fortran npy"), ("rows", "svm"),
     ("rows", "svmlight.gz")],
)  # fmt: skip
def test_memory_is_that_of_a_few_chunks(lines, form, tmp_path):
    """One chunk of all shows that the measure sees a whole file."""
    long, wide = (8000, 250) if form in COMMON else (8000, 25)
    shape = (long, wide) if lines == "rows" else (wide, long)
    held = 8 * long * wide
    if form in COMMON:
        X = np.random.default_rng(0).random(shape)
        groups = {"row_group_size": 500 if lines == "rows" else 50}
        path = (
            write_parquet(tmp_path, X, **groups)
            if form == "parquet"
            else COMMON[form](tmp_path, X)
        )
    else:
        line = " ".join(
            f"{j}:{value:.17f}"
            for j, value in enumerate(np.random.default_rng(0).random(wide), 1)
        )
        path = written(
            tmp_path,
            f"X.{form}",
            PACK.get(form[-3:], bytes)(f"1 {line}\n".encode() * long),
        )
        held = 12 * long * wide  # the numbers and their columns; no text

    def peak(size):
        options = {"chunk_rows": size} if lines == "rows" else {"block_size": size}

        def read():
            parts = (row_chunks if lines == "rows" else column_blocks)(path, **options)
            assert sum(part.shape[AXIS[lines]] for part, _ in parts) == long

        return peak_memory(read)

    assert peak(250) < held / 3
    assert peak(long) > held


# ---- labels and text


def test_labels_of_any_kind_or_none(tmp_path):
    words = np.array(["spam", "ham"] * (D // 2))
    for labels_given in (words, words.astype(object), Y.astype(np.float32), Y > 0):
        for data, y in (
            (values().T, labels_given),
            (write_labelled(tmp_path, values().T, labels_given), "label"),
        ):
            streamed = np.concatenate(
                [labels for _, labels in row_chunks(data, y=y, chunk_rows=40)]
            )
            assert_array_equal(streamed, labels_given)
    for _, name, make in CASES[len(COMMON) + len(CSC) :]:
        chunks = row_chunks(make(tmp_path, values().T), chunk_rows=40)
        assert all((labels is not None) == (name in TEXT) for _, labels in chunks), name
        # the labels look like a feature
        assert chunks.n_features == N + (name in LABELLED)


def test_svmlight_text_as_scikit_learn_reads_it(tmp_path):
    text = b"# head\n\n+1 qid:3 2:0.5 7:1e-3 # first\n-1\n  \n1 1:-2\n0 7:0 # last, without end of line"
    path = written(tmp_path, "X.txt", text)
    expected, labels = load_svmlight_file(str(path))
    for size in (1, 2, 10):
        chunks = row_chunks(path, chunk_rows=size)
        assert (chunks.n_samples, chunks.n_features) == (4, 7)
        assert_array_equal(
            np.concatenate([dense(X) for X, _ in chunks]), expected.toarray()
        )
        assert_array_equal(np.concatenate([y for _, y in chunks]), labels)


def test_given_n_features_save_the_scan(tmp_path):
    path = written(tmp_path, "X.svm", b"1 2:0.5\n-1 3:1\nbroken\n")
    chunks = row_chunks(path, n_features=10, chunk_rows=2)
    assert (chunks.n_samples, chunks.n_features) == (None, 10)
    X, y = next(iter(chunks))
    assert_array_equal(X.toarray(), [[0, 0.5] + 8 * [0], [0, 0, 1] + 7 * [0]])
    assert_array_equal(y, [1, -1])
    with pytest.raises(ValueError, match="in row 2"):
        row_chunks(path)


# ---- refusals in a chunk


@pytest.mark.parametrize("source", ["array", "npy", "csr", "csr npz", "parquet", "svm"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_none_are_refused_in_their_chunk(
    source, dtype, value, tmp_path
):
    X = np.array(values(dtype).T)
    X[[123, 125], [0, 3]] = value
    parts = iter(
        row_chunks({**COMMON, **CSR, **TEXT}[source](tmp_path, X), chunk_rows=7)
    )
    for _ in range(17):
        next(parts)
    message = r"^row_chunks: chunk 17( in .*)?: expected finite numbers, got NaN or infinity in rows 123, 125 of all"
    with pytest.raises(ValueError, match=message):
        next(parts)


def test_many_bad_rows_are_counted_and_large_numbers_are_none():
    X = np.ones((20, 3))
    X[4:] = np.nan
    with pytest.raises(
        ValueError, match=r"chunk 0: .* in rows 4, 5, 6, 7, 8 and 11 more of all"
    ):
        next(iter(row_chunks(X)))
    large = np.full((20, 3), np.finfo(float).max)
    for X in (
        large,
        sparse.csr_array(large),
        large.astype(np.float64).clip(max=3e38).astype(np.float32),
    ):
        with np.errstate(over="ignore"):
            assert np.isinf(X.sum())
        assert len(list(row_chunks(X))) == 1


@pytest.mark.parametrize(
    "labels",
    [[1.0, np.nan, -1.0], [1, None, -1], ["a", None, "b"], [True, None, False]],
)
def test_missing_labels_are_refused_in_their_chunk(labels, tmp_path):
    path = write_labelled(tmp_path, np.ones((3, 2)), labels)
    text = written(tmp_path, "X.svm", b"1 1:2\nnan 1:3\n-1 2:4\n")
    message = r"^row_chunks: chunk 1( in .*)?: expected a label for each row, got none or NaN in rows 1 of all"
    for source, y in ((np.ones((3, 2)), labels), (path, "label"), (text, None)):
        with pytest.raises(ValueError, match=message):
            list(row_chunks(source, y=y, chunk_rows=1))


SUBJECT = {"rows": "row_chunks", "columns": "column_blocks"}
SIZE = {"rows": {"chunk_rows": 1}, "columns": {"block_size": 1}}
LATE = {
    "nulls in a column": ("columns", lambda folder: parquet_of(folder, a=[1.0, 2.0], b=[1, None], c=[5, 6]),
                          "X.parquet: expected numbers without nulls, got nulls in column 'b'; fill them or drop"),
    "nulls in a row": ("rows", lambda folder: parquet_of(folder, a=[1.0, 2.0], b=[1, None]),
                       "X.parquet: expected numbers without nulls, got nulls in column 'b'; fill"),
    "damaged columns": ("columns", lambda folder: zeroed(parquet_of(folder, a=np.arange(50.0), b=np.arange(50.0)), 500),
                        "X.parquet: expected columns 'b' to 'b' in good order, got"),
    "damaged rows": ("rows", lambda folder: zeroed(parquet_of(folder, a=np.arange(50.0), b=np.arange(50.0)), 500),
                     "X.parquet: expected rows from 0 on in good order, got"),
}  # fmt: skip


@pytest.mark.parametrize("case", LATE)
def test_damage_is_refused_in_its_block(case, tmp_path):
    lines, make, message = LATE[case]
    parts = (row_chunks if lines == "rows" else column_blocks)(
        make(tmp_path), **SIZE[lines]
    )
    with pytest.raises(ValueError, match=f"^{SUBJECT[lines]}: .*{message}"):
        list(parts)


@pytest.mark.parametrize(
    ("lines", "source"),
    [("columns", "npy"), ("rows", "npy"), ("rows", "parquet"), ("rows", "svmlight.gz")],
)
def test_a_file_that_is_cut_while_it_is_read_is_refused(lines, source, tmp_path):
    """A mapping kept open would end the process by SIGBUS."""
    path = {**COMMON, **TEXT}[source](tmp_path, matrix(lines))
    parts = (row_chunks if lines == "rows" else column_blocks)(path, **SIZE[lines])
    running = iter(parts)
    next(running)
    truncated(path, 0.5)
    for begun in (running, parts) if source == "npy" else (parts,):
        with pytest.raises(
            ValueError,
            match=rf"^{SUBJECT[lines]}: .*(whole|in good order).*; write the file again",
        ):
            list(begun)


def test_a_text_that_is_cut_between_two_lines_has_fewer_rows(tmp_path):
    path = written(tmp_path, "X.svm", b"1 1:2\n-1 2:3\n1 1:4\n")
    chunks = row_chunks(path, chunk_rows=2)
    written(tmp_path, "X.svm", b"1 1:2\n-1 2:3\n")
    message = (
        r"X.svm: expected 3 rows as on the first pass, got 2; leave the file unchanged"
    )
    with pytest.raises(ValueError, match=message):
        list(chunks)


# ---- refusals at once


def replaced(path, old, new):
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new))
    return path


SHAPE = r"expected array to be real numbers of shape \(n, d\), got "
NPY = "expected a whole .npy file of numbers, got"
NPZ = "a whole .npz file as scipy.sparse.save_npz"
BOTH = {
    "masked": (lambda folder: np.ma.masked_invalid([[1.0, np.nan]]), "without mask, .* got MaskedArray"),
    "1-D": (lambda folder: np.ones(3), SHAPE + r"float64 of shape \(3,\); pass a matrix"),
    "3-D": (lambda folder: np.ones((2, 3, 4)), SHAPE + r"float64 of shape \(2, 3, 4\)"),
    "complex": (lambda folder: np.ones((2, 3), complex), SHAPE + "complex128"),
    "object": (lambda folder: np.ones((2, 3), object), SHAPE + "object"),
    "text": (lambda folder: np.array([["a"]]), SHAPE + "<U1"),
    "npy 1-D": (lambda folder: write_npy(folder, np.ones(5)), r"X.npy to be real numbers.*got float64 of shape \(5,\)"),
    "npy text": (lambda folder: write_npy(folder, np.array([["a"]])), "X.npy to be real numbers.*got <U1"),
    "npy objects": (lambda folder: write_npy(folder, np.array([[None]])), NPY),
    "npy cut in the data": (lambda folder: truncated(write_npy(folder, values()), 0.5), NPY),
    "npy header": (lambda folder: zeroed(write_npy(folder, values()), 40), NPY),
    "npy brackets": (lambda folder: replaced(write_npy(folder, values()), b"150), }", b"150, } "), NPY),
    "npz cut": (lambda folder: truncated(write_npz(folder, values(), sparse.csr_array), 0.5), NPZ),
    "npz arrays": (lambda folder: npz_of(folder, a=np.ones((2, 3))), NPZ),
    "parquet cut": (lambda folder: truncated(write_parquet(folder, values()), 0.5), "expected a whole Parquet file, "
                                                                                    "got"),
    "parquet text": (lambda folder: parquet_of(folder, fine=[1.0, 2.0], name=["a", "b"]),
                     "X.parquet: expected numeric columns, got string in column 'name'; drop or convert"),
    "parquet dates": (lambda folder: parquet_of(folder, day=pa.array([1], pa.date32())),
                      r"expected numeric columns, got date32\[day\] in column 'day'"),
    "parquet nested": (lambda folder: parquet_of(folder, fine=[1.0], inner=[{"a": 1}]),
                       "expected numeric columns, got struct<a: int64> in column 'inner'"),
    "parquet names": (lambda folder: write_parquet(folder, np.ones((2, 3)), ["a", "b", "a"]),
                      "expected distinct column names, got 'a' more than once; rename them"),
}  # fmt: skip
OF_COLUMNS = (
    r"expected a NumPy array without mask, a SciPy CSC matrix, "
    r"or the path of a .npy, .npz, .parquet file, got "
)
OF_ROWS = (
    r"expected a NumPy array without mask, a SciPy CSR matrix, or the path of a \.npy, \.npz, \.parquet or svmlight "
    r"file \(\.svm, \.svmlight, \.libsvm, \.txt, also \.gz, \.xz, \.bz2\), got "
)
LINES = (
    r"expected lines 'label index:value \.\.\.' with increasing indices from 0 on, got "
)
COLUMNS_ONLY = {
    "list": (lambda folder: [[1.0]], OF_COLUMNS + "list; convert"),
    "none": (lambda folder: None, OF_COLUMNS + "NoneType"),
    "suffix": (lambda folder: "table.csv", OF_COLUMNS + "'table.csv'"),
    "bytes": (lambda folder: b"X.npy", OF_COLUMNS + "bytes"),
    "csr": (lambda folder: sparse.csr_array(values()), r"expected .* to be in CSC form.*got CSR; .*\.tocsc\(\)"),
    "coo": (lambda folder: sparse.coo_array(np.ones(3)), r"got COO; convert it with \.tocsc\(\)"),
    "complex csc": (lambda folder: sparse.csc_array(values(complex)), "sparse matrix to be real numbers.*complex128"),
    "npz csr": (lambda folder: write_npz(folder, values(), sparse.csr_array), r"in CSC.*got CSR; .*\.tocsc\(\)"),
}  # fmt: skip
ROWS_ONLY = {
    "list": (lambda folder: [[1.0]], OF_ROWS + "list; convert"),
    "suffix": (lambda folder: "table.csv", OF_ROWS + "'table.csv'"),
    "packed array": (lambda folder: "X.npy.gz", OF_ROWS + "'X.npy.gz'"),
    "csc": (
        lambda folder: sparse.csc_array(values()),
        r"expected .* to be in CSR form.*got CSC; .*\.tocsr\(\)",
    ),
    "npz csc": (
        lambda folder: write_npz(folder, values(), sparse.csc_array),
        r"in CSR.*got CSC; .*\.tocsr\(\)",
    ),
    **{
        f"{name} cut": (
            lambda folder, name=name: truncated(
                write_svmlight(folder, values(), name), 0.5
            ),
            rf"{name}: expected rows from 0 on in good order, got .*(end-of-stream|EOF).* while reading; write the "
            rf"file again",
        )
        for name in ("X.svm.gz", "X.svm.xz", "X.svm.bz2")
    },
    "X.svm.gz": (
        lambda folder: written(folder, "X.svm.gz", b"1 1:2\n"),
        "got BadGzipFile.* while reading; write the file again",
    ),
}
TEXTS = {
    b"# nothing\n": "X.svm: expected at least one row, got none",
    b"1 1:2\n1:0.5 2:3\n": LINES
    + r"could not convert string to float: b'1:0.5' in row 1; write the file again",
    b"1 3:2 2:1\n": LINES + "index 2 after 3 in row 0",
    b"1 1:1\n1 2:x\n": LINES + ".*in row 1;",
    b"1 99999999999:1\n": LINES + ".* in row 0;",
    b"1 1:2\n# c\n-1 3:0.5 7:": LINES + ".* in row 1;",
    b"1 1:2\n# c\n-1 3:2 7": LINES + ".* in row 1;",
    b"1 1:2\n# c\n-": LINES + ".* in row 1;",
}
for _text, _message in TEXTS.items():
    ROWS_ONLY[_text] = (
        lambda folder, text=_text: written(folder, "X.svm", text),
        _message,
    )
REFUSED = [
    *((column_blocks, case, *value) for case, value in {**BOTH, **COLUMNS_ONLY}.items()),
    *((row_chunks, case, *value) for case, value in {**BOTH, **ROWS_ONLY}.items()),
    *((call, name, lambda folder, name=name: folder / name, f"there is no file .*{re.escape(name)}")
      for call in (column_blocks, row_chunks) for name in ("none.npy", "none.npz", "none.parquet")),
    (row_chunks, "none.svm.xz", lambda folder: folder / "none.svm.xz", "there is no file .*none.svm.xz"),
    (row_chunks, "a folder", lambda folder: folder.rename(folder.with_suffix(".npy")), "there is no file"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "case", "make", "message"),
    REFUSED,
    ids=[f"{c[0].__name__} {c[1]}" for c in REFUSED],
)
def test_bad_sources_are_refused(call, case, make, message, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(
        (ValueError, FileNotFoundError), match=f"^{call.__name__}: .*{message}"
    ):
        call(make(folder))


OPTIONS = [
    *((column_blocks, {"block_size": size}, f"block_size must be an integer of at least 1, got {size}")
      for size in (0, 2.5, True)),
    *((column_blocks, {"start": start}, f"start must be an integer of at least 0, got {start}") for start in (-1, "")),
    (column_blocks, {"start": D + 1}, f"expected start to be at most the number of columns, d = {D}, got {D + 1}"),
    (row_chunks, {"chunk_rows": 0}, "chunk_rows must be an integer of at least 1, got 0"),
    (row_chunks, {"n_features": 0}, "n_features must be an integer of at least 1, got 0"),
    (row_chunks, {"n_features": D + 1}, f"expected rows of n_features = {D + 1} values, got {D}; check the source"),
    (row_chunks, {"y": Y[: N - 1]}, rf"expected y of shape \({N},\), a label for each row, got shape \({N - 1},\)"),
    (row_chunks, {"y": Y[:N, None]}, rf"expected y of shape \({N},\), a label for each row, got shape \({N}, 1\)"),
    (row_chunks, {"y": "label"}, "expected y to be an array, or a column of a .parquet file, got 'label'"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "options", "message"), OPTIONS)
def test_bad_options_are_refused(call, options, message):
    with pytest.raises(ValueError, match=f"^{call.__name__}: {message}"):
        call(values(), **options)


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (write_svmlight, {"y": Y}, "^row_chunks: an svmlight file contains its labels, so y must be None"),
        (write_parquet, {"y": "target"},
         "X.parquet: expected a column 'target' of labels, which is missing; pass"),
        (lambda folder, X: written(folder, "X.svm", b"1 1:1\n1 4:1\n"), {"n_features": 3},
         "from 1 to 3, got n_features was set to 3, but input file contains 4 .* in row 1;.*"),
        (lambda folder, X: written(folder, "X.svm", b"1 0:1\n"), {"n_features": 3},
         "from 1 to 3, got Invalid index 0 in .* in row 0; write the file again, or leave out n_features"),
    ],
)  # fmt: skip
def test_labels_and_widths_that_a_file_does_not_have(make, options, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        list(row_chunks(make(tmp_path, values().T), **options))
