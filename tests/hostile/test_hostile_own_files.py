"""Files that a user was sent, as `dataset=file`: a whole data set, or one clear error and no memory for mere claims."""

import bz2
import gzip
import io
import warnings
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hostile_bytes import Reader, bounded, fuzz, saved
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from pyarrow import feather
from scipy import sparse
from scipy.io import savemat
from sklearn.datasets import dump_svmlight_file

from provlab.data import load_dataset
from provsel.streams import column_blocks, row_chunks
from provsel.streams.npz import compressed

X = np.arange(24.0).reshape(6, 4) * (np.arange(24).reshape(6, 4) % 3 > 0)
Y = np.array([0, 1] * 3)
TABLE = pd.DataFrame(X, columns=list("abcd")).assign(y=["p", "q"] * 3)


def own(path, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns of unlike sizes
        return load_dataset("file", path=str(path), **options)


def parts(X=X, **changes):
    X = sparse.csr_array(X)
    return {
        "data": X.data,
        "indices": X.indices,
        "indptr": X.indptr,
        "shape": np.array(X.shape),
        "y": Y,
        **changes,
    }


# ---- damage

WHOLE = {
    "npz": (
        saved(lambda f: np.savez(f, X=X.astype(np.int8), y=Y)),
        saved(lambda f: np.savez(f, **parts())),
    ),
    "npy": (saved(np.save, np.column_stack([X, Y])),),
    "csv": (TABLE.to_csv(index=False).encode(),),
    "txt": (TABLE.to_csv(sep=";", decimal=",", index=False).encode("utf-16"),),
    "csv.gz": (gzip.compress(TABLE.to_csv(index=False).encode()),),
    "arff": (
        b"@relation r\n@attribute a real\n@attribute 'b c' {p,q}\n@attribute y {p,q}\n@data\n1,p,q\n2,q,p\n3,?,p\n",
        b"@attribute a real\n@attribute 'b\\'c' {p,'q r'}\n@attribute y {p,q}\n@data\n"
        b"{0 1, 2 q}, {2}\n3,'q r',p,{1}\n1,p,q\n",
    ),
    "xlsx": (saved(lambda f: TABLE.to_excel(f, index=False, engine="openpyxl")),),
    "svm": (saved(lambda f: dump_svmlight_file(X, Y, f)),),
    "feather": (saved(lambda f: TABLE.to_feather(f)),),
    "dta": (saved(lambda f: TABLE.to_stata(f, write_index=False)),),
    "jsonl": (TABLE.to_json(orient="records", lines=True).encode(),),
    "parquet": (
        saved(lambda f: f.write(TABLE.to_parquet())),
        saved(lambda f: f.write(TABLE[["a", "y"]].to_parquet())),
    ),
}


def whole(path, **options):
    data = own(path, **options)
    n, d = data.X.shape
    assert data.y.shape == (n,)
    assert len(set(data.feature_names)) == d
    assert not np.isinf(data.X.data if sparse.issparse(data.X) else data.X).any()


@pytest.mark.parametrize("ending", WHOLE)
def test_damaged_files(ending, tmp_path):
    options = {"target": -1} if ending == "npy" else {}
    fuzz(
        Reader(
            f"X.{ending}", WHOLE[ending], lambda path: whole(path, **options), name="X"
        ),
        tmp_path,
        60,
    )


# ---- places in memory


NUMBERS = st.integers(-3, 8) | st.sampled_from(
    [-(2**31), 2**31 - 1, 2**31, -(2**63), 2**63 - 1]
)


@given(
    st.sampled_from(["csr", "csc"]),
    st.lists(st.tuples(st.integers(0, 200), NUMBERS), max_size=2),
)
def test_indices_are_checked_before_they_are_places_in_memory(form, changes):
    """What is read is what SciPy's own full check accepts, of indices of which two may be any number."""
    matrix = (sparse.csr_array if form == "csr" else sparse.csc_array)(X)
    arrays = {
        name: getattr(matrix, name).astype(np.int64) for name in ("indices", "indptr")
    }
    for place, number in changes:
        array = arrays["indices" if place % 2 else "indptr"]
        array[place % array.size] = number
    indptr = arrays["indptr"]  # differences could overflow
    used = arrays["indices"][: indptr[-1]]  # the rest is spare room, of any content
    sound = indptr[0] == 0 and indptr[-1] <= 16 and (indptr[1:] >= indptr[:-1]).all()
    sound &= ((used >= 0) & (used < X.shape[form == "csr"])).all()
    arrays |= {
        "data": matrix.data,
        "shape": np.array(X.shape),
        "format": np.array(form),
    }
    if not sound:
        with pytest.raises(ValueError, match=r"indices|indptr"):
            compressed(arrays)
        return
    read = compressed(arrays)
    read.check_format(full_check=True)
    assert (read.format, read.shape) == (form, X.shape)
    assert changes or (read.toarray() == X).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"indices": np.r_[-7, parts()["indices"][1:]]},
            "indices from -7 to 3 where 0 to 3 are possible",
        ),
        (
            {"indices": parts()["indices"] + 0.5},
            "indices of float64 where int32 or int64 is needed",
        ),
        (
            {"data": np.ones((16, 1))},
            r"data of shape \(16, 1\) where an array of 1 dimension is needed",
        ),
        ({"shape": np.array([5, 4])}, "7 entries in indptr where the shape has 6"),
        ({"shape": np.array(6)}, "a shape of int64"),
        ({"data": np.ones(16) * 1j}, "data of complex128, which are not real numbers"),
        (
            {"format": np.array("coo")},
            "a matrix in COO form, which is neither CSR nor CSC",
        ),
    ],
)
def test_wrong_arrays_in_a_file(changes, message, tmp_path):
    np.savez(tmp_path / "X.npz", **parts(**changes))
    for read in (own, row_chunks):
        with pytest.raises(ValueError, match=rf"X\.npz: expected .*{message}"):
            read(tmp_path / "X.npz")


