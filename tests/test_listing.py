"""`provsel list`: every config, one line each, without any data."""

import pytest

import provsel.selectors
from provlab.bench.methods import TASKS, panel_methods, panel_names
from provlab.bench.panel import judging
from provlab.cli import main
from provlab.cli.project import TITLES, listing
from provlab.core.composition import compose_config, part_config
from provlab.core.vocabulary import SELECTORS, SPELLINGS, file_named
from provlab.data import read_source, source_names
from small_runs import REPO

CONF = {name: f"conf/{name.removesuffix('s')}" for name in TITLES} | {
    "artefacts": "experiments"
}


pytestmark = pytest.mark.usefixtures("no_data")


def test_every_config_has_one_line(capsys):
    sections = []
    for kind, folder in CONF.items():
        files = [
            path
            for path in (REPO / folder).rglob("*.yaml")
            if path.stem not in ("claims", "readings")
        ]
        assert main(["list", kind]) == 0
        lines = capsys.readouterr().out.splitlines()
        names = sorted(
            path.relative_to(REPO / folder).with_suffix("").as_posix() for path in files
        )
        assert [line.split()[0] for line in lines] == names
        # one column below the other
        assert len({line.index(line.split()[1]) for line in lines}) == 1
        sections.append("\n".join([TITLES[kind], *lines]))
    assert main(["list"]) == 0
    assert capsys.readouterr().out == "\n\n".join(sections) + "\n"


def test_data_sets_have_licences():
    listed = listing("datasets")
    for name in source_names():
        assert listed[name].startswith(f"{read_source(name).title}: "), name
        assert listed[name].endswith(
            f"Licence: {' '.join(read_source(name).licence.split())}"
        ), name
    assert listed["file"] == (
        "Your own file: CSV and other text, ARFF, Excel, Parquet, Feather, Stata, JSON lines, npz, npy, svmlight or "
        "MATLAB."
    )
    assert listed["synthetic"].endswith("Generated.")
    assert listed["digits"].endswith("Bundled with scikit-learn.")
    assert "72 samples with 7129" in listed["allaml"]


def test_selectors_and_models_say_chance_and_guarantee():
    listed = listing("selectors")
    assert listed.pop("any").endswith(
        "in provsel.toml (none yet): selector._target_=module.Class"
    )
    assert listed["bss"].startswith(
        "BSSSelector: Select features by single-set spectral sparsification"
    )
    assert listed["bss"].endswith("Guarantee: budget(rank, eps, delta).")
    assert listed["at_size_lpsvm"].startswith("AtSize of LPSVMSelector: ")
    assert (
        " Subset, without labels, time n d min(n, d). Source: Paul, Magdon-Ismail, Dri"
        in listed["bss"]
    )
    assert listed["f_test"].endswith(
        " Filter, classes or numbers, time n d. Source: Fisher (1925)."
    )
    assert listed["svm_weights"].endswith(
        " Embedded, classes or numbers, time a linear SVM. Source: Guyon, Weston, Barnhill, Vapnik (2002)."
    )
    assert listed.keys() == SELECTORS.keys(), (
        "describe each in SELECTORS of src/provlab/core/vocabulary.py"
    )
    draws = {name for name, text in listed.items() if " Draws." in text}
    assert {
        "uniform",
        "leverage",
        "online_leverage",
        "gaussian_compression",
        "sparse_embedding",
    } <= draws
    assert not {"bss", "full", "rrqr", "lpsvm", "rfe", "laplacian_score"} & draws
    classes = {
        name: compose_config([f"selector={name}"])["selector"]["_target_"].rsplit(
            ".", 1
        )[-1]
        for name in listed
    }
    guaranteed = {name for name, text in listed.items() if "Guarantee: " in text}
    assert guaranteed == {
        name
        for name, cls in classes.items()
        if hasattr(getattr(provsel.selectors, cls, None), "budget")
    }
    assert {name for name, text in listing("models").items() if " Draws." in text} == {
        "compressed_svm"
    }


def test_artefacts_have_the_title_of_their_config_and_a_command():
    for name, text in listing("artefacts").items():
        title = compose_config([f"+experiment={name}"])["artefact"]["title"]
        assert text == f"{title}: provsel reproduce {name.split('/')[1]}"


# ---- one vocabulary


@pytest.mark.parametrize(
    ("group", "spelling", "name"),
    [
        *[
            ("selector", spelling, "mrmr")
            for spelling in (
                "MRMR",
                "mRMR",
                "mrmr-selection",
                "mrmr_classif",
                "MRMRSelector",
            )
        ],
        *[
            ("selector", spelling, "rfe")
            for spelling in ("RFE", "svm-rfe", "SVM RFE", "SVMRFESelector")
        ],
        *[
            ("selector", spelling, "mutual_information")
            for spelling in ("mutual information", "mutual_info_classif")
        ],
        ("selector", "ReliefF", "relieff"),
        ("selector", "F-test", "f_test"),
        ("selector", "StabilitySelection", "stability_selection"),
        # the paper's; of a size that is asked for it has another name
        ("selector", "lpsvm", "lpsvm"),
        ("selector", "rfe_half", "rfe_half"),
        ("model", "forest", "extra_trees"),
        ("model", "LogisticRegression", "logistic"),
        ("preparation", "StandardScaler", "standardise"),
    ],
)
def test_usual_spellings_mean_one_file_and_are_in_no_config(group, spelling, name):
    assert compose_config([f"{group}='{spelling}'"]) == compose_config(
        [f"{group}={name}"]
    )


def test_no_spelling_means_two_files():
    for group, spellings in SPELLINGS.items():
        names = [path.stem for path in (REPO / "conf" / group).glob("*.yaml")]
        for name, others in spellings.items():
            assert name in names
            for spelling in others:
                assert file_named(group, spelling, names) == name, spelling


def test_what_means_nothing_is_said_with_what_was_probably_meant():
    with pytest.raises(
        ValueError,
        match=r"selector: expected one of .*, got 'mrrmr'; did you mean 'mrmr'",
    ):
        compose_config(["selector=mrrmr"])
    with pytest.raises(
        ValueError,
        match=r"model: expected one of .*, got 'qqq'; provsel list shows the names",
    ):
        compose_config(["model=qqq"])


def test_each_method_of_the_benchmark_is_a_selector_and_each_judge_a_model():
    """By one name, which its name in the benchmark means as well; both say which method is ranked against."""
    for title, method in panel_methods().items():
        name = method.selector_name
        assert name in SELECTORS
        assert part_config("selector", [f"selector={name}"])["_target_"].rsplit(".", 1)[
            0
        ] in (
            "provsel.selectors",
            "provlab.bench.selectors",
        )
        assert title in panel_names([name])
        assert panel_names([title]) == [title]
        if title not in ("LPSVM", "L1-SVM"):  # which are other files as well
            assert part_config("selector", [f"selector='{title}'"]) == part_config(
                "selector", [f"selector={name}"]
            )
    for judge in judging().judges.values():
        for task in TASKS:
            [model] = [text for text in judge.model(task) if text.startswith("model=")]
            assert part_config("model", judge.model(task)) == part_config(
                "model", [model]
            )
