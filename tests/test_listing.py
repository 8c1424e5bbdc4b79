"""`provsel list`: every config, one line each, without any data."""

import pytest

import provsel.selectors
from provlab.bench.selection.methods import FAMILY_OF
from provlab.cli import main
from provlab.cli.project import TITLES, listing
from provlab.core.composition import compose_config
from provlab.data import read_source, source_names
from small_runs import REPO

CONF = {name: f"conf/{name.removesuffix('s')}" for name in TITLES} | {"artefacts": "experiments"}


@pytest.fixture(autouse=True)
def no_data(tmp_path, monkeypatch):
    monkeypatch.setenv("PROVSEL_DATA", str(tmp_path / "no-data"))
    monkeypatch.delenv("PROVSEL_DATA_MIRROR", raising=False)
    return tmp_path


def test_every_config_has_one_line(capsys):
    sections = []
    for kind, folder in CONF.items():
        files = [path for path in (REPO / folder).rglob("*.yaml") if path.stem not in ("claims", "readings")]
        assert main(["list", kind]) == 0
        lines = capsys.readouterr().out.splitlines()
        names = sorted(path.relative_to(REPO / folder).with_suffix("").as_posix() for path in files)
        assert [line.split()[0] for line in lines] == names
        assert len({line.index(line.split()[1]) for line in lines}) == 1  # one column below the other
        sections.append("\n".join([TITLES[kind], *lines]))
    assert main(["list"]) == 0
    assert capsys.readouterr().out == "\n\n".join(sections) + "\n"


def test_data_sets_have_licences():
    found = listing("datasets")
    for name in source_names():
        assert found[name].startswith(f"{read_source(name).title}: "), name
        assert found[name].endswith(f"Licence: {' '.join(read_source(name).licence.split())}"), name
    assert found["file"] == (
        "Your own file: CSV and other text, ARFF, Excel, Parquet, Feather, Stata, JSON lines, npz, npy, svmlight or "
        "MATLAB."
    )
    assert found["synthetic"].endswith("Generated.")
    assert found["digits"].endswith("Bundled with scikit-learn.")
    assert "72 samples with 7129" in found["allaml"]


def test_selectors_and_models_say_chance_and_guarantee():
    found = listing("selectors")
    assert found.pop("any").endswith("in provsel.toml (none yet): selector._target_=module.Class")
    assert found["bss"].startswith("BSSSelector: Select features by single-set spectral sparsification")
    assert found["bss"].endswith("Guarantee: budget(rank, eps, delta).")
    assert found["at_size_lpsvm"].startswith("AtSize of LPSVMSelector: ")
    assert " Subset, without labels. Source: Paul, Magdon-Ismail, Drineas (2016). Guarantee: " in found["bss"]
    assert found["f_test"].endswith(" Filter, uses labels. Source: Fisher (1925).")
    assert found.keys() == FAMILY_OF.keys()
    draws = {name for name, text in found.items() if " Draws." in text}
    assert {"uniform", "leverage", "online_leverage", "gaussian_compression", "sparse_embedding"} <= draws
    assert not {"bss", "full", "rrqr", "lpsvm", "rfe", "laplacian_score"} & draws
    classes = {name: compose_config([f"selector={name}"])["selector"]["_target_"].rsplit(".", 1)[-1] for name in found}
    guaranteed = {name for name, text in found.items() if "Guarantee: " in text}
    assert guaranteed == {name for name, cls in classes.items() if hasattr(getattr(provsel.selectors, cls), "budget")}
    assert {name for name, text in listing("models").items() if " Draws." in text} == {"compressed_svm"}


def test_artefacts_have_the_title_of_their_config_and_a_command():
    for name, text in listing("artefacts").items():
        title = compose_config([f"+experiment={name}"])["artefact"]["title"]
        assert text == f"{title}: provsel reproduce {name.split('/')[1]}"
