"""Configs name classes of trusted modules, and nothing else is imported or called."""

import importlib
import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import Pipeline

from provlab.core.composition import compose_config
from provlab.core.plan import cells_of
from provlab.core.protocols.base import predicts_numbers
from provlab.project import components
from provlab.project.components import build, component_identity
from small_runs import records_of

BUILD = "from provlab.project.components import build\nbuild('selector', {{'_target_': {!r}}})\n"
STUDY = """
import subprocess
from json import loads
import numpy as np
from subprocess import Popen
from sklearn.base import BaseEstimator
from provsel.selectors import BaseSelector, BSSSelector, Selection

class Mine(BaseSelector):
    def __init__(self, k=3): self.k = k
    def _select(self, view, rng): return Selection.unweighted(np.arange(self.k))

class NoSelector(BaseEstimator):
    def fit(self, X, y=None): return self

class NoEstimator:
    def transform(self, X): return X

def function(): raise AssertionError("called")
"""


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    """Make a project that trusts a module of its own and scikit-learn."""
    (tmp_path / "provsel.toml").write_text('trust = ["trusted_study", "sklearn"]\n')
    (tmp_path / "trusted_study.py").write_text(STUDY)
    monkeypatch.setenv("PROVSEL_PROJECT", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    # and what a test adds is taken away
    monkeypatch.syspath_prepend(tmp_path / "nothing")
    yield tmp_path
    sys.modules.pop("trusted_study", None)


def refused(target, message, kind="selector", **arguments):
    # the message names provsel's own classes: they are there before
    for registry in components.REGISTRIES:
        components.registered(registry)
    before = set(sys.modules)
    with pytest.raises(ValueError, match=message):
        build(kind, {"_target_": target, **arguments})
    return set(sys.modules) - before


@pytest.mark.parametrize(
    "target",
    [
        *(
            "joblib.load",
            "os.system",
            "subprocess.Popen",
            "provlab.cli.main",
            "numpy.load",
            "pickle.Unpickler",
        ),
        *("antigravity.x", "", 7, None),
    ],
)
def test_other_modules_are_refused_and_not_imported(target):
    message = r"expected a class of provsel\.selectors .* project trusts \(trusted_study, sklearn\)"
    assert refused(target, message) == set()
    assert "antigravity" not in sys.modules


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        ("model", "provsel.selectors.BSSSelector"),
        ("selector", "provsel.models.KMeansClustering"),
        ("selector", "provlab.run.preparation.TablePreparation"),
        ("preparation", "provsel.selectors.BSSSelector"),
        ("selector", "provlab.project.template.my_study.DocumentFrequency"),
    ],
)
def test_a_class_of_ours_of_another_kind_or_room_is_refused_and_not_imported(
    kind, target
):
    assert refused(target, rf"config of the {kind}: expected", kind) == set()


def test_what_helps_is_said(project):
    for target, got in (
        ("???", "none"),
        (None, "none"),
        ("SelectKBest", "'SelectKBest'"),
    ):
        refused(
            target,
            rf"got {got}; name a class with its module, such as selector\._target_=my_study\.MyClass",
        )
    refused(
        "mine.Gap",
        r"got 'mine\.Gap'; add 'mine' to trust in provsel\.toml if you trust its code",
    )
    refused(
        "provsel.selectors.RRQR",
        r"name one of provsel\.selectors: .*; did you mean 'provsel\.selectors\.RRQRSel",
    )
    (project / "trusted_study.py").write_text("x = 1\ndef broken(\n")
    refused(
        "trusted_study.Mine",
        r"got a module with an error: .*never closed \(trusted_study\.py, line 2\)",
    )


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (
            "sklearn.utils.resample",
            r"expected a subclass of sklearn\.base\.BaseEstimator, .*which is no class",
        ),
        (
            "sklearn.utils.Bunch",
            r"expected a subclass of sklearn\.base\.BaseEstimator, .*which is another class",
        ),
        ("sklearn.datasets.fetch_openml", r"expected a subclass .*which is no class"),
        (
            "sklearn.nope.Nope",
            r"expected a class sklearn\.nope\.Nope, got No module named",
        ),
        (
            "sklearn.svm.Nope",
            r"expected a class sklearn\.svm\.Nope, got .*has no attribute 'Nope'",
        ),
        (
            "sklearn.svm.SVC",
            r"expected a class with transform, got sklearn\.svm\._classes\.SVC",
        ),
        ("trusted_study.Popen", r"expected a subclass .*which is another class"),
        ("trusted_study.loads", r"which is no class"),
        ("trusted_study.function", r"which is no class"),
        (
            "trusted_study.subprocess.Popen",
            r"expected a class trusted_study\.subprocess\.Popen, got No module named",
        ),
        ("trusted_study.NoEstimator", r"which is another class"),
        ("trusted_study.NoSelector", r"expected a class with transform"),
        (
            "trusted_study.Mine.fit",
            r"expected a class trusted_study\.Mine\.fit, got No module named",
        ),
    ],
)
def test_what_is_no_estimator_of_a_trusted_module_is_refused(target, message):
    refused(target, message)


