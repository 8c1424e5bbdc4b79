"""Configs: what overrides mean, artefacts as rows x columns x data sets, and settings that nothing takes."""

import os
import re

import pytest
import yaml
from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from omegaconf import OmegaConf

from made_paper import ARTEFACT, made_paper
from provlab.core.artefact import compose_artefact
from provlab.core.composition import (
    _Loader,
    compose_config,
    executor_settings,
    read_config,
    resolve_references,
    results_folder,
)
from provlab.core.plan import cells_of
from provlab.data import dataset_members
from provlab.project.papers import artefact_file, artefact_names
from provlab.project.project import package_conf
from small_runs import REPO, SMALL, run_python

TABLE1 = "paul2016/table1"


def by_hydra(overrides):
    """Return what Hydra itself composes of provsel's files, as plain values."""
    for text in overrides:
        if text.startswith("+experiment="):
            paper, artefact = text.partition("=")[2].split("/")
            node = OmegaConf.load(artefact_file(f"{paper}/{artefact}"))
            ConfigStore.instance().store(
                group=f"experiment/{paper}",
                name=artefact,
                node=node,
                package="_global_",
            )
    with initialize_config_dir(config_dir=str(package_conf()), version_base="1.3"):
        return OmegaConf.to_container(compose("config", overrides=list(overrides)))


def covering(entries):
    """Return few entries whose overrides have every form of all: always the one with most that are missing.

    Those that differ in which digits they have, not in how many, have one form: sets of
    TechTC, numbers of features.
    """
    forms = [
        (entry, {*re.sub(r"\d", "0", "\n".join(entry.overrides)).splitlines()})
        for entry in entries
    ]
    missing = set().union(*(forms_of_entry for _, forms_of_entry in forms))
    chosen = []
    while missing:
        entry, forms_of_entry = max(forms, key=lambda pair: len(missing & pair[1]))
        chosen.append(entry)
        missing -= forms_of_entry
    return chosen


@pytest.mark.parametrize("name", artefact_names())
def test_every_artefact_is_what_hydra_composes(name):
    """A sample that covers all forms of overrides; every entry with PROVSEL_EVERY_ENTRY=1, which takes minutes."""
    entries = compose_artefact(name).entries
    assert len({entry.cell.id for entry in entries}) > 1
    for entry in (
        entries if os.environ.get("PROVSEL_EVERY_ENTRY") else covering(entries)
    ):
        config = compose_config(entry.overrides)
        assert config == by_hydra(entry.overrides)
        [cell] = cells_of(config)
        assert cell.id == entry.cell.id
        assert cell.n_trials == entry.cell.n_trials


@pytest.mark.parametrize(
    "overrides",
    [
        ["dataset.seed=1_000"],
        ["dataset=digits", "dataset.classes=[1, 7]"],
        ["dataset.name='quoted'"],
        ["+dataset.unit_rows=True", "dataset.seed=NULL"],
        ["+artefact.c=1e-3", "model.C=${artefact.c}", "dataset.seed=-7"],
        [
            "+artefact.c=1e-3",
            "+artefact.text=x ${artefact.c}",
            "dataset.name=${artefact.text}",
        ],
        ["model.C=.5", "model.C=1.", "selector.rescale=false"],
        ["+a.b=3", "++a.c=4", "++a.b=5"],
        ["results=elsewhere/x", "fail_fast=true", "executor=serial"],
        ["~protocol.certify", "~protocol.draws=5"],
        ["protocol=tenfold_inverse", "model=liblinear"],
        ["dataset.seed=1/l"],
        ["selector=at_size", "selector.selector={c2: 3}"],
        [
            "selector=any",
            "+selector.k=???",
            "selector.k=3",
            "+selector.f={a: [1, {b: 2}]}",
        ],
        ["dataset=file", "dataset.path=mine.csv", "selector.n_features_to_select=4"],
        [
            "dataset=file",
            "dataset.path=mine.csv",
            "model=libsvm",
            "protocol=tenfold",
            "preparation=none",
        ],
    ],
)
def test_any_override_means_what_it_means_to_hydra(overrides):
    config = compose_config(overrides)
    expected = by_hydra(overrides)
    assert repr(config) == repr(expected)
    groups = ("dataset", "selector", "model", "protocol")
    assert repr(resolve_references(config)) == repr(
        {
            name: OmegaConf.to_container(OmegaConf.create(expected)[name], resolve=True)
            for name in groups
        }
    )


