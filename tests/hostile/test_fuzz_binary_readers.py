"""Readers of binary files from anywhere: whole results or one clear error; no pickles, no memory for mere claims."""

import contextlib
import gzip
import io
import lzma
import pickle
import re
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from foreign_readers import BINARY, STATE, columns_of, rows_of, state_of
from hostile_bytes import bounded, fuzz, tree
from scipy import sparse

from provsel.selectors import OnlineLeverageSelector
from provsel.streams import column_blocks, row_chunks
from provsel.streams.npz import read_npz

SMALL = 30 << 20
HUGE = 1 << 40


@pytest.mark.parametrize("name", BINARY)
def test_damaged_files(name, tmp_path):
    fuzz(BINARY[name], tmp_path)


# ---- memory


def npy(shape, descr="<f8", content=b"\0" * 64):
    """Return the bytes of a .npy file that claims some shape."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": descr, "fortran_order": False, "shape": shape})
    return file.getvalue() + content


def npz(path, compression=zipfile.ZIP_STORED, **members):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return path


def array(values):
    file = io.BytesIO()
    np.save(file, np.asarray(values))
    return file.getvalue()


def csr(**changes):
    """Return the members of a file of a 2 x 3 matrix."""
    return {
        "format": array(b"csr"), "shape": array([2, 3]), "data": array([1.0, 2.0]),
        "indices": array(np.array([0, 1], np.int32)), "indptr": array(np.array([0, 1, 2], np.int32)), **changes,
    }  # fmt: skip


CLAIMS = {
    "data of 2^40": (csr(data=npy((HUGE,))), "a header of 8796093022208 bytes in 'data.npy', which has"),
    "indices of 2^28": (csr(indices=npy((1 << 28,), "<i4")), "a header of 1073741824 bytes in 'indices.npy'"),
    "a format of 2^28 characters": (csr(format=npy((), f"<U{1 << 28}")), "a header of 1073741824 bytes"),
    "negative": (csr(data=npy((-1,))), r"an array of shape \(-1,\)"),
    "nested header": (csr(data=npy((3,)).replace(b"(3,)", b"(" * 100 + b"3")), "TokenError"),
    "records": (csr(data=npy((HUGE,), [("a", "<f8", (1 << 20,))])), "a header of"),
}


@pytest.mark.parametrize("case", CLAIMS)
@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_headers_of_arrays_are_not_believed(case, compression, tmp_path):
    members, message = CLAIMS[case]
    path = npz(tmp_path / "X.npz", compression, **members)
    for read in (rows_of, columns_of):
        with bounded(headroom=SMALL), pytest.raises(ValueError, match=rf"X\.npz: expected .*{message}"):
            read(path)


def test_sizes_in_the_directory_of_a_zip_are_not_believed(tmp_path):
    path = npz(tmp_path / "X.npz", **csr(data=npy((1 << 28,))))
    size = len(npy((1 << 28,))).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(size, (1 << 31).to_bytes(4, "little")))
    with bounded(headroom=SMALL), pytest.raises(ValueError, match=r"X\.npz: expected .* bytes in 'data\.npy'|share"):
        rows_of(path)


def test_members_of_other_compression_or_twice_are_refused(tmp_path):
    for compression in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        with pytest.raises(ValueError, match=r"X\.npz: expected .* packed in"):
            rows_of(npz(tmp_path / "X.npz", compression, **csr()))
    path = npz(tmp_path / "X.npz", **csr())
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("data.npy", array([3.0, 4.0]))
    with pytest.raises(ValueError, match=r"X\.npz: expected .*a member that occurs twice"):
        rows_of(path)


def test_whole_arrays_are_read(tmp_path):
    found = read_npz(npz(tmp_path / "X.npz", zipfile.ZIP_DEFLATED, **csr(ones=array(np.ones(100_000)))))
    assert sorted(found) == ["data", "format", "indices", "indptr", "ones", "shape"]
    assert found["ones"].sum() == 100_000


@pytest.mark.parametrize("shape", [(HUGE, 4), (HUGE, HUGE), (1 << 31, 2), (-3, -4)])
def test_a_mapped_array_that_is_longer_than_its_file(shape, tmp_path):
    (tmp_path / "X.npy").write_bytes(npy(shape))
    for read in (rows_of, columns_of):
        with bounded(headroom=SMALL), pytest.raises(ValueError, match=r"X\.npy: expected a whole \.npy file"):
            read(tmp_path / "X.npy")


@pytest.mark.parametrize("shape", [(HUGE, 0), (0, HUGE)])
def test_arrays_without_entries_are_not_read_for_ever(shape, tmp_path):
    (tmp_path / "X.npy").write_bytes(npy(shape, content=b""))
    for read in (rows_of, columns_of):
        with bounded(seconds=5), pytest.raises(ValueError, match=r"expected .*X\.npy to have rows and columns"):
            read(tmp_path / "X.npy")


def test_compressed_text_of_one_line_expands_no_further_than_a_line(tmp_path, monkeypatch):
    monkeypatch.setattr("provsel.streams.svmlight_rows._MAX_LINE", 1 << 16)
    zeros = b"\0" * (100 << 20)
    for name, packed in (("X.svm.gz", gzip.compress(zeros, 1)), ("X.svm.xz", lzma.compress(zeros, preset=0))):
        (tmp_path / name).write_bytes(packed)
        with bounded(headroom=SMALL), pytest.raises(ValueError, match=f"{name}: expected .*more than 65536 bytes"):
            row_chunks(tmp_path / name)


# ---- pickles


class Canary:
    """Makes a folder when it is unpickled."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return (__import__("os").mkdir, (self.path,))


