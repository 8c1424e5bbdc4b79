"""`provsel doctor` and `examine`: what is found in stores and data folders that the tests made, untouched."""

import json
import os

import pyarrow as pa
import pytest

from provlab.cli import main
from provlab.datasets import dataset_names, read_source, source_names
from provlab.doctor import STATES, Check, examine
from provlab.run.environment import PACKAGES
from provlab.store import SCHEMA, TrialStore
from small_runs import run_python

FORMS = {name: read_source(name).forms for name in ("cifar10", "rcv1_ccat")}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Work in an empty folder, with an empty data folder and without a mirror."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("PROVSEL_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("PROVSEL_DATA_MIRROR", raising=False)
    monkeypatch.setenv("COLUMNS", "250")
    return tmp_path


@pytest.fixture
def results(here):
    """A results folder with 5 trials in two files."""
    store = TrialStore(here / "results" / "store")
    empty = {pa.string(): "", pa.float64(): 0.5, pa.int32(): 1, pa.int64(): 2**40, pa.list_(pa.int32()): [3, 1, 2]}
    record = {field.name: empty[field.type] for field in SCHEMA}
    for keys in (range(3), range(3, 5)):
        store.append([{**record, "key": f"{k:064x}"} for k in keys])
    return here / "results"


def group(name, results):
    return {check.name: check for check in examine(results) if check.group == name}


def put(folder, source, paths=None, *, more=0):
    """Write files of the registered sizes: sparse, so that they take no time and no space."""
    for file in read_source(source).files:
        if paths is None or file.path in paths:
            path = folder / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as handle:
                handle.truncate((file.size or 100) + more)


def test_every_part_is_looked_at(results):
    checks = examine(results)
    assert list(dict.fromkeys(check.group for check in checks)) == [
        "Python and packages", "Machine", "BLAS", "Data sets", "Store",
    ]  # fmt: skip
    assert {check.state for check in checks} <= set(STATES)
    assert len({(check.group, check.name) for check in checks}) == len(checks)
    assert {*PACKAGES, "Python", "compiled kernels", "git revision"} == set(group("Python and packages", results))
    assert {"PROVSEL_DATA", "PROVSEL_DATA_MIRROR", *dataset_names()} == set(group("Data sets", results))
    assert any("openblas" in check.value or "mkl" in check.value for check in group("BLAS", results).values())


@pytest.mark.parametrize(
    ("value", "state", "said"),
    [("0", "ok", "off; "), ("1", "ok", "numba "), ("on", "problem", "expected 0 or 1, got 'on'")],
)
def test_compiled_kernels(results, monkeypatch, value, state, said):
    monkeypatch.setenv("PROVSEL_COMPILED", value)
    check = group("Python and packages", results)["compiled kernels"]
    assert check.state == state
    assert said in check.value


def test_stores(here, results):
    assert group("Store", results)["trials"] == Check("Store", "trials", "ok", "5")
    assert "2 files" in group("Store", results)["folder"].value
    absent = group("Store", here / "nowhere")
    assert absent["trials"].advice == "provsel reproduce NAME, or provsel run"
    assert {check.state for check in absent.values()} == {"ok"}
    assert not (here / "nowhere").exists()
    (here / "other").mkdir()
    (here / "other" / "store").write_text("x")
    assert group("Store", here / "other")["folder"].state == "problem"


@pytest.mark.parametrize("content", [b"", b"hello", b"PAR1PAR1"])
def test_a_damaged_file_is_told_and_left_alone(results, content, capsys):
    path = sorted((results / "store").glob("*.parquet"))[0]
    path.write_bytes(content)
    (results / "store" / "abc.damaged").write_bytes(b"x")
    before = {each: each.stat().st_mtime_ns for each in results.rglob("*")}
    store = group("Store", results)
    assert (store[path.name].state, store["abc.damaged"].state) == ("problem", "warning")
    assert store["trials"].value in ("2", "3")
    assert main(["doctor"]) == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith("1 problem, ")
    assert {each: each.stat().st_mtime_ns for each in results.rglob("*")} == before
    TrialStore(results / "store").keys()  # the reader of runs finds the same file damaged
    assert list((results / "store").glob(f"{path.stem}-*.damaged"))


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not bind root")
def test_a_folder_that_cannot_be_written(results):
    results.chmod(0o555)
    try:
        assert group("Machine", results)["disk of results"].state == "problem"
    finally:
        results.chmod(0o755)


