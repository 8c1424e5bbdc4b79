"""Configs: artefacts as rows x columns x data sets, and the folder they are read from."""

import re
import subprocess
import sys
import zipfile

import pytest
import yaml
from hydra.errors import ConfigCompositionException, HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from provlab.configs import artefacts, cells, cells_of, compose_artefact, compose_config, compose_parts, composing
from provlab.configs.composing import as_parts
from provlab.configs.reading import _Loader, read_config
from provlab.project import artefact_file, artefact_names, conf_dirs
from provlab.protocols import base
from small_runs import REPO, SMALL, run_python

TABLE1 = "paul2016/table1"


@pytest.fixture
def sets(monkeypatch):
    """Let `techtc` have three sets that nobody has registered."""
    names = ["Exp_1_2", "Exp_3_4", "Exp_5_6"]

    for module in (artefacts, cells):
        monkeypatch.setattr(module, "identity_of", lambda dataset: str(names.index(dataset["set"])))
    monkeypatch.setattr(cells, "dataset_members", lambda name: names)
    return names


def test_every_artefact_has_a_script():
    for name in artefact_names():
        assert (REPO / "experiments" / f"{name}.py").is_file()
        assert (REPO / "experiments" / f"{name}.yaml").is_file()


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
    identities = {cell.dataset["n_relevant"]: cell.data for cell in artefact.cells}
    assert identities[40] != identities[50]
    assert {entry.dataset for entry in artefact.entries} == {"synthetic"}


def test_repeats_beside_a_split_that_has_one_get_a_word(caplog):
    base._warn_once.cache_clear()
    for _ in range(2):
        [cell] = cells_of(compose_config(["protocol=official_split", "protocol.repeats=3"]))
        assert cell.protocol["repeats"] == 1
    said = ["protocol.repeats=3 does not apply to the split official, which has repeats = 1"]
    assert [record.getMessage() for record in caplog.records] == said
    cells_of(compose_config(["protocol=official_split"]))
    assert len(caplog.records) == 1


def test_papers_protocol_is_the_default():
    [cell] = cells_of(compose_config())
    assert dict(cell.protocol) == {
        "split": "kfold", "n_splits": 10, "repeats": 10, "draws": 5,
        "setting": "supervised", "seed": 0, "certify": True, "stream": "per_trial",
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


def test_a_column_s_setting_that_no_row_has_is_refused():
    misspelt = "+artefact.columns.more=['selector.n_feature_to_select=30']"
    with pytest.raises(
        ValueError,
        match=r"paul2016/table1: expected a setting that some row has, of selector\.C, .*, "
        r"got 'selector\.n_feature_to_select=30' in column 'more', .*; the nearest is selector\.n_features_to_select\.",
    ):
        compose_artefact(TABLE1, [*SMALL, misspelt])
    with pytest.raises(ValueError, match=r"got 'model\.xyz=3' in column 'more', which no row takes; leave it out\."):
        compose_artefact(TABLE1, [*SMALL, "+artefact.columns.more=['model.xyz=3']"])


def test_a_nested_setting_of_a_column_that_no_row_has_is_refused():
    column = "+artefact.columns.more=['selector.selector.form=as_printed','selector.selector.d2=0.5']"
    with pytest.raises(
        ValueError, match=r"got 'selector\.selector\.d2=0\.5'.*; the nearest is selector\.selector\.c2\."
    ):
        compose_artefact("giesen2013/feature-selective-peers", ["artefact.only=[sparse rows]", column])


def test_a_column_may_have_settings_for_rows_that_the_user_took_away():
    only = "artefact.only=[ORL]"
    every, fewer = (compose_artefact("wang2018/ofs-figure1", [only, *more]) for more in ([], ["~artefact.rows.SEC"]))
    assert [entry.cell.id for entry in fewer.entries] == [
        entry.cell.id for entry in every.entries if entry.row != "SEC"
    ]


def test_a_column_that_chooses_a_model_has_its_settings():
    column = "+artefact.columns.chosen=['model=liblinear','model.loss=hinge']"
    entries = [entry for entry in compose_artefact(TABLE1, [*SMALL, column]).entries if entry.column == "chosen"]
    assert {entry.row for entry in entries} >= {"BSS", "Lvg"}
    assert {entry.cell.model["loss"] for entry in entries} == {"hinge"}
    with pytest.raises(ConfigCompositionException, match=r"Could not override 'model\.tragedy'"):
        compose_artefact(TABLE1, [*SMALL, "+artefact.columns.chosen=['model=liblinear','model.tragedy=top']"])


KBEST = ["selector=any", "selector._target_=sklearn.feature_selection.SelectKBest"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (["selector=bss", "selector.n_features_to_select=???"], None),
        (["selector=lpsvm", "selector.solver=as_published"], None),  # it has no number of features to give
        (  # under the columns before it is the same number
            ["selector=bss", "selector.n_features_to_select=30"],
            r"expected selector\.n_features_to_select from one place, got 'selector\.n_features_to_select=30' of row "
            r"'made' and 'selector\.n_features_to_select=40' of column 'r=40, k=40'; leave one out, or write "
            r"\"\+selector\.n_features_to_select=\?\?\?\" in the first",
        ),
        (["selector=bss", "dataset.n_relevant=3"], r".*'dataset\.n_relevant=3' of row 'made' and 'dataset\.n_rel"),
        (
            [*KBEST, "+selector.k=40"],
            r"expected row 'made' to follow the columns, got '\+selector\.k=40' under each, while column 'r=40, k=40' "
            r"has selector\.n_features_to_select=40, which the row does not take; write \"\+selector\.k=\?\?\?\" "
            r"in the row and selector\.k=40 in that column",
        ),
        (
            [*KBEST, "+selector.k=???"],
            r"expected selector\.k of column 'r=30, k=40', got '\+selector\.k=\?\?\?' of row 'made' only; set it",
        ),
    ],
)
def test_a_row_and_a_column_do_not_replace_each_other_s_settings(row, message):
    if message is None:
        composed = compose_artefact(TABLE1, SMALL, rows={"made": row})
        assert [e.cell.selector.get("n_features_to_select") for e in composed.entries] in ([30, 30, 40, 40], [None] * 4)
        return
    with pytest.raises(ValueError, match=rf"paul2016/table1: {message}"):
        compose_artefact(TABLE1, SMALL, rows={"made": row})


