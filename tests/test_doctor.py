"""`provsel doctor` and `examine`: what is found in stores, data folders and machines that the tests made, untouched."""

import json
import os
import re
import shutil
import time
from collections import namedtuple
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from provlab.cli import main
from provlab.datasets import dataset_names, read_source, source_names
from provlab.datasets.loaders.cifar10 import _FILES
from provlab.datasets.loaders.rcv1_ccat import _SUBSETS, _official_paths
from provlab.doctor import GROUPS, STATES, Check, _data, _machine, examine
from provlab.doctor._check import age_text, bytes_text, listed
from provlab.store import SCHEMA, VERSION, TrialStore
from provlab.store.trial_store import LOOSE_FILES
from provlab.trials.environment import PACKAGES
from small_runs import run_python

REAL_MIRROR = os.environ.get("PROVSEL_DATA_MIRROR")
FORMS = {
    name: {form: [file.path for file in files] for form, files in read_source(name).forms.items()}
    for name in ("cifar10", "rcv1_ccat")
}
Memory = namedtuple("Memory", "total available")
Disk = namedtuple("Disk", "total used free")


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
    store.append(fake_records(0, 3))
    store.append(fake_records(3, 2))
    return here / "results"


def fake_records(first, n):
    """Return n records with keys from `first` on: valid, not computed."""
    empty = {pa.string(): "", pa.float64(): 0.5, pa.int32(): 1, pa.int64(): 2**40, pa.list_(pa.int32()): [3, 1, 2]}
    return [
        {**{field.name: empty[field.type] for field in SCHEMA}, "key": f"{k:064x}"} for k in range(first, first + n)
    ]


def write_older(path, first, n, *, without=(), version=VERSION):
    """Write a file of the store as another version of provsel would."""
    table = pa.Table.from_pylist(fake_records(first, n), schema=SCHEMA).drop_columns(list(without))
    pq.write_table(table.replace_schema_metadata({"provsel_schema": str(version)}), path)


def store_files(results):
    return sorted((results / "store").glob("*.parquet"))


def group(name, results="results"):
    return {check.name: check for check in examine(Path(results)) if check.group == name}


def snapshot(folder):
    return {
        path: (path.read_bytes() if path.is_file() else None, path.stat().st_mtime_ns) for path in folder.rglob("*")
    }


def put(folder, source, paths=None, *, wrong=()):
    """Write files of the registered sizes: sparse, so that they take no time and no space."""
    for file in read_source(source).files:
        if paths is None or file.path in paths:
            path = folder / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as handle:
                handle.truncate((file.size or 100) + (file.path in wrong))


def test_every_part_is_looked_at(results):
    checks = examine(results)
    assert list(dict.fromkeys(check.group for check in checks)) == list(GROUPS)
    assert {check.state for check in checks} <= set(STATES)
    assert len({(check.group, check.name) for check in checks}) == len(checks)
    assert {*PACKAGES, "Python", "compiled kernels", "git revision"} == set(group("Python and packages"))
    assert {"PROVSEL_DATA", "PROVSEL_DATA_MIRROR", *dataset_names()} == set(group("Data sets"))


@pytest.mark.parametrize(
    ("value", "state", "said"),
    [("0", "ok", "off; "), ("1", "ok", "numba "), ("on", "problem", "expected 0 or 1, got 'on'")],
)
def test_compiled_kernels(here, monkeypatch, value, state, said):
    monkeypatch.setenv("PROVSEL_COMPILED", value)
    check = group("Python and packages")["compiled kernels"]
    assert check.state == state
    assert said in check.value


def test_absent_store(here):
    store = group("Store", "nowhere")
    assert store["folder"].value == f"{Path('nowhere/store')}: no such folder yet"
    assert store["trials"] == Check(
        "Store", "trials", "ok", "nothing stored yet", "provsel reproduce NAME, or provsel run"
    )
    assert {check.state for check in store.values()} == {"ok"}
    assert not Path("nowhere").exists()


