"""scikit-learn as it is: splitters, scorers and estimators give what `cross_validate` gives, here and in configs."""

import io
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from rich.console import Console
from sklearn.base import BaseEstimator, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import VotingClassifier
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    chi2,
    mutual_info_classif,
)
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import (
    fbeta_score,
    get_scorer,
    log_loss,
    make_scorer,
    mean_pinball_loss,
)
from sklearn.model_selection import (
    GridSearchCV,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    LeavePGroupsOut,
    PredefinedSplit,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import all_estimators

from provlab import compare, select
from provlab.bench.methods import panel_methods
from provlab.bench.panel import PanelDataset, panel_cells
from provlab.cli.benchmark import _benchmark_folds
from provlab.core.cell import cell_of
from provlab.core.composition import compose_config
from provlab.core.plan import cells_of
from provlab.core.store import TrialStore
from provlab.project import scikit_learn
from provlab.project.components import build, component_class
from small_runs import records_of

N = 60


@pytest.fixture(scope="module")
def table():
    """Three columns that tell, three that do not; classes by name; groups of rows."""
    rng = np.random.default_rng(3)
    y = rng.permutation(np.arange(N) % 2)
    X = np.abs(rng.normal(3, 1, (N, 6)))
    X[:, :3] += 0.8 * y[:, None]
    return X, np.array(["ill", "well"])[y], rng.integers(0, 7, N)


pytestmark = pytest.mark.usefixtures("outside")


def quietly(X, y, methods, **options):
    return compare(
        X, y, methods, **{"draws": 1, "console": Console(file=io.StringIO()), **options}
    )


def stored(*names):
    """Return the values of each fold in the store."""
    columns = ["repeat", "fold", *names]
    return (
        TrialStore("results/store")
        .query(columns=columns)
        .to_pandas()
        .sort_values(["repeat", "fold"])
    )


def by_scikit_learn(steps, X, y, cv, scoring, groups=None):
    # of single classes in small folds, and of limits of kernels
    with warnings.catch_warnings(action="ignore"):
        validated = cross_validate(
            make_pipeline(*map(clone, steps)),
            X,
            y,
            cv=cv,
            scoring=scoring,
            groups=groups,
        )
    return {
        name.removeprefix("test_"): values
        for name, values in validated.items()
        if name.startswith("test_")
    }


def check(frame, expected):
    for name, values in expected.items():
        assert_allclose(frame[name], values, rtol=1e-12, err_msg=name)


MODEL = LogisticRegression(C=0.5, random_state=0)
BEST = SelectKBest(k=3)

SPLITTERS = {
    "KFold": KFold(4),
    "shuffled": KFold(3, shuffle=True, random_state=4),
    "RepeatedKFold": RepeatedKFold(n_splits=3, n_repeats=2, random_state=1),
    "RepeatedStratifiedKFold": RepeatedStratifiedKFold(
        n_splits=3, n_repeats=2, random_state=1
    ),
    "StratifiedKFold": StratifiedKFold(5, shuffle=True, random_state=2),
    "ShuffleSplit": ShuffleSplit(3, test_size=0.3, random_state=0),
    "one split": ShuffleSplit(1, random_state=0),
    "StratifiedShuffleSplit": StratifiedShuffleSplit(3, test_size=11, random_state=0),
    "TimeSeriesSplit": TimeSeriesSplit(4, gap=3, test_size=5, max_train_size=20),
    "PredefinedSplit": PredefinedSplit(np.arange(N) % 5 - 1),
    "LeaveOneGroupOut": LeaveOneGroupOut(),
    "LeavePGroupsOut": LeavePGroupsOut(2),
    "GroupShuffleSplit": GroupShuffleSplit(3, random_state=0),
    "LeaveOneOut": LeaveOneOut(),
}


class Halves:
    """A splitter of a program's own, with two folds of unlike sizes."""

    def split(self, X, y=None, groups=None):
        yield np.arange(30, 60), np.arange(30)
        yield np.arange(40), np.arange(40, 60)

    def get_n_splits(self, X=None, y=None, groups=None):
        return 2


def test_each_splitter_of_the_list_is_tried():
    tried = {type(splitter).__name__ for splitter in SPLITTERS.values()}
    # as the others: no arguments of their own
    others = {"GroupKFold", "StratifiedGroupKFold", "LeavePOut"}
    assert {
        target.rpartition(".")[2]
        for target, kind in scikit_learn.KINDS.items()
        if kind == "splitter"
    } == (tried | others)


@pytest.mark.parametrize("name", SPLITTERS)
def test_a_splitter_gives_the_folds_of_cross_validate(name, table):
    X, y, groups = table
    cv = SPLITTERS[name]
    groups = groups if "Group" in name else None
    quietly(X, y, {"best": BEST}, model=MODEL, cv=cv, scoring="accuracy", groups=groups)
    frame = stored("accuracy", "n_train")
    folds = list(cv.split(X, y, groups))
    assert frame["n_train"].tolist() == [train.size for train, _ in folds]
    check(frame, by_scikit_learn([BEST, MODEL], X, y, cv, ["accuracy"], groups))


ITERABLES = {
    "list": lambda X, y: list(KFold(4).split(X, y)),
    "unequal": lambda X, y: [
        (np.arange(30, 60), np.arange(30)),
        (np.arange(40), np.arange(40, 60)),
    ],
    "tuples of lists": lambda X, y: (
        (list(range(20)), [20, 30, 40, 50]),
        (list(range(1, 60)), [0]),
    ),
    "rows again": lambda X, y: [
        (np.r_[0:40, 0:20], np.arange(40, 60)),
        (np.r_[20:60, 59], np.arange(20)),
    ],
    "masks": lambda X, y: [
        (np.arange(N) > 9, np.arange(N) <= 9),
        (np.arange(N) < 40, np.arange(N) >= 40),
    ],
    "a generator": lambda X, y: KFold(3).split(X, y),
    "a splitter of one's own": lambda X, y: Halves(),
}


@pytest.mark.parametrize("name", ITERABLES)
def test_an_iterable_of_splits_is_used_as_it_is(name, table):
    X, y, _ = table
    make = ITERABLES[name]
    quietly(
        X,
        y,
        {"best": BEST},
        model=MODEL,
        cv=make(X, y),
        scoring="roc_auc" if "tuples" not in name else "accuracy",
    )
    scoring = "accuracy" if "tuples" in name else "roc_auc"
    check(stored(scoring), by_scikit_learn([BEST, MODEL], X, y, make(X, y), [scoring]))


def test_keys_hold_the_rows_of_splits_and_no_path(table, outside):
    X, y, _ = table
    splits = list(KFold(3).split(X))
    arguments = {"model": MODEL, "scoring": "accuracy"}
    quietly(X, y, {"best": BEST}, cv=splits, **arguments)
    first = set(TrialStore("results/store").keys())
    quietly(
        X,
        y,
        {"best": BEST},
        cv=[(train.tolist(), list(test)) for train, test in splits],
        **arguments,
    )
    quietly(X, y, {"best": BEST}, cv=splits, results="elsewhere", **arguments)
    assert (
        set(TrialStore("results/store").keys())
        == first
        == set(TrialStore("elsewhere/store").keys())
    )
    assert len(first) == 3
    quietly(X, y, {"best": BEST}, cv=splits[:2], **arguments)
    assert len(TrialStore("results/store").keys()) == 5
    config = (
        TrialStore("results/store").query(columns=["config"]).to_pylist()[0]["config"]
    )
    assert str(outside) not in config
    assert "[0,1," not in config


def money(model, X, y):
    """What wrong decisions cost: a scorer of a program's own, which looks at labels by name."""
    predicted = model.predict(X)
    return -float(
        np.mean(
            5 * ((predicted == "well") & (y == "ill"))
            + ((predicted == "ill") & (y == "well"))
        )
    )


def certainty(model, X, y):
    return float(model.predict_proba(X)[:, list(model.classes_).index("well")].mean())


SCORING = {
    "a name": "roc_auc",
    "names": ["f1_macro", "neg_log_loss"],
    "a tuple": ("balanced_accuracy", "accuracy"),
    "a scorer of scikit-learn": {"area": get_scorer("roc_auc")},
    "make_scorer": {"F2": make_scorer(fbeta_score, beta=2, pos_label="ill")},
    "a loss": {
        "loss": make_scorer(
            log_loss, greater_is_better=False, response_method="predict_proba"
        )
    },
    "a function": {"money": money, "certainty": certainty},
    "all": {
        "auc": "roc_auc",
        "money": money,
        "F2": make_scorer(fbeta_score, beta=2, pos_label="ill"),
    },
}


@pytest.mark.parametrize("name", SCORING)
def test_scorers_give_what_they_give_there(name, table):
    X, y, _ = table
    scoring = SCORING[name]
    frame = quietly(X, y, {"best": BEST}, model=MODEL, cv=KFold(3), scoring=scoring)
    by_name = [scoring] if isinstance(scoring, str) else scoring
    expected = by_scikit_learn([BEST, MODEL], X, y, KFold(3), by_name)
    check(stored(*expected), expected)
    first = next(iter(by_name))
    assert frame.columns[0] == first
    assert frame.loc["best", first] == pytest.approx(expected[first].mean(), rel=1e-12)


def test_one_scorer_has_the_name_of_its_function_and_of_a_built_one_the_same_key(table):
    X, y, _ = table
    arguments = {"methods": {"best": BEST}, "model": MODEL, "cv": 3, "repeats": 1}
    assert quietly(X, y, scoring=money, **arguments).columns[0] == "money"
    assert quietly(
        X, y, scoring=make_scorer(fbeta_score, beta=2, pos_label="ill"), **arguments
    ).columns[0] == ("fbeta_score")
    quietly(X, y, scoring="accuracy", **arguments)
    n_trials = len(TrialStore("results/store").keys())
    for scoring in (get_scorer("accuracy"), ["accuracy"], {"accuracy": "accuracy"}):
        quietly(X, y, scoring=scoring, **arguments)
    assert len(TrialStore("results/store").keys()) == n_trials
    [config] = {
        line["config"]
        for line in TrialStore("results/store").query(columns=["config"]).to_pylist()
        if "money" in line["config"]
    }
    assert "test_scikit_learn.money" in config
    assert '"version":"source ' in config  # the code of its module


ESTIMATORS = {
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    "neighbours": KNeighborsClassifier(3),
    "naive Bayes": GaussianNB(),
    "ridge": RidgeClassifier(),
    "discriminant": LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    "kernel": GaussianProcessClassifier(RBF(2.0) + WhiteKernel(0.5), random_state=0),
    "grid": GridSearchCV(
        SVC(random_state=0),
        {"C": [0.1, 1.0]},
        cv=StratifiedKFold(3),
        scoring="f1_macro",
    ),
    "weights of classes": LogisticRegression(
        class_weight={"ill": 5.0, "well": 1.0}, random_state=0
    ),
    "weights in a grid": GridSearchCV(
        LogisticRegression(random_state=0),
        {"class_weight": [{"ill": 9.0, "well": 1.0}, "balanced"]},
        cv=2,
    ),
    "vote": VotingClassifier([("a", GaussianNB()), ("b", RidgeClassifier())]),
}

SELECTORS = {
    "chi2": SelectKBest(chi2, k=2),
    "information": SelectKBest(mutual_info_classif, k=2),
    "importance_getter": RFE(
        make_pipeline(StandardScaler(), LogisticRegression(random_state=0)),
        n_features_to_select=2,
        importance_getter="named_steps.logisticregression.coef_",
    ),
    "from model": SelectFromModel(
        LogisticRegression(class_weight={"ill": 40.0, "well": 1.0}, random_state=0),
        max_features=2,
    ),
    "pipeline": make_pipeline(MinMaxScaler((0, 2)), SelectKBest(chi2, k=2)),
}


@pytest.mark.filterwarnings("ignore:The optimal value found for dimension")
@pytest.mark.parametrize("name", [*ESTIMATORS, *SELECTORS])
def test_estimators_are_those_of_scikit_learn(name, table):
    X, y, _ = table
    model = ESTIMATORS.get(name, MODEL)
    selector = SELECTORS.get(name, BEST)
    quietly(
        X, y, {"this": selector}, model=model, cv=StratifiedKFold(3), scoring="accuracy"
    )
    if name != "information":  # which draws, and has no random_state
        check(
            stored("accuracy"),
            by_scikit_learn([selector, model], X, y, StratifiedKFold(3), ["accuracy"]),
        )
    assert stored("accuracy")["accuracy"].notna().all()


# ---- configs and the command line


@pytest.fixture
def csv(table, outside):
    X, y, groups = table
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(6)]).assign(
        state=y, patient=groups
    )
    frame.to_csv("rows.csv", index=False, float_format="%.17g")
    splits = [
        [list(range(40)), list(range(40, 60))],
        [list(range(25, 60)), list(range(25))],
    ]
    (outside / "splits.json").write_text(json.dumps(splits))
    (outside / "provsel.toml").write_text('trust = ["my_study"]\n')
    (outside / "my_study.py").write_text(
        "def money(model, X, y):\n    return -float((model.predict(X) != y).sum())\n"
    )
    return X, y, groups, splits


