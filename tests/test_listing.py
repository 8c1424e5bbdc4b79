"""`provsel list`: every config, one line each, without any data."""

import subprocess
import sys

import pytest

import provsel.selectors
from provlab import listing as module
from provlab.cli import main
from provlab.datasets import read_source, source_names
from provlab.listing import KINDS, Item, listing
from provlab.plan import compose_config
from provlab.project import artefact_names
from small_runs import REPO, script_environment

GROUP = {"datasets": "dataset", "selectors": "selector", "models": "model"}


@pytest.fixture(autouse=True)
def no_data(tmp_path, monkeypatch):
    monkeypatch.setenv("PROVSEL_DATA", str(tmp_path / "no-data"))
    monkeypatch.delenv("PROVSEL_DATA_MIRROR", raising=False)
    return tmp_path


def texts(kind):
    return {item.name: item.text for item in listing(kind)}


@pytest.mark.parametrize("kind", GROUP)
def test_every_config_has_one_line(kind, capsys):
    root = REPO / "experiments" if kind == "artefacts" else REPO / "conf" / GROUP[kind]
    files = [path for path in root.rglob("*.yaml") if path.name != "claims.yaml"]
    names = sorted(path.relative_to(root).with_suffix("").as_posix() for path in files)
    assert names
    assert main(["list", kind]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == names
    assert len({line.index(line.split()[1]) for line in lines}) == 1  # one column below the other


def test_all_is_all_of_each(capsys):
    assert main(["list"]) == 0
    everything = capsys.readouterr().out.splitlines()
    for kind in KINDS:
        assert main(["list", kind]) == 0
        lines = capsys.readouterr().out.splitlines()
        start = everything.index(lines[0])
        assert everything[start : start + len(lines)] == lines
    assert len([line for line in everything if line]) == len(KINDS) + sum(len(listing(kind)) for kind in KINDS)


def test_data_sets_have_licences():
    found = texts("datasets")
    for name in source_names():
        assert found[name].startswith(f"{read_source(name).title}: "), name
        assert found[name].endswith(f"Licence: {' '.join(read_source(name).licence.split())}"), name
    assert {name for name in found if name not in source_names()} == {
        "digits", "file", "gaussian_clusters", "sparse_rows", "synthetic",
    }  # fmt: skip
    assert found["file"] == "Your own file: CSV, TSV, Parquet, npz, npy, svmlight or MATLAB, with a column of labels."
    assert found["synthetic"].endswith("Generated.")
    assert found["digits"].endswith("Bundled with scikit-learn.")
    assert "72 samples with 7129" in found["allaml"]


def test_selectors_say_chance_and_guarantee():
    found = texts("selectors")
    assert found.pop("any").endswith("in provsel.toml (none yet): selector._target_=module.Class")
    assert found["bss"].startswith("BSSSelector: Select features by single-set spectral sparsification")
    assert found["bss"].endswith("Guarantee: budget(rank, eps, delta).")
    assert found["at_size_lpsvm"].startswith("AtSize of LPSVMSelector: ")
    draws = {name for name, text in found.items() if " Draws." in text}
    assert {"uniform", "leverage", "online_leverage", "gaussian_compression", "sparse_embedding"} <= draws
    assert not {"bss", "full", "rrqr", "lpsvm", "rfe", "laplacian_score"} & draws
    guaranteed = {name for name, text in found.items() if "Guarantee: " in text}
    classes = {name: compose_config([f"selector={name}"])["selector"]["_target_"].rsplit(".", 1)[-1] for name in found}
    assert guaranteed == {name for name, cls in classes.items() if hasattr(getattr(provsel.selectors, cls), "budget")}
    assert guaranteed == {"approximate_bss", "bss", "dual_set", "leverage", "randomly_pivoted_qr"}


def test_models():
    found = texts("models")
    assert found["libsvm"].startswith("LibsvmSVM: ")
    assert " Draws." in found["compressed_svm"]
    assert " Draws." not in found["libsvm"]


def test_artefacts_have_title_and_command():
    found = texts("artefacts")
    assert found["paul2016/table1"] == (
        "Most frequently selected features using the synthetic dataset: provsel reproduce table1"
    )
    for name in artefact_names():
        title = compose_config([f"+experiment={name}"])["artefact"]["title"]
        assert found[name] == f"{title}: provsel reproduce {name.split('/')[1]}"


def test_configs_of_another_folder(tmp_path, monkeypatch):
    (tmp_path / "dataset").mkdir()
    (tmp_path / "dataset" / "mine.yaml").write_text("name: synthetic\n")
    (tmp_path / "selector").mkdir()
    (tmp_path / "selector" / "ref.yaml").write_text(
        "_target_: provsel.selectors.UniformSelector\nn_features_to_select: ${dataset.n_features}\n"
    )
    monkeypatch.setattr(module, "conf_files", lambda group: sorted((tmp_path / group).glob("*.yaml")))
    [mine] = listing("datasets")
    assert mine.name == "mine"
    assert [item.name for item in listing("selectors")] == ["ref"]
    assert listing("models") == []
    (tmp_path / "dataset" / "mine.yaml").write_text("name: os\n")
    with pytest.raises(ValueError, match=r"config of the data set 'os': expected one of allaml, .*; correct it"):
        listing("datasets")


def test_title_of_a_config_that_takes_it_from_another(tmp_path, monkeypatch):
    (tmp_path / "table1.yaml").write_text("# @package _global_\ndefaults: []\n")
    monkeypatch.setattr(module, "artefact_file", lambda name: tmp_path / "table1.yaml")
    monkeypatch.setattr(module, "artefact_names", lambda: ["paul2016/table1"])
    [item] = listing("artefacts")
    assert item == Item("paul2016/table1", texts("artefacts")["paul2016/table1"])
    assert item.text.startswith("Most frequently selected features")


def test_unknown_kind(capsys):
    with pytest.raises(ValueError, match="list: expected one of datasets, selectors, models, artefacts, got 'x'"):
        listing("x")
    assert main(["list", "x"]) == 2


def test_reader_that_leaves_early(no_data):
    command = [sys.executable, "-m", "provlab.cli", "list"]
    with subprocess.Popen(
        command, cwd=no_data, env=script_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()  # as head does
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 0
