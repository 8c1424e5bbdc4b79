"""column_blocks: the same columns and selection from every source, resumption, memory, and every refusal."""

import os
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import stream_files
from scipy import sparse
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

from provsel.selectors import OnlineLeverageSelector
from provsel.streams import column_blocks

N, D = 24, 150


def made(dtype=np.float64):
    rng = np.random.default_rng(0)
    left, right = (rng.standard_normal(shape) * (rng.random(shape) < 0.6) for shape in ((N, 6), (6, D)))
    X = left @ right  # of rank 6, with zeros
    return (np.abs(10 * X) if np.dtype(dtype).kind == "u" else 10 * X).astype(dtype)


def write_npz(folder, X, form=sparse.csc_array):
    return stream_files.write_npz(folder, X, form)


def write_parquet(folder, X, names=None, **options):
    names = [f"f{i}" for i in range(X.shape[1])] if names is None else names
    pq.write_table(pa.table([pa.array(column) for column in X.T], names), folder / "X.parquet", **options)
    return folder / "X.parquet"


SOURCES = {
    "array": lambda folder, X: X,
    "Fortran array": lambda folder, X: np.asfortranarray(X),
    "memmap": write_memmap,
    "npy": write_npy,
    "Fortran npy": lambda folder, X: str(write_npy(folder, X, "F")),
    "csc": lambda folder, X: sparse.csc_array(X),
    "csc matrix": lambda folder, X: sparse.csc_matrix(X),
    "npz": write_npz,
    "npz of a matrix": lambda folder, X: write_npz(folder, X, sparse.csc_matrix),
    "parquet": write_parquet,
    "parquet in row groups": lambda folder, X: write_parquet(folder, X, row_group_size=7),
    "upper case": lambda folder, X: write_npy(folder, X).rename(folder / "X.NPY"),
}
SPARSE = {"csc", "csc matrix", "npz", "npz of a matrix"}
every_source = pytest.mark.parametrize("source", SOURCES)