def test_a_data_set_and_a_column_do_not_replace_each_other_s_settings():
    made = "+artefact.datasets={Made:{choose:['dataset.n_relevant=9']}}"
    with pytest.raises(
        ValueError, match=r"'dataset\.n_relevant=9' of data set 'Made' and 'dataset\.n_relevant=40' of col"
    ):
        compose_artefact(TABLE1, [*SMALL, made])


@pytest.mark.parametrize("override", ["dataset.n_relevant=30", "selector=uniform"])
def test_a_setting_of_the_user_that_all_rows_or_columns_replace_is_refused(override):
    key = re.escape(override.split("=")[0])
    with pytest.raises(
        ValueError,
        match=rf"paul2016/table1: expected settings that some entry takes, got '{key}=.*each sets {key} itself",
    ):
        compose_artefact(TABLE1, [*SMALL, override])


def test_a_setting_of_the_user_that_some_entries_take_is_kept():
    artefact = compose_artefact("giesen2013/compression-gap", ["model.c=0.5"])
    assert {entry.cell.model["c"] for entry in artefact.entries if entry.dataset == "DEXTER"} == {0.5}
    assert {entry.cell.model["c"] for entry in artefact.entries if entry.dataset == "CCAT"} == {1e-4}


def test_a_setting_of_the_user_may_be_what_rows_or_columns_set_themselves():
    same = compose_artefact(TABLE1, [*SMALL, "selector=leverage", "dataset.n_relevant=40"])
    assert [entry.cell.id for entry in same.entries] == [
        entry.cell.id for entry in compose_artefact(TABLE1, SMALL).entries
    ]


def test_what_nothing_reads_is_refused():
    with pytest.raises(ValueError, match=r"config: expected dataset, .*, got 'protocl'; the nearest is protocol\."):
        cells_of(compose_config(["+protocl.repeats=3"]))
    with pytest.raises(
        ValueError, match=r"datasets\.CCAT: expected choose, rows, columns, got 'colums'; the nearest is columns"
    ):
        compose_artefact("giesen2013/compression-gap", ["artefact.only=[CCAT]", "+artefact.datasets.CCAT.colums=['1']"])


