"""Audits across processes: workers, trials that train in a process of their own, and Ctrl-C."""

import io

from rich.console import Console

from provlab.audit import run_audit
from provlab.identity.cell import Cell
from provlab.plan import identity_of
from provlab.store import TrialStore
from small_runs import BSS, LEVERAGE, PROTOCOL, UNIFORM, run_quietly, small_cell

FULL = {"_target_": "provsel.selectors.FullDataSelector"}
LIBLINEAR = {"_target_": "provsel.models.LiblinearSVM", "C": 1.0}
ROWS = {"name": "sparse_rows", "n_samples": 60, "n_features": 3000, "nonzeros": 20, "n_test": 30, "seed": 0}
STREAMED = {"split": "streamed", "n_splits": 1, "draws": 1, "setting": "unsupervised", "certify": False}
WORKERS = {"name": "loky", "n_jobs": 2}


def audit(results, **options):
    return run_audit(results, console=Console(file=io.StringIO()), **{"fraction": 1.0, **options})[0]


def test_workers_give_the_bits_of_a_serial_run(tmp_path):
    cells = [small_cell(selector) for selector in (BSS, UNIFORM, LEVERAGE)]
    run_quietly(cells, TrialStore(tmp_path / "store"), {"name": "serial"})
    run = audit(tmp_path, fraction=0.5, seed=0, executor=WORKERS)
    assert run.count("identical") == run.n_drawn == round(0.5 * run.n_stored)
    assert all(trial.same_environment for trial in run.trials)


def test_streamed_trials(tmp_path):
    cell = Cell(ROWS, FULL, LIBLINEAR, {**PROTOCOL, **STREAMED}, identity_of(ROWS))
    run_quietly([cell], TrialStore(tmp_path / "run"))
    [record] = TrialStore(tmp_path / "run").query().to_pylist()
    # memory differs from run to run, the size of the file does not
    changed = {**record, "file_bytes": record["file_bytes"] + 1, "peak_memory": record["peak_memory"] + 1}
    TrialStore(tmp_path / "store").append([changed])
    run = audit(tmp_path, executor={"name": "serial"})
    assert run.by_cell() == {cell.id: (0, 0, 1)}
    assert [each.column for each in run.different[0].differences] == ["file_bytes"]  # the model is the same
