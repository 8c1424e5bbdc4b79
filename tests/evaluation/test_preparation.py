"""Missing values, texts and scales are learnt from the training rows of each fold, and from nothing else."""

import time

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.compose import ColumnTransformer

from provlab.core.cell import cell_of
from provlab.core.composition import compose_config
from provlab.core.plan import cells_of
from provlab.core.protocols import protocol_named
from provlab.data import make_dataset
from provlab.project.project import conf_files
from provlab.run.fold import make_fold
from provlab.run.preparation import TablePreparation, prepared_rows, table_of

READY = [
    path.stem for path in conf_files("preparation") if path.stem not in ("any", "none")
]
TOWNS = np.array(["Lima", "Oslo", "Rome"], dtype=object)


def data_with_holes(rng, *, texts=True, **changed):
    """Return 40 rows of columns of unlike scales with holes, one of towns, and one that is empty in some folds."""
    X = rng.standard_normal((40, 4)) * [1, 1e6, 1e-6, 1]
    X[rng.random((40, 4)) < 0.2] = np.nan
    X[:, 3] = np.where(rng.random(40) < 0.1, np.nan, rng.integers(0, 3, 40))
    names = ["height", "income", "dose", "town"]
    return make_dataset(
        X if texts else X[:, :3], np.where(np.arange(40) % 2, 1, -1), names if texts else names[:3], name="made",
        source="test", missing=True, categories={"town": TOWNS} if texts else {}, **changed,
    )  # fmt: skip


def config(name):
    return compose_config([f"preparation={name}"])["preparation"]


def fold(dataset, name, number=0, split="kfold"):
    return make_fold(
        protocol_named(split),
        dataset,
        n_splits=5,
        split_seed=3,
        fold=number,
        preparation=config(name),
    )


@pytest.mark.parametrize("name", READY)
def test_nothing_leaks_from_the_test_rows(name):
    dataset = data_with_holes(np.random.default_rng(0), texts=name != "impute")
    plain = fold(dataset, name)
    [test] = [
        rows
        for _, rows in [
            protocol_named("kfold").rows(dataset, n_splits=5, split_seed=3, fold=0)
        ]
    ]
    X = dataset.X.copy()
    X[np.ix_(test, [0, 1, 2])] = 1e9
    if dataset.categories:
        X[test, 3] = 0
    other_test_rows = make_dataset(
        X,
        dataset.y,
        dataset.feature_names,
        name="made",
        source="test",
        missing=True,
        categories=dataset.categories,
    )
    changed = fold(other_test_rows, name)
    assert_array_equal(changed.view.X, plain.view.X)
    # or the rows that were changed are not those that are tested
    assert (changed.X_test != plain.X_test).any()


@pytest.mark.parametrize("name", READY)
def test_values_are_those_of_plain_numpy(name):
    dataset = data_with_holes(np.random.default_rng(1), texts=name != "impute")
    train, test = protocol_named("kfold").rows(
        dataset, n_splits=5, split_seed=3, fold=2
    )
    prepared = fold(dataset, name, 2)
    numbers = dataset.X[:, :3]
    filled = np.where(np.isnan(numbers), np.nanmedian(numbers[train], axis=0), numbers)
    training = filled[train]
    low, middle, high = np.percentile(training, [25, 50, 75], axis=0)
    shift, size = {
        "standardise": (training.mean(0), training.std(0)),
        "varying": (training.mean(0), training.std(0)),
        "range": (training.min(0), np.ptp(training, axis=0)),
        "robust": (middle, high - low),
    }.get(name, (0.0, 1.0))
    expected = (filled - shift) / size
    assert_allclose(prepared.view.X[:, :3], expected[train], rtol=1e-12)
    assert_allclose(prepared.X_test[:, :3], expected[test], rtol=1e-12)
    assert prepared.feature_names[:3].tolist() == ["height", "income", "dose"]
    if name != "impute":
        codes = pd.Series(dataset.X[train, 3])
        seen = TOWNS[sorted({*codes.dropna().astype(int)})]
        assert prepared.feature_names[3:].tolist() == [f"town_{town}" for town in seen]
        filled_towns = TOWNS[codes.fillna(codes.mode()[0]).astype(int)]
        assert_array_equal(
            prepared.view.X[:, 3:], filled_towns[:, None] == seen[None, :]
        )


