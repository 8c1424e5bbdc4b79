"""Configs of unknown intent: nothing runs, nothing asks the environment, nothing is read elsewhere; one error each."""

import json
import logging
from functools import cache

import pytest
from hostile_bytes import bounded, tree

from provlab.cli.commands import guarded
from provlab.core.artefact import compose_artefact
from provlab.core.composition import compose_config, resolve_references, results_folder
from provlab.core.overrides import parse_override
from provlab.core.plan import cells_of
from provlab.core.store import TrialStore
from provlab.data import dataset_members, load_dataset
from provlab.project.components import build
from small_runs import REPO, SMALL, run_quietly

SECRET = "s3cr3t-of-the-environment"
SIZES = ["dataset.n_samples=60", "dataset.n_features=120", "dataset.n_relevant=5"]
TABLE1 = "paul2016/table1"


@pytest.fixture(autouse=True)
def secret(monkeypatch):
    monkeypatch.setenv("PROVSEL_SECRET", SECRET)


def composed(*overrides):
    """Return the cells, as run.py and the artefacts get them."""
    with bounded():
        cells = cells_of(compose_config(overrides))
        for cell in cells:
            assert len(cell.id) == 64
        return cells


@cache
def usual():
    return compose_config(SIZES)


# ---- components

TARGETS = [
    *("os.system", "builtins.eval", "subprocess.Popen", "provsel.selectors.__builtins__.eval", "provsel.selectors"),
    *("provsel.selectors.bss.np.load", "provsel.selectors.BaseSelector", "provsel.models.LibsvmSVM", "BSSSelector"),
    *("provsel.selectors.BSSSelector.__init__", "provsel.selectors..BSSSelector", "provsel.selectors.bss.BSSSelector"),
    *("provsel.selectors.BSSSelector\n", " provsel.selectors.BSSSelector", "provsel.selectors.BSSSelector\0"),
    *("", "__main__"),
]  # fmt: skip


@pytest.mark.parametrize(
    "target", [*TARGETS, None, 3, ["os.system"], {"_target_": "os.system"}, "x" * 10**6]
)
def test_only_registered_components_are_named(target):
    for kind in ("selector", "model"):
        if target == "provsel.models.LibsvmSVM" and kind == "model":
            continue
        config = {"_target_": target, "n_features_to_select": 3}
        expected = rf"config of the {kind}: expected a class of provsel\.{kind}s.*, got"
        with pytest.raises(ValueError, match=expected) as error:
            build(kind, config)
        assert len(str(error.value)) < 1500