def test_kinds_of_indices_and_the_form_that_a_file_states(tmp_path):
    for kind in (np.uint8, np.int16, np.int64, np.uint64, ">i4"):
        np.savez(tmp_path / "X.npz", **parts(indices=parts()["indices"].astype(kind)))
        assert_array_equal(own(tmp_path / "X.npz").X.toarray(), X)
    columns = sparse.csc_array(X)
    arrays = {
        name: getattr(columns, name)
        for name in ("data", "indices", "indptr", "shape", "format")
    }
    np.savez(tmp_path / "X.npz", **arrays, y=Y)
    assert_array_equal(own(tmp_path / "X.npz").X.toarray(), X)


# ---- memory


def equal_rows(path):
    with pq.ParquetWriter(
        path, pa.schema({"a": pa.float64(), "y": pa.int8()})
    ) as writer:
        for _ in range(4):
            writer.write_table(
                pa.table(
                    {"a": np.zeros(500_000), "y": np.arange(500_000, dtype=np.int8) % 2}
                )
            )


def lists(path):
    rows = pa.array([[0.0] * 10_000] * 100)
    with pq.ParquetWriter(path, pa.schema({"a": rows.type, "y": pa.int64()})) as writer:
        for _ in range(20):
            writer.write_table(pa.table({"a": rows, "y": np.arange(100) % 2}))


def texts(path):
    pq.write_table(
        pa.table({"a": ["x" * 100_000] * 800, "y": np.arange(800) % 2}),
        path,
        use_dictionary=False,
    )


def longer_than_its_bytes(path):
    path.write_bytes(
        saved(np.save, np.zeros((1, 5000), np.int8)).replace(
            b"(1, 5000), }     ", b"(100000, 5000), }"
        )
    )
    with path.open("r+b") as file:
        file.truncate(128 + 100_000 * 5000)  # of which the disk stores none