COMMANDS = {
    "RepeatedKFold": (
        ["protocol=splitter", "protocol.cv._target_=sklearn.model_selection.RepeatedKFold", "+protocol.cv.n_splits=3",
         "+protocol.cv.n_repeats=2", "+protocol.cv.random_state=1", "protocol.scoring=accuracy"],
        RepeatedKFold(n_splits=3, n_repeats=2, random_state=1), {"accuracy": "accuracy"},
    ),
    "TimeSeriesSplit": (
        ["protocol=splitter", "protocol.cv._target_=sklearn.model_selection.TimeSeriesSplit", "+protocol.cv.gap=4",
         "+protocol.cv.n_splits=3", "protocol.scoring={auc:roc_auc,acc:accuracy}"],
        TimeSeriesSplit(3, gap=4), {"auc": "roc_auc", "acc": "accuracy"},
    ),
    "groups": (
        ["protocol=splitter", "protocol.cv._target_=sklearn.model_selection.LeavePGroupsOut",
         "+protocol.cv.n_groups=2", "protocol.scoring=accuracy"],
        LeavePGroupsOut(2), {"accuracy": "accuracy"},
    ),
    "a file": (["protocol=given_splits", "dataset.splits=splits.json", "protocol.scoring=roc_auc"], None,
               {"roc_auc": "roc_auc"}),
    "make_scorer": (
        ["protocol=splitter", "protocol.cv._target_=sklearn.model_selection.KFold",
         "protocol.scoring={F2:{_target_:sklearn.metrics.make_scorer,score_func:fbeta_score,beta:2,pos_label:ill}}"],
        KFold(), {"F2": make_scorer(fbeta_score, beta=2, pos_label="ill")},
    ),
    "a function": (
        ["protocol=splitter", "protocol.cv._target_=sklearn.model_selection.KFold", "protocol.scoring=my_study.money"],
        KFold(), {"money": lambda model, X, y: -float((model.predict(X) != y).sum())},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_configs_name_the_same_objects(name, csv):
    X, y, groups, splits = csv
    overrides, cv, scoring = COMMANDS[name]
    data = ["dataset=file", "dataset.path=rows.csv", "dataset.target=state"]
    data.append(
        "dataset.groups=patient" if name == "groups" else "dataset.left_out=[patient]"
    )
    chosen = [
        "selector=select_k_best",
        "selector.score_func=f_classif",
        "selector.n_features_to_select=3",
    ]
    model = [
        "model=any",
        "model._target_=sklearn.linear_model.LogisticRegression",
        "+model.C=0.5",
    ]
    model.append("+model.random_state=0")
    [cell] = cells_of(
        compose_config(
            [*data, *chosen, *model, "preparation=none", "protocol.draws=1", *overrides]
        )
    )
    frame = pd.DataFrame(records_of(cell)).sort_values("fold")
    check(
        frame,
        by_scikit_learn(
            [BEST, MODEL],
            X,
            y,
            cv or splits,
            scoring,
            groups if name == "groups" else None,
        ),
    )
    # as an audit makes it from a record
    again = cell_of(cell.json, source=cell.dataset["path"])
    assert again.id == cell.id


def test_the_benchmark_measures_a_data_set_of_one_s_own_in_the_folds_of_a_splitter(csv):
    X, y, groups, _ = csv
    folds = _benchmark_folds(
        [
            "protocol=splitter",
            "protocol.cv._target_=sklearn.model_selection.LeavePGroupsOut",
            "+protocol.cv.n_groups=3",
        ]
    )
    data = (
        "dataset=file",
        "dataset.path=rows.csv",
        "dataset.target=state",
        "dataset.groups=patient",
    )
    mine = PanelDataset((*data, "preparation=none", *folds), "yours", "")
    [*cells] = panel_cells({"F-test": panel_methods()["F-test"]}, {"mine": mine})
    [cell] = [
        entry.cell for entry in cells if (entry.model, entry.size) == ("linear", 5)
    ]
    frame = pd.DataFrame(records_of(cell)).sort_values("fold")
    assert (frame["failure"] == "").all()
    steps = [SelectKBest(k=5), build("model", cell.model)]
    expected = by_scikit_learn(
        steps, X, y, LeavePGroupsOut(3), ["balanced_accuracy"], groups
    )
    assert_allclose(
        frame["balanced_accuracy"], expected["balanced_accuracy"], rtol=1e-6
    )
    for refused in ("protocol=tenfold", "protocol.scoring=f1"):
        with pytest.raises(
            ValueError,
            match=r"rank: expected protocol=splitter or protocol=time_order, .*, got",
        ):
            _benchmark_folds([refused])


def test_k_and_the_usual_name_and_both_ways_of_naming_a_function_are_one_method(table):
    ways = [
        ["selector=select_k_best", "selector.score_func=chi2", "selector.k=4"],
        ["selector=select_k_best", "selector.score_func=chi2", "selector.n_features_to_select=4"],
        ["selector=any", "selector._target_=sklearn.feature_selection.SelectKBest",
         "+selector.score_func=sklearn.feature_selection.chi2", "+selector.k=4"],
    ]  # fmt: skip
    ids = set()
    for way in ways:
        [cell] = cells_of(
            compose_config(["dataset=digits", "protocol.setting=unsupervised", *way])
        )
        ids.add(cell.id)
    assert len(ids) == 1
    assert build("selector", cell.selector).score_func is chi2


# ---- what is refused, and when


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["protocol=splitter"], r"config of the splitter: expected a class of scikit-learn's public splitters"),
        (["protocol=splitter", "protocol.cv._target_=os.system"], r"public splitters or of .*, got 'os\.system'"),
        (["protocol=splitter", "protocol.cv._target_=sklearn.model_selection.LeavePOut"],
         r"expected a value for p, got none; .* add \+protocol\.cv\.p="),
        (["protocol=splitter", "protocol.cv._target_=sklearn.model_selection.KFold", "+protocol.cv.folds=3"],
         r"KFold: expected arguments among n_splits, shuffle, random_state, got folds"),
        (["protocol=tenfold", "+protocol.cv={_target_:sklearn.model_selection.KFold}"],
         r"protocol\.cv: cannot be set with the split kfold, .*; use protocol=splitter"),
        (["selector=select_k_best", "selector.score_func=chi"], r"a function of sklearn\.feature_selection, .*'chi2'"),
        (["selector=any", "selector._target_=sklearn.feature_selection.RFE",
          "+selector.estimator={_target_:sklearn.neighbors.KNeighborsClassifier}"],
         r"an estimator inside RFE that has coef_ or feature_importances_ after fit, got KNeighborsClassifier\(\)"),
        (["selector=any", "selector._target_=sklearn.feature_selection.SelectFromModel",
          "+selector.estimator={_target_:sklearn.svm.SVC}"],
         r"inside SelectFromModel that has coef_ .*, got SVC\(\), which has none; choose a linear model"),
        (["selector=any", "selector._target_=sklearn.feature_selection.RFE", "+selector.importance_getter=nothing_",
          "+selector.estimator={_target_:sklearn.naive_bayes.GaussianNB}"],
         r"that has importance_getter='nothing_' after fit, got GaussianNB\(\)"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_before_anything_runs(overrides, message):
    with pytest.raises(ValueError, match=message):
        cells_of(
            compose_config(
                ["dataset=digits", "protocol.setting=unsupervised", *overrides]
            )
        )


def test_a_selector_of_weights_takes_what_has_some():
    for estimator in (
        "sklearn.svm.LinearSVC",
        "sklearn.ensemble.ExtraTreesClassifier",
        "sklearn.linear_model.Ridge",
    ):
        way = ["selector=any", "selector._target_=sklearn.feature_selection.RFE"]
        way.append(f"+selector.estimator={{_target_:{estimator}}}")
        assert cells_of(
            compose_config(["dataset=digits", "protocol.setting=unsupervised", *way])
        )


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (
            [(np.arange(30), np.arange(30, 61))],
            r"cv: fold 0: expected row numbers from 0 to 59, got 60",
        ),
        (
            [(np.arange(30), np.arange(-3, 0))],
            r"cv: fold 0: expected row numbers from 0 to 59, got -3",
        ),
        (
            [(np.arange(30) / 2, np.arange(9))],
            r"cv: fold 0: expected row numbers, got array",
        ),
        ([(np.arange(30), [])], r"expected test rows in fold 0, got none"),
        (
            [np.arange(30)],
            r"cv: expected kfold, .* or an iterable of \(training rows, test rows\), got",
        ),
        ([], r"cv: expected kfold, .*, got \[\]"),
        (KFold, r"cv: expected kfold, .*, got <class .*KFold"),
        (
            LeavePGroupsOut(2),
            r"expected splits of LeavePGroupsOut, got ValueError: The 'groups' parameter",
        ),
        (KFold(99), r"Cannot have number of splits n_splits=99"),
    ],
)
def test_splits_that_are_none_are_refused(cv, message, table):
    X, y, _ = table
    with pytest.raises(ValueError, match=message):
        quietly(X, y, {"best": BEST}, cv=cv, groups=None)