def test_what_is_known_of_a_class_is_forgotten_when_its_code_changes(project):
    code = """
from sklearn.base import BaseEstimator, {0}
class Mine({0}, BaseEstimator):
    def __init__(self, {1}=None): self.{1} = {1}
    def predict(self, X): return X[:, 0]
"""
    kinds = []
    chosen = [
        "dataset=digits",
        "selector=full",
        "protocol.setting=unsupervised",
        "model=any",
    ]
    for names in (("ClassifierMixin", "random_state"), ("RegressorMixin", "alpha")):
        (project / "trusted_study.py").write_text(code.format(*names))
        if kinds:
            importlib.reload(sys.modules["trusted_study"])
        [cell] = cells_of(
            compose_config([*chosen, "model._target_=trusted_study.Mine"])
        )
        kinds.append((predicts_numbers(cell.model), cell.n_draws))
    assert kinds == [(False, 5), (True, 1)]


def test_a_version_of_another_author_says_nothing_of_a_subclass(project):
    code = "from provsel.selectors import RRQRSelector\nclass Mine(RRQRSelector): pass\nclass More(Mine): pass\n"
    (project / "trusted_study.py").write_text(code)
    versions = [
        component_identity("selector", {"_target_": f"trusted_study.{n}"})
        for n in ("Mine", "More")
    ]
    assert all(
        identity["algorithm_version"].startswith("source ") for identity in versions
    )
    (project / "trusted_study.py").write_text(
        code.replace(": pass", ": algorithm_version = 7", 1)
    )
    importlib.reload(sys.modules["trusted_study"])
    versions = [
        component_identity("selector", {"_target_": f"trusted_study.{n}"})
        for n in ("Mine", "More")
    ]
    assert [identity["algorithm_version"] for identity in versions] == [7, 7]


def test_where_there_is_no_project_a_file_is_to_be_made(project, monkeypatch):
    monkeypatch.delenv("PROVSEL_PROJECT")
    (project / "provsel.toml").unlink()
    refused(
        "mine.Gap",
        r"trusts \(none\), got 'mine\.Gap'; write trust = \['mine'\] into a new file provsel\.toml if",
    )


def test_a_class_that_a_trusted_module_only_imports_is_another_s(project):
    (project / "provsel.toml").write_text('trust = ["trusted_study"]\n')
    (project / "trusted_study.py").write_text(
        "from sklearn.feature_selection import SelectKBest\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", BUILD.format("trusted_study.SelectKBest")],
        env={**os.environ}, cwd=project, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (
        "expected a class of trusted_study, got trusted_study.SelectKBest, which is of sklearn"
        in done.stderr
    )


def test_a_module_of_the_project_hides_no_other(project):
    for name in ("numpy.py", "yaml.py", "json.py"):
        (project / name).write_text("raise AssertionError('imported')\n")
    script = (
        "from provlab.project.components import build\nbuild('selector', {'_target_': 'trusted_study.Mine'})\n"
        "import numpy, yaml, json\nprint(numpy.__version__)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", script],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == np.__version__, done.stderr


def test_trust_is_widened_by_the_file_alone(project, monkeypatch):
    for override in ("+trust=[os]", "+project.trust=[os]", "++selector.trust=[os]"):
        with pytest.raises(Exception, match=r"expected|Could not|unknown|trust"):
            cells_of(compose_config([override, "selector._target_=os.system"]))
    monkeypatch.setenv("PROVSEL_TRUST", "os")
    refused("os.system", r"trusts \(trusted_study, sklearn\)")
    (project / "conf").mkdir()
    (project / "conf" / "provsel.toml").write_text('trust = ["os"]')
    refused("os.system", r"trusts \(trusted_study, sklearn\)")


