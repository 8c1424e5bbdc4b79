"""Studies beside the panel: their data sets, cells, files and answers."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import RidgeClassifierCV

from provlab.bench.methods import panel_methods
from provlab.bench.panel import panel_datasets
from provlab.bench.panel_computing import compute
from provlab.bench.selectors import TunedSelector
from provlab.bench.stored_panel import read_panel
from provlab.bench.studies import (
    Study,
    differences_to_all,
    excess_errors,
    gains_by_tuning,
    harms_by_noise,
    read_study,
    studies,
    study_answers,
    study_cells,
    support_measures,
    tagged_trials,
    variants,
    write_study,
)
from provlab.core.plan import load_from
from provlab.verdicts.panel_frame import ALL_FEATURES, CHOSEN_SIZE, HALF_SIZE, OWN_SIZE
from provlab.verdicts.panel_table import panel_table
from provsel.selectors import ReliefFSelector

METHODS = {
    name: panel_methods()[name]
    for name in ("F-test", "all features", "random", "ReliefF")
}


def test_studies_are_of_sets_and_methods_of_the_panel():
    for study in studies().values():
        assert {*study.sets} <= {*panel_datasets()}
        assert len({*study.sets}) == len(study.sets)
        assert {*study.grids} <= {*panel_methods()}


def test_each_grid_begins_with_the_parameters_of_the_panel():
    """So that a tie keeps them, but for the rank, which follows the number of features there."""
    for name, grid in studies()["tuned"].grids.items():
        selector = panel_methods()[name].selector(20)
        assert {parameter: values[0] for parameter, values in grid.items()} == {
            parameter: getattr(selector, parameter) for parameter in grid
        }


def test_permuted_sets_have_classes_and_each_is_of_another_domain():
    datasets = [panel_datasets()[name] for name in studies()["permuted"].sets]
    assert len({dataset.domain for dataset in datasets}) == len(datasets) >= 12
    assert {dataset.task for dataset in datasets} == {"classification"}


SIZES = {
    "F-test": {20, CHOSEN_SIZE},
    "all features": {ALL_FEATURES},
    "Boruta, its number": {OWN_SIZE},
    "bagged RFE": {20},
}


def test_methods_have_cells_on_permuted_labels_by_one_judge_at_few_sizes():
    cells = study_cells(
        studies()["permuted"], {name: panel_methods()[name] for name in SIZES}, "mdrr"
    )
    assert {entry.model for entry in cells} == {"linear"}
    sizes = {name: set() for name in SIZES}
    for entry in cells:
        sizes[entry.method].add(entry.size)
    assert sizes == SIZES
    assert all(entry.cell.dataset["permute_labels"] == 1 for entry in cells)
    assert all(entry.support == 0 for entry in cells)


def test_errors_are_compared_with_chance_by_class():
    """Of 10 and 30 rows half are wrong, then all of the first; of three classes every error is that of a guess."""
    lines = [
        ("two", "F-test", 20, [6, 20], [3, 10]),
        ("two", "F-test", 20, [4, 10], [2, 5]),
        ("two", "RFE", 20, [10, 30], [10, 15]),
        ("three", "F-test", 20, [3, 3, 6], [2, 2, 4]),
        ("three", "RFE", 20, None, None),
    ]
    trials = pd.DataFrame(
        lines, columns=["dataset", "method", "size", "class_rows", "class_errors"]
    )
    excess = excess_errors(trials, pd.DataFrame()).groupby("method")["value"]
    assert excess.mean().to_dict() == pytest.approx({"F-test": 0, "RFE": 25})
    assert excess.size().to_dict() == {"F-test": 2, "RFE": 1}


ON_SUPPRESSED = {
    name: replace(
        studies()[name], sets=("suppressed",), values=studies()[name].values[:2]
    )
    for name in ("noise", "half", "simulated", "few_rows")
} | {
    "tuned": replace(
        studies()["tuned"],
        sets=("suppressed",),
        grids={"ReliefF": {"n_neighbors": (10, 3)}},
    )
}


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    """Return a folder with five studies of few methods on one data set, and the cells of each."""
    folder = tmp_path_factory.mktemp("studies")
    cells = {}
    for name, study in ON_SUPPRESSED.items():
        study = replace(study, methods=() if study.grids else tuple(METHODS))
        cells[name] = study_cells(study, METHODS, "suppressed")
        results = folder / "results" / name
        plan = {"suppressed": cells[name]}.__getitem__
        arguments = (
            ["suppressed"],
            results,
            folder / name,
            {"name": "serial"},
            1.0,
            plan,
            write_study,
        )
        [line] = compute(*arguments)
        assert (line["failed"], line["trials"]) == (
            0,
            sum(entry.cell.n_trials for entry in cells[name]),
        )
        assert [*compute(*arguments)] == []
    return folder, cells


def test_half_of_the_columns_are_noise_and_the_shares_of_false_ones_tell_methods_apart(
    computed,
):
    folder, cells = computed
    study = ON_SUPPRESSED["noise"]
    n_real = load_from(panel_config("suppressed")).X.shape[1]
    assert {entry.support for entry in cells["noise"]} == {n_real}
    trials = read_study("noise", folder)
    assert {*trials["variant"]} == {*study.values}
    assert {*trials["n_features"]} == {2 * n_real}
    false = support_measures(trials, pd.DataFrame()).query(
        "measure == 'false_discovery'"
    )
    by_method = false.groupby("method")["value"].mean()
    assert by_method["random"] == pytest.approx(50, abs=12)
    assert by_method["F-test"] < 50


def test_half_of_the_columns_are_selected_and_real_ones_are_recalled(computed):
    folder, _ = computed
    n_real = load_from(panel_config("suppressed")).X.shape[1]
    trials = read_study("half", folder)
    assert {*trials["size"]} == {HALF_SIZE, ALL_FEATURES}
    assert {*trials["judge"]} == {"linear", "forest"}
    kept = trials[trials["size"] == HALF_SIZE]
    assert {*kept["n_selected"]} == {n_real}
    np.testing.assert_allclose(
        kept["support_recall"], 1 - kept["false_discovery"], rtol=1e-6
    )


def test_the_harm_of_noise_is_the_difference_to_all_features_of_the_panel(computed):
    folder, _ = computed
    trials = read_study("half", folder)
    panel = pd.DataFrame({
        "dataset": "suppressed", "model": ["linear", "forest"], "method": "all features", "task": "classification",
        "size": ALL_FEATURES, "balanced_accuracy": [0.25, 0.5], "failure": "",
    })  # fmt: skip
    values = harms_by_noise(trials, panel).query(
        "variant == 'permuted' and measure == 'harm'"
    )
    harms = values.set_index("method")["value"]
    for judge, accuracy in {"linear": 0.25, "forest": 0.5}.items():
        of_judge = trials[(trials["size"] == ALL_FEATURES) & (trials["judge"] == judge)]
        of_judge = of_judge[of_judge["variant"] == "permuted"]
        shares = [
            np.mean(np.divide(e, r))
            for e, r in of_judge[["class_errors", "class_rows"]].to_numpy()
        ]
        assert harms[f"all features, {judge}"] == pytest.approx(
            100 * (np.mean(shares) - 1 + accuracy)
        )


def test_claims_see_trials_of_studies_apart_from_those_of_the_panel(computed):
    folder, _ = computed
    panel = next(
        trials for tags, trials in tagged_trials(folder) if "rows_a_class" in tags
    )
    cards = pd.DataFrame(
        {
            "dataset": ["suppressed"],
            "rows": [160],
            "classes": [2],
            "error_linear": [0.3],
        }
    )
    table = panel_table(panel, cards, tagged_trials(folder))
    assert {*table["rows_a_class"]} == {"full", "10", "20"}
    assert {*table["tier"]} == {"default", "tuned"}
    assert {*table["labels"]} == {"real", "simulated"}
    added = {
        "20, random added",
        "20, copies added",
        "all, random added",
        "half, random added",
        "half, copies added",
    }
    assert {*table["size"]} == {"10", "20", "all", "all, copies added", *added}
    place = ["method", "size", "judge", "tier", "labels", "rows_a_class"]
    assert not table[place].duplicated().any()


def panel_config(name):
    """Return the config of a data set of the panel."""
    [cell, *_] = study_cells(
        Study((name,), ("",), {"linear": (20,)}, {}),
        {"F-test": METHODS["F-test"]},
        name,
    )
    return cell.cell.dataset


def test_a_simulated_target_has_ten_relevant_columns_that_labels_find(computed):
    folder, cells = computed
    assert {entry.support for entry in cells["simulated"]} == {10}
    assert {entry.cell.dataset["control_seed"] for entry in cells["simulated"]} == {
        1,
        2,
    }
    values = support_measures(read_study("simulated", folder), pd.DataFrame())
    assert {*values["variant"]} == {""}, "seeds are pooled"
    recall = values[values["measure"] == "support_recall"].set_index("method")["value"]
    assert recall["F-test"] > 5 * recall["random"]


def test_few_rows_train_and_all_others_test(computed):
    folder, _ = computed
    trials = read_study("few_rows", folder)
    tested = trials["class_rows"].map(sum).groupby(trials["variant"]).unique()
    n_rows = load_from(panel_config("suppressed")).n_rows
    assert {value: [*rows] for value, rows in tested.items()} == {
        "10": [n_rows - 20],
        "20": [n_rows - 40],
    }
    values = differences_to_all(trials, pd.DataFrame())
    of_all = values[
        (values["size"] == ALL_FEATURES) & (values["measure"] == "difference")
    ]
    assert of_all["value"].tolist() == [0.0, 0.0]
    of_f_test = values[
        (values["method"] == "F-test") & (values["variant"] == "20")
    ].set_index("measure")["value"]
    shares = [
        np.mean(np.divide(e, r))
        for e, r in few(trials, "F-test")[["class_errors", "class_rows"]].to_numpy()
    ]
    assert of_f_test["error"] == pytest.approx(100 * np.mean(shares))


def few(trials, method):
    return trials[(trials["method"] == method) & (trials["variant"] == "20")]


def test_a_gain_by_tuning_is_the_difference_to_the_panel(computed):
    folder, _ = computed
    trials = read_study("tuned", folder)
    panel = trials.iloc[[0]].assign(
        dataset="suppressed",
        model="linear",
        task="classification",
        failure="",
        balanced_accuracy=0.25,
    )
    [gain] = gains_by_tuning(trials, panel)["value"]
    error = np.mean(
        [
            np.mean(np.divide(e, r))
            for e, r in trials[["class_errors", "class_rows"]].to_numpy()
        ]
    )
    assert gain == pytest.approx(75 - 100 * error)


def test_answers_are_means_over_sets_of_each_study(computed):
    folder, _ = computed
    answers = study_answers(read_panel(folder), folder)
    assert {*answers["study"]} == {"noise", "half", "simulated", "few_rows"}, (
        "no panel beside them, so none is tuned"
    )
    assert {*answers["sets"]} == {1}
    assert answers["standard_error"].isna().all()
    assert study_answers(read_panel(folder), folder / "nowhere").empty


def test_a_variant_has_the_folds_of_its_study_or_those_of_its_set():
    [permuted] = variants(studies()["permuted"], "mdrr").values()
    assert "protocol=benchmark" in permuted.choose
    few_rows = variants(studies()["few_rows"], "tokyo1")["20"]
    assert [text for text in few_rows.choose if text.startswith("protocol=")] == [
        "protocol=benchmark_splitter"
    ]
    assert "+protocol.cv.train_size=40" in few_rows.choose
    assert few_rows.train_rows == 40


def test_tuning_takes_the_first_of_the_parameters_that_predict_best():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 12))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    grid = {"n_neighbors": [10, 2, 40]}
    tuned = TunedSelector(ReliefFSelector(2), grid=grid, model=RidgeClassifierCV()).fit(
        X, y
    )
    scores = []
    for n_neighbors in grid["n_neighbors"]:
        scores.append(
            np.mean([*fold_scores(ReliefFSelector(2, n_neighbors=n_neighbors), X, y)])
        )
    best = grid["n_neighbors"][int(np.argmax(scores))]
    assert tuned.best_params_ == {"n_neighbors": best}
    np.testing.assert_array_equal(
        tuned.indices_, ReliefFSelector(2, n_neighbors=best).fit(X, y).indices_
    )


def fold_scores(selector, X, y):
    """Yield the accuracy on each of three stratified folds, without scikit-learn's search."""
    from sklearn.model_selection import StratifiedKFold

    for train, test in StratifiedKFold(3).split(X, y):
        kept = selector.fit(X[train], y[train]).indices_
        yield (
            RidgeClassifierCV()
            .fit(X[train][:, kept], y[train])
            .score(X[test][:, kept], y[test])
        )


def test_a_value_that_cannot_be_fitted_is_an_error():
    X = np.random.default_rng(0).standard_normal((30, 4))
    selector = TunedSelector(
        ReliefFSelector(2), grid={"n_neighbors": [0]}, model=RidgeClassifierCV()
    )
    with pytest.raises(ValueError, match=r"n_neighbors.*got 0"):
        selector.fit(X, np.arange(30) % 2)