@pytest.mark.parametrize(
    ("scoring", "message"),
    [
        (
            fbeta_score,
            r"a scorer that is called with \(model, X, y\), got fbeta_score, .*; wrap it: make_scorer\(fbeta_score\)",
        ),
        (
            lambda model, X, y: 0.0,
            r"expected classes and functions with a name at the top level",
        ),
        (
            {"pinball": make_scorer(mean_pinball_loss)},
            r"that LogisticRegression supports, got pinball, which is about real",
        ),
        (
            {"error": money},
            r"the records already have a column called 'error'; give the scorer another name",
        ),
        (
            {"F2": make_scorer(fbeta_score, bta=2)},
            r"F2: expected arguments among .*, got bta",
        ),
    ],
)
def test_scorers_that_are_none_are_refused(scoring, message, table):
    X, y, _ = table
    with pytest.raises(ValueError, match=message):
        quietly(X, y, {"best": BEST}, model=MODEL, scoring=scoring)


def test_a_scorer_of_several_numbers_is_a_failure_that_says_so(table):
    X, y, _ = table
    with pytest.raises(
        ValueError,
        match=r"several: expected the scorer to return one number, got \{'a': 1\}; pass",
    ):
        quietly(X, y, {"best": BEST}, model=MODEL, scoring=several, cv=3)


