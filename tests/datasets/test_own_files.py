"""Files as people have them: each is read, or refused with the setting that reads it."""

import bz2
import csv
import gzip
import io
import json
import lzma
import re
import warnings
import zipfile
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from rich.console import Console
from scipy import sparse
from scipy.io import savemat
from sklearn.datasets import dump_svmlight_file

from provlab.cli import main
from provlab.core.composition import compose_config
from provlab.core.plan import cells_of
from provlab.core.store import TrialStore
from provlab.data import load_dataset
from provlab.data.identity import keyed_parameters, loader
from provlab.data.own.text import MISSING
from provlab.run.runner import run_cells

RNG = np.random.default_rng(0)
VALUES = RNG.normal(size=(40, 5)).round(3)
VALUES[3, 1], VALUES[0, 0] = -0.544, 0.126
LABELS = np.where(np.arange(40) < 20, "no", "yes")
NAMES = [f"f{k}" for k in range(5)]
TABLE = pd.DataFrame(VALUES, columns=NAMES).assign(label=LABELS)
SPARSE = VALUES * (np.arange(5) > 0)
Y = (LABELS == "yes").astype(int)


def text(**changes):
    return TABLE.assign(**changes).to_csv(index=False)


def svm(label=str, query=""):
    lines = []
    for row, y in zip(SPARSE, Y, strict=True):
        pairs = [f"{k}:{x}" for k, x in enumerate(row, 1) if x]
        lines.append(f"{label(y)} {query}{' '.join(pairs)}\n")
    return "".join(lines)


def labelled(values):
    return "a,y\n" + "".join(f"{k / 4},{value}\n" for k, value in enumerate(values))


def npz(**arrays):
    return lambda path: np.savez(path, **{"X": VALUES, "y": Y, **arrays})


def write(path, content):
    """Write texts as UTF-8, bytes as they are, and call what writes itself."""
    if callable(content):
        content(path)
    else:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


