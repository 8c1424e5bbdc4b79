"""Metrics and certificates of one's own, and columns of a store that this version does not know."""

import sys

import numpy as np
import pytest

from provlab.core.artefact import compose_artefact
from provlab.core.composition import compose_config
from provlab.core.plan import cells_of
from provlab.core.snapshot import StoreSnapshot
from provlab.core.store import SCHEMA, TrialStore
from provlab.custody.agreement import DIFFERENT, IDENTICAL
from provlab.custody.audit import run_audit
from provlab.verdicts.claims.schema import columns_read, load_claims
from provlab.verdicts.claims.stored import Evidence
from provlab.verdicts.claims.verdicts import judge
from small_runs import fake_records, run_quietly

STUDY = """
import numpy as np
from provlab import Measure
from provsel.certificates import HELD, VIOLATED, Theorem

class Both(Measure):
    balanced_error: float = np.nan
    state: str = ""
    @classmethod
    def measure(cls, trial, *, least=0.0):
        wrong = trial.predicted != trial.y_test
        found = np.mean([wrong[trial.y_test == y].mean() for y in np.unique(trial.y_test)])
        return cls(balanced_error=found, state="held" if found >= least else "violated")

class Rank(Measure):
    rank_of_kept: float = np.nan
    @classmethod
    def measure(cls, trial):
        kept = trial.reducer.get_support()
        return cls(rank_of_kept=np.linalg.matrix_rank(trial.rows.X[:, kept]))

class Few(Theorem):
    name, source = "few", "by construction"
    n_kept: float | None = None
    @classmethod
    def measure(cls, trial, *, most=10):
        kept = trial.reducer.get_support().sum()
        return cls(n_kept=kept, state=HELD if kept <= most else VIOLATED)

class Clash(Measure):
    error: float = 0.0
    @classmethod
    def measure(cls, trial): return cls()

class WrongKind(Measure):
    odd: float = 0.0
    @classmethod
    def measure(cls, trial): return cls(odd="text")

class Raises(Measure):
    odd: float = 0.0
    @classmethod
    def measure(cls, trial): return cls(odd=trial.reducer.nowhere)

class Counts(Measure):
    odd: int = 0
    @classmethod
    def measure(cls, trial): return cls()
"""
SMALL = ["dataset=synthetic", "dataset.n_samples=60", "dataset.n_features=40", "dataset.n_relevant=5",
         "protocol.repeats=1", "protocol.n_splits=3", "protocol.draws=1"]  # fmt: skip


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    (tmp_path / "provsel.toml").write_text('trust = ["measuring_study"]\n')
    (tmp_path / "measuring_study.py").write_text(STUDY)
    monkeypatch.setenv("PROVSEL_PROJECT", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("measuring_study", None)


RANDOM = [
    "selector=uniform",
    "selector.n_features_to_select=10",
    "protocol.setting=unsupervised",
]


def cell(*measures):
    named = []
    for measure in measures:
        named.append(
            measure
            if measure.startswith("{")
            else f"{{_target_:measuring_study.{measure}}}"
        )
    [composed] = cells_of(
        compose_config([*SMALL, *RANDOM, f"+protocol.measures=[{','.join(named)}]"])
    )
    return composed


def test_they_are_stored_beside_ours_and_audited(project):
    store = TrialStore(project / "results" / "store")
    chosen = cell("{_target_:measuring_study.Both,least:2.0}", "Rank")
    report, _ = run_quietly([chosen], store)
    assert report.failures == []
    assert store.query().column_names == [
        *SCHEMA.names,
        "balanced_error",
        "rank_of_kept",
        "state",
    ]
    values = store.query(
        columns=["error", "balanced_error", "state", "rank_of_kept"]
    ).to_pandas()
    assert (np.abs(values["error"] - values["balanced_error"]) < 0.2).all()
    assert set(values["state"]) == {"violated"}
    assert set(values["rank_of_kept"]) == {10.0}
    snapshot = StoreSnapshot(store)
    assert (
        snapshot.query([chosen.id], ["state", "key"]).to_pydict()["state"]
        == ["violated"] * 3
    )
    run, _ = run_audit(project / "results", fraction=1.0, executor={"name": "serial"})
    assert run.count(IDENTICAL) == 3
    assert run.count(DIFFERENT) == 0
    _damage(store, chosen)
    run, _ = run_audit(project / "results", fraction=1.0, executor={"name": "serial"})
    assert [column for _, values in run.different for column, *_ in values] == [
        "rank_of_kept"
    ] * 3
    of_rank, _ = run_quietly([cell("Rank")], store)
    assert of_rank.n_run == 3  # what is measured is part of the key


def _damage(store, chosen):
    """Write other values of an own column for all trials of a cell."""
    records = store.query().to_pylist()
    for path in store.folder.iterdir():
        path.unlink()
    store.append([{**record, "rank_of_kept": 9.0} for record in records])


def test_without_them_keys_are_what_they_were():
    plain, empty = (
        cells_of(compose_config([*SMALL, "selector=bss", *more]))[0]
        for more in ([], ["+protocol.measures=[]"])
    )
    assert plain.id == empty.id
    assert "measures" not in plain.identity["protocol"]


@pytest.mark.parametrize(
    ("measures", "message"),
    [
        (
            ["Clash"],
            r"Clash: expected columns that no other measure has, each of type float or str, got 'error'",
        ),
        (
            ["Rank", "Rank"],
            r"Rank: expected columns that no other measure has, .*'rank_of_kept'",
        ),
        (
            ["Counts"],
            r"Counts: expected columns .* each of type float or str, got 'odd': int",
        ),
        (
            ["{_target_:measuring_study.Both,most:1}"],
            r"measure Both: expected arguments among least, got most",
        ),
        (["{a:1}"], r"protocol\.measures: expected a list of mappings with a _target_"),
        (
            ["{_target_:os.system}"],
            r"measure: expected a class of provsel\.certificates or of a module that",
        ),
        (
            ["{_target_:provsel.certificates.Subset}"],
            r"name one of provsel.certificates.*SubsetApproximation",
        ),
        (
            ["np"],
            r"expected a subclass of provsel\.certificates\.theorem\.Measure, got measuring_study\.np",
        ),
    ],
)
def test_bad_measures_are_refused_before_anything_runs(measures, message):
    with pytest.raises(ValueError, match=message):
        cell(*measures)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("WrongKind", "WrongKind: expected float or None in column odd, got 'text'"),
        (
            "Raises",
            "measuring_study.Raises.measure: expected a record of a trial of UniformSelector, got AttributeError: "
            "'UniformSelector' object has no attribute 'nowhere'; a measure is computed for every trial of its "
            "cells; if it does not apply, ",
        ),
    ],
)
def test_bad_values_are_failures_of_trials(project, name, message):
    report, _ = run_quietly([cell(name)], TrialStore(project / "store"))
    assert len(report.failures) == 3
    assert message in report.failures[0][2]