def several(model, X, y):
    return {"a": 1}


def test_a_score_function_of_classes_is_not_for_numbers(table):
    X, _, _ = table
    with pytest.raises(
        ValueError,
        match=r"SelectKBest: expected classes for chi2, .* choose score_func=f_regression",
    ):
        quietly(
            X, X[:, 0] * 2.5, {"best": SelectKBest(chi2, k=2)}, task="regression", cv=3
        )


# ---- the list


def test_the_list_has_each_public_estimator_but_those_that_read_files():
    left_out = {"CountVectorizer", "HashingVectorizer", "TfidfVectorizer"}
    # for no table of numbers
    left_out |= {
        "DictVectorizer",
        "FeatureHasher",
        "PatchExtractor",
        "TfidfTransformer",
    }
    listed = {
        target.rpartition(".")[2]
        for target, kind in scikit_learn.KINDS.items()
        if kind == "estimator"
    }
    public = {name for name, _ in all_estimators()}
    assert public - listed <= left_out
    for target, kind in scikit_learn.KINDS.items():
        if target.rpartition(".")[2] in public or kind != "estimator":
            assert scikit_learn.listed(target).__name__ == target.rpartition(".")[2]


@pytest.mark.parametrize(
    "parameter", ["filename", "path", "file", "input", "cache_dir", "data_home"]
)
def test_no_estimator_of_the_list_has_an_argument_that_names_a_file(parameter):
    for target, kind in scikit_learn.KINDS.items():
        if kind == "estimator":
            cls = scikit_learn.listed(target)
            if issubclass(cls, BaseEstimator):
                assert parameter not in cls._get_param_names(), target