def test_empty_store(here):
    (here / "results" / "store").mkdir(parents=True)
    store = group("Store")
    assert store["folder"].value == str(Path("results/store"))
    assert store["trials"].value == "nothing stored yet"


def test_good_store(results):
    store = group("Store")
    size = sum(path.stat().st_size for path in store_files(results))
    assert store["trials"].value == "5"
    assert store["files"].value == f"2 files, 2 of them loose, {size / 1000:.1f} kB"
    assert store["schema"].value == f"{VERSION} (2 files)"
    assert set(store) == {"folder", "writable", "trials", "files", "schema"}
    assert {check.state for check in store.values()} == {"ok"}


def test_trials_are_counted_once(results):
    for path in store_files(results):
        shutil.copy(path, path.with_name(f"merged-{path.name}"))
    store = group("Store")
    assert store["trials"].value == "5, 5 repeated rows left by a merge that was cut short"
    assert store["files"].value.startswith("4 files, 2 of them loose")
    assert len(TrialStore(results / "store").keys()) == 5


def test_many_loose_files(results, monkeypatch):
    monkeypatch.setattr("provlab.doctor._store.LOOSE_FILES", 1)
    assert group("Store")["files"].state == "warning"
    assert "the next run merges them" in group("Store")["files"].advice
    assert LOOSE_FILES > 1


@pytest.mark.parametrize("harm", ["cut", "empty", "text", "no key", "odd version", "flipped key page"])
def test_damaged_file_is_told_and_left_alone(results, harm):
    path = store_files(results)[0]
    content = path.read_bytes()
    if harm == "no key":
        pq.write_table(pa.table({"a": [1]}), path)
    elif harm == "odd version":
        write_older(path, 0, 2, version="new")
    else:
        at = content.index(b"PAR1") + 40  # the key column comes first
        flipped = content[:at] + bytes([content[at] ^ 255]) + content[at + 1 :]
        path.write_bytes({"cut": content[:-20], "empty": b"", "text": b"hello", "flipped key page": flipped}[harm])
    before = snapshot(results)
    check = group("Store")["damaged files"]
    assert check.state == "problem"
    assert check.value.startswith(f"1 file: {path.name} (")
    assert group("Store")["trials"].value in ("2", "3")
    assert main(["doctor"]) == 1
    assert snapshot(results) == before
    TrialStore(results / "store").keys()  # the reader of runs finds the same file damaged
    assert [name.stem for name in (results / "store").glob("*.damaged")] == [path.stem]


def test_files_set_aside(results):
    (results / "store" / "abc.damaged").write_bytes(b"x")
    check = group("Store")["set aside"]
    assert (check.state, check.value) == ("warning", "1 damaged file: abc.damaged")


def test_newer_schema(results, capsys):
    write_older(results / "store" / "new.parquet", 9, 1, version=VERSION + 1)
    assert group("Store")["trials"].value == "5"  # its keys may mean something else
    check = group("Store")["schema"]
    assert check.state == "problem"
    assert check.value.startswith(f"{VERSION} (2 files), {VERSION + 1} (1 file); newer than {VERSION}")
    assert "new.parquet" in check.value
    assert "upgrade provsel" in check.advice
    assert main(["doctor"]) == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith("1 problem, ")
    with pytest.raises(ValueError, match=r"new\.parquet: expected schema version"):
        TrialStore(results / "store").keys()


def test_older_schema(results):
    write_older(results / "store" / "old.parquet", 9, 4, without=["nmi", "ari"], version=0)
    store = group("Store")
    assert store["older records"].state == "warning"
    assert store["older records"].value == "4 of 9 records, in 1 file, lack nmi, ari"
    assert store["schema"].state == "ok"
    assert store["schema"].value == f"0 (1 file), {VERSION} (2 files)"
    assert store["trials"].value == "9"