@pytest.mark.parametrize("name", ["paul2016/table99", "table1", "../config", ""])
def test_unknown_artefact_lists_the_known_ones(name):
    with pytest.raises(ValueError, match=r"artefact: expected one of .*paul2016/figure1, .*paul2016/table1,.*, got"):
        compose_artefact(name)


def test_unknown_selector_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"selector: expected one of .*bss.*full.*leverage.*uniform, got 'nope'"):
        compose_config(["selector=nope"])


def test_unknown_data_set_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"dataset: expected one of .*digits.*synthetic.*techtc.*, got 'nope'"):
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
    assert conf_dirs() == [REPO / "conf"]


FROM_WHEEL = """
import sys
import provlab
from pathlib import Path
package = Path(provlab.__file__).resolve().parent
assert package == Path(sys.argv[1]).resolve() / "provlab", package
from provlab.configs import compose_artefact
from provlab.project import artefact_file, artefact_names, conf_dirs, package_conf
assert package_conf() == conf_dirs()[-1] == package / "conf", conf_dirs()
assert "paul2016/table1" in artefact_names()
artefact = compose_artefact("paul2016/table1", sys.argv[2:])
from provlab.datasets import source_names
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
    for part in (
        "provsel/py.typed",
        "provlab/py.typed",
        "provlab/conf/config.yaml",
        "provlab/datasets/sources/techtc.yaml",
    ):
        assert part in names
    assert not [name for name in names if name.startswith(("tests/", "experiments/")) or name.endswith(".pyc")]
    installed = tmp_path / "installed"
    done = run_python(
        ["-P", "-c", FROM_WHEEL, installed, *SMALL],
        tmp_path,
        env={"PYTHONPATH": str(installed), "PYTHONNOUSERSITE": "1", "PROVSEL_PROJECT": str(REPO)},
    )
    assert done.returncode == 0, done.stderr
    here = compose_artefact(TABLE1, SMALL)
    # a trial of the wheel and one of the checkout are the same trial
    assert done.stdout.split() == [str(len(here.entries)), here.cells[0].id]


def covering(entries):
    """Return few entries whose overrides have every form of all: always the one with most that are missing.

    Those that differ in which digits they have, not in how many, have one form: sets of TechTC, numbers of features.
    """
    forms = [(entry, {re.sub(r"\d", "0", override) for override in entry.overrides}) for entry in entries]
    missing, chosen = set().union(*(found for _, found in forms)), []
    while missing:
        entry, found = max(forms, key=lambda each: len(missing & each[1]))
        chosen.append(entry)
        missing -= found
    return chosen


@pytest.mark.parametrize("name", artefact_names())
def test_what_is_composed_without_hydra_is_what_hydra_composes(name, monkeypatch):
    entries, by_hydra = compose_artefact(name).entries, []
    monkeypatch.setattr(composing, "compose_config", lambda overrides: pytest.fail(f"{overrides} went to Hydra"))
    for entry in covering(entries):
        config = compose_config(entry.overrides)
        assert compose_parts(entry.overrides) == as_parts(config)
        assert [cell.id for cell in cells_of(config)] == [entry.cell.id]
        by_hydra.append(config)
    assert len(by_hydra) >= 2


@pytest.mark.parametrize(
    "overrides",
    [
        ["dataset.seed=1_000"],
        ["dataset=digits", "dataset.classes=[1, 7]"],
        ["dataset.name='quoted'"],
        ["+dataset.unit_rows=True", "dataset.seed=NULL"],
        ["+artefact.c=1e-3", "model.C=${artefact.c}", "dataset.seed=-7"],
        ["model.C=.5", "model.C=1.", "selector.rescale=false"],
        ["+a.b=3"],
        ["results=elsewhere/x", "fail_fast=true", "executor=serial"],
        ["~protocol.certify"],
        ["protocol=tenfold_inverse", "model=liblinear"],
        ["dataset.seed=1/l"],
        ["selector=at_size", "selector.selector.c2=nan"],
        ["selector=at_size", "selector.selector={c2: 3}"],
    ],
)
def test_any_override_means_what_it_means_to_hydra(overrides):
    parts, by_hydra = compose_parts(overrides), as_parts(compose_config(overrides))
    assert repr(parts) == repr(by_hydra)
    known = ("dataset", "selector", "model", "protocol")
    assert repr(composing.resolved({"artefact": {}, **parts})) == repr(
        {name: OmegaConf.to_container(compose_config(overrides)[name], resolve=True) for name in known}
    )


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["dataset.n_sample=3"], "Could not override 'dataset.n_sample'"),
        (["dataset=nosuch"], "got 'nosuch'; provsel list says what they are."),
        (["+dataset.seed=3"], "Could not append to config. An item is already at 'dataset.seed'"),
        (["dataset.seed=1,2"], "Ambiguous value for argument 'dataset.seed=1,2'"),
        (["dataset.seed=${oc.env:HOME}"], "the environment and other places stay out of results"),
        (["dataset.seed=${results}"], "the environment and other places stay out of results"),
    ],
)
def test_mistakes_get_the_message_that_they_get_from_hydra(overrides, message):
    for compose in (compose_parts, compose_config):
        with pytest.raises((ValueError, HydraException), match=re.escape(message)):
            compose(overrides)


def test_a_composed_config_shares_nothing_that_changes():
    first = compose_parts(["selector=bss"])
    second = compose_parts(["selector=bss", "selector.weights=as_printed"])
    assert second["selector"]["weights"] == "as_printed"
    assert first["selector"]["weights"] == compose_parts(["selector=bss"])["selector"]["weights"] == "sqrt_t"


MADE = ["paul2016/table1", "paul2016/table1_sets", "giesen2013/theorem7", "giesen2013/compression-memory"]
"""Artefacts of synthetic data, of each way to list data sets and rows."""


@pytest.mark.parametrize("name", MADE)
def test_the_overrides_of_an_entry_compose_its_cell_alone(name):
    settings = ["dataset.n_samples=40"] if name.startswith("giesen2013") and name != MADE[-1] else []
    artefact = compose_artefact(name, settings)
    assert len({entry.cell.id for entry in artefact.entries}) > 1
    for entry in covering(artefact.entries):
        [cell] = cells_of(compose_config(entry.overrides))
        assert (cell.id, cell.n_trials) == (entry.cell.id, entry.cell.n_trials), entry.overrides


def test_members_of_a_collection_are_named_in_the_overrides(monkeypatch):
    monkeypatch.setattr("provlab.configs.cells.dataset_members", lambda name: ["A_1", "B, 2"])
    for module in (artefacts, cells):
        monkeypatch.setattr(module, "identity_of", str)
    entries = compose_artefact("paul2016/table2").entries
    assert [entry.overrides[-1] for entry in entries] == ["dataset.set=A_1", 'dataset.set="B, 2"']
    for entry in entries:
        assert [cell.id for cell in cells_of(compose_config(entry.overrides))] == [entry.cell.id]


def test_files_are_read_as_omegaconf_reads_them(tmp_path):
    odd = tmp_path / "odd.yaml"
    scalars = "1e-3 1E5 -2.5e+7 3e 1.e4 .5 5. 2001-02-03 yes off ~ 0x1F 010 1_000 .inf nan .nan 1:30 '1e3' e1 ${a.r}"
    lines = [*scalars.split(), "", "[1e-2, a]", "{a: 1e2}"]
    odd.write_text("\n".join(f"k{place}: {text}" for place, text in enumerate(lines)))
    files = [odd, *sorted((REPO / "conf").rglob("*.yaml")), *map(artefact_file, artefact_names())]
    assert len(files) > 50
    for file in files:
        read = (
            read_config("executor" if "executor" in file.parts else "", file)
            if file != odd
            else yaml.load(odd.read_text(), Loader=_Loader)
        )
        assert repr(read) == repr(OmegaConf.to_container(OmegaConf.load(file))), file


def test_a_key_that_is_there_twice_is_refused(tmp_path):
    path = tmp_path / "twice.yaml"
    path.write_text("name: a\nname: b\n")
    with pytest.raises(ValueError, match=r"twice\.yaml: expected a config, .*duplicate key name"):
        read_config("", path)