def wide(rng, n_rows, n_columns, text_places):
    """Return a data set with holes, whose columns at some places are towns."""
    X = rng.standard_normal((n_rows, n_columns))
    X[:, text_places] = rng.integers(0, 3, (n_rows, len(text_places)))
    X[rng.random(X.shape) < 0.1] = np.nan
    X[0] = 1.0
    names = [f"c{place}" for place in range(n_columns)]
    towns = dict.fromkeys([names[place] for place in text_places], TOWNS)
    y = np.where(np.arange(n_rows) % 2, 1, -1)
    return make_dataset(
        X, y, names, name="wide", source="test", missing=True, categories=towns
    )


@pytest.mark.parametrize("text_places", [[], [0], [3, 4, 9], [*range(10)]])
@pytest.mark.parametrize("scale", [None, "standard", "range", "robust"])
def test_places_of_columns_give_the_same_bits_as_their_names(scale, text_places):
    rng = np.random.default_rng([len(text_places), len(str(scale))])
    table = table_of(wide(rng, 60, 10, text_places))
    train = table[:50]
    test = table[50:]
    fitted = TablePreparation(scale=scale).fit(train)
    texts = [f"c{place}" for place in text_places]
    parts = {"numbers": [name for name in table if name not in texts], "texts": texts}
    steps = [
        (name, fitted.transformer_.get_params()[name], parts[name]) for name in parts
    ]
    by_name = ColumnTransformer(steps, verbose_feature_names_out=False).fit(train)
    for rows in (train, test):
        assert (
            fitted.transform(rows).tobytes()
            == np.asarray(by_name.transform(rows)).tobytes()
        )
    assert (
        fitted.get_feature_names_out().tolist()
        == by_name.get_feature_names_out().tolist()
    )


def test_time_grows_with_the_number_of_columns_and_not_with_its_square():
    table = table_of(wide(np.random.default_rng(0), 10, 40_000, []))
    begun = time.process_time()
    TablePreparation().fit(table)
    # 0.5 s; 8 s and more where each name is searched for among all
    assert time.process_time() - begun < 5


def test_a_text_that_no_training_row_has_gives_zeros():
    X = np.array([[0.0], [1.0], [0.0], [1.0], [2.0]])
    dataset = make_dataset(
        X,
        [1, -1, 1, -1, 1],
        ["town"],
        name="made",
        source="t",
        categories={"town": TOWNS},
    )
    table = table_of(dataset)
    fitted = TablePreparation().fit(table.iloc[:4])
    with pytest.warns(UserWarning, match="unknown categories"):
        assert fitted.transform(table.iloc[4:]).tolist() == [[0.0]]


def test_sparse_rows_stay_sparse():
    X = sparse.random_array(
        (30, 8), density=0.3, random_state=np.random.default_rng(0), format="csr"
    )
    dataset = make_dataset(
        X, np.where(np.arange(30) % 2, 1, -1), name="made", source="test"
    )
    for name in READY:
        prepared = fold(dataset, name)
        assert sparse.issparse(prepared.view.X)
        assert prepared.view.X.nnz <= X.nnz
    assert_allclose(
        abs(fold(dataset, "range").view.X).max(axis=0).toarray().ravel().max(), 1.0
    )


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_columns_that_are_constant_in_training_rows_are_left_out(form):
    """Whatever the test rows have there: a column of one text, one that was filled, and what varies elsewhere."""
    X = np.random.default_rng(0).integers(1, 9, (40, 6)).astype(float)
    X[:, [1, 4]] = [0.1, 0]
    X[30, 4] = 5
    names = list("abcdef")
    dataset = make_dataset(form(X), [0, 1] * 20, names, name="made", source="")
    rows, test, left = prepared_rows(
        config("varying"), dataset, np.arange(30), np.arange(30, 40), 0
    )
    assert left.tolist() == ["a", "c", "d", "f"]
    assert (rows.shape, test.shape) == ((30, 4), (10, 4))
    plain, test_plain, _ = prepared_rows(
        config("standardise"), dataset, np.arange(30), np.arange(30, 40), 0
    )
    for part, whole in ((rows, plain), (test, test_plain)):
        assert (part != whole[:, [0, 2, 3, 5]]).sum() == 0
    assert prepared_rows(
        config("varying"), dataset, np.arange(31), np.arange(31, 40), 0
    )[2].tolist() == [*"acdef"]
    fitted = TablePreparation(drop_constant=True).fit(
        table_of(dataset) if form is np.asarray else dataset.X[:30]
    )
    assert fitted.sources().tolist() == (
        [0, 2, 3, 4, 5] if form is np.asarray else [0, 2, 3, 5]
    )