def test_a_data_set_s_defaults_stand_below_those_of_an_artefact_and_of_the_user(
    tmp_path, monkeypatch
):
    made_paper(tmp_path, monkeypatch)
    room = tmp_path / "experiments" / "made2000"
    text = ARTEFACT.format(dataset="file").replace(
        "artefact:", "dataset: {path: a.csv}\nartefact:"
    )
    text = text.replace(
        "  - override /dataset",
        "  - override /protocol: tenfold_inverse\n  - override /dataset",
    )
    (room / "own.yaml").write_text(text)
    (room / "own.py").write_text("")
    for more, model in ([], "by_task"), (["model=liblinear"], "liblinear"):
        overrides = ["+experiment=made2000/own", *more]
        composed = compose_config(overrides)
        assert repr(composed) == repr(by_hydra(overrides))
        assert composed["protocol"]["split"] == "kfold_inverse"
        assert composed["selector"]["step"] == 0.1
        assert composed["model"] == compose_config([f"model={model}"])["model"]


UNKNOWN = [
    (
        "datset=digits",
        "unknown setting 'datset'; settings of the config are selector, .*; did you mean dataset?",
    ),
    ("gap=7", "unknown setting 'gap'; settings of the config are .*; leave it out."),
    (
        "dataset.gap=7",
        "unknown setting 'gap'; settings of dataset are name, n_samples, .*, sample_rows, .*; leave it out.",
    ),
    (
        "+dataset.gap=7",
        "has no parameter gap; it accepts n_samples, .*, and as any data set unit_rows, ",
    ),
    ("+dataset.sampl_rows=7", "and as any data set .*; did you mean 'sample_rows'?"),
    (
        "dataset.sample_rows=7",
        "got 'sample_rows', which has its default; write +dataset.sample_rows=7.",
    ),
    ("selector.n_features=1", "did you mean selector.n_features_to_select?"),
    (
        "selector.n_features_to_select.x=1",
        "is the value 300; write selector.n_features_to_select=VALUE.",
    ),
    (
        "model.c=1",
        "unknown setting 'c'; settings of model are C, class_weight, tol, max_iter; did you mean model.C?",
    ),
    ("+model.c=1", "expected arguments among C, .*, got c; did you mean 'C'?"),
    ("model.tol=1", "got 'tol', which has its default; write +model.tol=1."),
    (
        "protocol.gap=7",
        "unknown setting 'gap'; settings of protocol are split, n_splits, .*, measures; leave it out.",
    ),
    (
        "+protocol.gap=7",
        "protocol: unknown setting 'gap'; settings of protocol are .*; leave it out.",
    ),
    ("+protocol.n_split=7", "did you mean protocol.n_splits?"),
    (
        "protocol.measures=[]",
        "got 'measures', which has its default; write +protocol.measures=[].",
    ),
    (
        "~protocol.n_splits",
        "protocol: expected n_splits, got none; set protocol.n_splits.",
    ),
    (
        "+preparation.scale=range",
        "preparation=none: unknown setting 'scale'; settings of preparation are none; leave",
    ),
    (
        "executor.n_job=2",
        "unknown setting 'n_job'; settings of executor are name, n_jobs, private_copies; did you mean executor.n_jobs?",
    ),
    (
        "+executor.n_job=2",
        "executor: unknown setting 'n_job'; settings of executor are name, n_jobs, private_copies; did you mean",
    ),
    ("results.x=1", "results is the value 'results'; write results=VALUE."),
]