def test_temporary_files(results):
    part = results / "store" / ".abc.parquet.0123.part"
    part.write_bytes(b"x")
    assert group("Store")["temporary files"].state == "ok"
    old = time.time() - 3 * 3600 - 5
    os.utime(part, (old, old))
    check = group("Store")["temporary files"]
    assert (check.state, check.value) == ("warning", f"1 file: {part.name} (3 hours old)")
    assert part.exists()


@pytest.mark.parametrize("made", [True, False], ids=["present", "absent"])
def test_folder_that_cannot_be_written(results, monkeypatch, made):
    where = results if made else results / "deep" / "er"
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK and allowed(path, mode))
    check = group("Store", where)["writable"]
    assert (check.state, check.value) == ("problem", f"no: {results / 'store' if made else results}")


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not bind root")
def test_read_only_folder_on_disk(results):
    (results / "store").chmod(0o555)
    try:
        assert group("Store")["writable"].state == "problem"
        assert group("Store")["trials"].value == "5"
    finally:
        (results / "store").chmod(0o755)


def test_store_that_is_a_file(here):
    (here / "results").mkdir()
    (here / "results" / "store").write_text("x")
    assert group("Store")["folder"].state == "problem"


def test_one_part_does_not_hide_the_others(results, monkeypatch):
    def fails():
        raise PermissionError("no entry")

    monkeypatch.setattr("provlab.doctor.data_checks", fails)
    assert group("Data sets")["access"].value == "no entry"
    assert group("Store")["trials"].value == "5"


def test_without_any_data(here):
    checks = group("Data sets")
    for name in source_names():
        assert (checks[name].state, checks[name].value) == ("missing", "no files"), name
        assert checks[name].advice == f"provsel fetch {name}"
    for name in set(dataset_names()) - set(source_names()):
        assert (checks[name].state, checks[name].value) == ("ok", "needs no files"), name
    assert main(["doctor"]) == 0


@pytest.mark.parametrize("name", [name for name in source_names() if name != "techtc"])
def test_present_in_the_mirror_or_the_data_folder(here, monkeypatch, name):
    put(here / "data", name)
    assert group("Data sets")[name].value.endswith(", in the data folder")
    (here / "mirror").mkdir()
    monkeypatch.setenv("PROVSEL_DATA_MIRROR", str(here / "mirror"))
    put(here / "mirror", name)
    check = group("Data sets")[name]
    assert check.state == "ok"
    assert "in the mirror" in check.value


def test_incomplete(here):
    files = read_source("dexter").files
    put(here / "data", "dexter", {file.path for file in files[:3]})
    check = group("Data sets")["dexter"]
    assert (check.state, check.value) == ("missing", f"3 of 4 files, lacks {files[3].path}")


@pytest.mark.parametrize(("name", "form"), [(name, form) for name in FORMS for form in FORMS[name]])
def test_one_form_is_enough(here, name, form):
    first, *others = FORMS[name][form]
    put(here / "data", name, others)
    assert group("Data sets")[name].state == "missing"
    put(here / "data", name, {first})
    check = group("Data sets")[name]
    assert check.state == "ok"
    assert f"of the form {form}" in check.value


def test_forms_are_those_of_the_loaders():
    assert FORMS["cifar10"] == {form: list(paths) for form, paths in _FILES.items()}
    assert FORMS["rcv1_ccat"] == {
        "official, all documents": _official_paths("all"),
        "official": _official_paths("train"),
        "subsets": [_SUBSETS],
    }
    assert {name for name in source_names() if len(read_source(name).forms) > 1} == {*FORMS}


def test_other_packers_arrive_at_other_sizes(here):
    path = "rcv1_subsets/rcv1v2_subsets_fixed.npz"
    put(here / "data", "rcv1_ccat", {path}, wrong=[path])
    assert group("Data sets")["rcv1_ccat"].state == "ok"


