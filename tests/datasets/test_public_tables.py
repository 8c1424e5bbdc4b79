"""The tables of many fields: what an entry says of a file is what the data set has, in each format."""

import bz2
import gzip
import lzma

import numpy as np
import pandas as pd
import pytest
from r_objects import integer, pairs, r, texts, vector

from provlab.data import load_dataset
from provlab.data.loaders.tables import (
    Collection,
    TableEntry,
    read_table,
    table_entries,
)

TSV = b"id\tage\tcode\ttold\trest\ttarget\n1\t30\t2\t9\t0\t1\n2\t\t0\t8\t1\t0\n3\t50\t2\t7\t0\t1\n4\t20\t1\t6\t1\t0\n"
NUMBERS = b"3,1,-0.5,7\n1,2,0.25,8\n2,2,1.5,9\n"
HALF_NAMED = b"age,empty,target\n5,30,?,1.5\n6,40,?,2.5\n?,?,?,3.5\n"
OF_TSV = {"left_out": ("id", "to*"), "nominal": ("code",)}

CASES = {
    "columns left out by pattern, codes as categories, missing values, two classes": (
        *("a.tsv.gz", TSV, {"target": "target", **OF_TSV}),
        (["age", "code", "rest"], [[30, 2, 0], [np.nan, 0, 1], [50, 2, 0], [20, 1, 1]], [1, -1, 1, -1], None),
    ),
    "relevant columns first, groups, the first rows": (
        *("a.tsv.gz", TSV, {"target": "told", "groups": "code", "relevant": ("rest",), "left_out": ("age", "id")}),
        (["rest", "target"], [[0, 1], [1, 0], [0, 1], [1, 0]], [3, 2, 1, 0], [2, 0, 2, 1]),
    ),
    "rows in the order of time, columns by number, real targets": (
        *("b.csv.gz", NUMBERS, {"target": "3", "task": "regression", "time": ("1", "0"), "left_out": ("0",)}),
        (["1", "2"], [[1, -0.5], [2, 0.25], [2, 1.5]], [7.0, 8.0, 9.0], None),
    ),
    "names of the last columns only, a column that is mostly missing, rows below each other as groups": (
        *("c.data", HALF_NAMED, {"target": "target", "task": "regression", "groups": 2, "left_out": ("0",)}),
        (["age"], [[30], [40]], [1.5, 2.5], [0, 0]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_an_entry_says_what_is_what(tmp_path, case):
    file, content, settings, (names, X, y, groups) = CASES[case]
    path = tmp_path / file
    path.write_bytes(gzip.compress(content) if file.endswith(".gz") else content)
    entry = TableEntry(
        file=f"somewhere/{file}", domain="x", source="somebody", **settings
    )
    data = read_table(path, entry, name="made", digest="0" * 64)
    assert data.feature_names.tolist() == names
    np.testing.assert_array_equal(data.X, X)
    assert data.y.tolist() == y
    assert (None if data.groups is None else data.groups.tolist()) == groups
    assert {name: texts.tolist() for name, texts in data.categories.items()} == (
        {"code": ["0", "1", "2"]} if "nominal" in settings else {}
    )
    assert data.source == f"somebody; somewhere/{file}, SHA-256 {'0' * 64}"


NAMES = texts("small", "kind", "truth", "M")
MISSING = -(2**31)
MATRIX = vector([0.5, 1.5, 2.5, 3.5, 4.5, 5.5], dim=vector([3, 2]))
WRAPPED = vector([4, MISSING, 6])
WRAPPER = (
    integer(238)
    + pairs({"class": texts("wrap_integer")})
    + integer(2)
    + WRAPPED
    + integer(254)
    + integer(254)
)
FRAME = r(
    19,
    integer(4)
    + WRAPPER
    + vector([2, 1, MISSING], levels=texts("no", "yes"))
    + r(10, integer(3) + b"".join(map(integer, (1, 0, MISSING))))
    + MATRIX,
    names=NAMES,
)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize(
    "form", [b"RDX2\nX\n" + bytes(12), b"RDX3\nX\n" + bytes(12) + integer(5) + b"UTF-8"]
)
def test_objects_of_an_r_file_stand_side_by_side_and_below_each_other(
    tmp_path, pack, form
):
    path = tmp_path / "d.RData"
    objects = {
        "frame": FRAME,
        "more": FRAME,
        "y": vector([1.0, 2.0, 3.0]),
        "z": vector([4.0, 5.0, 6.0]),
    }
    path.write_bytes(pack(form + pairs(objects)))
    stacks = ("frame + more", "y + z")
    entry = TableEntry(
        file="somewhere/d.RData",
        domain="x",
        source="x",
        objects=stacks,
        target="y",
        task="regression",
    )
    data = read_table(path, entry, name="made", digest="")
    assert data.feature_names.tolist() == ["small", "kind", "truth", "M.1", "M.2"]
    once = [[4, 1, 1, 0.5, 3.5], [np.nan, 0, 0, 1.5, 4.5]]
    third = [6, np.nan, np.nan, 2.5, 5.5]
    np.testing.assert_array_equal(data.X, [*once, third, *once, third])
    assert data.categories["kind"].tolist() == ["no", "yes"]
    assert data.y.tolist() == [1, 2, 3, 4, 5, 6]


def test_each_entry_has_a_field_a_source_and_a_collection_with_a_licence():
    entries = table_entries()
    assert len(entries) >= 86
    for name, entry in entries.items():
        assert isinstance(entry.collection, Collection), name
        assert "the data" in entry.collection.licence, name
        assert entry.domain, name
        assert entry.source, name
        assert entry.task in ("classification", "regression"), name
        assert bool(entry.objects) == entry.file.endswith(("RData", "rda")), name
        assert " " not in name


# rows, columns, classes, rows of the smallest class, columns of texts, groups: of
# checked.tsv, but for columns left out
SHAPES = {
    "dermatology": (366, 34, 6, 20, 0, 0), "clean1": (476, 166, 2, 207, 0, 92), "crx": (690, 14, 2, 307, 8, 0),
    "communities": (1994, 100, 0, 0, 0, 0), "PLD": (312, 1646, 2, 123, 0, 0), "mayonnaise": (162, 351, 6, 24, 0, 54),
    "solubility": (1267, 228, 0, 0, 0, 0), "attrition": (1470, 30, 2, 237, 14, 0),
    "GAMETES_heterogeneity": (1600, 20, 2, 800, 0, 0), "bike": (17379, 13, 0, 0, 3, 0),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_real_tables_have_the_published_shape_parsed_or_cached(real_mirror, name):
    for _ in range(2):
        data = load_dataset("tables", set=name)
        smallest = (
            0 if data.is_regression else np.unique(data.y, return_counts=True)[1].min()
        )
        n_groups = 0 if data.groups is None else np.unique(data.groups).size
        assert (
            *data.X.shape,
            data.n_classes,
            smallest,
            len(data.categories),
            n_groups,
        ) == SHAPES[name]
        assert (data.class_names is None) == data.is_regression
    entry = table_entries()[name]
    assert [*entry.relevant] == data.feature_names[: len(entry.relevant)].tolist()


def test_a_shuffled_table_is_brought_into_the_order_of_time(real_mirror):
    raw = pd.read_csv(
        real_mirror / "tables" / "uci_regression" / "sml.csv.gz", header=None
    )
    by_time = raw.sort_values([1, 0, 3, 4])[26].to_numpy()
    assert (raw[26].to_numpy() != by_time).mean() > 0.9
    np.testing.assert_array_equal(load_dataset("tables", set="sml").y, by_time)
    # rows are 15 minutes apart
    assert np.abs(np.diff(by_time)).mean() < 0.1 * np.abs(np.diff(raw[26])).mean()


def test_no_column_left_tells_the_groups_or_the_classes(real_mirror):
    """A single column of clean1 and promoters has error 0 with the columns that name molecules and sequences."""
    for name, telling in (
        ("clean1", "molecule_name"),
        ("promoters", "name"),
        ("collins", "Genre"),
    ):
        assert telling not in load_dataset("tables", set=name).feature_names
