"""Classes of others that say one thing and do another, or do more to the process than to fit: their trial fails."""

import os
import sys
import threading

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin

from provlab.cli.commands import guarded
from provlab.core.plan import make_tasks
from provlab.core.store import TrialStore
from provlab.project.estimators import as_config, estimators_in_hand
from provlab.run.executors import run_in_worker
from provlab.run.task import run_task
from provsel.selectors import BaseSelector, Selection
from provsel.stability import StabilityReport
from small_runs import UNIFORM, run_python, run_quietly, small_cell

EVIL = "a\x1b[2J\x1b]0;owned\x07"
SHOWN = r"a\x1b[2J\x1b]0;owned\x07"


class Names(BaseEstimator):
    """Names features 1 and 3 in one way or another, and keeps those or others."""

    def __init__(self, how="honest"):
        self.how = how

    def fit(self, X, y=None):
        self.mean_ = np.mean(X, axis=0)
        if self.how == "disagreeing":
            self.indices_ = np.array([1, 4])
        return self

    def get_support(self, indices=False):
        mask = np.zeros(self.mean_.size - (self.how == "short"), dtype=bool)
        mask[[1, 3]] = True
        wrong = {
            "integers": 2 * mask.astype(int),
            "objects": mask.astype(object),
            "rows": mask[None, :],
        }
        mask = wrong.get(self.how, mask.tolist() if self.how == "list" else mask)
        return np.flatnonzero(mask) if indices else mask

    def transform(self, X):
        kept = {
            "swapped": [3, 1],
            "others": [1, 4],
            "one": [1],
            "all": list(range(self.mean_.size)),
        }
        kept = kept.get(self.how, [1, 3])
        if self.how == "centred":
            return (X - self.mean_)[:, kept]
        return X[:, kept] * ([2.0, -0.5] if self.how == "scaled" else 1.0)


class Chooses(BaseSelector):
    """Has the base class, and chooses what it is told."""

    algorithm_version = 1

    def __init__(self, features=()):
        self.features = features

    def _select(self, view, rng):
        return Selection.unweighted(list(self.features))


WRONG = {
    "integers": (
        Names("integers"),
        r"Names: expected a boolean mask from get_support, got \[0, 2, 0, 2, 0\] of int64",
    ),
    "objects": (
        Names("objects"),
        "Names: expected a boolean mask from get_support, got .* of object",
    ),
    "rows": (Names("rows"), r"Names: expected a boolean mask .* and shape \(1, 120\)"),
    "short": (
        Names("short"),
        "Names: expected a value of get_support for each of 120 features, got 119",
    ),
    "others": (
        Names("others"),
        "Names: expected feature 3 in column 1 of transform, .*, got feature 4",
    ),
    "swapped": (
        Names("swapped"),
        "Names: expected feature 1 in column 0 of transform, .*, got feature 3",
    ),
    "one": (
        Names("one"),
        r"Names: expected transform to return the 2 features .*, got shape \(16, 1\)",
    ),
    "all": (
        Names("all"),
        r"Names: expected transform to return the 2 features .*, got shape \(16, 120\)",
    ),
    "disagreeing": (
        Names("disagreeing"),
        "Names: expected the same features from get_support and indices_",
    ),
    "twice": (
        Chooses([2, 2]),
        r"Chooses: expected distinct features from 0 to 119, got \[2, 2\]",
    ),
    "below": (
        Chooses([-1]),
        r"Chooses: expected distinct features from 0 to 119, got \[-1\]",
    ),
}


def result_of(selector, **protocol):
    """Return what the task of one fold gives."""
    with estimators_in_hand():
        cell = small_cell(
            as_config(selector), setting="unsupervised", draws=1, **protocol
        )
        return run_task(make_tasks([cell])[0])


@pytest.mark.parametrize("case", WRONG)
def test_features_are_those_that_are_kept(case):
    selector, message = WRONG[case]
    [[_, _, reason]] = result_of(selector).failures
    assert reason.startswith("ValueError: ")
    with pytest.raises(ValueError, match=message):
        raise ValueError(reason)


@pytest.mark.parametrize("how", ["honest", "list", "scaled", "centred"])
def test_a_class_may_change_the_values_that_it_keeps(how):
    [record] = result_of(Names(how)).records
    assert record["features"].tolist() == [1, 3]
    assert record["n_selected"] == 2


def test_stability_of_an_integer_mask_is_refused():
    with pytest.raises(ValueError, match="Names: expected a boolean mask"):
        StabilityReport.of(
            Names("integers"), np.random.default_rng(0).standard_normal((20, 6)), cv=2
        )