def test_collection(here):
    folder = here / "data" / "techtc100" / "tokens"
    folder.mkdir(parents=True)
    (folder / "Exp_1_2.txt.xz").touch()
    check = group("Data sets")["techtc"]
    assert (check.state, check.value) == ("ok", "1 set, present")


def test_wrong_size(here):
    file = read_source("colon").files[0]
    put(here / "data", "colon", wrong=[file.path])
    check = group("Data sets")["colon"]
    assert check.state == "problem"
    assert check.value == f"{here / 'data' / file.path}: expected {file.size} bytes, got {file.size + 1}"
    assert check.advice == "delete it, then: provsel fetch colon"


def test_empty_file_of_unknown_size(here):
    put(here / "data", "mnist")
    (here / "data" / read_source("mnist").files[0].path).write_bytes(b"")
    assert "expected more than 0 bytes, got 0" in group("Data sets")["mnist"].value


def test_damaged_lock_and_registry(here, monkeypatch):
    (here / "data" / "sources.lock.yaml").write_text("a: [")
    assert group("Data sets")["sources.lock.yaml"].state == "problem"

    def broken(name):
        raise ValueError("source registry: not valid")

    monkeypatch.setattr(_data, "read_source", broken)
    assert group("Data sets")["colon"].value == "source registry: not valid"


def test_folders_of_data(here, monkeypatch):
    monkeypatch.setenv("PROVSEL_DATA_MIRROR", str(here / "gone"))
    monkeypatch.setenv("PROVSEL_DATA", str(here / "later"))
    checks = group("Data sets")
    assert (checks["PROVSEL_DATA_MIRROR"].state, checks["PROVSEL_DATA"].state) == ("warning", "ok")
    assert checks["PROVSEL_DATA"].value == f"{here / 'later'}: no such folder yet"
    (here / "later").write_text("x")
    assert group("Data sets")["PROVSEL_DATA"].state == "problem"
    monkeypatch.delenv("PROVSEL_DATA")
    monkeypatch.setenv("HOME", str(here))
    assert group("Data sets")["PROVSEL_DATA"].value.startswith(f"{here / '.cache' / 'provsel'} (the default: not set)")


@pytest.mark.skipif(not REAL_MIRROR, reason="needs real data: set PROVSEL_DATA_MIRROR")
def test_what_is_present_has_the_right_size(monkeypatch):
    monkeypatch.setenv("PROVSEL_DATA_MIRROR", REAL_MIRROR)
    assert {check.state for check in group("Data sets").values()} <= {"ok", "missing"}


def test_low_memory_and_disk(monkeypatch):
    monkeypatch.setattr(_machine.psutil, "virtual_memory", lambda: Memory(8e9, 0.9e9))
    monkeypatch.setattr(_machine.shutil, "disk_usage", lambda path: Disk(9e9, 0, 4.9e9))
    checks = group("Machine")
    assert (checks["memory"].state, checks["memory"].value) == ("warning", "900.0 MB available of 8.0 GB")
    assert "executor.n_jobs=1" in checks["memory"].advice
    for name in ("disk of results", "disk of data"):
        assert checks[name].state == "warning"
        assert checks[name].value.startswith("4.9 GB free")
        assert checks[name].advice


def test_enough_memory_and_disk(monkeypatch):
    monkeypatch.setattr(_machine.psutil, "virtual_memory", lambda: Memory(8e9, 1.1e9))
    monkeypatch.setattr(_machine.shutil, "disk_usage", lambda path: Disk(9e9, 0, 5.1e9))
    assert {check.state for check in group("Machine").values()} == {"ok"}


def test_other_systems(monkeypatch):
    def absent(*args, **options):
        raise FileNotFoundError

    monkeypatch.setattr(Path, "read_text", absent)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(_machine.platform, "processor", lambda: "")
    monkeypatch.setattr(_machine.platform, "machine", lambda: "riscv")
    assert _machine.processor() == "riscv"
    assert _machine.usable_cores() == os.cpu_count()