FILES = "sklearn.feature_extraction.text.CountVectorizer"
PIPELINE = {
    "_target_": "sklearn.pipeline.Pipeline",
    "steps": [["a", {"_target_": "sklearn.svm.SVC"}]],
}
LISTED = {
    "reads files": (FILES, {"input": "filename"}, "expected a class of"),
    "reads files, inside": ("sklearn.pipeline.Pipeline", {"steps": [["a", {"_target_": FILES}]]}, "a class of provsel"),
    "a private path": ("sklearn.svm._classes.SVC", {}, "expected a class of"),
    "a function as a class": ("sklearn.metrics.accuracy_score", {}, "expected a class of"),
    "a splitter as a model": ("sklearn.model_selection.KFold", {}, "expected a class of"),
    "data of the network": ("sklearn.datasets.fetch_openml", {}, "expected a class of"),
    "a module": ("sklearn.svm", {}, "expected a class of"),
    "an attribute": ("sklearn.svm.SVC.__init__", {}, "expected a class of"),
    "a score function": ("sklearn.feature_selection.SelectKBest", {"score_func": "os.system"}, "a function of sklearn"),
    "a function": (
        "sklearn.feature_selection.SelectKBest", {"score_func": {"_function_": "os.system"}}, "was passed in Python"
    ),
    "a function that reads": (
        "sklearn.preprocessing.FunctionTransformer", {"func": {"_function_": "joblib.load", "args": ["x"]}},
        "was passed in Python",
    ),
    "a function of scikit-learn": (
        "sklearn.preprocessing.FunctionTransformer", {"func": {"_function_": "sklearn.datasets.load_files"}},
        "was passed in Python",
    ),
    "a scorer inside": (
        "sklearn.model_selection.GridSearchCV",
        {"estimator": PIPELINE, "scoring": {"_target_": "sklearn.metrics.make_scorer", "score_func": "os.system"}},
        "was passed in Python",
    ),
    "a splitter inside": (
        "sklearn.model_selection.GridSearchCV", {"estimator": PIPELINE, "cv": {"_target_": "os.system"}}, "a class of"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", LISTED)
def test_the_list_of_scikit_learn_brings_nothing_else(case):
    target, arguments, message = LISTED[case]
    for kind in ("selector", "model", "preparation"):
        with pytest.raises(
            ValueError, match=f"{message}|expected a class with"
        ) as error:
            build(kind, {"_target_": target, **arguments})
        assert len(str(error.value)) < 1500
    with pytest.raises(ValueError, match=message):
        build("component", {"_target_": target, **arguments})


@pytest.mark.parametrize(
    "name",
    [
        "os.system",
        "joblib.load",
        "sklearn.datasets.load_files",
        "numpy.load",
        "a.b",
        ".",
    ],
)
@pytest.mark.parametrize(
    "form", ["{}", "{{s:{}}}", "{{s:{{_function_:{}}}}}", "{{s:{{_target_:{}}}}}"]
)
def test_a_scorer_is_a_name_a_call_of_make_scorer_or_a_function_of_a_trusted_module(
    name, form
):
    import sys

    before = set(sys.modules)
    text = form.format(f"'{name}'")
    with pytest.raises(
        ValueError, match=r"was passed in Python|public scorers|letters, digits"
    ):
        composed(
            "dataset=digits",
            "selector=full",
            "protocol.setting=unsupervised",
            f"protocol.scoring={text}",
        )
    assert not {
        module
        for module in set(sys.modules) - before
        if module.split(".")[0] in ("os", "a")
    }


# ---- the environment and other places

ENVIRONMENT = "${oc.env:PROVSEL_SECRET}"
LOOKED_UP = [
    *(ENVIRONMENT, "${oc.env:PROVSEL_SECRET,x}", "a${oc.env:PROVSEL_SECRET}b", "${oc.decode:${oc.env:PROVSEL_SECRET}}"),
    *("${oc.create:${oc.env:PROVSEL_SECRET}}", "${oc.dict.keys:hydra}", "${hydra:runtime.cwd}", "${now:%Y}"),
    *("${evil:x}", r"\\${oc.env:PROVSEL_SECRET}", "${ oc.env : PROVSEL_SECRET }", "${oc.env:${results}}"),
    *("${${results}}", "${results}", "${executor.name}", "${hydra.run.dir}", "${dataset.${results}}"),
    *("${.name}", "${..results}"),
]  # fmt: skip
PLACES = ("dataset.name", "dataset.seed", "selector._target_", "selector.n_features_to_select", "model.C",
          "protocol.seed", "protocol.split")  # fmt: skip


@pytest.mark.parametrize("text", LOOKED_UP)
@pytest.mark.parametrize("place", PLACES)
def test_settings_of_a_cell_are_looked_up_nowhere_else(text, place):
    """As in a file, which is where a foreign setting comes from: it never goes through the parser of overrides."""
    group, name = place.split(".")
    config = {**usual(), group: {**usual()[group], name: text}}
    with pytest.raises(
        ValueError, match=f"^{place}: expected a value, or a reference"
    ) as error:
        cells_of(config)
    assert SECRET not in str(error.value)


@pytest.mark.parametrize("text", [text for text in LOOKED_UP if ":" in text])
def test_overrides_do_not_ask_the_environment(text, capsys):
    for key in (
        *PLACES,
        "dataset",
        "selector",
        "+experiment",
        "+artefact.title",
        "artefact.rows.x",
    ):
        status = guarded(lambda key=key: len(composed(*SIZES, f"{key}={text}")))
        shown = capsys.readouterr()
        assert status == 2 or key.startswith("+artefact")  # which no cell has
        assert shown.err.startswith("provsel: ") or status != 2
        assert SECRET not in shown.out + shown.err


def test_an_artefact_does_not_bring_the_environment_by_a_detour():
    for key in ("title", "rows.BSS", "columns.x", "c"):
        with pytest.raises(ValueError, match=r"artefact.*: expected a value") as error:
            compose_artefact(
                TABLE1,
                [
                    *SMALL,
                    f"++artefact.{key}=[{ENVIRONMENT}]",
                    "dataset.seed=${artefact.c}",
                ],
            )
        assert SECRET not in str(error.value)
    config = compose_config([*SIZES, "+artefact.c=1", "dataset.seed=${artefact.c}"])
    # a setting that others refer to, as artefacts have
    assert cells_of(config)[0].dataset["seed"] == 1
    with pytest.raises(ValueError, match=r"^dataset\.seed: expected a value"):
        cells_of({**config, "artefact": {"c": ENVIRONMENT}})


def test_what_describes_no_result_may_ask_the_environment(tmp_path):
    config = compose_config([*SIZES, "protocol.n_splits=2", "protocol.repeats=1", "selector=uniform",
                             "selector.n_features_to_select=3", f"results={tmp_path}/{ENVIRONMENT}"])  # fmt: skip
    assert results_folder(config) == tmp_path / SECRET
    store = TrialStore(tmp_path / "store")
    run_quietly(cells_of(config), store)
    records = store.query().to_pylist()
    assert records
    assert SECRET not in repr(records)


# ---- size and form


@pytest.mark.parametrize(
    "value",
    [
        "[" * 10_000 + "]" * 10_000,
        "{a:" * 3000 + "1" + "}" * 3000,
        "${" * 3000 + "x" + "}" * 3000,
        "(" * 50,
        "a" * 10**6,
    ],
)
def test_deep_and_long_overrides_are_refused_before_they_are_parsed(value):
    for overrides in ([f"dataset.seed={value}"], [f"+selector.x={value}"]):
        with (
            bounded(5),
            pytest.raises(
                ValueError,
                match=r"^override .*: expected at most 20 levels and 20000 char",
            ),
        ):
            compose_config(overrides)
        with (
            bounded(60),
            pytest.raises(
                ValueError,
                match=r"^override .*: expected at most 20 levels and 20000 char",
            ),
        ):
            compose_artefact(TABLE1, overrides)
    parse_override("dataset.seed=" + "[" * 20 + "]" * 20)


def nested(levels):
    value = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (nested(200), "expected at most 20 levels"),
        (
            float("nan"),
            "seed: expected a string, a finite number, true, false or null, got nan",
        ),
        (float("-inf"), "got -inf; write 1e300 or -1e300 for an infinite one"),
        (b"bytes", "seed: expected a string, a finite number"),
        (REPO, "seed: expected a string, a finite number"),
        ({1: 2}, "seed: expected strings as keys, got 1"),
        ([0] * 20_000, "expected at most 10000 values, got more"),
    ],
)
def test_values_of_other_kinds_are_refused(value, message):
    with pytest.raises(ValueError, match=message) as error:
        resolve_references({"dataset": {"seed": value}}, ["dataset"])
    assert str(error.value).startswith("dataset")
    assert len(str(error.value)) < 400


