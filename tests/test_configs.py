"""Configs: artefacts as rows x columns x data sets, and the folder they are read from."""

import subprocess
import sys
import zipfile

import pytest
from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException

from provsel.configs import artefact_names, artefacts, cells, cells_of, compose_artefact, compose_config, conf_dir
from provsel.datasets import load_dataset
from small_runs import REPO, SMALL, run_python

TABLE1 = "paul2016/table1"


@pytest.fixture
def sets(monkeypatch):
    """Let `techtc` have three sets without any file: synthetic data under their names."""
    names = ["Exp_1_2", "Exp_3_4", "Exp_5_6"]

    def load(config):
        return load_dataset("synthetic", n_samples=30, n_features=40, n_relevant=3, seed=names.index(config["set"]))

    monkeypatch.setattr(cells, "load_from", load)
    monkeypatch.setattr(cells, "dataset_members", lambda name: names)
    return names


def test_every_artefact_has_a_script():
    for name in artefact_names():
        assert (REPO / "experiments" / f"{name}.py").is_file()
        assert (REPO / "conf" / "experiment" / f"{name}.yaml").is_file()


def test_artefact_is_rows_times_columns():
    artefact = compose_artefact(TABLE1, SMALL)
    rows, columns = artefact.config.artefact.rows, artefact.config.artefact.columns
    assert [(entry.row, entry.column) for entry in artefact.entries] == [(r, c) for r in rows for c in columns]
    by_place = {(entry.row, entry.column): entry.cell for entry in artefact.entries}
    cell = by_place["BSS", "r=40, k=50"]
    assert cell.selector["_target_"] == "provsel.selectors.BSSSelector"
    assert cell.selector["n_features_to_select"] == 40
    assert cell.dataset == {"name": "synthetic", "n_samples": 60, "n_features": 120, "n_relevant": 50, "seed": 0}
    assert cell.protocol["repeats"] == 1
    assert by_place["Lvg", "r=30, k=40"].selector["_target_"] == "provsel.selectors.LeverageScoreSelector"
    fingerprints = {cell.dataset["n_relevant"]: cell.fingerprint for cell in artefact.cells}
    assert fingerprints[40] != fingerprints[50]
    assert {entry.dataset for entry in artefact.entries} == {"synthetic"}


def test_papers_protocol_is_the_default():
    [cell] = cells_of(compose_config())
    assert dict(cell.protocol) == {
        "split": "kfold", "n_splits": 10, "repeats": 10, "draws": 5,
        "setting": "supervised", "seed": 0, "certify": True,
    }  # fmt: skip


def test_columns_leave_out_what_a_selector_does_not_have(sets):
    artefact = compose_artefact("paul2016/figure1")
    full = [entry.cell for entry in artefact.entries if entry.row == "Full"]
    assert len(full) == 3 * len(sets)
    assert all(list(cell.selector) == ["_target_"] for cell in full)
    assert len({cell.id for cell in full}) == len(sets)  # the three columns share one cell
    bss = {cell.selector["n_features_to_select"] for cell in artefact.cells if "BSS" in cell.selector["_target_"]}
    assert bss == {300, 400, 500}


def test_all_data_sets_of_a_collection_or_some(sets):
    every = compose_artefact("paul2016/figure1")
    assert len(every.entries) == 7 * 3 * len(sets)
    assert [entry.dataset for entry in every.entries[:3]] == sets
    some = compose_artefact("paul2016/figure1", ["dataset.set=[Exp_5_6,Exp_1_2]"])
    assert [entry.dataset for entry in some.entries[:2]] == ["Exp_5_6", "Exp_1_2"]
    one = compose_artefact("paul2016/figure1", ["dataset.set=Exp_3_4"])
    assert {entry.dataset for entry in one.entries} == {"Exp_3_4"}
    ids = {cell.id for cell in every.cells}
    assert {cell.id for cell in some.cells} < ids
    assert {cell.id for cell in one.cells} < ids


def test_overrides_of_the_user_stand_below_rows_and_columns():
    artefact = compose_artefact(TABLE1, [*SMALL, "model=liblinear", "protocol.setting=unsupervised"])
    for cell in artefact.cells:
        assert cell.model["_target_"] == "provsel.models.LiblinearSVM"
        assert cell.protocol["setting"] == "unsupervised"
    ids = {cell.id for cell in compose_artefact(TABLE1, SMALL).cells}
    assert not ids & {cell.id for cell in artefact.cells}


@pytest.mark.parametrize("name", ["paul2016/table99", "table1", "../config", ""])
def test_unknown_artefact_lists_the_known_ones(name):
    with pytest.raises(ValueError, match=r"artefact: expected one of .*paul2016/figure1, .*paul2016/table1,.*, got"):
        compose_artefact(name)