@pytest.mark.parametrize(
    ("revision", "state", "value"),
    [
        ("", "ok", "none: not a checkout"),
        ("a" * 40, "ok", "a" * 12),
        ("a" * 40 + "+", "warning", "a" * 12 + ", and files"),
    ],
)
def test_revision(monkeypatch, revision, state, value):
    monkeypatch.setattr(_machine, "git_revision", lambda: revision)
    check = group("Python and packages")["git revision"]
    assert check.state == state
    assert check.value.startswith(value)


def test_package_that_is_not_installed(monkeypatch):
    monkeypatch.setattr(_machine, "RECORDED", ("numpy", "no-such-package-of-ours"))
    checks = group("Python and packages")
    assert checks["numpy"].state == "ok"
    assert checks["no-such-package-of-ours"].state == "problem"


def test_old_python(monkeypatch):
    monkeypatch.setattr(_machine, "OLDEST_PYTHON", (99, 0))
    check = group("Python and packages")["Python"]
    assert (check.state, check.advice) == ("problem", "provsel needs Python 99.0 or newer")


def test_blas(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    checks = group("BLAS")
    assert "OMP_NUM_THREADS=3" in checks["variables"].value
    assert any("openblas" in check.value or "mkl" in check.value for check in checks.values())
    monkeypatch.setattr(_machine, "threadpool_info", list)
    for name in _machine.THREADS:
        monkeypatch.delenv(name, raising=False)
    assert group("BLAS")["library"].state == "warning"
    assert group("BLAS")["variables"].value.startswith("none set")


def test_nothing_is_modified(results):
    (results / "store" / "bad.parquet").write_bytes(b"PAR1")
    (results / "store" / ".x.parquet.0.part").write_bytes(b"x")
    put(results.parent / "data", "colon", wrong=[read_source("colon").files[0].path])
    before = snapshot(results.parent)
    examine(results)
    assert main(["doctor", "--json"]) == 1
    assert snapshot(results.parent) == before


def test_table(results, capsys):
    assert main(["doctor", "--results", str(results)]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in GROUPS)
    assert out.index("Python and packages") < out.index("Store")
    assert "no files -> provsel fetch techtc" in out
    assert re.search("\n +-> provsel works with one thread a worker", out)
    warnings = sum(check.state == "warning" for check in examine(results))
    assert out.splitlines()[-1] == f"0 problems, {warnings} warning{'' if warnings == 1 else 's'}"


def test_json(results, capsys):
    assert main(["doctor", "--json"]) == 0
    read = [Check(**item) for item in json.loads(capsys.readouterr().out)]
    assert {(check.group, check.name) for check in read} == {(check.group, check.name) for check in examine(results)}
    assert Check("Store", "trials", "ok", "5") in read


def test_paths_are_no_markup(here, capsys):
    folder = "[red]x[/red][/nonsense]"
    (here / folder / "store").mkdir(parents=True)
    (here / folder / "store" / "[bold]y.parquet").write_bytes(b"x")
    assert main(["doctor", "--results", folder]) == 1
    out = capsys.readouterr().out
    assert f"{folder}/store" in out
    assert "[bold]y.parquet (" in out


def test_as_a_command(results):
    done = run_python(["-m", "provlab.cli", "doctor", "--results", results], results.parent)
    assert (done.returncode, done.stderr) == (0, "")
    assert "problems, " in done.stdout.splitlines()[-1]


def test_sizes_and_ages():
    assert [bytes_text(n) for n in (0, 999, 1000, 4_100_000, 2.5e12)] == [
        "0 bytes", "999 bytes", "1.0 kB", "4.1 MB", "2500.0 GB",
    ]  # fmt: skip
    assert [age_text(s) for s in (5, 60, 7200, 200_000)] == ["less than a minute", "1 minute", "2 hours", "2 days"]
    assert listed(list("abcde")) == "a, b, c and 2 more"