CLAIMS = """
paper: small
claims:
  - id: small.few
    where: theorem
    claim: A selection is small.
    artefact: small/sizes
    test: certificates
    parameters: {row: Random, quantity: QUANTITY, columns: [10 features]}
"""
ARTEFACT = """
# @package _global_
protocol: {measures: [{_target_: measuring_study.Few, most: MOST}]}
artefact: {title: Sizes, rows: {Random: [selector=uniform]}, columns: {10 features: [selector.n_features_to_select=10]}}
"""


def claims_of(project, *, quantity="few", most=10):
    folder = project / "experiments" / "small"
    folder.mkdir(parents=True)
    (project / "provsel.toml").write_text(
        'trust = ["measuring_study"]\npapers = "experiments"\n'
    )
    (folder / "claims.yaml").write_text(CLAIMS.replace("QUANTITY", quantity))
    (folder / "sizes.yaml").write_text(ARTEFACT.strip().replace("MOST", str(most)))
    return load_claims(folder / "claims.yaml")


@pytest.mark.parametrize(
    ("most", "verdict"), [(10, "not contradicted"), (9, "contradicted")]
)
def test_claims_test_the_states_of_a_theorem_of_ones_own(project, most, verdict):
    claims = claims_of(project, most=most)
    store = TrialStore(project / "results" / "store")
    overrides = [*SMALL, "dataset=synthetic", "protocol.setting=unsupervised"]
    before = judge(
        claims.claims,
        Evidence(StoreSnapshot(store, columns_read(claims.claims)), overrides),
    )
    assert [judged.verdict for judged in before] == ["not run"]
    cells = list(compose_artefact("small/sizes", overrides).cells)
    assert run_quietly(cells, store)[0].failures == []
    [judged] = judge(
        claims.claims,
        Evidence(StoreSnapshot(store, columns_read(claims.claims)), overrides),
    )
    assert judged.verdict == verdict
    assert judged.finding.n == 3


def test_a_claim_about_a_theorem_that_nothing_measures_is_refused(project):
    with pytest.raises(
        ValueError,
        match=r"quantity: expected one of spectral, .*, few, got 'many'; .* protocol\.mea",
    ):
        claims_of(project, quantity="many")


def test_columns_of_others_survive_a_merge(tmp_path):
    store = TrialStore(tmp_path / "store")
    names = ["key", "of_a_newer_version", "their_state"]
    for k in range(4):
        extra = {"of_a_newer_version": float(k), "their_state": "held"} if k % 2 else {}
        store.append([{**record, **extra} for record in fake_records(10 * k, 10)])
    before = store.query(columns=names).to_pydict()
    assert store.compact(minimum=1) == 4
    assert TrialStore(tmp_path / "store").query(columns=names).to_pydict() == before
    assert before["their_state"].count("held") == 20
    assert before["of_a_newer_version"].count(None) == 20