def test_pickles_behind_an_argument_are_refused():
    steps = [["only", {"_target_": "sklearn.preprocessing.StandardScaler"}]]
    refused(
        "sklearn.pipeline.Pipeline",
        r"Pipeline: expected no memory, got '/tmp/x', a folder of pickles",
        steps=steps,
        memory="/tmp/x",
    )
    built = build(
        "selector",
        {"_target_": "sklearn.pipeline.Pipeline", "steps": steps, "memory": None},
    )
    assert isinstance(built, Pipeline)


PIPELINE = {
    "_target_": "sklearn.pipeline.Pipeline",
    "steps": [
        ["a", {"_target_": "sklearn.preprocessing.StandardScaler"}],
        ["b", {"_target_": "sklearn.svm.SVC"}],
    ],
}


@pytest.mark.parametrize("search", ["GridSearchCV", "RandomizedSearchCV"])
@pytest.mark.parametrize(
    "grid",
    [
        {"memory": ["/tmp/x"]}, {"estimator__memory": [None, "/tmp/x"]}, [{"b__C": [1]}, {"memory": ["/tmp/x"]}],
        {"b": [{**PIPELINE, "memory": "/tmp/x"}]}, {"a": [{"x": [{"a__b__memory": ["/tmp/x"]}]}]},
    ],
)  # fmt: skip
def test_pickles_behind_a_search_are_refused(search, grid):
    name = "param_grid" if search == "GridSearchCV" else "param_distributions"
    target = f"sklearn.model_selection.{search}"
    inner = {"_target_": target, "estimator": PIPELINE, name: grid}
    bagged = {"_target_": "sklearn.ensemble.BaggingClassifier", "estimator": inner}
    for config in (inner, bagged):
        with pytest.raises(
            ValueError,
            match=r"expected no \w*memory, got .*/tmp/x.*, a folder of pickles",
        ):
            build("model", config)
    inner[name] = {"memory": [None], "b__C": [1.0], "a__copy": [True]}
    assert build("model", bagged).estimator.get_params()[name]["b__C"] == [1.0]


def test_a_function_of_a_trusted_module_is_a_scorer_and_nothing_else(project):
    """What the module only imports is not its own, and of scikit-learn the list decides, trust or not."""
    code = (
        "\ndef wrong(model, X, y):\n    return -float((model.predict(X) != y).mean())\n"
    )
    (project / "trusted_study.py").write_text(STUDY + code)
    digits = ["dataset=digits", "selector=full", "protocol.setting=unsupervised"]
    [cell] = cells_of(compose_config([*digits, "protocol.scoring=trusted_study.wrong"]))
    assert '"version":"source ' in cell.json
    for name in (
        "trusted_study.loads",
        "trusted_study.Popen",
        "sklearn.datasets.load_files",
        "trusted_study.nope",
    ):
        with pytest.raises(
            ValueError, match=rf"_function_: expected a function that .*, got '{name}'"
        ):
            cells_of(compose_config([*digits, f"protocol.scoring={name}"]))
    function = {"_function_": "trusted_study.wrong"}
    for target, argument in (
        ("sklearn.feature_selection.SelectKBest", "score_func"),
        ("sklearn.preprocessing.FunctionTransformer", "func"),
    ):
        refused(
            target,
            "; a config may name a function of a trusted module only as a scorer.",
            **{argument: function},
        )


def test_a_splitter_of_a_trusted_module(project):
    code = """
class Odd:
    def __init__(self, step=2): self.step = step
    def split(self, X, y=None, groups=None):
        rows = np.arange(len(y))
        for k in range(self.step): yield rows[rows % self.step != k], rows[rows % self.step == k]

class Broken(Odd):
    def split(self, X, y=None, groups=None): raise KeyError("day")
"""
    (project / "trusted_study.py").write_text(STUDY + code)
    chosen = [
        "selector=full",
        "protocol=splitter",
        "protocol.cv._target_=trusted_study.Odd",
        "+protocol.cv.step=3",
    ]
    trials = records(*chosen)
    assert [record["n_test"] for record in trials] == [20, 20, 20]
    with pytest.raises(
        ValueError,
        match=r"expected splits of Broken, got KeyError: 'day'; change its arguments",
    ):
        records(
            "selector=full",
            "protocol=splitter",
            "protocol.cv._target_=trusted_study.Broken",
        )
    with pytest.raises(
        ValueError,
        match=r"config of the splitter: expected a class with split, got trusted_study\.Min",
    ):
        records(
            "selector=full",
            "protocol=splitter",
            "protocol.cv._target_=trusted_study.Mine",
        )