MADE = {
    "latin1.csv": text(label=np.where(Y, "herb", "süß"))
    .replace("f0", "Größe")
    .encode("latin-1"),
    "comment.csv": "# exported by X\n" + text(),
    "bom.csv": text().encode("utf-8-sig"),
    "unnamed_index.csv": TABLE.to_csv(),
    "none_column.parquet": lambda path: TABLE.assign(none=None).to_parquet(path),
    "question.csv": text().replace("-0.544", "?", 1),
    "label_None.csv": text(label=np.where(Y, "None", "Mild")),
    "label_NA.csv": text(label=np.where(Y, "NA", "FR")),
    "missing.csv": text(
        f1=TABLE.f1.where(TABLE.index != 3), f3=TABLE.f3.where(TABLE.index != 9)
    ),
    "category.csv": text(city=np.where(TABLE.index % 3, "Oslo", "Rome")),
    "groups.csv": text(patient=TABLE.index // 4),
    "regression.csv": text(label=VALUES.sum(axis=1)),
    "id_scale.csv": text(id=TABLE.index, f5=TABLE.f0 * 1e6),
    "one_member.csv": text(label=["rare", *LABELS[1:]]),
    "qid.svm": svm(query="qid:3 "),
    "one.svm": svm(),
    "fea.mat": lambda path: savemat(path, {"fea": VALUES, "gnd": Y[:, None]}),
    "nullable.parquet": lambda path: TABLE.convert_dtypes().to_parquet(path),
    "indexed.parquet": lambda path: (
        TABLE.rename(index="s{}".format).rename_axis("sample").to_parquet(path)
    ),
}


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    (tmp_path / "provsel.toml").write_text("")
    monkeypatch.setenv("PROVSEL_PROJECT", str(tmp_path))
    return tmp_path


@pytest.fixture
def case(tmp_path):
    """Return what gives the path of a case that is made here."""

    def path_of(name):
        write(tmp_path / name, MADE[name])
        return tmp_path / name

    return path_of


def read(path, /, **options):
    """Return the data set, and what was warned of."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        dataset = load_dataset("file", **{"path": str(path), **options})
    return dataset, [str(warning.message) for warning in said]


READ = [
    (
        "latin1.csv",
        {"encoding": "cp1252"},
        {"names": ["Größe", *NAMES[1:]], "classes": ["herb", "süß"], "turn": 1},
    ),
    ("comment.csv", {"comment": "#"}, {}),
    ("bom.csv", {}, {}),
    (
        "unnamed_index.csv",
        {},
        {"said": "'Unnamed: 0', which only numbers the rows, is left out"},
    ),
    ("none_column.parquet", {"left_out": ["none"]}, {}),
    ("question.csv", {"na_values": ["?"]}, {"missing": [(3, 1)]}),
    (
        "label_None.csv",
        {},
        {
            "classes": ["Mild", "None"],
            "said": "classes are called 'None'; if that means",
        },
    ),
    (
        "label_NA.csv",
        {},
        {"classes": ["FR", "NA"], "said": "classes are called 'NA'; if that means"},
    ),
    ("groups.csv", {"groups": "patient"}, {}),
    ("nullable.parquet", {}, {}),
    (
        "indexed.parquet",
        {},
        {"said": "the index of the DataFrame, sample, is left out"},
    ),
    ("one.svm", {}, {"names": list("12345"), "classes": ["0", "1"], "zeros": 1}),
    (
        "qid.svm",
        {"groups": "qid"},
        {"names": list("12345"), "classes": ["0", "1"], "zeros": 1},
    ),
]


@pytest.mark.parametrize(
    ("name", "options", "is_"),
    READ,
    ids=[f"{name} {options}" for name, options, _ in READ],
)
def test_what_is_right_is_read(case, name, options, is_):
    X = VALUES.copy()
    X[:, : is_.get("zeros", 0)] = 0
    for place in is_.get("missing", ()):
        X[place] = np.nan
    dataset, said = read(case(name), **options)
    assert_array_equal(
        dataset.X.toarray() if sparse.issparse(dataset.X) else dataset.X, X
    )
    assert dataset.feature_names.tolist() == is_.get("names", NAMES)
    assert (dataset.name, dataset.source) == (name.partition(".")[0], str(case(name)))
    assert dataset.class_names.tolist() == is_.get("classes", ["no", "yes"])
    assert_array_equal(dataset.y, np.where(is_.get("turn", 0), 1 - 2 * Y, 2 * Y - 1))
    assert len(said) == ("said" in is_)
    assert all(is_["said"] in message for message in said)


PQ = "a,y\n1,p\n3,q\n"
KINDS = [  # name, content, options, what is read or refused
    ("rows.txt", "\n".join(['"a" "b" "y"', *(f'"{k}" {k}.5 {k % 3} "{k % 2}"' for k in range(9))]), {}, ["a", "b"]),
    ("a.csv", "sep=;\r\na;y\r\n1,5;p\r\n2,25;q\r\n", {}, ["a"]),
    ("a.csv", "900.5,901.5,y\n1,2,p\n3,5,q\n", {}, ["900.5", "901.5"]),
    ("a.csv", "t,,\na,b,y\n1,2,p\n3,5,q\n", {"header": 1}, ["a", "b"]),
    ("a.csv", "a,b,y,,\n1,2,p,,\n,,,,\n3,5,q,,\n", {}, ["a", "b"]),
    ("a.csv", 'a,n,y\n1,"two\nlines",p\n2.5,"two\nlines",q\n?,one,q\n4,one,p\n', {}, r"got '\?' in line 6;"),
    ("a.csv", "a,when,y\n1,2020-01-01,p\n3,2020-01-01,q\n", {}, ["a"]),
    ("a.csv", "a,y\n1,p\n1e400,q\n", {}, r"got 1e400 in column 'a', line 3; .*na_values=\[1e400\]"),
    ("a.csv", 'a,y\n"1,234",p\n"2,345",q\n', {}, r"got '1,234' in line 2; .*'dataset\.decimal=\",\"' or"),
    ("a.csv", 'a,y\n"1,234",p\n"2,345",q\n', {"thousands": ","}, ["a"]),
    ("a.csv", "a;b;y\n1;2;p\n3;4;q;5\n", {}, r"rows of 3 fields, as many as there are names, got 4 in line 3; "),
    ("a.csv", "a;b,c;y\n1;2,3;p\n3;4,4;q\n", {}, r"splits all lines into equally many fields, got ',' and ';'"),
    ("a.csv", "a,y\n1,p,2,3\n3,q,4,3\n", {}, r"rows of 2 fields, .* got 4 in line 2; .*dataset\.header=1"),
    ("a.csv", "a,y\n1,p\n3,\n", {}, r"a value in each row, got 1 without one, the first in line 3; .*write a name"),
    ("a.csv", "a,y\n1,?\n3,p\n4,q\n", {"na_values": "?"}, r"a value in each row, got 1 without one, .* in line 2"),
    ("a.csv", "a,y\n1,p\n".encode("utf-16-le"), {}, r"expected text in utf-8, got zero bytes; .*utf-16-le"),
    ("a.txt", "1 1:0.5 2:3\n0 2:1\n", {}, r"got rows in svmlight format; rename the file to NAME\.svm"),
    *(("a.csv", labelled(values), {}, rf"{n} different whole numbers in \d+ rows .*=classification or .*=regression")
      for values, n in ((range(25), 25), ([162, 189, 193, 176, 156, 162, 138], 6))),
    ("a.csv", labelled(range(25)), {"task": "regression"}, ["a"]),
    ("a.csv", labelled(f"{k % 3}.5" for k in range(25)), {}, r"3 different real numbers in 25 rows"),
    ("a.csv", labelled(f"n{k}" for k in range(25)), {}, r"classes in .* got 25 different strings"),
    ("a.csv", PQ, {"task": "regression"}, r"expected numbers in .* got 2 different strings"),
    ("a.csv", "a,w,y\n1,-1,p\n3,2,q\n", {"sample_weight": "w"}, r"weights .* of at least 0, got -1 in line 2"),
    ("a.csv", "a,w,y\n1,0.5,p\n3,2,q\n", {"fold": "w"}, r"fold numbers from 0.*got 0\.5 in line 2"),
    ("a.csv", PQ, {"zero_based": True}, r"expected settings of \.csv .*got True"),
    ("a.csv", PQ, {"encoding": "klingon"}, r"dataset\.encoding: expected an encoding .*got 'klingon'"),
    ("a.csv", "a,y,\n" + "1,p,\n3,q,\n" * 150 + "1,p,7\n", {}, r"no values after the last .*got 7.* in line 302; name"),
    ("a.csv", "a,y\n1,p\n3,q\n" + "2,\n" * 250 + "inf,p\n", {"target": 0}, r"finite numbers in the target .*got inf"),
    ("a.csv", "a,y\n1,p\n1,q\n", {"target": 0, "task": "regression"}, r"different numbers in .*, got only 1;"),
    ("a.csv", "a,w,y\n1,0,p\n3,0,q\n", {"sample_weight": "w"}, r"expected at least one weight above 0"),
    *(("a.csv", PQ, {name: value}, rf"dataset\.{name}: expected .*, got {value!r}") for name, value in (
        ("sep", "::"), ("header", -1), ("header", "first"), ("keep_default_na", "no"),
    )),
    ("a.svm", "1 1:0.5\n0 2:1\n", {"groups": "qid"}, r"expected qid:NUMBER in each row because of "
                                                     r"dataset\.groups=qid, got"),
    ("a.svm", "1 1:0.5\n0 2:1\n", {"fold": "f"}, r"expected no fold, because an svmlight file .*, got 'f'"),
    ("a.arff.gz", gzip.compress(b"@attribute a real\n@attribute y {p,q}\n@data\n1,p\n3,q\n"), {}, ["a"]),
    ("a.csv", 'a,y\n"$1,137.40",p\n"$2,500.00",q\n', {}, r"write it without '\$', as '1,137\.40', because no setting"),
    ("a.csv", 'a,y\n"1,137.40",p\n"2,500.00",q\n', {}, r"'dataset\.thousands=\",\"' and 'dataset\.decimal=\"\.\"'"),
    ("a.csv", "a,y\n?,p\n13,q\n14,p\n", {"na_values": ["none"]}, r"'dataset\.na_values=\[none,\?\]'"),
    ("a.svm", "1 2:1 5:1 5:2\n", {}, r"data set a\.svm: .*increasing indices from 0 on, got index 5 twice in row 0;"),
    ("a.npz", lambda path: np.savez(path, X=VALUES), {}, r"got X \(40 x 5 float64\); .*set dataset\.target=-1"),
    ("a.npz", lambda path: np.savez(path, X=VALUES.round()), {"target": -1, "task": "classification"}, list("1234")),
    ("a.npy", lambda path: np.save(path, TABLE[NAMES].to_records(index=False)), {"target": "f4"}, NAMES[:4]),
    ("a.mat", lambda path: savemat(path, {"X": sparse.csc_matrix(SPARSE), "Y": Y[:, None]}), {},
     r"got X \(40 x 5 sparse\), .*; write it in full, X = full\(X\), or as svmlight"),
    ("a.xlsx.gz", b"", {}, r"dataset\.path: expected a file ending in \.csv, .*got '.*a\.xlsx\.gz'"),
    # files that are not there, or that are something else
    ("a.csv", PQ, {"path": ""}, r"dataset\.path: expected the path of a file, got ''; set for example"),
    ("a.csv", PQ, {"path": "no.csv"}, r"dataset\.path: there is no file 'no\.csv' in"),
    ("a.csv", "", {}, r"a\.csv: expected column names and rows, got an empty file"),
    ("a.csv", TABLE[:0].to_csv(index=False), {}, r"there are no rows below the names f0, f1, f2, f3, f4"),
    ("a.csv", 'a,y\n1,"p\n' + "a" * 200_000, {}, r"expected an intact \.csv file, got .*EOF inside string"),
    ("a.mat", "no", {}, r"expected an intact \.mat file, got MatReadError: Mat file appears"),
    ("a.svm", "1 a:b\n", {}, r"a\.svm"),
    ("a.svm", svm(label=["2", "1,3"].__getitem__), {}, r"expected one label in each row, got '1,3' in row 20"),
    # columns and variables
    *(("a.csv", PQ, {name: value}, rf"dataset\.{name}: expected {message}") for name, value, message in (
        ("target", "kind", "a column of a, y, got 'kind'"), ("target", ["a", "y"], r"a string or .*, got \['a', 'y'\]"),
        ("left_out", "a", "a list of columns .*, got 'a'"),
    )),
    ("a.csv", "a,z\n1,p\n3,q\n", {}, r"expected one column of labels called label, target, class, y, got 0"),
    ("a.csv", PQ, {"left_out": ["a"]}, r"expected at least one feature, got only labels"),
    ("a.csv", "a,y\n1,a\n3,a\n", {}, r"expected at least two classes, got only \['a'\]"),
    ("a.csv", PQ, {"task": "classes"}, r"file: task must be one of auto, classification, regression, got 'classes'"),
    ("a.npz", npz(X=VALUES + 1j), {}, r"'a': expected real numbers in X, got complex128"),
    ("a.npz", npz(X=VALUES[None]), {}, r"a\.npz: expected rows and columns, got shape \(1, 40, 5\)"),
    ("a.npz", npz(feature_names=["p"]), {"left_out": ["p"]}, r"a\.npz: expected 5 feature_names, got 1; write one for"),
    ("a.npz", npz(y=np.array([{}, 1], dtype=object)), {}, r"expected an intact \.npz file, got .*Python objects"),
    ("a.npz", npz(), {"target": "z"}, r"expected a variable z of .*, got X \(40 x 5 float64\), y \(40 int64\)"),
    # what is not certain is asked with the setting
    *((name, MADE[name], options, message) for name, options, message in (
        ("latin1.csv", {}, r"the byte 0xf6 in b'Gr\\xf6\\xdfe,f1,.*dataset\.encoding=cp1252"),
        ("comment.csv", {}, r"got '# exported by X'; if such lines are comments, set 'dataset\.comment=\"#\"'"),
        ("none_column.parquet", {}, r"values in each column, got none in none; .*dataset\.left_out=\[none\]"),
        ("question.csv", {}, r"numbers in column f1, as in most rows, got '\?' in line 5; .*dataset\.na_values=\[\?\]"),
        ("fea.mat", {}, r"a variable X .*got fea \(40 x 5 double\), gnd \(40 x 1 int64\); .*dataset\.X=NAME"),
        ("category.csv", {"unit_rows": True}, r"got the string 'Oslo' in column 'city'; .*preparation=one_hot"),
        ("missing.csv", {"unit_rows": True}, r"got 2 in .*fill them in each fold by preparation=impute"),
    )),
    ("a.csv", TABLE.to_csv(index=False, header=False), {"target": -1},
     r"expected column names in the first line, got 0\.126, .*dataset\.header=none"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "options", "is_"),
    KINDS,
    ids=[f"{k}" for k in range(len(KINDS))],
)
def test_kinds_of_tables(project, name, content, options, is_):
    write(project / name, content)
    if isinstance(is_, list):
        assert read(project / name, **options)[0].feature_names.tolist() == is_
        return
    with pytest.raises(ValueError, match=is_):
        read(project / name, **options)


def test_columns_of_types_that_are_no_numbers(project):
    columns = {
        "truth": [True, None, False],
        "bytes": [b"p", b"q", b"p"],
        "when": pd.to_datetime(["2020", "2021", "2022"]),
    }
    frame = pd.DataFrame(
        {"a": [1.5, 2, 4], **columns, "lists": [[1], [2], [3]], "y": ["p", "q", "p"]}
    )
    frame.to_parquet(project / "t.parquet")
    with pytest.raises(
        ValueError,
        match=r"or strings in column 'lists', got \[1\.?\]; .*left_out=\[lists\]",
    ):
        read(project / "t.parquet")
    dataset, said = read(project / "t.parquet", left_out=["lists"])
    assert dataset.feature_names.tolist() == ["a", "truth", "bytes"]
    assert_array_equal(dataset.X, [[1.5, 1, 0], [2, np.nan, 1], [4, 0, 0]])
    assert dataset.categories["bytes"].tolist() == ["p", "q"]
    assert any("columns of dates are left out: when" in message for message in said)


def test_what_is_no_feature_of_numbers_is_kept_for_a_preparation(case):
    category = read(case("category.csv"))[0]
    missing = read(case("missing.csv"))[0]
    assert category.categories["city"].tolist() == ["Oslo", "Rome"]
    assert {*category.X[:, 5]} == {0, 1}
    assert np.isnan(missing.X).sum() == 2
    assert read(case("groups.csv"), groups="patient")[0].groups.tolist() == [
        k // 4 for k in range(40)
    ]
    assert read(case("qid.svm"), groups="qid")[0].groups.tolist() == [0] * 40
    assert "dataset.groups=qid" in read(case("qid.svm"))[1][0]
    regression, _ = read(case("regression.csv"))
    assert regression.is_regression
    assert_array_equal(regression.y, pd.read_csv(case("regression.csv")).label)
    _, [said] = read(case("id_scale.csv"))
    assert "different whole numbers in each row of id;" in said
    assert read(case("one_member.csv"))[0].class_names.tolist() == ["no", "rare", "yes"]


# ---- round trips

TARGETS = [
    ["NA", "None"],
    ["a b", "ä;ö,ü|"],
    ["yes", "no", "so-so"],
    [1, 0],
    [True, False],
    [k + 0.5 for k in range(30)],
]
NO_WORDS = {*MISSING, "true", "false", "inf", "infinity", "<na>"}
WORDS = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z", "N"]),
    min_size=1,
    max_size=6,
).filter(lambda text: text.lower() not in NO_WORDS and text[0] not in "#%+-=")
REALS = st.floats(-1e100, 1e100, allow_subnormal=False) | st.just(np.nan)


def zipped(content):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("folder/t", content)
    return packed.getvalue()


PACKED = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zip": zipped,
}


@st.composite
def tables(draw):
    """Return numbers, whole numbers, texts and truth values, with missing ones, odd names, and a target at the end."""
    n = draw(st.integers(24, 30))
    names = draw(st.lists(WORDS, min_size=5, max_size=5, unique_by=str.lower))
    words = draw(st.lists(WORDS, min_size=3, max_size=3, unique=True))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    labels = draw(st.sampled_from(TARGETS))
    columns = (
        [0.5, -1.25, *draw(st.lists(REALS, min_size=n - 2, max_size=n - 2))],
        rng.integers(-9, 2 ** draw(st.integers(1, 50)), size=n),
        rng.choice(np.array([*words, None], dtype=object), size=n),
        np.arange(n) % 3 == 1,
        [labels[k % len(labels)] for k in range(n)],
    )
    table = pd.DataFrame(dict(zip(names, columns, strict=True)))
    return table.drop(
        columns=draw(st.lists(st.sampled_from(names[1:4]), max_size=2, unique=True))
    )


def same(dataset, table, names=None):
    """Compare a data set with the table that it was written from."""
    target = table.iloc[:, -1]
    columns = table.iloc[:, :-1]
    assert dataset.feature_names.tolist() == (names or [*columns])
    for k, (_, column) in enumerate(columns.items()):
        if column.dtype.kind == "O":
            categories = np.append(dataset.categories[dataset.feature_names[k]], None)
            values = categories[
                np.where(np.isnan(dataset.X[:, k]), -1, dataset.X[:, k]).astype(int)
            ]
            assert (
                values.tolist()
                == column.astype(object).where(column.notna(), None).tolist()
            )
        else:  # pandas does not read the last bits
            assert_allclose(dataset.X[:, k], column.to_numpy(float), rtol=1e-14, atol=0)
    if dataset.is_regression:
        assert_array_equal(dataset.y, target)
    else:
        assert dataset.class_names[
            np.unique(dataset.y, return_inverse=True)[1]
        ].tolist() == [*map(str, target)]


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(tables(), st.data())
def test_a_table_in_any_dialect_is_read_as_it_is_or_asked_about(project, table, data):
    """With its settings it is always read; without them it is never read as anything else."""
    header = data.draw(st.booleans())
    packed = data.draw(st.sampled_from([*PACKED]))
    path = (
        project
        / f"t{data.draw(st.sampled_from(['.csv', '.tsv', '.txt', '.data']))}{packed}"
    )
    signs = {
        "sep": data.draw(st.sampled_from(",;\t|")),
        "decimal": data.draw(st.sampled_from(".,")),
    }
    quoting = data.draw(
        st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
    )
    content = table.to_csv(**signs, header=header, index=False, quoting=quoting)
    path.write_bytes(
        PACKED[packed](
            content.encode(data.draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"])))
        )
    )
    names = [*table.columns[:-1]] if header else [*map(str, range(1, table.shape[1]))]
    said = {"header": 0 if header else "none", "target": -1}
    same(read(path, **said, **signs)[0], table, names)
    try:
        dataset, _ = read(
            path,
            **{
                key: value
                for key, value in said.items()
                if key == "target" or not header
            },
        )
    except ValueError as error:
        question = str(error)
    else:
        same(dataset, table, names)
        return
    assert re.search(r"dataset\.(sep|decimal|header|thousands)", question)


@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(tables())
def test_a_table_in_any_other_format_is_the_same(project, table):
    table.to_parquet(project / "t.parquet")
    same(read(project / "t.parquet", target=-1)[0], table)
    if find_spec("openpyxl"):
        table.to_excel(project / "t.xlsx", index=False)
        same(read(project / "t.xlsx", target=-1, header=0)[0], table)
    numbers = table.select_dtypes("number").iloc[:, :1].fillna(0.5)
    kinds = table.iloc[:, -1]
    table = numbers.assign(last=kinds)
    [name] = numbers
    quoted = "'" + re.sub(r"(['\\])", r"\\\1", name) + "'"
    lines = [
        f"{x!r},'{label}'"
        for x, label in zip(numbers[name].tolist(), kinds, strict=True)
    ]
    head = [
        "% made",
        "@RELATION 'a b'",
        f"@attribute {quoted} REAL",
        "@attribute last string",
        "@DATA",
    ]
    (project / "t.arff").write_text("\n".join([*head, *lines]), encoding="utf-8")
    same(read(project / "t.arff", target=-1)[0], table)
    X = numbers.to_numpy()
    np.savez(
        project / "t.npz", fea=X, gnd=np.array(kinds.tolist()), feature_names=[name]
    )
    same(read(project / "t.npz", X="fea", target="gnd")[0], table)
    if kinds.dtype.kind in "if":
        savemat(project / "t.mat", {"fea": X, "gnd": kinds.to_numpy()[:, None]})
        same(read(project / "t.mat", X="fea", target="gnd")[0], table, ["1"])
        np.save(project / "t.npy", np.column_stack([X, kinds]))
        same(read(project / "t.npy", target=-1)[0], table, ["1"])
        for first in (True, False):
            dump_svmlight_file(X, kinds, str(project / "t.svm"), zero_based=first)
            dataset, _ = read(project / "t.svm", zero_based=first, n_features=1)
            same(replace(dataset, X=dataset.X.toarray()), table, ["1"])


def test_a_note_on_a_file_is_one_line_before_the_run(project, capsys):
    TABLE.to_csv(project / "t.csv")
    chosen = [
        "dataset=file",
        "dataset.path=t.csv",
        "selector=full",
        "protocol.n_splits=2",
        "executor=serial",
    ]
    assert main(["run", *chosen, f"results={project}"]) == 0
    first, *others = capsys.readouterr().err.splitlines()
    assert (
        first
        == "note: data set t.csv: column 'Unnamed: 0', which only numbers the rows, is left out."
    )
    assert not [line for line in others if "Unnamed" in line or "Warning" in line]


def test_a_run_in_python_warns_once_of_a_file(project):
    TABLE.to_csv(project / "seen-once.csv")
    config = compose_config(
        [
            "dataset=file",
            "dataset.path=seen-once.csv",
            "selector=full",
            "protocol.n_splits=2",
        ]
    )
    store = TrialStore(project / "store")
    said = io.StringIO()
    with pytest.warns(
        UserWarning, match="column 'Unnamed: 0', which only numbers the rows"
    ) as warned:
        report = run_cells(
            cells_of(config),
            store,
            {"name": "serial"},
            console=Console(file=said, width=200),
        )
    assert len(warned) == 1
    assert "Unnamed" not in said.getvalue()
    assert report.n_run == report.n_planned > 0
    assert not report.warnings


@pytest.mark.filterwarnings("ignore:.*constant columns:UserWarning")
@pytest.mark.parametrize("sep", [",", ";", "\t", "|"])
def test_a_wide_table_of_text_has_a_separator(project, sep):
    d = 25_000
    names = [f"gene {k:05d}" for k in range(d)]
    lines = [sep.join(["sample", *names, "diagnosis"])]
    lines += [
        sep.join([f"S{row}", *["0.25"] * (d - 1), f"{row}.5", "ab"[row % 2]])
        for row in range(6)
    ]
    (project / "wide.csv").write_text("\n".join(lines), encoding="utf-8")
    with pytest.warns(UserWarning, match="are left out: sample"):
        dataset = load_dataset("file", path="wide.csv", target="diagnosis")
    assert dataset.X.shape == (6, d)
    assert dataset.feature_names[-1] == names[-1]
    assert dataset.X[:, -1].tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]


@pytest.mark.parametrize(
    ("values", "n_classes"),
    [([1, 1, 2, 2, 3, 3], 3), ([0, 1, 1], 2), ([*range(20)] * 2, 20)],
)
def test_few_whole_numbers_that_recur_are_classes(project, values, n_classes):
    pd.DataFrame({"x": np.arange(len(values)) / 4, "y": values}).to_csv(
        project / "t.csv", index=False
    )
    dataset = load_dataset("file", path="t.csv")
    assert not dataset.is_regression
    assert dataset.n_classes == n_classes


def test_a_run_warns_of_more_rows_than_its_model_is_made_for(project, monkeypatch):
    monkeypatch.setattr("provlab.run.runner.MANY_ROWS", 39)
    TABLE.to_csv(project / "t.csv", index=False)
    chosen = [
        "dataset=file",
        "dataset.path=t.csv",
        "selector=full",
        "protocol.n_splits=2",
    ]
    for k, (more, n_notes) in enumerate(
        (
            (["model=liblinear"], 0),
            (["+dataset.sample_rows=20"], 0),
            (["model=libsvm"], 1),
        )
    ):
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            cells = cells_of(compose_config([*chosen, *more]))
            run_cells(
                cells,
                TrialStore(project / f"store{k}"),
                {"name": "serial"},
                console=Console(file=io.StringIO()),
            )
        assert (
            len(
                [
                    message
                    for message in warned
                    if "40 rows, and a model of LIBSVM" in str(message.message)
                ]
            )
            == n_notes
        )


LIBSVM = "provsel.models.LibsvmSVM"
LIBLINEAR = "sklearn.svm.LinearSVC"


@pytest.mark.parametrize(
    ("settings", "chosen"),
    [
        ([], {"_target_": LIBLINEAR, "C": 1.0, "dual": False, "random_state": 0}),
        (
            ["model=liblinear_primal"],
            {"_target_": LIBLINEAR, "C": 1.0, "dual": False, "random_state": 0},
        ),
        (
            ["model.classification.C=2"],
            {"_target_": LIBLINEAR, "C": 2, "dual": False, "random_state": 0},
        ),
        (["model=libsvm"], {"_target_": LIBSVM, "C": 1.0}),
        (["+model.classification.tol=0.1"], {"_target_": LIBSVM, "C": 1.0, "tol": 0.1}),
        (["+dataset.sample_rows=20"], {"_target_": LIBSVM, "C": 1.0}),
        (
            ["dataset.target=height"],
            {"_target_": "sklearn.linear_model.Ridge", "alpha": 1.0, "random_state": 0},
        ),
    ],
)
def test_many_rows_get_a_model_that_finishes_unless_one_is_stated(
    settings, chosen, project, monkeypatch
):
    table = pd.DataFrame(
        np.random.default_rng(0).standard_normal((40, 3)),
        columns=["height", "width", "depth"],
    )
    table.assign(label=[*"ab"] * 20).to_csv(project / "t.csv", index=False)
    overrides = [
        "dataset=file",
        "dataset.path=t.csv",
        "selector=uniform",
        "selector.n_features_to_select=1",
        *settings,
    ]
    [few] = cells_of(compose_config(overrides))
    assert LIBLINEAR not in few.json or settings == ["model=liblinear_primal"]
    monkeypatch.setattr("provlab.core.plan.MANY_ROWS", 39)
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        [many] = cells_of(compose_config(overrides))
    assert dict(many.model) == chosen
    is_another = many.model != few.model
    assert is_another == any(
        "40 rows: the model is LIBLINEAR" in str(note.message) for note in notes
    )
    report = run_cells(
        [many],
        TrialStore(project / "store"),
        {"name": "serial"},
        console=Console(file=io.StringIO()),
    )
    assert (report.n_run, report.failures) == (many.n_trials, [])


@pytest.mark.filterwarnings(
    "ignore:.*(constant columns|different whole numbers):UserWarning"
)
def test_attributes_and_the_ends_of_windows_lines_are_no_rows(project, monkeypatch):
    monkeypatch.setenv("PROVSEL_MEMORY_GB", "0.05")
    d = 3_000
    attributes = [f"@attribute f{k} numeric" for k in range(d)]
    rows = [f"{','.join(['1'] * (d - 1))},{row},{'ab'[row % 2]}" for row in range(4)]
    lines = ["@relation r", *attributes, "@attribute class {a,b}", "@data", *rows]
    (project / "wide.arff").write_text("\n".join(lines), encoding="utf-8")
    (project / "windows.csv").write_text(
        "\r\n".join(["a,b,y", *["1,2,0", "3,4,1"] * 200_000]), encoding="utf-8"
    )
    assert load_dataset("file", path="wide.arff").X.shape == (4, d)
    assert load_dataset("file", path="windows.csv").X.shape == (400_000, 2)


# ---- ARFF: a grammar of its own

HEAD = (
    "@relation r\n@attribute a numeric\n"
    "@attribute 'b c' {it's, \"x, y\", 'p\\'q'}\n@attribute kind {yes,no}\n@data\n"
)
PLAIN = [
    (1.5, "it's", "yes"),
    (2.0, "x, y", "no"),
    (None, "p'q", "yes"),
    (4.0, None, "no"),
]
ARFF = {
    "quotes and escapes": "1.5,'it\\'s',yes\n2,'x, y',no\n?,\"p'q\",'yes'\n4,?,no\n",
    "tabs": "1.5\tit's\tyes\n2\t'x, y'\tno\n?\t'p\\'q'\tyes\n4\t?\tno\n",
    "spaces": "1.5 it's  yes\n2 'x, y' no\n? 'p\\'q' yes\n4 ? no\n",
    "weights": "1.5,it's,yes,{5}\n2,'x, y',no, {0.5}\n?,'p\\'q',yes,{1}\n4,?,no\n",
    "comments": "% rows\n1.5,it's,yes % first\n\n2,'x, y',no%\n?,'p\\'q',yes\n4,?,no\n",
    "sparse": "{0 1.5}\n{0 2, 1 'x, y', 2 no}\n{0 ?,1 'p\\'q'}, {7}\n{ 0 4, 1\t?, 2 no }\n",
}


@pytest.mark.parametrize("form", ARFF)
def test_forms_of_arff_are_the_same_table(project, form):
    (project / "t.arff").write_text(HEAD + 2 * ARFF[form])
    with pytest.raises(
        ValueError,
        match=r"got 0 among a, b c, kind; .*'dataset\.target=\"kind\"', the last attribute",
    ):
        read(project / "t.arff")
    dataset, said = read(project / "t.arff", target="kind")
    assert dataset.feature_names.tolist() == ["a", "b c"]
    names = dataset.categories["b c"]
    for row, (a, b, kind) in enumerate(2 * PLAIN):
        x, code = dataset.X[row]
        assert np.isnan(x) if a is None else x == a
        assert np.isnan(code) if b is None else names[int(code)] == b
        assert dataset.class_names[(dataset.y[row] + 1) // 2] == kind
    assert not said


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            "1,it's,maybe",
            r"values that attribute 'kind' declares, yes, no, got 'maybe' in line 7; .*na_values=\[maybe\]",
        ),
        ("x1,it's,yes", r"numbers in column a, as in most rows, got 'x1' in line 7"),
        (
            "1,it's",
            r"expected 3 values in each row, .*got 2 in line 7, \"1,it's\"; correct it",
        ),
        ("1,it's,yes,no", r"expected 3 values in each row, .*got 4 in line 7"),
        ("{0 1, 3 yes}", r"rising indices from 0 to 2, got '3 yes' in line 7"),
        ("{1 it's, 0 1}", r"rising indices from 0 to 2, got '0 1' in line 7"),
    ],
)
def test_rows_of_arff_are_checked_against_what_is_declared(project, row, message):
    (project / "t.arff").write_text(f"{HEAD}1.5,it's,yes\n{row}\n3,it's,no\n")
    with pytest.raises(ValueError, match=message):
        read(project / "t.arff", target="kind")


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (
            "@attribute bag relational\n@attribute f real\n@end bag\n",
            r"the relational attribute 'bag' in line 1",
        ),
        (
            "@attribute a real\n@attribute 'a' real\n",
            r"each attribute once, got 'a' again in line 2",
        ),
        ("", r"expected attributes and a line @data, got 0 attributes"),
    ],
)
def test_heads_of_arff_that_are_refused(project, head, message):
    (project / "t.arff").write_text(f"{head}@data\n")
    with pytest.raises(ValueError, match=message):
        read(project / "t.arff")


def test_only_files_that_were_read_wrongly_have_another_identity(project):
    """Identities of version 0.1.0, of files that it read as this one does, and of those that it read otherwise."""
    plain = "@relation r\n@attribute a real\n@attribute b {'p q',r}\n@attribute y {u,v}\n@data\n"
    rows = {
        "plain": "1,'p q',u\n2,r,v\n",
        "weights": "1,r,u,{2}\n2,r,v,{3}\n",
        "escapes": "1,'p q',u\n2,'\\r',v\n",
    }
    versions = {}
    for name, text in rows.items():
        (project / f"{name}.arff").write_text(plain + text)
        versions[name] = loader("file").version(path=str(project / f"{name}.arff"))
    table = pa.table({"a": [1.0, 2.0], "b": [3.0, 5.0], "y": ["p", "q"]})
    described = [{"name": "b", "field_name": "a"}, {"name": "a", "field_name": "b"}]
    for name, columns in (("frame", []), ("swapped", described)):
        beside = {
            "pandas": json.dumps(
                {"columns": columns, "index_columns": [], "column_indexes": []}
            )
        }
        pq.write_table(
            table.replace_schema_metadata(beside), project / f"{name}.parquet"
        )
        versions[name] = loader("file").version(path=str(project / f"{name}.parquet"))
    assert versions == {
        "plain": 1,
        "weights": 2,
        "escapes": 2,
        "frame": 1,
        "swapped": 2,
    }
    dataset, _ = read(project / "swapped.parquet")
    assert dataset.feature_names.tolist() == ["a", "b"]
    assert_array_equal(dataset.X, [[1, 3], [2, 5]])


# ---- columns without a name, and numbers that are rounded


@pytest.mark.parametrize(
    ("first", "is_index"),
    [
        (range(6), True),
        ([7, 3, 4, 9, 1, 2], True),
        ([0, 1, 2, 0, 1, 2], True),
        (["s1", "s2", "s3", "s4", "s5", "s6"], True),
        ([0.5, 1.25, 3.5, 2.5, 0.1, 0.2], False),
        ([1, 0, 1, 1, 0, 0], False),
        (["p", "q", "p", "q", "p", "q"], False),
    ],
)
def test_a_first_column_without_a_name_is_an_index_only_where_it_numbers_or_names_the_rows(
    project, first, is_index
):
    lines = [f"{name},{k / 4},{'pq'[k % 2]}" for k, name in enumerate(first)]
    (project / "t.csv").write_text("\n".join([",a,y", *lines]))
    dataset, said = read(project / "t.csv")
    assert dataset.feature_names.tolist() == (
        ["a"] if is_index else ["Unnamed: 0", "a"]
    )
    note = (
        "'Unnamed: 0', which only numbers the rows"
        if is_index
        else r"without a name, Unnamed: 0, are features"
    )
    assert note in said[0]
    kept = keyed_parameters("file", path=str(project / "t.csv"))
    assert kept["index"] == ("Unnamed: 0" if is_index else None)
    if not is_index:
        assert read(project / "t.csv", left_out=[0])[0].feature_names.tolist() == ["a"]


BIG = [2**53 + 1, 2**53 + 3, 5, 7]


@pytest.mark.parametrize("name", ["t.csv", "t.npz"])
def test_whole_numbers_that_double_precision_rounds_are_said(project, name):
    pd.DataFrame({"big": BIG, "y": [0, 1, 0, 1]}).to_csv(project / "t.csv", index=False)
    np.savez(project / "t.npz", X=np.array(BIG)[:, None], y=[0, 1, 0, 1])
    _, said = read(project / name)
    assert re.search(
        r"beyond 2\^53 in column \w+, such as 9007199254740993, are rounded", said[0]
    )
    assert not any("constant" in note for note in said)


# ---- formats of pandas, two files, samples in columns, codes


def table_with_gaps():
    return TABLE.assign(
        f1=TABLE.f1.where(TABLE.index != 3),
        city=np.where(TABLE.index % 3, "Oslo", "Rome"),
    )


def json_lines(table):
    return table.to_json(orient="records", lines=True, double_precision=15)


FORMS = {
    "t.feather": lambda path, table: table.to_feather(path),
    "t.dta": lambda path, table: table.to_stata(path, write_index=False),
    "t.jsonl": lambda path, table: path.write_text(json_lines(table)),
    "t.jsonl.gz": lambda path, table: path.write_bytes(
        gzip.compress(json_lines(table).encode())
    ),
    "t.csv": lambda path, table: table.T.to_csv(path, header=False),
    "t.xlsx": lambda path, table: table.T.to_excel(
        path, header=False, engine="openpyxl"
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_forms_of_pandas_and_transposed_ones_are_the_same_table(project, name):
    table = table_with_gaps()
    table.to_csv(project / "plain.csv", index=False)
    FORMS[name](project / name, table)
    options = {"transpose": True} if name in ("t.csv", "t.xlsx") else {}
    expected = read(project / "plain.csv")[0]
    dataset = read(project / name, **options)[0]
    assert_allclose(dataset.X, expected.X, rtol=1e-12)
    assert_array_equal(dataset.y, expected.y)
    assert dataset.feature_names.tolist() == expected.feature_names.tolist()
    assert dataset.class_names.tolist() == expected.class_names.tolist()
    assert dataset.categories["city"].tolist() == ["Oslo", "Rome"]


def test_a_matrix_with_samples_in_columns_is_transposed(project):
    np.savez(project / "t.npz", X=VALUES.T, y=Y)
    savemat(project / "t.mat", {"X": VALUES.T, "Y": Y[:, None]})
    for name in ("t.npz", "t.mat"):
        with pytest.raises(
            ValueError,
            match=r"one for each row of X, got 40; if .* set dataset\.transpose=true",
        ):
            read(project / name)
        assert_array_equal(read(project / name, transpose=True)[0].X, VALUES)


@pytest.mark.parametrize("named", [True, False])
def test_the_target_may_be_in_a_second_file(project, named):
    options = {} if named else {"header": "none"}
    TABLE[NAMES].to_csv(project / "X.csv", index=False, header=named)
    TABLE[["label"]].to_csv(project / "y.csv", index=False, header=named)
    dataset, _ = read("X.csv", target_path="y.csv", **options)
    assert_array_equal(dataset.X, VALUES)
    assert_array_equal(dataset.y, 2 * Y - 1)
    assert (
        keyed_parameters("file", path="X.csv", target_path="y.csv", **options)[
            "target_path"
        ]
        == "y.csv"
    )
    TABLE[["label"]][:30].to_csv(project / "y.csv", index=False, header=named)
    with pytest.raises(
        ValueError, match=r"target_path: expected 40 rows, .*got 30 in y\.csv"
    ):
        read("X.csv", target_path="y.csv", **options)


def test_the_test_rows_may_be_in_a_second_file(project):
    TABLE[:30].to_csv(project / "train.csv", index=False)
    TABLE[30:].to_csv(project / "test.csv", index=False)
    dataset, _ = read("train.csv", test_path="test.csv")
    assert_array_equal(dataset.X, VALUES)
    assert_array_equal(dataset.official_train, np.arange(40) < 30)
    TABLE[30:].replace(VALUES[33, 1], "?").to_csv(project / "test.csv", index=False)
    with pytest.raises(ValueError, match=r"got '\?' in line 5 of test\.csv"):
        read("train.csv", test_path="test.csv")
    TABLE[["f0", "label"]].to_csv(project / "test.csv", index=False)
    with pytest.raises(
        ValueError,
        match=r"test_path: expected the columns f0, f1, .*got f0, label in test\.csv",
    ):
        read("train.csv", test_path="test.csv")


def test_numbers_may_be_codes_of_categories(project):
    table = TABLE.assign(race=np.arange(40) % 3 + 1)
    for name in ("t.csv", "t.parquet"):
        table.to_csv(
            project / name, index=False
        ) if name == "t.csv" else table.to_parquet(project / name)
        assert not read(project / name)[0].categories
        dataset, _ = read(project / name, categorical=["race"])
        assert dataset.categories["race"].tolist() == ["1", "2", "3"]
        assert_array_equal(dataset.X[:, 5], np.arange(40) % 3)
    table.assign(race=["rotary", *table.race[1:]]).to_csv(
        project / "t.csv", index=False
    )
    with pytest.raises(
        ValueError,
        match=r"got 'rotary' in line 2; .*if .* has categories, set 'dataset\.categorical=\[race",
    ):
        read(project / "t.csv")
    dataset, _ = read(project / "t.csv", categorical=["race"])
    assert dataset.categories["race"].tolist() == ["1", "2", "3", "rotary"]


def test_settings_that_came_later_leave_keys_as_they_were(project):
    TABLE.to_csv(project / "t.csv", index=False)
    assert keyed_parameters("file", path="t.csv") == {
        "path": "t.csv", "target": "label", "left_out": [], "index": None
    }  # fmt: skip


NOTES = [
    (
        ["time", "event"],
        {"target": "event"},
        r"column time is a feature, but .*known only with the target event",
    ),
    (
        ["time", "event"],
        {"target": "time"},
        r"column event is a feature, .*left_out=\[event\]",
    ),
    (
        ["user", "y"],
        {},
        r"25 different texts in 50 rows of column user, .*left_out=\[user\].*dataset\.groups=user",
    ),
    (
        ["race", "year", "z", "y"],
        {},
        r"few different whole numbers in race, year; .*dataset\.categorical=\[race,year\]'",
    ),
    (
        ["t1", "t2", "z", "u"],
        {"target": "t1"},
        r"names like that of the target t1: t2; if they are further targets, .*=\[t2\]",
    ),
]


@pytest.mark.parametrize(("names", "options", "message"), NOTES)
def test_columns_that_are_no_features_in_silence(project, names, options, message):
    values = {
        "time": np.arange(50) / 7,
        "event": np.arange(50) % 2,
        "user": [f"u{k % 25}" for k in range(50)],
        "y": ["p", "q"] * 25,
        "race": np.arange(50) % 5,
        "year": [*[2007, 2008, 2009, np.nan] * 12, 2007, 2008],
        **{
            name: np.sin(np.arange(50) * k)
            for k, name in enumerate(("z", "t1", "t2", "u"), 2)
        },
    }
    table = pd.DataFrame({name: values[name] for name in names}).assign(
        x=np.arange(50) / 3
    )
    table.to_csv(project / "t.csv", index=False)
    _, notes = read(project / "t.csv", **options)
    assert any(re.search(message, note) for note in notes)


def test_counts_and_features_that_are_numbered_are_not_asked_about(project):
    """Whole numbers in most columns are amounts, and x1, x2, x3 no targets where the target is x4."""
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.integers(0, 4, (60, 6))).add_prefix("snp").assign(
        y=["p", "q"] * 30
    ).to_csv(project / "t.csv", index=False)
    assert read(project / "t.csv")[1] == []
    pd.DataFrame(rng.standard_normal((60, 4)), columns=["x1", "x2", "x3", "x4"]).to_csv(
        project / "t.csv", index=False
    )
    assert read(project / "t.csv", target="x4")[1] == []


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        (
            "t.jsonl",
            '{"a": 1, "y": 0}\n[1, 2]\n',
            {},
            r"a JSON object in each line, .*in line 2",
        ),
        (
            "t.jsonl",
            '{"a": 1, "y": "p"}\n\n{"a": 2}\n',
            {},
            r"a value in each row, got 1 .*in line 3",
        ),
        (
            "t.csv",
            PQ,
            {"target_path": "t.csv", "test_path": "t.csv"},
            r"cannot be combined with dataset\.target_path=",
        ),
        (
            "t.npz",
            npz(),
            {"categorical": ["2"]},
            r"categorical: expected columns of a table, got column 2 of a matrix",
        ),
        (
            "t.csv",
            "g,s1,s2\ny,p,q\na,1,2,3\n",
            {"transpose": True},
            r"a value in each row, got 1 .*in column 4",
        ),
    ],
)
def test_what_is_refused_of_other_formats_and_second_files(
    project, name, content, options, message
):
    write(project / name, content)
    with pytest.raises(ValueError, match=message):
        read(name, **options)