def test_without_any_data(results):
    checks = group("Data sets", results)
    for name in dataset_names():
        if name in source_names():
            assert checks[name].state == "missing"
            assert checks[name].value.startswith("0 of ")
            assert checks[name].advice == f"provsel fetch {name}"
        else:
            assert (checks[name].state, checks[name].value) == ("ok", "needs no files"), name
    assert main(["doctor"]) == 0


@pytest.mark.parametrize("name", source_names())
def test_present_in_the_mirror_or_the_data_folder(here, results, monkeypatch, name):
    put(here / "data", name)
    assert group("Data sets", results)[name].state == "ok"
    monkeypatch.setenv("PROVSEL_DATA", str(here / "none"))
    monkeypatch.setenv("PROVSEL_DATA_MIRROR", str(here / "data"))
    assert group("Data sets", results)[name].state == "ok"


def test_incomplete(here, results):
    files = read_source("dexter").files
    put(here / "data", "dexter", {file.path for file in files[:3]})
    check = group("Data sets", results)["dexter"]
    assert (check.state, check.value) == ("missing", f"3 of 4 files, lacks {files[3].path}")


@pytest.mark.parametrize(("name", "form"), [(name, form) for name in FORMS for form in FORMS[name]])
def test_one_form_is_enough(here, results, name, form):
    first, *others = [file.path for file in FORMS[name][form]]
    put(here / "data", name, others)
    assert group("Data sets", results)[name].state == "missing"
    put(here / "data", name, {first})
    check = group("Data sets", results)[name]
    assert check.state == "ok"
    assert f"of the form {form}" in check.value


def test_a_part_of_a_collection_can_be_used(here, results):
    put(here / "data", "techtc", {read_source("techtc").files[7].path})
    check = group("Data sets", results)["techtc"]
    assert (check.state, check.value) == ("ok", "1 of 80 files")


def test_wrong_size(here, results):
    [file] = read_source("colon").files
    put(here / "data", "colon", more=1)
    check = group("Data sets", results)["colon"]
    assert check.state == "problem"
    assert check.value == f"{here / 'data' / file.path}: expected {file.size} bytes, got {file.size + 1}"
    assert check.advice == "delete it, then: provsel fetch colon"
    path = "rcv1_subsets/rcv1v2_subsets_fixed.npz"  # other packers arrive at other sizes
    put(here / "data", "rcv1_ccat", {path}, more=1)
    assert group("Data sets", results)["rcv1_ccat"].state == "ok"


def test_folders_of_data(here, results, monkeypatch):
    monkeypatch.setenv("PROVSEL_DATA_MIRROR", str(here / "gone"))
    (here / "file").write_text("x")
    monkeypatch.setenv("PROVSEL_DATA", str(here / "file"))
    checks = group("Data sets", results)
    assert (checks["PROVSEL_DATA_MIRROR"].state, checks["PROVSEL_DATA"].state) == ("warning", "problem")


@pytest.mark.skipif("PROVSEL_DATA_MIRROR" not in os.environ, reason="needs real data: set PROVSEL_DATA_MIRROR")
def test_what_is_present_has_the_right_size(results, monkeypatch, pytestconfig):
    monkeypatch.undo()
    assert {check.state for check in group("Data sets", results).values()} <= {"ok", "missing"}


def test_table_and_json(results, capsys, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert main(["doctor", "--results", str(results)]) == 0
    out = capsys.readouterr().out
    assert out.index("Python and packages") < out.index("Store")
    assert "-> provsel fetch techtc" in out
    assert "OMP_NUM_THREADS=3" in out
    assert out.splitlines()[-1].startswith("0 problems, ")
    assert main(["doctor", "--json"]) == 0
    read = [Check(**item) for item in json.loads(capsys.readouterr().out)]
    assert Check("Store", "trials", "ok", "5") in read


def test_paths_are_no_markup(here, capsys):
    folder = "[red]x[/red][/nonsense]"
    (here / folder / "store").mkdir(parents=True)
    (here / folder / "store" / "[bold]y.parquet").write_bytes(b"x")
    assert main(["doctor", "--results", folder]) == 1
    out = capsys.readouterr().out
    assert f"{folder}/store" in out
    assert "[bold]y.parquet" in out


def test_as_a_command(results):
    done = run_python(["-m", "provlab.cli", "doctor", "--results", results], results.parent)
    assert (done.returncode, done.stderr) == (0, "")
    assert "problems, " in done.stdout.splitlines()[-1]