def objects(folder):
    values = np.empty((2, 2), dtype=object)
    values[:] = Canary(folder / "canary")
    return values


def test_the_canary_sings(tmp_path):
    np.save(tmp_path / "X.npy", objects(tmp_path))
    np.load(tmp_path / "X.npy", allow_pickle=True)
    assert (tmp_path / "canary").is_dir()


def test_pickles_in_arrays_are_refused_and_not_run(tmp_path):
    values = objects(tmp_path)
    np.save(tmp_path / "array.npy", values)
    (tmp_path / "joblib.npy").write_bytes(pickle.dumps(values))
    (tmp_path / "pickle.npz").write_bytes(pickle.dumps(values))
    pickled = (tmp_path / "array.npy").read_bytes()
    for name in ("data", "indices", "shape", "format"):
        npz(tmp_path / f"{name}.npz", **csr(**{name: pickled}))
    npz(tmp_path / "more.npz", **csr(), more=pickled)
    np.savez(tmp_path / "names.npz", **{"X.pkl": values})
    npz(tmp_path / "state", key=pickled)
    before = tree(tmp_path)
    for path in sorted(tmp_path.glob("*.np[yz]")):
        for read in (rows_of, columns_of):
            with pytest.raises(ValueError, match=path.name):
                read(path)
    assert tree(tmp_path) == before
    with pytest.raises(ValueError, match="set_state: expected the entries of get_state"):
        state_of(tmp_path / "state")
    assert not (tmp_path / "canary").exists()


def test_pickles_in_a_state_are_refused_and_not_run(tmp_path):
    with np.load(io.BytesIO(STATE)) as arrays:
        parts = dict(arrays)
    np.savez(tmp_path / "state.npz", **{**parts, "scores": objects(tmp_path)})
    with np.load(tmp_path / "state.npz") as arrays:
        selector = OnlineLeverageSelector(sampling_rate=1.5)
        with pytest.raises(
            ValueError, match=r"set_state: expected scores to be readable, got ValueError\('Object arrays"
        ):
            selector.set_state(arrays)
    assert not (tmp_path / "canary").exists()


def test_pickles_in_parquet_metadata_and_extension_types_are_not_run(tmp_path):
    """Arrow has a type that is a pickle in the metadata of a schema; pandas and NumPy never see it here."""
    pickled = pickle.dumps(Canary(tmp_path / "canary"))
    field = pa.field("a", pa.float64(), metadata={
        "ARROW:extension:name": "arrow.py_extension_type", "ARROW:extension:metadata": pickled,
    })  # fmt: skip
    schema = pa.schema([field], metadata={"pandas": pickled})
    pq.write_table(pa.table({"a": [1.0, 2.0]}).cast(schema), tmp_path / "X.parquet")
    for read in (rows_of, columns_of):
        with contextlib.suppress(ValueError):  # both are fine
            read(tmp_path / "X.parquet")
    assert not (tmp_path / "canary").exists()


def test_hostile_names_of_columns_are_shown_escaped(tmp_path):
    names = ["\x1b[31mred\x07", "a\nb", "../../x", "<script>", "n" * 5000]
    for name in names:
        pq.write_table(pa.table({name: ["text"]}), tmp_path / "X.parquet")
        with pytest.raises(ValueError, match=r"X\.parquet: expected numeric columns, got string") as error:
            column_blocks(tmp_path / "X.parquet")
        assert str(error.value).isprintable()


def test_a_matrix_with_indices_out_of_range_is_refused(tmp_path):
    wrong = csr(indices=array(np.array([0, 1 << 30], np.int32)))
    with pytest.raises(ValueError, match=r"X\.npz: expected"):
        rows_of(npz(tmp_path / "X.npz", **wrong))
    sparse.save_npz(tmp_path / "X.npz", sparse.csr_array(np.eye(3)))
    rows_of(tmp_path / "X.npz")


def test_pages_with_fewer_rows_than_the_footer_states(tmp_path):
    """Arrow returns what there is, and says nothing."""
    path = tmp_path / "X.parquet"
    pq.write_table(pa.table({"a": np.arange(77.0)}), path, compression="none", use_dictionary=False)
    whole = path.read_bytes()
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    numbers = [match.start() for match in re.finditer(b"\x9a\x01", whole) if match.start() >= footer]  # 77, as varints
    for place in numbers:
        path.write_bytes(whole[:place] + b"\x9c" + whole[place + 1 :])
        if pq.ParquetFile(path).metadata.num_rows == 78:
            break
    else:
        pytest.fail("the number of rows is not in the footer")
    for read in (rows_of, columns_of):
        with pytest.raises(ValueError, match=r"X\.parquet: expected 78 rows as its footer states, got 77"):
            read(path)