@pytest.mark.parametrize(("override", "message"), UNKNOWN)
def test_a_setting_that_nothing_takes_is_named_and_a_plus_is_advised_only_where_it_is_taken(
    override, message
):
    pattern = re.escape(message).replace(r"\.\*", ".*").replace(r"\ ", " ")
    with pytest.raises(ValueError, match=pattern) as caught:
        cells_and_executor([override])
    advised = re.search(r"write (\+\S+?)\.$", str(caught.value))
    if advised:
        cells_and_executor([advised[1]])


def cells_and_executor(overrides):
    """Do with overrides what a run does before its first trial."""
    config = compose_config(overrides)
    executor_settings(config)
    return [cell.n_trials for cell in cells_of(config)]


def test_a_setting_of_a_model_by_task_is_found_in_its_parts():
    with pytest.raises(
        ValueError,
        match=r"unknown setting 'C'; .*; did you mean model\.classification\.C\?",
    ):
        compose_config(["model=by_task", "model.C=1"])


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            ["~selector.nothing"],
            r"unknown setting 'nothing'; settings of selector are n_f.*; leave it out\.",
        ),
        (["~protocol.draws=4"], "expected the current value, got 5"),
        (["selector={a: 1}"], "expected selector=NAME, a file of conf/"),
        (["+selector=bss"], "expected selector=NAME, a file of conf/"),
        (["experiment=paul2016/table1"], r"expected \+experiment=PAPER/ARTEFACT"),
        (
            ["+experiment=paul2016/table1", "+experiment=paul2016/table2"],
            "expected one artefact, got two",
        ),
        (
            ["+dataset.seed=3"],
            r"expected a new setting, got dataset\.seed, which is 0; write dataset",
        ),
        (
            ["dataset.seed=1,2"],
            "expected one value, got several; provsel run -m runs one job for each",
        ),
        (
            ["dataset.seed=${oc.env:HOME}"],
            "the environment and other places stay out of results",
        ),
        (
            ["selector=at_size", "selector.selector.c2=nan"],
            r"selector\.selector\.c2: expected .*a finite number.*nan",
        ),
        (
            ["protocol.repeats=["],
            r"override 'protocol\.repeats=\[': expected Hydra's grammar, got",
        ),
        (["results/"], "expected GROUP=NAME or GROUP.SETTING=VALUE"),
        (["model.C=${dataset.nope}"], "expected references to existing settings, got"),
    ],
)
def test_mistakes_are_one_message(overrides, message):
    with pytest.raises(ValueError, match=message):
        cells_of(compose_config(overrides))


def test_where_a_run_is_and_where_its_results_go(monkeypatch):
    monkeypatch.setenv("SCRATCH", "/fast")
    config = compose_config(
        ["executor=slurm", "executor.n_jobs=3", "results=${oc.env:SCRATCH}/a"]
    )
    assert str(results_folder(config)) == "/fast/a"
    assert executor_settings(config)["n_jobs"] == 3
    assert executor_settings(config)["log_directory"] == "/fast/a/slurm"


# ---- artefacts


def test_repeats_beside_a_split_that_has_one_get_a_word(tmp_path):
    """Once in a process."""
    imports = "from provlab.core.composition import compose_config\nfrom provlab.core.plan import cells_of"
    script = f"{imports}\nfor _ in range(2):\n    cells_of(compose_config({{}}))"
    done = run_python(
        ["-c", script.format(["protocol=official_split", "protocol.repeats=3"])],
        tmp_path,
    )
    assert (
        done.stderr.count(
            "protocol.repeats=3 does not apply to the split official, which has repeats = 1"
        )
        == 1
    )