def test_estimators_are_models_and_selectors_without_trust():
    for name, cls in all_estimators(type_filter="classifier"):
        target = next(
            target for target in scikit_learn.KINDS if target.rpartition(".")[2] == name
        )
        assert component_class("model", {"_target_": target}) is cls


# ---- select


@pytest.mark.parametrize(
    "name",
    ["KFold", "PredefinedSplit", "TimeSeriesSplit", "LeaveOneGroupOut", "unequal"],
)
def test_select_has_the_outer_folds_that_cv_gives(name, table):
    X, y, groups = table
    cv = SPLITTERS.get(name) or ITERABLES[name](X, y)
    groups = groups if "Group" in name else None
    scorer = make_scorer(fbeta_score, beta=2, pos_label="ill")
    options = {
        "methods": "f_test",
        "n_features_to_select": 2,
        "model": "logistic",
        "scoring": {"F2": scorer},
    }
    selected = select(X, y, cv=cv, groups=groups, **options)
    folds = list(cv.split(X, y, groups)) if hasattr(cv, "split") else cv
    assert len(selected.folds) == len(folds)
    model = build("model", {"_target_": "sklearn.linear_model.LogisticRegression"})
    all_columns = []
    for train, test in folds:
        fitted = make_pipeline(StandardScaler(), clone(selected.pipeline["model"])).fit(
            X[train], y[train]
        )
        all_columns.append(scorer(fitted, X[test], y[test]))
    assert type(model).__name__ in repr(selected.pipeline["model"])
    assert_allclose(selected.folds["all columns"], all_columns, rtol=1e-6)