def test_what_is_not_prepared_is_refused_with_the_setting_that_helps():
    rng = np.random.default_rng(0)
    with pytest.raises(
        ValueError,
        match=r"expected numbers, got the string 'Lima' in column 'town'.*preparation=one_hot",
    ):
        make_fold(
            protocol_named("kfold"),
            data_with_holes(rng),
            n_splits=5,
            split_seed=0,
            fold=0,
        )
    with pytest.raises(
        ValueError,
        match=r"no missing values, got \d+ in 3 columns, the first in row \d+ from 0 of column '\w+'; .*=impute",
    ):
        make_fold(
            protocol_named("kfold"),
            data_with_holes(rng, texts=False),
            n_splits=5,
            split_seed=0,
            fold=0,
        )
    with pytest.raises(
        ValueError,
        match=r"got the string .* in column 'town'; choose preparation=one_hot",
    ):
        fold(data_with_holes(rng), "impute")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"missing": None},
            r"expected no missing values, got \d+; set preparation.missing to one of mean, median",
        ),
        (
            {"scale": "unit"},
            r"scale must be one of standard, range, robust, got 'unit'",
        ),
        (
            {"missing": "zero"},
            r"missing must be one of mean, median, most_frequent, got 'zero'",
        ),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        TablePreparation(**settings).fit(
            table_of(data_with_holes(np.random.default_rng(0)))
        )


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_numbers_whose_squares_overflow_are_named_and_no_missing_values(form):
    X = np.random.default_rng(0).normal(size=(40, 3)) * [1, 1e300, 1]
    dataset = make_dataset(
        form(X), [0, 1] * 20, ["a", "b", "c"], name="huge", source=""
    )
    rows = np.arange(40)
    with (
        np.errstate(all="ignore"),
        pytest.raises(
            ValueError,
            match=r"got values up to 2e\+300 in column 'b', .*dataset\.left_out=\[b\]",
        ),
    ):
        prepared_rows(config("standardise"), dataset, rows[:20], rows[20:], 0)


def test_it_is_part_of_the_key():
    plain, none, impute, mean = (
        cells_of(compose_config(["dataset=digits", *more]))[0]
        for more in (
            [],
            ["preparation=none"],
            ["preparation=impute"],
            ["preparation=impute", "preparation.missing=mean"],
        )
    )
    assert plain.json == none.json
    assert "preparation" not in plain.json
    assert len({plain.id, impute.id, mean.id}) == 3
    assert cell_of(impute.json).id == impute.id
    assert (
        impute.identity["protocol"]["preparation"]["algorithm_version"]
        == TablePreparation.algorithm_version
    )


def test_a_transformer_from_elsewhere():
    chosen = [
        "dataset=digits",
        "preparation=any",
        "preparation._target_=sklearn.preprocessing.QuantileTransformer",
    ]
    [cell] = cells_of(compose_config(chosen))
    assert cell.protocol["preparation"]["_target_"].endswith("QuantileTransformer")
    chosen[-1] = "preparation._target_=my_study.Transformer"
    with pytest.raises(
        ValueError,
        match=r"config of the preparation: expected a class of .* that the project trusts",
    ):
        cells_of(compose_config(chosen))
