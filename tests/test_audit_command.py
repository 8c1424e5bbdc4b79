"""What is drawn, the ledger, and the command: what it takes, prints, writes and returns."""

import io
import json
import logging
import re
import shutil
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest
from rich.console import Console

from provlab.audit import read_audits, run_audit, session
from provlab.audit import records as records_module
from provlab.audit.ledger import WITHOUT_SUM, write_audit
from provlab.audit.sample import draw_sample
from provlab.cli import INTERRUPTED, main
from provlab.store import TrialStore
from provlab.trials import environment as environment_module
from provlab.trials.errors import ClusterError
from small_runs import LEVERAGE, UNIFORM, run_quietly, small_cell

CELLS = ("aaaaaaaa" + "0" * 56, "aaaaaaaa" + "1" * 56, "bbbbbbbb" + "2" * 56)


@pytest.fixture
def store(tmp_path):
    """Thirty keys of three cells."""
    store = TrialStore(tmp_path / "store")
    store.append([{"key": f"{k:064x}", "cell": CELLS[k % 3]} for k in range(30)])
    return store


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Results with two small cells of three trials each; tests only add ledgers."""
    results = tmp_path_factory.mktemp("results")
    cells = [small_cell(selector, draws=1, certify=False) for selector in (LEVERAGE, UNIFORM)]
    run_quietly(cells, TrialStore(results / "store"))
    return results


@pytest.fixture
def audit(results, capsys):
    """Return a function: run `provsel audit` with arguments; returns its status, output and messages."""

    def command(*arguments, at=results):
        capsys.readouterr()
        status = main(["audit", "--results", str(at), "executor=serial", *arguments])
        return (status, *capsys.readouterr())

    return command


def tampered(results, tmp_path, **values):
    """Return results where every record has other values."""
    copy = tmp_path / "tampered"
    records = TrialStore(results / "store").query().to_pylist()
    TrialStore(copy / "store").append([{**record, **values} for record in records])
    return copy


def newest(results):
    return read_audits(results)[0]


def test_a_seed_repeats_the_draw(store):
    first, again, other = (draw_sample(store, fraction=0.4, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first.keys != other.keys
    assert len(set(first.keys)) == 12
    assert set(first.keys) <= store.keys()
    fresh = draw_sample(store, fraction=0.4)
    assert draw_sample(store, fraction=0.4, seed=fresh.seed) == fresh
    assert len({draw_sample(store, fraction=0.4).seed for _ in range(5)}) == 5


def test_every_trial_is_drawn_equally_often(store):
    counts = Counter(key for seed in range(200) for key in draw_sample(store, fraction=0.1, seed=seed).keys)
    assert len(counts) == 30
    # 600 draws over 30 keys: 20 each, and a standard deviation of 4.2
    assert min(counts.values()) > 20 - 4.5 * 4.2
    assert max(counts.values()) < 20 + 4.5 * 4.2


@pytest.mark.parametrize(
    ("options", "n_drawn"),
    [
        ({}, 1),
        ({"fraction": 1e-9}, 1),
        ({"fraction": 0.5}, 15),
        ({"fraction": 1.0}, 30),
        ({"fraction": 1.0, "limit": 7}, 7),
        ({"fraction": 0.1, "limit": 7}, 3),
        ({"cell": "bbbbbbbb"}, 10),
        ({"cell": "BBBBBBBB22"}, 10),
        ({"cell": CELLS[0]}, 10),
        ({"cell": CELLS[0], "fraction": 0.3}, 3),
        ({"cell": CELLS[0], "limit": 2}, 2),
    ],
    ids=str,
)
def test_number_of_drawn_trials(store, options, n_drawn):
    sample = draw_sample(store, seed=0, **options)
    assert (len(sample.keys), sample.n_stored) == (n_drawn, 30)
    if "cell" in options:
        assert sample.cell in CELLS
        rows = store.query([sample.cell], ["key"])["key"].to_pylist()
        assert set(sample.keys) <= set(rows)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fraction": 0.0}, r"expected a fraction above 0 and up to 1, got 0\.0; use --fraction 0\.01"),
        ({"fraction": 1.5}, r"expected a fraction above 0 and up to 1, got 1\.5"),
        ({"fraction": -0.1}, r"expected a fraction above 0 and up to 1, got -0\.1"),
        ({"fraction": float("nan")}, "expected a fraction above 0 and up to 1, got nan"),
        ({"limit": 0}, "expected a limit of at least 1 trial, got 0; leave --limit out"),
        ({"seed": -1}, "expected a seed of at least 0, got -1; leave --seed out"),
        ({"cell": "aaaa"}, "expected the first 8 or more hex digits of a cell, got 'aaaa'; copy them"),
        ({"cell": "not hex digits"}, "expected the first 8 or more hex digits of a cell, got 'not hex digits'"),
        ({"cell": "aaaaaaaa"}, f"expected one cell .* got 2, such as {CELLS[0]} and {CELLS[1]}; add digits"),
        ({"cell": "cccccccc"}, "expected one cell that begins with cccccccc, got none that is stored"),
    ],
    ids=str,
)
def test_what_cannot_be_drawn(store, options, message):
    with pytest.raises(ValueError, match=f"^audit: {message}"):
        draw_sample(store, **options)


def test_bad_input_is_one_message(audit, tmp_path):
    status, out, error = audit("--fraction", "nan")
    assert (status, out) == (2, "")
    assert error == "provsel: audit: expected a fraction above 0 and up to 1, got nan; use --fraction 0.01.\n"
    status, _, error = audit(at=tmp_path / "none")
    assert status == 2
    assert re.search(r"nothing stored in \S*none/store; compute some first, by provsel reproduce or provsel run", error)
    assert not (tmp_path / "none").exists()


def test_identical_trials(audit, results):
    status, out, error = audit("--fraction", "0.5", "--seed", "4")
    assert status == 0
    assert re.search(r"drawn +│ 3 +│ of 6 stored, with seed 4", out)
    assert re.search(r"identical +│ 3 ", out)
    assert re.search(r"different +│ 0 ", out)
    assert "3 of 3 were stored by these versions on this kind of machine" in out
    assert "audit: 3 of 6 stored trials, drawn with seed 4" in error
    [path] = re.findall(r"ledger: (\S+)", out)
    assert re.search(r"audits/\d{8}T\d{6}\.\d{6}Z-4\.json$", path)
    run = newest(results)
    assert (run.seed, run.fraction, run.n_stored, run.n_drawn) == (4, 0.5, 6, 3)
    assert audit("--fraction", "0.5", "--seed", "4", "--strict")[0] == 0


def test_a_fresh_seed_is_printed_and_recorded(audit, results):
    _, out, _ = audit("--fraction", "0.5")
    [seed] = re.findall(r"with seed (\d+)", out)
    run = newest(results)
    assert run.seed == int(seed)
    audit("--fraction", "0.5", "--seed", seed)
    assert [trial.key for trial in newest(results).trials] == [trial.key for trial in run.trials]


def test_one_cell(audit, results):
    cell = small_cell(UNIFORM, draws=1, certify=False)
    status, _, _ = audit("--cell", cell.id[:12])
    assert status == 0
    assert newest(results).by_cell() == {cell.id: (3, 0, 0)}
    assert newest(results).cell == cell.id


def test_differences_are_lines(audit, results, tmp_path):
    changed = tampered(results, tmp_path, n_rows=999, error=5.0)
    status, out, _ = audit("--fraction", "1", at=changed)
    assert status == 1
    assert re.search(r"different +│ 6 +│ neither; listed below", out)
    lines = [line for line in out.splitlines() if "stored 999" in line or "stored 5.0" in line]
    assert len(lines) == 12
    assert re.search(
        r"^synthetic \w+Selector, repeat 0, fold \d, draw 0 \[\w{12}\]: n_rows: stored 999, now \d+$", "\n".join(lines),
        re.MULTILINE,
    )  # fmt: skip


def test_foreign_text_is_shown_as_text(audit, results, tmp_path):
    changed = tampered(results, tmp_path, dataset="[red]x[/] \x1b[31m\r<script>")
    status, out, _ = audit("--fraction", "1", at=changed)
    assert status == 1
    assert "\x1b" not in out
    assert r"[red]x[/] \x1b[31m\r<script> LeverageScoreSelector" in out


def test_strict_asks_for_the_same_bits_of_all(audit, results, tmp_path):
    records = TrialStore(results / "store").query().to_pylist()
    elsewhere = tampered(results, tmp_path, environment="{}")
    assert audit("--fraction", "1", "--strict", at=elsewhere)[0] == 0  # the same bits, wherever they are from
    close = tmp_path / "close"
    moved = [{**record, "error": record["error"] + 1e-12, "environment": "{}"} for record in records]
    TrialStore(close / "store").append(moved)
    status, out, _ = audit("--fraction", "1", at=close)
    assert status == 0
    assert re.search(r"close +│ 6 ", out)
    assert audit("--fraction", "1", "--strict", at=close)[0] == 1
    skipped = tmp_path / "skipped"
    TrialStore(skipped / "store").append([*records[1:], {**records[0], "config": None}])
    status, out, _ = audit("--fraction", "1", at=skipped)
    assert status == 0
    assert re.search(r"skipped +│ 1 +│ the record has no config", out)
    assert audit("--fraction", "1", "--strict", at=skipped)[0] == 1


LOST = ClusterError("executor: lost the scheduler at tcp://there")


@pytest.mark.parametrize(("reason", "expected"), [(KeyboardInterrupt(), INTERRUPTED), (LOST, 2)])
def test_an_interrupt_keeps_what_was_compared(audit, results, monkeypatch, reason, expected):
    """A cluster that is lost says no more about the trials than a user who stops."""

    def interrupted(tasks, executor):
        yield next(execute(tasks[:1], executor))
        raise reason

    execute = session.execute
    monkeypatch.setattr(session, "execute", interrupted)
    before = len(read_audits(results))
    status, _, error = audit("--fraction", "1", "--seed", "3")
    assert status == expected
    assert INTERRUPTED == 130
    assert str(reason) in error
    assert "interrupted: 2 of 6 drawn trials were compared, see " in error
    assert "--seed 3 draws the same again" in error
    assert len(read_audits(results)) == before + 1
    run = newest(results)
    assert run.interrupted
    assert (run.n_drawn, len(run.trials), len(run.different)) == (6, 2, 0)


def test_the_executor_is_chosen_as_elsewhere(audit, results, monkeypatch):
    seen = []

    def noted(tasks, executor):
        seen.append(executor)
        return execute(tasks, {"name": "serial"})

    execute = session.execute
    monkeypatch.setattr(session, "execute", noted)
    audit("executor=loky", "executor.n_jobs=1")
    audit("executor=slurm", "executor.queue=short")
    assert seen[0] == {"name": "loky", "n_jobs": 1}
    assert (seen[1]["name"], seen[1]["queue"], seen[1]["log_directory"]) == ("slurm", "short", f"{results}/slurm")


@pytest.mark.parametrize("setting", ["protocol.repeats=1", "selector=bss", "~executor", "+executors.name=dask"])
def test_other_settings_are_those_of_the_trials(audit, setting):
    status, _, error = audit(setting)
    assert status == 2
    assert re.search(rf"audit: expected settings of the executor, .*got '{re.escape(setting)}'; stored trials", error)


def test_the_ledger_comes_back_as_it_was(results, tmp_path):
    changed = tampered(results, tmp_path, n_rows=999)
    (changed / "store" / "null.parquet").unlink(missing_ok=True)
    TrialStore(changed / "store").append([{"key": "f" * 64, "cell": "e" * 64}])
    quiet = Console(file=io.StringIO())
    run, path = run_audit(changed, fraction=1.0, executor={"name": "serial"}, console=quiet)
    assert run.different
    assert run.skipped
    assert run.different[0].differences
    assert read_audits(changed) == [run]
    written = json.loads(path.read_text())
    assert written["counts"] == {"identical": 0, "close": 0, "different": 6, "skipped": 1}
    older = replace(run, when="2001-02-03T04:05:06+00:00")
    assert write_audit(older, changed).name == f"20010203T040506.000000Z-{run.seed}.json"
    assert read_audits(changed) == [run, older]


def test_an_older_ledger_says_nothing_of_other_kinds(audit, results, tmp_path):
    audit("--limit", "1", "--fraction", "1")
    written = json.loads(sorted((results / "audits").glob("*.json"))[-1].read_text())
    for name in ("agreements", "sha256"):
        del written[name]
    (tmp_path / "audits").mkdir()
    (tmp_path / "audits" / "x.json").write_text(json.dumps({**written, "format": WITHOUT_SUM}))
    [run] = read_audits(tmp_path)
    assert run.agreements == ()


def test_columns_of_another_kind_are_counted(audit, results, tmp_path):
    """Same bits, digits, and what is beyond them, for each kind that the records name."""

    def moved(k, record):
        if k == 0:  # a second kind
            return {**record, "environment": '{"blas":["[red]old[/] 1 Katmai"]}', "error": record["error"] + 0.3}
        error = record["error"] + 3e-12 if k < 3 else record["error"]
        return {**record, "error": error, "environment": "{}", "n_rows": 7 if k == 5 else record["n_rows"]}

    records = sorted(TrialStore(results / "store").query().to_pylist(), key=lambda record: record["error"])
    assert records[2]["error"] == 0  # then a difference is relative to 1e-3
    TrialStore(tmp_path / "store").append(list(map(moved, range(6), records)))
    status, out, _ = audit("--fraction", "1", at=tmp_path)
    assert status == 1
    run = newest(tmp_path)
    first, second = run.agreements
    assert (first.environment, first.n_trials, second.n_trials) == ("{}", 5, 1)
    columns = {column.column: column for column in first.columns}
    error, rows, test_rows = (columns[name] for name in ("error", "n_rows", "n_test"))
    assert (error.n_compared, error.n_same, error.n_beyond, error.digits) == (5, 3, 0, 8)
    assert error.worst == pytest.approx(3e-9)
    assert (rows.n_compared, rows.n_same, rows.n_beyond, rows.digits) == (5, 4, 1, None)
    assert (test_rows.n_compared, test_rows.n_same, test_rows.n_beyond, test_rows.digits) == (5, 5, 0, None)
    assert "nmi" not in columns  # which no such trial has
    [other] = [column for column in second.columns if column.n_same < column.n_compared]
    assert (other.column, other.n_beyond, other.digits) == ("error", 1, 0)
    assert re.search(r"error +│ 5 +│ 3 +│ 8 digits, worst relative difference 3\.0e-09", out)
    assert re.search(r"n_rows +│ 5 +│ 4 +│ 1 different", out)
    flat = " ".join(out.split())
    assert "of another kind, 5: blas not known, here openblas " in flat
    assert "blas [red]old[/] 1 Katmai, here " in flat
    assert re.search(r"the same bits wherever compared: key, cell, .*n_test, .*features", flat)


def test_the_same_kind_has_no_table_of_columns(audit, results):
    _, out, _ = audit("--fraction", "1")
    assert "of another kind" not in out
    assert newest(results).agreements == ()


BROKEN = {
    "empty": "",
    "no JSON": "{",
    "deep": "[" * 100_000,
    "a list": "[]",
    "another format": '{"format": "something else"}',
    "no fields": '{"format": "provsel audit 1"}',
    "no text": b"\xff\xfe\x00",
}

COLUMN = {"column": "error", "n_compared": 1, "n_same": 1, "n_beyond": 0, "worst": 0.0}
WRONG = [
    ("when", "yesterday"), ("when", "2001-02-03T04:05:06"), ("when", 5),
    ("seed", True), ("seed", "1"), ("limit", "9"), ("n_drawn", 1.5), ("interrupted", 0),
    ("fraction", float("nan")), ("fraction", 10**4000), ("fraction", 0),
    ("skipped", [["reason"]]), ("skipped", [["reason", "many"]]), ("skipped", {}),
    ("trials", [5]), ("trials", [{"key": "k"}]),
    ("agreements", {}), ("agreements", [5]), ("agreements", [{"environment": "", "n_trials": 1, "columns": [{}]}]),
    ("agreements", [{"environment": "", "n_trials": 1, "columns": [{**COLUMN, "worst": float("nan")}]}]),
    ("agreements", [{"environment": "", "n_trials": 1, "columns": [{**COLUMN, "worst": -1.0}]}]),
]  # fmt: skip


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
def test_a_file_that_is_no_ledger_is_left_out(tmp_path, caplog, text):
    (tmp_path / "audits").mkdir()
    (tmp_path / "audits" / "x.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    with caplog.at_level(logging.WARNING):
        assert read_audits(tmp_path) == []
    assert re.search(r"x\.json: expected a file that provsel audit wrote, got .*; left out", caplog.text)


@pytest.mark.parametrize(("name", "value"), WRONG, ids=lambda part: f"{part!s:.20}")
def test_a_ledger_with_a_wrong_value_is_left_out(audit, results, tmp_path, name, value):
    path = tmp_path / "audits" / "x.json"
    path.parent.mkdir()
    audit("--limit", "1", "--fraction", "1")
    written = json.loads(sorted((results / "audits").glob("*.json"))[-1].read_text())
    del written["sha256"]
    written["format"] = WITHOUT_SUM  # else the checksum would be what is wrong
    path.write_text(json.dumps(written))
    assert len(read_audits(tmp_path)) == 1
    whole = [{"environment": "", "n_trials": 1, "columns": [COLUMN]}]
    path.write_text(json.dumps({**written, "agreements": whole}))
    assert len(read_audits(tmp_path)) == 1
    path.write_text(json.dumps({**written, name: value}))
    assert read_audits(tmp_path) == []
    trial = {**written["trials"][0], "outcome": "perfect"}
    path.write_text(json.dumps({**written, "trials": [trial]}))
    assert read_audits(tmp_path) == []


def test_a_ledger_with_flipped_bits_is_left_out(audit, results, tmp_path):
    """A flip between two tokens changes nothing; one in a value is noticed, whatever it makes of it."""
    audit("--limit", "1", "--fraction", "1")
    written = sorted((results / "audits").glob("*.json"))[-1].read_bytes()
    path = tmp_path / "audits" / "x.json"
    path.parent.mkdir()
    path.write_bytes(written)
    [expected] = read_audits(tmp_path)
    n_left_out = 0
    for place in range(0, len(written), 7):
        path.write_bytes(written[:place] + bytes([written[place] ^ 1]) + written[place + 1 :])
        found = read_audits(tmp_path)
        assert found in ([], [expected]), written[place - 20 : place + 20]
        n_left_out += not found
    assert n_left_out > 0.5 * len(range(0, len(written), 7))


def test_a_damaged_file_of_the_store_is_set_aside(audit, results, tmp_path, caplog):
    shutil.copytree(results / "store", tmp_path / "store")
    store = TrialStore(tmp_path / "store")
    [record, *_] = store.query().to_pylist()
    store.append([{**record, "key": "0" * 64}])
    [path] = {*store.folder.glob("*.parquet")} - {store.folder / p.name for p in (results / "store").glob("*.parquet")}
    whole = bytearray(path.read_bytes())
    whole[whole.index(b"numpy")] ^= 1  # a page that holds no key, so that the draw does not notice
    path.write_bytes(whole)
    run, _ = run_audit(tmp_path, fraction=1.0, executor={"name": "serial"}, console=Console(file=io.StringIO()))
    assert path.with_suffix(".damaged").exists()
    assert dict(run.skipped) == {"the record went away while the audit began": 1}
    assert "expected a whole Parquet file" in caplog.text


def test_no_audits_yet(tmp_path):
    assert read_audits(tmp_path) == []


def test_a_blas_is_told_with_its_core_type(monkeypatch):
    pools = [
        {"user_api": "blas", "internal_api": "openblas", "version": "0.3.30", "architecture": "Haswell"},
        {"user_api": "blas", "internal_api": "mkl", "version": "2024.1"},
        {"user_api": "blas", "internal_api": "blis", "version": None, "architecture": "zen3"},
        {"user_api": "openmp", "internal_api": "openmp", "version": None},
    ]
    monkeypatch.setattr(environment_module, "threadpool_info", lambda: pools)
    made = json.loads(environment_module.environment.__wrapped__())
    assert made["blas"] == ["blis zen3", "mkl 2024.1", "openblas 0.3.30 Haswell"]


def test_the_vector_instructions_that_numpy_uses_are_told(monkeypatch):
    from numpy._core import _multiarray_umath as core

    monkeypatch.setattr(core, "__cpu_baseline__", ["SSE3"])
    monkeypatch.setattr(core, "__cpu_dispatch__", ["AVX2", "AVX512_SPR"])
    monkeypatch.setattr(core, "__cpu_features__", {"SSE3": True, "AVX2": True, "AVX512_SPR": False})
    assert environment_module.cpu_features() == ["SSE3", "AVX2"]
    for name in ("__cpu_baseline__", "__cpu_dispatch__", "__cpu_features__"):
        monkeypatch.delattr(core, name)  # names of NumPy's own, which it may change
    assert environment_module.cpu_features() == []


def test_a_store_that_is_merged_meanwhile(results, monkeypatch, tmp_path):
    """A file that goes away between listing and reading is looked for again."""
    changed = tampered(results, tmp_path)
    quiet = Console(file=io.StringIO())
    calls = SimpleNamespace(n=0)

    def missing(path, *arguments, **options):
        calls.n += 1
        if calls.n <= 1:
            raise FileNotFoundError(path)
        return read(path, *arguments, **options)

    read = records_module.stored_file
    monkeypatch.setattr(records_module, "stored_file", missing)
    run, _ = run_audit(changed, fraction=1.0, executor={"name": "serial"}, console=quiet)
    assert (run.n_drawn, run.count("identical")) == (6, 6)
    calls.n = -100
    with pytest.raises(OSError, match="expected files that stay, got one that went away three times; wait for"):
        run_audit(changed, fraction=1.0, executor={"name": "serial"}, console=quiet)