def test_select_and_numbers_as_labels_have_weights_of_classes_too(table):
    X, y, _ = table
    y = np.where(y == "well", 7, 3)
    model = LogisticRegression(class_weight={3: 8.0, 7: 1.0}, random_state=0)
    quietly(
        X,
        y,
        {"best": BEST},
        model=model,
        cv=KFold(3),
        scoring={"F2": make_scorer(fbeta_score, pos_label=3, beta=2)},
    )
    check(
        stored("F2"),
        by_scikit_learn(
            [BEST, model],
            X,
            y,
            KFold(3),
            {"F2": make_scorer(fbeta_score, pos_label=3, beta=2)},
        ),
    )
    selected = select(
        X, y, methods="f_test", n_features_to_select=2, cv=KFold(3), model=model
    )
    guesses = []
    for train, test in KFold(3).split(X):
        fitted = make_pipeline(StandardScaler(), clone(model)).fit(X[train], y[train])
        guesses.append(100 * (1 - fitted.score(X[test], y[test])))
    assert_allclose(selected.folds["all columns"], guesses)
    assert selected.pipeline["model"].class_weight == {3: 8.0, 7: 1.0}


def test_select_refuses_two_ways_to_say_the_folds(table):
    X, y, _ = table
    with pytest.raises(
        ValueError, match=r"select: cv: n_splits and repeats cannot be combined"
    ):
        select(X, y, cv=3, n_splits=4)
    with pytest.raises(
        ValueError, match=r"select: cv: time cannot be combined with cv; sort the rows"
    ):
        select(X, y, cv=KFold(3), time=np.arange(len(y)))