ODD = {
    "no name": (["~dataset.name"], "dataset.name: expected a string, got None"),
    "set of numbers": (
        ["dataset=techtc", "dataset.set=3"],
        "dataset.set: expected a name, all, or a list of names",
    ),
    "nested set": (
        ["dataset=techtc", "dataset.set=[[a]]"],
        "dataset.set: expected a name",
    ),
    "no split": (
        ["~protocol.split"],
        r"protocol\.split: expected one of \('kfold', .*got None",
    ),
    "too many": (
        ["protocol.repeats=99999999999999999999"],
        "protocol.repeats: expected at most 100000, got 9999",
    ),
    "to itself": (["dataset.name=${dataset.name}"], "Recursive interpolation detected"),
    "in a circle": (
        ["dataset.seed=${dataset.n_samples}", "dataset.n_samples=${dataset.seed}"],
        "Recursive interp",
    ),
    "to its parent": (["dataset.name=${dataset}"], "expected at most 20 levels"),
    "to ever more": (
        [
            "+artefact.a=[1,2,3,4,5,6,7,8,9]",
            *(
                f"+artefact.{b}=[{','.join([f'${{artefact.{a}}}'] * 9)}]"
                for a, b in zip("abcdefgh", "bcdefghi", strict=True)
            ),
            "dataset.seed=${artefact.i}",
        ],
        "expected at most 10000 values, got more",
    ),
    "another package": (["+dataset@selector=digits"], "expected GROUP=NAME or GROUP"),
    "a tag": (
        ["dataset.name='!!python/object/apply:os.mkdir [canary]'"],
        "unknown data set '!!python",
    ),
    "a tag with a value": (
        ["dataset.seed='!!python/object/apply:os.mkdir [canary]'"],
        "seed must be an integer",
    ),
    "a huge range": (
        ["dataset.seed=range(1,1000000000)"],
        "expected one value, got several",
    ),
}