def test_all_data_sets_of_a_collection_or_some():
    name = "paul2016/figure1"
    sets = dataset_members("techtc")
    every = compose_artefact(name)
    listed = list(dict.fromkeys(entry.dataset for entry in every.entries))
    assert set(listed) <= set(sets)
    assert len(every.entries) == 8 * 3 * len(listed)
    two = listed[5], listed[2]
    some = compose_artefact(name, [f"dataset.set=[{','.join(two)}]"])
    assert [entry.dataset for entry in some.entries[:2]] == list(two)
    ids = {cell.id for cell in every.cells}
    assert {cell.id for cell in some.cells} < ids
    # has no number of features
    full = [entry.cell for entry in every.entries if entry.row == "Full"]
    assert all(list(cell.selector) == ["_target_"] for cell in full)
    assert len({cell.id for cell in full}) == len(listed)


@pytest.mark.parametrize(
    ("name", "overrides", "message"),
    [
        (
            TABLE1,
            [*SMALL, "+artefact.columns.more=['selector.n_feature_to_select=30']"],
            r"expected a setting that some row has, of selector\.C, .*, got 'selector\.n_feature_to_select=30' in "
            r"column 'more', .*; the nearest is selector\.n_features_to_select\.",
        ),
        (
            TABLE1,
            [*SMALL, "+artefact.columns.more=['model.xyz=3']"],
            r"got 'model\.xyz=3' in column 'more', which no row takes; leave it out\.",
        ),
        (
            "giesen2013/feature-selective-peers",
            [
                "artefact.only=[sparse rows]",
                "+artefact.columns.more=['selector.selector.form=as_printed','selector.selector.d2=0.5']",
            ],
            r"got 'selector\.selector\.d2=0\.5'.*; the nearest is selector\.selector\.c2\.",
        ),
        (
            TABLE1,
            [*SMALL, "+artefact.datasets={Made:{choose:['dataset.n_relevant=9']}}"],
            r"'dataset\.n_relevant=9' of data set 'Made' and 'dataset\.n_relevant=40' of col",
        ),
        (
            TABLE1,
            ["dataset.n_relevant=30"],
            r"expected settings that some entry uses.*sets dataset\.n_relevant itself",
        ),
        (
            TABLE1,
            ["selector=single_svd"],
            "expected settings that some entry uses.*sets selector itself",
        ),
        (
            "giesen2013/compression-gap",
            ["artefact.only=[CCAT]", "+artefact.datasets.CCAT.colums=['1']"],
            r"datasets\.CCAT: expected choose, rows, columns, got 'colums'; the nearest is columns",
        ),
        (
            "giesen2013/compression-gap",
            ["artefact.only=[CAT]"],
            r"expected artefact\.only to name some of .*CCAT",
        ),
        (
            TABLE1,
            [
                *SMALL,
                "+artefact.columns.more={choose:['selector.n_features_to_select=35'],rows:[BSS,Lvgg]}",
            ],
            r"columns\.more\.rows: expected BSS.*, got 'Lvgg'; the nearest is Lvg",
        ),
    ],
)
def test_a_setting_that_nothing_takes_is_refused(name, overrides, message):
    with pytest.raises(ValueError, match=message):
        compose_artefact(name, overrides)