def test_unknown_selector_lists_the_known_ones():
    with pytest.raises(HydraException, match=r"(?s)Could not find 'selector/nope'.*bss.*full.*leverage.*uniform"):
        compose_config(["selector=nope"])


def test_unknown_data_set_lists_the_known_ones():
    with pytest.raises(HydraException, match=r"(?s)Could not find 'dataset/nope'.*digits.*synthetic.*techtc"):
        compose_config(["dataset=nope"])
    with pytest.raises(ValueError, match=r"nope.*(?s:.)*digits.*synthetic.*techtc"):
        cells_of(compose_config(["dataset.name=nope"]))


def test_unknown_setting():
    with pytest.raises((HydraException, OmegaConfBaseException), match="repeat"):
        compose_config(["protocol.repeat=3"])


def test_foreign_target_is_refused():
    with pytest.raises(ValueError, match=r"expected a _target_ among .*provsel\.selectors\.BSSSelector.*'os\.system'"):
        cells_of(compose_config(["selector._target_=os.system"]))[0].id  # noqa: B018


def test_conf_of_a_checkout():
    assert conf_dir() == REPO / "conf"


FROM_WHEEL = """
import sys
import provsel
from pathlib import Path
package = Path(provsel.__file__).resolve().parent
assert package == Path(sys.argv[1]).resolve() / "provsel", package
from provsel.configs import artefact_names, compose_artefact, conf_dir
assert conf_dir() == package / "conf", conf_dir()
assert "paul2016/table1" in artefact_names()
artefact = compose_artefact("paul2016/table1", sys.argv[2:])
from provsel.datasets import source_names
assert "techtc" in source_names()
print(len(artefact.entries), artefact.cells[0].id)
"""


def test_conf_of_an_installed_wheel(tmp_path):
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")],
        cwd=REPO, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    [wheel] = (tmp_path / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "installed")
    for part in ("provsel/py.typed", "provsel/conf/config.yaml", "provsel/datasets/sources/techtc.yaml"):
        assert part in names
    assert not [name for name in names if name.startswith(("tests/", "experiments/")) or name.endswith(".pyc")]
    installed = tmp_path / "installed"
    done = run_python(
        ["-P", "-c", FROM_WHEEL, installed, *SMALL],
        tmp_path,
        env={"PYTHONPATH": str(installed), "PYTHONNOUSERSITE": "1"},
    )
    assert done.returncode == 0, done.stderr
    here = compose_artefact(TABLE1, SMALL)
    # a trial of the wheel and one of the checkout are the same trial
    assert done.stdout.split() == [str(len(here.entries)), here.cells[0].id]


def test_columns_set_values_exactly_as_a_composition_would(monkeypatch):
    quick = compose_artefact("paul2016/table1", ["protocol.repeats=2"])
    monkeypatch.setattr(artefacts, "_with_values", lambda config, overrides: None)
    composed = compose_artefact("paul2016/table1", ["protocol.repeats=2"])
    assert [entry.cell.id for entry in quick.entries] == [entry.cell.id for entry in composed.entries]


def test_columns_may_choose_another_group_member(tmp_path, monkeypatch):
    plain = compose_config(["dataset=digits"])
    assert artefacts._with_values(plain, ["selector=leverage"]) is None
    assert artefacts._with_values(plain, ["selector.weights=as_printed"]).selector.weights == "as_printed"
    assert plain.selector.weights == "sqrt_t"


MADE = ["paul2016/table1", "paul2016/table1_sets", "giesen2013/theorem7", "giesen2013/compression-memory"]
"""Artefacts of made data, of each way to list data sets and rows."""


@pytest.mark.parametrize("name", MADE)
def test_the_overrides_of_an_entry_compose_its_cell_alone(name):
    fingerprints = {}
    settings = ["dataset.n_samples=40"] if name.startswith("giesen2013") and name != MADE[-1] else []
    artefact = compose_artefact(name, settings, fingerprints)
    assert len({entry.cell.id for entry in artefact.entries}) > 1
    for entry in artefact.entries[:: max(1, len(artefact.entries) // 25)]:
        [cell] = cells_of(compose_config(entry.overrides), fingerprints)
        assert (cell.id, cell.n_trials) == (entry.cell.id, entry.cell.n_trials), entry.overrides


def test_members_of_a_collection_are_named_in_the_overrides(monkeypatch):
    monkeypatch.setattr("provsel.configs.cells.dataset_members", lambda name: ["A_1", "B, 2"])
    monkeypatch.setattr("provsel.configs.cells._fingerprint", lambda dataset: str(dataset))
    entries = compose_artefact("paul2016/table2").entries
    assert [entry.overrides[-1] for entry in entries] == ["dataset.set=A_1", 'dataset.set="B, 2"']
    for entry in entries:
        assert [cell.id for cell in cells_of(compose_config(entry.overrides))] == [entry.cell.id]