@pytest.mark.parametrize("case", ODD)
def test_odd_configs_are_one_clear_error(case):
    overrides, message = ODD[case]
    with pytest.raises(ValueError, match=message):
        composed(*overrides)


# ---- names as paths

NAMES = ["../evil", "../../../../../../etc/passwd", "/etc/passwd", "a/../../b", "x\ny", "\x1b[31mred", "Exp_1_2\n",
         "C:\\x", "n" * 5000, "", ".", "~", "*", "{a,b}", "$HOME", "file:///etc/passwd", "a\0b"]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names_of_data_sets_and_sets_are_no_paths(name, tmp_path):
    (tmp_path / "mirror" / "techtc100" / "tokens").mkdir(parents=True)
    (tmp_path / "mirror" / "evil.txt.xz").write_bytes(b"")
    before = tree(tmp_path)
    for call in (
        lambda: load_dataset(name),
        lambda: dataset_members(name),
        lambda: load_dataset("techtc", set=name),
        lambda: compose_artefact(name),
    ):
        with pytest.raises(
            ValueError,
            match=r"unknown data set|set must look like|artefact: expected one of",
        ) as error:
            call()
        assert "\x1b" not in str(error.value)
        assert "\0" not in str(error.value)
    assert tree(tmp_path) == before


@pytest.mark.parametrize(
    "group",
    [
        "dataset",
        "selector",
        "+experiment",
        "executor",
        "+dataset@selector",
        "+dataset@selector.x",
    ],
)
def test_choices_of_a_group_are_files_of_conf(group, tmp_path):
    (tmp_path / "evil.yaml").write_text("name: digits\nclasses: [1, 2]\n")
    up = "../" * 30
    with pytest.raises(
        ValueError, match=r"(expected one of|GROUP=NAME or GROUP\.SETTING=VALUE)"
    ):
        compose_config([f"{group}={up}{str(tmp_path)[1:]}/evil"])


def test_a_hostile_record_does_not_come_back_as_a_cell(caplog):
    """The text of a config in a store from elsewhere, as `provsel audit` takes it."""
    from provlab.core.cell import cell_of

    # as `provsel audit` skips them
    refused = (ValueError, TypeError, KeyError, AttributeError, RecursionError)
    [cell] = composed(*SIZES)
    good = cell.identity
    assert (
        cell_of(json.dumps(good, sort_keys=True, separators=(",", ":"))).id == cell.id
    )
    inner = {"name": "os.system", "algorithm_version": 1, "arguments": {}}
    for text in (
        json.dumps({**good, "selector": inner}), "[" * 100_000, "{}", "null", "\0", "",
        json.dumps({**good, "selector": {**good["selector"], "name": "__doc__"}}),
        json.dumps({**good, "model": {**good["model"], "arguments": {"C": inner}}}),
        json.dumps({**good, "dataset": "../../x"}), json.dumps({**good, "protocol": []}), '{"a":' * 5000,
    ):  # fmt: skip
        with bounded(), pytest.raises(refused):
            cell_of(text)
    assert not [record for record in caplog.records if record.levelno > logging.WARNING]