def test_versions_in_keys(project):
    mine = component_identity("selector", {"_target_": "trusted_study.Mine", "k": 4})
    assert mine["name"] == "trusted_study.Mine"
    assert mine["arguments"] == {"k": 4}
    assert mine["algorithm_version"].startswith("source ")
    (project / "trusted_study.py").write_text(
        STUDY.replace("k=3", "k=3, more=0") + "\n# another\n"
    )
    again = component_identity("selector", {"_target_": "trusted_study.Mine", "k": 4})
    assert again == mine  # the old code is what runs
    importlib.reload(sys.modules["trusted_study"])
    changed = component_identity("selector", {"_target_": "trusted_study.Mine", "k": 4})
    assert changed["algorithm_version"] != mine["algorithm_version"]
    assert (
        "more"
        in build(
            "selector", {"_target_": "trusted_study.Mine", "k": 4}
        ).__init__.__code__.co_varnames
    )
    theirs = component_identity(
        "selector", {"_target_": "sklearn.feature_selection.SelectKBest", "k": 4}
    )
    import sklearn

    assert theirs["algorithm_version"] == f"scikit-learn {sklearn.__version__}"


class ImportsMeanwhile(str):
    """A module's name at which another module is imported, as by another thread."""

    def startswith(self, prefix):
        sys.modules.setdefault("imported_meanwhile", sys)
        return super().startswith(prefix)


def test_versions_while_another_thread_imports(project, monkeypatch):
    monkeypatch.setitem(sys.modules, ImportsMeanwhile("at_any_time"), sys)
    monkeypatch.delitem(sys.modules, "imported_meanwhile", raising=False)
    identity = component_identity(
        "selector", {"_target_": "trusted_study.Mine", "k": 4}
    )
    assert "imported_meanwhile" in sys.modules
    del sys.modules["imported_meanwhile"]
    assert identity["name"] == "trusted_study.Mine"


def records(*overrides):
    small = [
        "dataset=synthetic",
        "dataset.n_samples=60",
        "dataset.n_features=40",
        "dataset.n_relevant=5",
    ]
    small += ["protocol.repeats=1", "protocol.n_splits=3", "protocol.draws=2"]
    return records_of(*cells_of(compose_config([*small, *overrides])))


def test_what_draws_without_a_seed_gets_that_of_the_trial():
    forest = [
        "model=any",
        "model._target_=sklearn.ensemble.RandomForestClassifier",
        "+model.n_estimators=3",
    ]
    twice = [
        records("selector=full", "protocol.setting=unsupervised", *forest)
        for _ in range(2)
    ]
    assert [record["error"] for record in twice[0]] == [
        record["error"] for record in twice[1]
    ]
    assert len(twice[0]) == 3 * 2  # two draws in each fold
    fixed = records(
        "selector=full",
        "protocol.setting=unsupervised",
        *forest,
        "+model.random_state=0",
    )
    assert len(fixed) == 3
    assert RandomForestClassifier(3).get_params()["random_state"] is None


def test_two_projects_may_have_modules_of_one_name(project, tmp_path, monkeypatch):
    config = {"_target_": "trusted_study.Mine"}
    first = build("selector", config)
    second_project = tmp_path / "other"
    second_project.mkdir()
    (second_project / "provsel.toml").write_text('trust = ["trusted_study"]\n')
    (second_project / "trusted_study.py").write_text(STUDY.replace("k=3", "k=8"))
    monkeypatch.setenv("PROVSEL_PROJECT", str(second_project))
    second = build("selector", config)
    assert first.k == 3
    assert second.k == 8
    theirs = component_identity("selector", config)["algorithm_version"]
    monkeypatch.setenv("PROVSEL_PROJECT", str(project))
    ours = component_identity("selector", config)["algorithm_version"]
    assert theirs.startswith("source ")
    assert ours.startswith("source ")
    assert theirs != ours
    assert build("selector", config).k == 3