# ---- the process


class Ends(SelectorMixin, BaseEstimator):
    """Does to the process what its argument says."""

    def __init__(self, how="fork"):
        self.how = how

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        getattr(self, self.how)()
        return self

    def _get_support_mask(self):
        return np.arange(self.n_features_in_) < 2

    def leave(self):
        sys.exit(0)

    def leave_at_once(self):
        os._exit(0)

    def base(self):
        raise BaseException(EVIL)

    def hide(self):
        raise GeneratorExit(EVIL)

    def interrupt(self):
        raise KeyboardInterrupt

    def say(self):
        print(EVIL)
        print(EVIL, file=sys.stderr)

    def fork(self):
        self.child = os.fork()


class EndsPreparation(Ends):
    """The same, of a preparation."""

    def transform(self, X):
        return X


ENDS = {
    "leave": "SystemExit: expected code that leaves this process alone, got a call that ends it, with 0",
    "leave_at_once": "SystemExit: expected code that leaves this process alone, got a call that ends it, with 0",
    "base": f"BaseException: {SHOWN}",
    "hide": f"GeneratorExit: {SHOWN}",
}

LEAVES = """
import sys
sys.path[:0] = {path!r}
from test_hostile_classes import *
for kind in (Ends, EndsPreparation):
    for how in {ends!r}:
        with estimators_in_hand():
            own = as_config(kind(how))
            selector = dict(selector=own) if kind is Ends else dict(preparation=own)
            cell = small_cell(selector.pop("selector", UNIFORM), setting="unsupervised", draws=1, **selector)
            print(run_task(make_tasks([cell])[0]).failures[0][2])
print("the end")
"""


def test_what_ends_a_process_ends_a_trial(tmp_path):
    """In a process of its own, which would end without a word."""
    script = LEAVES.format(
        path=[path for path in sys.path if "tests" in path], ends=[*ENDS]
    )
    done = run_python(["-c", script], tmp_path)
    assert done.stdout.splitlines() == [*ENDS.values(), *ENDS.values(), "the end"], (
        done.stderr
    )
    assert done.returncode == 0


def test_the_other_trials_of_a_run_are_computed_and_stored(tmp_path):
    with estimators_in_hand():
        cells = [
            small_cell(as_config(Ends(how)), setting="unsupervised", draws=1)
            for how in ("leave", "base")
        ]
        report, said = run_quietly([*cells, small_cell(UNIFORM)], TrialStore(tmp_path))
    assert report.n_run == 6
    assert len(report.failures) == 6
    assert "first failed trial: SystemExit: expected code that leaves" in said


def test_an_interrupt_stays_one():
    with pytest.raises(KeyboardInterrupt):
        result_of(Ends("interrupt"))


def test_a_forked_copy_of_a_process_goes_on_with_nothing(tmp_path):
    before = os.getpid()
    result = result_of(Ends("fork"))
    (tmp_path / str(os.getpid())).touch()
    [record] = result.records
    assert record["features"].tolist() == [0, 1]
    _, status = os.wait()
    assert os.waitstatus_to_exitcode(status) == 1
    assert [path.name for path in tmp_path.iterdir()] == [str(before)]


def test_children_and_threads_of_a_trial_end_as_they_want():
    """As those of multiprocessing, and the thread that ends a worker whose client is gone."""
    ended = []

    class Leaves(Ends):
        def fork(self):
            if os.fork() == 0:
                os._exit(3)
            ended.append(os.waitstatus_to_exitcode(os.wait()[1]))
            if os.fork() == 0:
                thread = threading.Thread(target=lambda: os._exit(4))
                thread.start()
                thread.join()
            ended.append(os.waitstatus_to_exitcode(os.wait()[1]))

    from provlab.run.task import contained

    with contained():
        Leaves("fork").fit(np.eye(3))
    assert ended == [3, 4]


def test_workers_print_no_commands(capfd):
    with estimators_in_hand():
        [task, *_] = make_tasks(
            [small_cell(as_config(Ends("say")), setting="unsupervised", draws=1)]
        )
        run_in_worker(task)
    assert [*capfd.readouterr()] == [f"{SHOWN}\n"] * 2


def test_a_traceback_has_no_commands(capsys):
    def body():
        raise RuntimeError(EVIL)

    assert guarded(body) == 1
    said = capsys.readouterr().err
    assert said.startswith("Traceback")
    assert said.endswith(f"RuntimeError: {SHOWN}\n")