def sheet(more, text=b""):
    """Return what writes a sheet with more XML behind its rows, and a text that cells refer to as the first."""
    place = b"/xl/sharedStrings.xml"
    kind = (
        b"application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    )
    override = b'<Override PartName="%b" ContentType="%b"/></Types>' % (place, kind)

    def write(path):
        with (
            zipfile.ZipFile(io.BytesIO(*WHOLE["xlsx"])) as book,
            zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as swollen,
        ):
            contents = {name: book.read(name) for name in book.namelist()}
            types = contents["[Content_Types].xml"]
            contents["[Content_Types].xml"] = (
                types if kind in types else types.replace(b"</Types>", override)
            )
            space = b'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
            contents["xl/sharedStrings.xml"] = b"<sst %b><si><t>%b</t></si></sst>" % (
                space,
                text,
            )
            for name, content in contents.items():
                swollen.writestr(
                    name, content.replace(b"</sheetData>", more + b"</sheetData>")
                )

    return write


def repeated(before, piece, times):
    """Return what writes pieces of text packed as one stream each, of which a million bytes take some fifty."""
    return lambda path: path.write_bytes(
        bz2.compress(before) + bz2.compress(piece) * times
    )


def changes_of_texts(path):
    """Write 500 texts of 1 MB, of which the file has the first only: all others are as it is."""
    schema = pa.schema({"a": pa.string(), "y": pa.int64()})
    with pq.ParquetWriter(
        path, schema, use_dictionary=False, column_encoding={"a": "DELTA_BYTE_ARRAY"}
    ) as writer:
        for _ in range(5):
            writer.write_table(
                pa.table({"a": ["x" * 1_000_000] * 100, "y": np.arange(100) % 2})
            )


ARFF_HEAD = b"@attribute a real\n@attribute y {0,1}\n@data\n"

CLAIMS = {
    "zeros.csv.gz": (
        lambda path: path.write_bytes(gzip.compress(b"a,y\n" + b"0,1\n" * 9_000_000)),
        "2 columns",
    ),
    "zeros.arff.gz": (
        lambda path: path.write_bytes(gzip.compress(ARFF_HEAD + b"0,1\n" * 1_000_000)),
        "lines of 2 attributes",
    ),
    "filled.arff": (
        lambda path: path.write_bytes(
            b"@attribute x%d real\n" * 3000 % (*range(3000),)
            + ARFF_HEAD
            + b"{}\n" * 20_000
        ),
        "lines of 3,002 attributes",
    ),
    "keys.jsonl": (
        lambda path: path.write_text(
            "".join(f'{{"a{k}": 1, "y": 0}}\n' for k in range(5000))
        ),
        r"[\d,]+ rows of [\d,]+ columns",
    ),
    "zeros.dta": (
        lambda path: pd.DataFrame(
            {"a": np.zeros(7_000_000, np.int8), "y": np.int8(1)}
        ).to_stata(path),
        "bytes of Stata",
    ),
    "equal.feather": (
        lambda path: feather.write_feather(
            pa.table({"a": np.zeros(3_000_000), "y": np.zeros(3_000_000)}), path
        ),
        "3,000,000 rows of 2 columns",
    ),
    "index.svm": (
        lambda path: path.write_bytes(b"1 16777216:1\n0 1:1\n"),
        "2 rows of 16,777,216 columns",
    ),
    "zeros.npz": (
        lambda path: np.savez_compressed(
            path, X=np.zeros((2000, 5000), np.int8), y=np.arange(2000) % 2
        ),
        "2,000 rows of 5,000 columns",
    ),
    "wide.npz": (
        lambda path: np.savez(path, **parts(shape=np.array([6, 1 << 40]))),
        "1,099,511,627,776 columns",
    ),
    "zeros.mat": (
        lambda path: savemat(
            path,
            {"X": np.zeros((1, 1 << 20), np.int8), "Y": [[1]]},
            do_compression=True,
        ),
        "1 rows of 1,048,576 columns",
    ),
    "short.csv": (
        lambda path: path.write_text("c," * 3000 + "y\n" + "1\n" * 9000),
        "9,001 rows of 3,001 columns",
    ),
    "sheet.xlsx": (sheet(b" " * 8_000_000), r"8,\d{3},\d{3} bytes of cells"),
    "last.xlsx": (
        sheet(b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'),
        r"[\d,]+ rows of [\d,]+ columns",
    ),
    "texts.xlsx": (
        sheet(
            b"".join(
                b'<row r="%d"><c r="A%d" t="s"><v>0</v></c></row>' % (k, k)
                for k in range(9, 99)
            ),
            b"x" * 10**6,
        ),
        r"\d\d rows of 5 columns",
    ),
    "commas.csv.bz2": (
        repeated(b"a,y", b"," * (1 << 20), 50),
        "a line of 52,428,802 columns",
    ),
    "changes.parquet": (changes_of_texts, "500 rows of 2 columns"),
    "equal.parquet": (equal_rows, "2,000,000 rows of 2 columns"),
    "lists.parquet": (lists, "2,000 rows of 2 columns"),
    "texts.parquet": (texts, "800 rows of 2 columns"),
    "sparse.npy": (longer_than_its_bytes, "100,000 rows of 5,000 columns"),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_small_files_that_ask_for_much_memory(name, tmp_path, monkeypatch):
    make, what = CLAIMS[name]
    make(tmp_path / name)
    monkeypatch.setenv("PROVSEL_MEMORY_GB", "0.05")
    message = f"{name}: expected contents of at most 0.1 GB of memory, got .*{what}, which need .* GB; .*"
    with (
        bounded(),
        pytest.raises(ValueError, match=message + "allow more by PROVSEL_MEMORY_GB="),
    ):
        own(tmp_path / name, target=-1) if name == "sparse.npy" else own(
            tmp_path / name
        )


MUCH = 1 << 29
"""Address space, of which less than each of these takes when it is built."""


@pytest.mark.parametrize(
    ("name", "make", "message"),
    [
        (
            "row.xlsx",
            sheet(b'<row r="4000000000"><c r="A4000000000"><v>1</v></c></row>'),
            "at most 1,048,576 rows",
        ),
        (
            "line.csv.bz2",
            repeated(b"a,y", b"a" * (1 << 24), 128),
            "lines of at most 67,108,864 characters",
        ),
        (
            "row.csv.bz2",
            repeated(b"a,y\n1,p\n", b"1" * (1 << 24), 128),
            "lines of at most 67,108,864 characters",
        ),
        (
            "head.arff.bz2",
            repeated(b"@attribute ", b"a" * (1 << 24), 128),
            "lines of at most 67,108,864 characters",
        ),
        (
            "row.arff.bz2",
            repeated(b"@attribute y string\n@data\n", b"a" * (1 << 24), 128),
            "lines of at most 67",
        ),
    ],
)
def test_files_of_a_few_bytes_are_refused_within_little_memory(
    name, make, message, tmp_path, monkeypatch
):
    monkeypatch.setenv("PROVSEL_MEMORY_GB", "1")
    make(tmp_path / name)
    assert (tmp_path / name).stat().st_size < 20_000
    with (
        bounded(headroom=MUCH),
        pytest.raises(ValueError, match=rf"data set {name}: expected .*{message}"),
    ):
        own(tmp_path / name)


def test_a_table_that_is_transposed_has_the_same_limit(tmp_path, monkeypatch):
    monkeypatch.setenv("PROVSEL_MEMORY_GB", "0.05")
    (tmp_path / "zeros.csv.gz").write_bytes(
        gzip.compress(b"y,0,1\n" + b"0,1\n" * 1_000_000)
    )
    with (
        bounded(),
        pytest.raises(
            ValueError,
            match=r"zeros\.csv\.gz: .* got [\d,]+ lines to be transposed, which need",
        ),
    ):
        own(tmp_path / "zeros.csv.gz", transpose=True, sep=",")


def test_a_long_text_in_each_row_is_in_memory_once(tmp_path):
    codes = np.arange(4000, dtype=np.int32) % 2
    texts = pa.DictionaryArray.from_arrays(codes, ["x" * 1_000_000, "z" * 1_000_000])
    pq.write_table(
        pa.table({"a": texts, "b": np.arange(4000.0), "g": texts, "y": texts}),
        tmp_path / "X.parquet",
    )
    with bounded():
        dataset = own(tmp_path / "X.parquet", groups="g")
    assert_array_equal(dataset.X, np.column_stack([codes, np.arange(4000)]))
    assert_array_equal(dataset.groups, codes)
    assert_array_equal(dataset.y, 2 * codes - 1)


def test_streams_have_the_same_limit(tmp_path, monkeypatch):
    sparse.save_npz(tmp_path / "X.npz", sparse.csr_array(np.ones((100, 100))))
    equal_rows(tmp_path / "X.parquet")
    monkeypatch.setenv("PROVSEL_MEMORY_GB", "1e-4")
    message = r"expected contents of at most 0\.0 GB of memory, got {}, which need"
    with pytest.raises(
        ValueError, match=r"row_chunks: .*X\.npz: " + message.format("a matrix")
    ):
        row_chunks(tmp_path / "X.npz")
    what = "2,000,000 rows of a block of 2 columns"
    with pytest.raises(
        ValueError, match=r"column_blocks: .*X\.parquet: " + message.format(what)
    ):
        [*column_blocks(tmp_path / "X.parquet")]


def test_a_limit_that_is_none_and_memory_that_is_not_there_below_it(
    tmp_path, monkeypatch
):
    np.savez_compressed(
        tmp_path / "X.npz", X=np.zeros((2000, 20_000), np.int8), y=np.arange(2000) % 2
    )
    for limit in ("x", "0", "-1", "nan", "inf"):
        monkeypatch.setenv("PROVSEL_MEMORY_GB", limit)
        with pytest.raises(
            ValueError,
            match=f"^PROVSEL_MEMORY_GB: expected a positive number .*, got '{limit}'",
        ):
            own(tmp_path / "X.npz")
    monkeypatch.setenv("PROVSEL_MEMORY_GB", "1000")
    message = r"data set X\.npz: expected contents that fit into free memory, got .*PROVSEL_MEMORY_GB"
    with bounded(headroom=200 << 20), pytest.raises(ValueError, match=message):
        own(tmp_path / "X.npz")


# ---- MATLAB files


def test_objects_in_matlab_files_are_not_built(tmp_path):
    values = np.empty((2, 2), dtype=object)
    values[:] = "text"
    for kind in (values, {"field": 1.0}, "text", sparse.csc_matrix(np.eye(2))):
        savemat(tmp_path / "X.mat", {"X": kind, "Y": np.ones((2, 1))})
        with pytest.raises(
            ValueError,
            match=r"X\.mat: expected a variable X of real numbers, got X \(.*\), Y \(2 x 1 double\)",
        ):
            own(tmp_path / "X.mat")
    savemat(tmp_path / "X.mat", {"X": X, "Y": Y[:, None], "other": {"field": 1.0}})
    # what nothing reads may be anything
    assert_array_equal(own(tmp_path / "X.mat").X, X)


def test_hdf5_is_refused_in_words(tmp_path):
    head = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM"
    (tmp_path / "X.mat").write_bytes(head + b"\x89HDF\r\n\x1a\n" + bytes(100))
    with pytest.raises(
        ValueError,
        match=r"X\.mat: expected a file of format 4 to 7, got format 7\.3, .*save it with "
        r"-v7",
    ):
        own(tmp_path / "X.mat")