@every_source
@pytest.mark.parametrize("start", [0, 1, 64, D - 1, D])
@pytest.mark.parametrize("size", [1, 64, D, 1000])
def test_all_columns_in_order(source, start, size, tmp_path):
    X = made()
    blocks = column_blocks(SOURCES[source](tmp_path, X), block_size=size, start=start)
    assert (blocks.n_samples, blocks.n_features) == (N, D)
    assert len(blocks) == -(-(D - start) // size)
    for _ in range(2):  # an iteration does not use it up
        parts = list(blocks)
        assert len(parts) == len(blocks)
        assert all(features.dtype == np.int64 for _, features in parts)
        assert all(features.size == size for _, features in parts[:-1])
        assert all(block.format == "csc" if source in SPARSE else type(block) is np.ndarray for block, _ in parts)
        for block, features in parts:
            np.testing.assert_array_equal(dense(block), X[:, features])
        np.testing.assert_array_equal(np.concatenate([[], *(features for _, features in parts)]), np.arange(start, D))


@pytest.mark.parametrize(
    ("source", "dtype"),
    [
        *((source, dtype) for source in SOURCES for dtype in ("f4", "f8", "i8", "u1", "?")),
        *((source, "f2") for source in SOURCES if source not in SPARSE),
        *((source, dtype) for source in ("array", "memmap", "npy") for dtype in (">f4", ">f8", ">i2")),
    ],
)
def test_float32_stays_and_other_numbers_become_float64(source, dtype, tmp_path):
    X = made(dtype)
    for block, features in column_blocks(SOURCES[source](tmp_path, X), block_size=40):
        assert block.dtype == (np.float32 if dtype.endswith("f4") else np.float64)
        np.testing.assert_array_equal(dense(block), X[:, features])


def test_the_type_of_a_parquet_file_does_not_depend_on_the_block(tmp_path):
    table = pa.table({"a": np.float32([1, 2]), "b": np.float32([3, 4]), "c": np.int32([5, 6])})
    pq.write_table(table, tmp_path / "mixed.parquet")
    assert [block.dtype for block, _ in column_blocks(tmp_path / "mixed.parquet", block_size=1)] == [np.float64] * 3


def test_parquet_names_with_dots_are_no_nested_columns(tmp_path):
    path = write_parquet(tmp_path, np.arange(8.0).reshape(2, 4), ["a", "a.b", "", "a.b.c"])
    np.testing.assert_array_equal(
        np.hstack([block for block, _ in column_blocks(path, block_size=1)]), np.arange(8.0).reshape(2, 4)
    )


def selection(selector):
    return selector.indices_, selector.weights_, selector.scores_, selector.seen_indices_


@every_source
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_the_selection_is_that_of_a_fit(source, dtype, tmp_path):
    X = made(dtype)
    fitted = OnlineLeverageSelector(sampling_rate=1.0, random_state=3).fit(X)
    assert 6 < fitted.indices_.size < D / 2
    streamed = OnlineLeverageSelector(sampling_rate=1.0, random_state=3)
    for block, features in column_blocks(SOURCES[source](tmp_path, X), block_size=17):
        streamed.partial_fit_columns(block, features)
    for found, expected in zip(selection(streamed), selection(fitted), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
    other = OnlineLeverageSelector(sampling_rate=1.0, random_state=4).fit(X)
    assert other.indices_.tolist() != fitted.indices_.tolist()


@every_source
def test_a_stream_resumes_at_n_seen(source, tmp_path):
    columns = SOURCES[source](tmp_path, made())
    whole = OnlineLeverageSelector(sampling_rate=1.0, random_state=3)
    for block, features in column_blocks(columns, block_size=20):
        whole.partial_fit_columns(block, features)

    first = OnlineLeverageSelector(sampling_rate=1.0, random_state=3)
    for (block, features), _ in zip(column_blocks(columns, block_size=33), range(2), strict=False):
        first.partial_fit_columns(block, features)
    np.savez(tmp_path / "state.npz", **first.get_state())
    with np.load(tmp_path / "state.npz", allow_pickle=False) as state:
        resumed = OnlineLeverageSelector(sampling_rate=1.0).set_state(dict(state))
    assert resumed.n_seen_ == 66
    for block, features in column_blocks(columns, block_size=20, start=resumed.n_seen_):
        resumed.partial_fit_columns(block, features)
    for found, expected in zip(selection(resumed), selection(whole), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("form", ["npy", "Fortran npy", "parquet", "parquet in row groups"])
def test_memory_is_that_of_a_few_blocks(form, tmp_path):
    """Blocks of 1 MB of a file of 40 MB; one block of all columns shows that the measure sees a whole file."""
    n, d = 5000, 1000
    X = np.random.default_rng(0).standard_normal((n, d))
    if form == "parquet in row groups":
        path = write_parquet(tmp_path, X, row_group_size=1000)
    else:
        path = SOURCES[form](tmp_path, X)
    assert os.path.getsize(path) >= 40e6

    def peak(size):
        def read():
            assert sum(block.shape[1] for block, _ in column_blocks(path, block_size=size)) == d

        return peak_memory(read)

    assert peak(25) < 8e6
    assert peak(d) > 40e6


def replaced(path, old, new):
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new))
    return path


def nested(folder):
    return parquet_of(folder, fine=[1.0], inner=[{"a": 1}])


CSC_ENTRIES = {"format": b"csc", "shape": (2, 3), "data": np.ones(2), "indices": [0, 7], "indptr": [0, 1, 1, 2]}
KINDS = r"expected a NumPy array without mask, a SciPy CSC matrix, or the path of a .npy, .npz, .parquet file, got "
SHAPE = r"expected array to be real numbers of shape \(n, d\), got "
BAD = {
    "list": (lambda folder: [[1.0]], KINDS + "list; convert"),
    "none": (lambda folder: None, KINDS + "NoneType"),
    "masked": (lambda folder: np.ma.masked_invalid([[1.0, np.nan]]), KINDS + "MaskedArray"),
    "suffix": (lambda folder: "table.csv", KINDS + "'table.csv'"),
    "bytes": (lambda folder: b"X.npy", KINDS + "bytes"),
    "1-D": (lambda folder: np.ones(3), SHAPE + r"float64 of shape \(3,\); pass a matrix"),
    "3-D": (lambda folder: np.ones((2, 3, 4)), SHAPE + r"float64 of shape \(2, 3, 4\)"),
    "complex": (lambda folder: np.ones((2, 3), complex), SHAPE + "complex128"),
    "object": (lambda folder: np.ones((2, 3), object), SHAPE + "object"),
    "text": (lambda folder: np.array([["a"]]), SHAPE + "<U1"),
    "csr": (lambda folder: sparse.csr_array(made()), r"expected sparse matrix in CSC form.*got CSR; .*\.tocsc\(\)"),
    "coo": (lambda folder: sparse.coo_array(np.ones(3)), r"got COO; convert it with \.tocsc\(\)"),
    "complex csc": (lambda folder: sparse.csc_array(made(complex)), "sparse matrix to be real numbers.*complex128"),
    "npy 1-D": (lambda folder: write_npy(folder, np.ones(5)), r"X.npy to be real numbers.*got float64 of shape \(5,\)"),
    "npy 3-D": (lambda folder: write_npy(folder, np.ones((1, 2, 3))), r"X.npy to be real.*shape \(1, 2, 3\)"),
    "npy text": (lambda folder: write_npy(folder, np.array([["a"]])), "X.npy to be real numbers.*got <U1"),
    "npy objects": (lambda folder: write_npy(folder, np.array([[None]])), "expected a whole .npy file of numbers, got"),
    "npy cut in the data": (
        lambda folder: truncated(write_npy(folder, made()), 0.5),
        "a whole .npy file of numbers, got",
    ),
    "npy cut in the header": (lambda folder: truncated(write_npy(folder, made()), 1e-3), "whole .npy file of numbers"),
    "npy header": (lambda folder: zeroed(write_npy(folder, made()), 40), "a whole .npy file of numbers, got"),
    "npy brackets": (
        lambda folder: replaced(write_npy(folder, made()), b"150), }", b"150, } "),
        "a whole .npy file of numbers, got",
    ),
    "npy empty": (
        lambda folder: written(folder, "X.npy", b""),
        "a whole .npy file of numbers, got",
    ),
    "npy other": (lambda folder: write_npz(folder, made()).rename(folder / "X.npy"), "a whole .npy file of numbers"),
    "npz csr": (lambda folder: write_npz(folder, made(), sparse.csr_array), r"X.npz in CSC.*got CSR; .*\.tocsc\(\)"),
    "npz cut": (lambda folder: truncated(write_npz(folder, made()), 0.5), "a whole .npz file as scipy.sparse.save_npz"),
    "npz empty": (
        lambda folder: written(folder, "X.npz", b""),
        "a whole .npz file as scipy.sparse.save_npz writes, got",
    ),
    "npz arrays": (lambda folder: npz_of(folder, a=np.ones((2, 3))), "a whole .npz file as scipy.sparse.save_npz"),
    "npz other": (lambda folder: write_npy(folder, made()).rename(folder / "X.npz"), "a whole .npz file as scipy"),
    "npz rows": (
        lambda folder: npz_of(folder, **CSC_ENTRIES),
        "a whole .npz file as scipy.*indices from 0 to 7 where 0 to 1 are",
    ),
    "parquet cut": (lambda folder: truncated(write_parquet(folder, made()), 0.5), "expected a whole Parquet file, got"),
    "parquet empty": (lambda folder: written(folder, "X.parquet", b""), "expected a whole Parquet file, got"),
    "parquet text": (
        lambda folder: parquet_of(folder, fine=[1.0, 2.0], name=["a", "b"]),
        "X.parquet: expected numeric columns, got string in column 'name'; drop or convert",
    ),
    "parquet dates": (
        lambda folder: parquet_of(folder, day=pa.array([1], pa.date32())),
        r"expected numeric columns, got date32\[day\] in column 'day'",
    ),
    "parquet nested": (nested, "expected numeric columns, got struct<a: int64> in column 'inner'"),
    "parquet names": (
        lambda folder: write_parquet(folder, np.ones((2, 3)), ["a", "b", "a"]),
        "expected distinct column names, got 'a' more than once; rename them",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_sources_are_refused(case, tmp_path):
    make, message = BAD[case]
    with pytest.raises(ValueError, match=f"^column_blocks: .*{message}"):
        column_blocks(make(tmp_path))


BAD_BLOCKS = {
    "nulls": (
        lambda folder: parquet_of(folder, a=[1.0, 2.0], b=[1, None], c=[5, 6]),
        "X.parquet: expected numbers without nulls, got nulls in column 'b'; fill them or drop the column",
    ),
    "damaged": (
        lambda folder: zeroed(parquet_of(folder, a=np.arange(50.0), b=np.arange(50.0)), 500),
        "X.parquet: expected columns 'b' to 'b' in good order, got",
    ),
}


@pytest.mark.parametrize("case", ["nulls", "damaged"])
def test_bad_columns_are_refused_in_their_block(case, tmp_path):
    make, message = BAD_BLOCKS[case]
    parts = iter(column_blocks(make(tmp_path), block_size=1))
    next(parts)
    with pytest.raises(ValueError, match=f"^column_blocks: .*{message}"):
        next(parts)


def test_a_file_cut_during_the_pass_is_refused(tmp_path):
    """A mapping kept open would end the process by SIGBUS."""
    path = write_npy(tmp_path, made())
    parts = iter(column_blocks(path, block_size=10))
    next(parts)
    truncated(path, 0.5)
    with pytest.raises(ValueError, match=r"expected a whole \.npy file of numbers"):
        next(parts)


@pytest.mark.parametrize("name", ["none.npy", "none.npz", "none.parquet", "folder.npy"])
def test_missing_files(name, tmp_path):
    (tmp_path / "folder.npy").mkdir()
    with pytest.raises(FileNotFoundError, match=f"^column_blocks: expected a file, got .*{re.escape(name)}, which is"):
        column_blocks(tmp_path / name)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"block_size": 0}, "block_size must be an integer of at least 1, got 0"),
        ({"block_size": 2.5}, "block_size must be an integer of at least 1, got 2.5"),
        ({"block_size": True}, "block_size must be an integer of at least 1, got True"),
        ({"start": -1}, "start must be an integer of at least 0, got -1"),
        ({"start": None}, "start must be an integer of at least 0, got None"),
        ({"start": D + 1}, f"expected start up to the number of columns, d = {D}, got {D + 1}; pass the n_seen_"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=f"^column_blocks: {message}"):
        column_blocks(made(), **options)