KBEST = ["selector=any", "selector._target_=sklearn.feature_selection.SelectKBest"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (["selector=bss", "selector.n_features_to_select=???"], None),
        # it has no number of features to give
        (["selector=lpsvm", "selector.solver=as_published"], None),
        (  # under the columns before it is the same number
            ["selector=bss", "selector.n_features_to_select=30"],
            r"expected selector\.n_features_to_select from one place, got 'selector\.n_features_to_select=30' of row "
            r"'made' and 'selector\.n_features_to_select=40' of column 'r=40, k=40'; leave one out, or write "
            r"\"\+selector\.n_features_to_select=\?\?\?\" in the first",
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
        assert [
            e.cell.selector.get("n_features_to_select") for e in composed.entries
        ] in ([30, 30, 40, 40], [None] * 4)
        return
    with pytest.raises(ValueError, match=rf"paul2016/table1: {message}"):
        compose_artefact(TABLE1, SMALL, rows={"made": row})


def test_a_column_may_have_settings_for_rows_that_the_user_took_away():
    every, fewer = (
        compose_artefact("wang2018/ofs-figure1", ["artefact.only=[ORL]", *more]).entries
        for more in ([], ["~artefact.rows.SEC"])
    )
    assert [entry.cell.id for entry in fewer] == [
        entry.cell.id for entry in every if entry.row != "SEC"
    ]


def test_a_column_is_of_the_rows_that_it_names():
    more = "+artefact.columns.more={choose:['selector.n_features_to_select=35'],rows:[BSS]}"
    usual, with_column = (
        compose_artefact(TABLE1, [*SMALL, *extra]).entries for extra in ([], [more])
    )
    others = [entry.cell.id for entry in with_column if entry.column != "more"]
    assert others == [entry.cell.id for entry in usual]
    assert [entry.row for entry in with_column if entry.column == "more"] == ["BSS"]
    # a reading of some row
    named = compose_artefact(TABLE1, [*SMALL, more], rows={"made": ["selector=bss"]})
    assert "more" in [entry.column for entry in named.entries]


def test_a_setting_of_the_user_that_some_entries_take_is_kept():
    entries = compose_artefact("giesen2013/compression-gap", ["model.c=0.5"]).entries
    penalties = {(entry.dataset, entry.cell.model["c"]) for entry in entries}
    assert {pair for pair in penalties if pair[0] in ("DEXTER", "CCAT")} == {
        ("DEXTER", 0.5),
        ("CCAT", 1e-4),
    }
    # what a row and columns set
    stated = [*SMALL, "selector=leverage", "dataset.n_relevant=40"]
    same = compose_artefact(TABLE1, stated).cells
    usual = compose_artefact(TABLE1, SMALL).cells
    assert [cell.id for cell in same] == [cell.id for cell in usual]


# ---- files


def test_files_are_read_as_omegaconf_reads_them(tmp_path):
    odd = tmp_path / "odd.yaml"
    scalars = "1e-3 1E5 -2.5e+7 3e 1.e4 .5 5. 2001-02-03 yes off ~ 0x1F 010 1_000 .inf nan .nan 1:30 '1e3' e1 ${a.r}"
    lines = [*scalars.split(), "", "[1e-2, a]", "{a: 1e2}"]
    odd.write_text("\n".join(f"k{place}: {text}" for place, text in enumerate(lines)))
    assert repr(yaml.load(odd.read_text(), Loader=_Loader)) == repr(
        OmegaConf.to_container(OmegaConf.load(odd))
    )
    files = [
        *sorted((REPO / "conf").rglob("*.yaml")),
        *map(artefact_file, artefact_names()),
    ]
    assert len(files) > 50
    for file in files:
        read = read_config("executor" if "executor" in file.parts else "", file)
        assert repr(read) == repr(OmegaConf.to_container(OmegaConf.load(file))), file


def test_a_member_is_based_on_others_of_its_group(tmp_path, monkeypatch):
    monkeypatch.setenv("PROVSEL_PROJECT", str(tmp_path))
    (tmp_path / "provsel.toml").write_text("")
    folder = tmp_path / "conf" / "selector"
    folder.mkdir(parents=True)
    (folder / "mine.yaml").write_text("defaults: [leverage]\nn_features_to_select: 7\n")
    assert compose_config(["selector=mine"])["selector"] == {
        **compose_config(["selector=leverage"])["selector"],
        "n_features_to_select": 7,
    }
    (folder / "mine.yaml").write_text(
        "defaults: [_self_, leverage]\nn_features_to_select: 7\n"
    )
    assert compose_config(["selector=mine"]) == compose_config(["selector=leverage"])
    (folder / "mine.yaml").write_text("defaults: [mine]\n")
    with pytest.raises(
        ValueError, match="expected files that do not include themselves, got mine"
    ):
        compose_config(["selector=mine"])
    (folder / "mine.yaml").write_text("name: a\nname: b\n")
    with pytest.raises(
        ValueError,
        match=r"mine\.yaml: expected a readable config, .*duplicate key name",
    ):
        compose_config(["selector=mine"])
