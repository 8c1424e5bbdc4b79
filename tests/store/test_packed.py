"""Trials in little space: what comes back, what is left out, and what a damaged file is called."""

import re

import numpy as np
import pytest

from provlab.store import StoreSnapshot, TrialStore
from provlab.store.packed import BLOCK, Block, pack, unpack
from small_runs import BSS, FULL, LEVERAGE, UNIFORM, run_quietly, small_cell

COLUMNS = {"error", "n_train", "n_test", "n_selected", "task_cpu", "certificate_spectral", "environment"}
KEPT = [*COLUMNS - {"task_cpu"}]
NUMBERS = ["cell", "repeat", "fold", "draw"]

CELLS = [small_cell(BSS), small_cell(LEVERAGE), small_cell(UNIFORM, repeats=2), small_cell(FULL)]
BLOCKS = [Block.of(CELLS[:2], COLUMNS), Block.of(CELLS[2:3], {"error", "n_test"}), Block.of(CELLS[3:], COLUMNS)]


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    store = TrialStore(tmp_path_factory.mktemp("packed") / "store")
    run_quietly(CELLS, store)
    return store


@pytest.fixture
def trials(stored):
    return StoreSnapshot.take(stored, COLUMNS)


def frame(table):
    return table.to_pandas().astype({"cell": str}).sort_values(NUMBERS).reset_index(drop=True)


def test_what_is_unpacked_is_what_was_stored(trials, tmp_path):
    path = tmp_path / "trials.parquet"
    assert pack(BLOCKS, trials, path) == 3
    found, was = frame(unpack(BLOCKS, path)), frame(trials.table)
    assert len(found) == 3 + 3 * 2 + 2 * 3 * 2 + 3
    for name in (*NUMBERS, "error", "n_test"):
        assert found[name].tolist() == was[name].tolist(), name  # to the bit
    whole = found["cell"] != CELLS[2].id
    for name in KEPT:
        assert found.loc[whole, name].astype(object).equals(was.loc[whole, name].astype(object)), name
    assert found.loc[~whole, "n_selected"].isna().all()  # which that block does not keep
    np.testing.assert_allclose(found.loc[whole, "task_cpu"], was.loc[whole, "task_cpu"], rtol=1e-6)


def test_a_snapshot_of_nothing_with_them_is_as_that_of_the_store(trials, tmp_path):
    pack(BLOCKS, trials, tmp_path / "trials.parquet")
    empty = StoreSnapshot.take(TrialStore(tmp_path / "nothing"), COLUMNS)
    beside = empty.beside(unpack(BLOCKS, tmp_path / "trials.parquet"))
    for cell in CELLS:
        assert beside.rows(cell).size == trials.rows(cell).size == cell.n_trials
        assert beside.column("error").take(beside.rows(cell)) == trials.column("error").take(trials.rows(cell))
    assert len(trials.beside(unpack(BLOCKS, tmp_path / "trials.parquet"))) == len(trials)  # each once


@pytest.mark.parametrize("order", [1, -1])
def test_a_trial_of_two_blocks_has_the_columns_of_both(trials, tmp_path, order):
    """As two rows have it, one of them by a reading."""
    blocks = [Block.of(CELLS[:1], {"error", "n_test"}), Block.of(CELLS[:2], {"n_test", "n_selected"})][::order]
    pack(blocks, trials, tmp_path / "trials.parquet")
    beside = StoreSnapshot.take(TrialStore(tmp_path / "nothing"), COLUMNS).beside(
        unpack(blocks, tmp_path / "trials.parquet")
    )
    for name in ("error", "n_test", "n_selected"):
        assert beside.column(name).take(beside.rows(CELLS[0])) == trials.column(name).take(trials.rows(CELLS[0]))
    assert beside.column("n_selected").take(beside.rows(CELLS[1])).null_count == 0
    assert len(beside) == sum(cell.n_trials for cell in CELLS[:2])


def test_a_block_is_packed_whole_or_not_at_all(trials, tmp_path):
    more = small_cell(BSS, repeats=2)
    assert pack([Block.of([more], COLUMNS), BLOCKS[2]], trials, tmp_path / "trials.parquet") == 1
    assert len(unpack([Block.of([more], COLUMNS)], tmp_path / "trials.parquet")) == 0


@pytest.mark.parametrize(
    "other",
    [
        Block.of(CELLS[:1], COLUMNS),
        Block.of([*CELLS[:2], CELLS[3]], COLUMNS),
        Block.of([small_cell(BSS, repeats=2), CELLS[1]], COLUMNS),
        Block.of(CELLS[:2], COLUMNS | {"rank"}),
    ],
)
def test_what_has_changed_is_not_found(trials, tmp_path, other):
    pack(BLOCKS, trials, tmp_path / "trials.parquet")
    assert len(unpack([other], tmp_path / "trials.parquet")) == 0


def test_the_order_of_cells_does_not_show(trials, tmp_path):
    again = [Block.of(reversed(CELLS[:2]), COLUMNS), *reversed(BLOCKS[1:])]
    pack(BLOCKS, trials, tmp_path / "one.parquet")
    pack(again, trials, tmp_path / "other.parquet")
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "other.parquet").read_bytes()


def test_other_blocks_of_the_file_stay(trials, tmp_path):
    """What was packed on another machine is in no store here; a study of a part must not lose it."""
    pack(BLOCKS, trials, tmp_path / "whole.parquet")
    path = tmp_path / "trials.parquet"
    for part in (BLOCKS[:2], BLOCKS[2:], BLOCKS[1:2]):
        pack(part, trials, path)
    assert path.read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    empty = StoreSnapshot.take(TrialStore(tmp_path / "nothing"), COLUMNS)
    assert pack(BLOCKS, empty, path) == 0
    assert path.read_bytes() == (tmp_path / "whole.parquet").read_bytes()


def test_shares_that_are_no_counts_are_kept_as_they_are(trials, tmp_path):
    names, path = trials.table.column_names, tmp_path / "trials.parquet"
    thirds = trials.table["error"].to_numpy() + 1 / 7
    table = trials.table.set_column(names.index("error"), "error", [thirds])
    pack(BLOCKS, StoreSnapshot(trials.store, table), path)
    assert frame(unpack(BLOCKS, path))["error"].tolist() == frame(table)["error"].tolist()


def test_a_damaged_file_is_one_message(trials, tmp_path):
    path = tmp_path / "trials.parquet"
    pack(BLOCKS, trials, path)
    whole = path.read_bytes()
    for at in range(4, len(whole), 97):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        with pytest.raises(
            ValueError, match=rf"{re.escape(str(path))}: expected trials as provsel readings packs them, "
        ):
            unpack(BLOCKS, path)


def test_a_file_of_something_else(trials, stored, tmp_path):
    assert BLOCK not in trials.table.column_names
    file = next(stored.folder.glob("*.parquet"))
    with pytest.raises(ValueError, match="got a file of something else; get the file again, or remove it"):
        unpack(BLOCKS, file)
