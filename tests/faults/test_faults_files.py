"""Files of a store that were cut short or changed by one bit: noticed, set aside, computed again, and reported."""

import errno
import logging
import os
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fault_tools import leftovers, outcome, reproduce

from provlab.cli import main
from provlab.datasets import load_dataset
from provlab.datasets.identity import checked_parameters
from provlab.datasets.loading import parsed
from provlab.store import SCHEMA, StoreSnapshot, TrialStore, stored_file
from provlab.store import seal as sealing
from provlab.store.seal import DamagedFileError, check_chunks, read_seal
from provsel.files import replacing
from small_runs import UNIFORM, fake_records, rows, run_quietly, small_cell

PLAIN = (pa.ArrowException, OSError, ValueError, UnicodeDecodeError)
"""What an unsealed file of other bytes raises, where it raises anything."""


class Original:
    """A small file of a store: its bytes, and where its parts are."""

    def __init__(self, folder):
        self.store = TrialStore(folder)
        self.store.append(fake_records(0, 4))
        [self.path] = folder.iterdir()
        self.whole = self.path.read_bytes()
        self.rows = rows(self.store)
        self.footer = len(self.whole) - 8 - int.from_bytes(self.whole[-8:-4], "little")
        self.metadata = pq.read_metadata(self.path)
        self.mark = self.footer - len(sealing.MARK)
        self.seal = self.footer - sealing._HEAD - 4 * len(SCHEMA)

    def reading(self, damaged):
        """Return what the store makes of other bytes: its rows, or None where it sets the file aside."""
        self.path.write_bytes(damaged)
        found = rows(self.store)
        aside = self.path.with_suffix(".damaged")
        if aside.exists():
            assert aside.read_bytes() == bytes(damaged)
            aside.unlink()
            return None
        return found


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    return Original(tmp_path_factory.mktemp("original") / "store")


@pytest.fixture(autouse=True)
def quiet(caplog):
    caplog.set_level(logging.WARNING)


def flipped(whole, position, value=None):
    damaged = bytearray(whole)
    damaged[position] = damaged[position] ^ (1 << position % 8) if value is None else value
    return bytes(damaged)


def check(damaged, metadata):
    """Compare all bytes with their checksums, as a reader of all columns does; return whether there are checksums."""
    source = pa.BufferReader(damaged)
    sums = read_seal(source)
    if sums is not None:
        check_chunks(source, metadata, sums, [0], SCHEMA.names)
    return sums is not None


def test_a_flipped_bit_at_every_position_is_noticed(original):
    """All positions but two kinds, for which what is read must be the same."""
    unnoticed = []
    for position in range(len(original.whole)):
        try:
            check(flipped(original.whole, position), original.metadata)
        except DamagedFileError:
            continue
        unnoticed.append(position)
    begin, mark = list(range(4)), list(range(original.mark, original.footer))
    # with another length, the footer is sought elsewhere
    assert set(unnoticed) <= {*begin, *mark, *range(len(original.whole) - 8, len(original.whole) - 4)}
    assert set(unnoticed) >= {*begin, *mark}
    for position in unnoticed:
        assert original.reading(flipped(original.whole, position)) in (None, original.rows)


def test_a_footer_of_any_other_length_is_noticed(original):
    for place in range(len(original.whole) - 8, len(original.whole) - 4):
        for value in set(range(256)) - {original.whole[place]}:
            damaged = flipped(original.whole, place, value)
            with pytest.raises((DamagedFileError, *PLAIN)):
                stored_file.StoredFile(pa.BufferReader(damaged))


def test_without_the_seal_flipped_bits_of_the_footer_change_what_is_read(original):
    """The negative control: this is what a seal is for."""
    plain = original.whole[: original.seal] + original.whole[original.footer :]
    assert original.reading(plain) == original.rows
    wrong = 0
    for position in range(original.seal + 30, original.seal + 330, 3):
        damaged = flipped(plain, position)
        wrong += original.reading(damaged) not in (None, original.rows)
        sealed = original.whole[: original.footer] + damaged[original.seal :]
        with pytest.raises(DamagedFileError, match="a footer with another checksum"):
            check(sealed, original.metadata)
    assert wrong > 0


def test_a_file_of_every_shorter_length_is_noticed(original):
    for length in range(len(original.whole)):
        with pytest.raises((DamagedFileError, *PLAIN)):
            stored_file.StoredFile(pa.BufferReader(original.whole[:length]))


def test_lengths_of_every_kind_are_set_aside_and_reported(original, caplog):
    first = original.metadata.row_group(0).column(3)
    kinds = {
        "empty": 0, "part of the magic": 3, "magic": 4, "in a page header": first.data_page_offset + 2,
        "in a page": first.data_page_offset + first.total_compressed_size - 2, "before the seal": original.seal,
        "in the seal": original.mark, "before the footer": original.footer, "in the footer": original.footer + 900,
        "before its length": len(original.whole) - 8, "before the end": len(original.whole) - 4,
        "without the last byte": len(original.whole) - 1,
    }  # fmt: skip
    for kind, length in kinds.items():
        caplog.clear()
        assert original.reading(original.whole[:length]) is None, kind
        assert f"store file {original.path}: expected a whole Parquet file, got" in caplog.text
        assert f"moved to {original.path.stem}.damaged, its trials will be run again" in caplog.text


def test_a_seal_covers_every_byte_between_the_magic_and_itself(original, tmp_path):
    """By Arrow's statement of where the columns are, for files of one and of several row groups."""
    store = TrialStore(tmp_path / "store")
    store.append(fake_records(0, 40))
    store.append(fake_records(40, 30))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("provlab.store.trial_store.GROUP", 16)
        store.compact(minimum=0)
    [path] = store.folder.iterdir()
    metadata = pq.read_metadata(path)
    assert metadata.num_row_groups == 5
    ranges = sorted(sealing._range(metadata, *each) for each in sealing._chunks(metadata))
    at = 4
    for start, length in ranges:
        assert start == at
        at = start + length
    whole = path.read_bytes()
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    assert at == footer - sealing._HEAD - 4 * len(ranges)
    # and other readers of Parquet do not mind it
    assert pq.read_table(path, page_checksum_verification=True).num_rows == 70


def test_only_what_is_read_is_compared(original, tmp_path, monkeypatch):
    """A query of some cells must not read all of a large file."""
    store = TrialStore(tmp_path / "store")
    for k, cell in enumerate("abcd"):
        store.append(fake_records(16 * k, 16, cell))
    monkeypatch.setattr("provlab.store.trial_store.GROUP", 16)
    store.compact(minimum=0)
    [path] = store.folder.iterdir()
    checked = []
    real = stored_file.check_chunks
    monkeypatch.setattr(stored_file, "check_chunks", lambda *a: checked.append((list(a[3]), list(a[4]))) or real(*a))
    assert len(store.query(["b"], ["error", "features"])) == 16
    assert {group for groups, _ in checked for group in groups} == {1}
    assert {name for _, names in checked for name in names} == {"key", "cell", "error", "features"}
    start, length = sealing._range(pq.read_metadata(path), 2, SCHEMA.names.index("error"))
    path.write_bytes(flipped(path.read_bytes(), start + length // 2))
    assert len(store.query(["b"], ["error"])) == 16  # untouched, and so not noticed
    assert len(store.query(["c"], ["fold"])) == 16
    assert len(store.query(["c"], ["error"])) == 0
    assert leftovers(store.folder) == [f"{path.stem}.damaged"]


@pytest.mark.parametrize("rows_of_a_file", [4, 3000], ids=["read at once", "read in parts"])
def test_files_of_both_sizes_are_checked(rows_of_a_file, tmp_path, monkeypatch):
    monkeypatch.setattr(stored_file, "SMALL", 30_000)
    store = TrialStore(tmp_path / "store")
    store.append(fake_records(0, rows_of_a_file))
    [path] = store.folder.iterdir()
    whole = path.read_bytes()
    assert (len(whole) <= stored_file.SMALL) == (rows_of_a_file == 4)
    before = rows(store)
    for position in (200, len(whole) // 3, len(whole) - 9000, len(whole) - 100):
        path.write_bytes(flipped(whole, position))
        assert rows(store) == "[]"
        path.with_suffix(".damaged").unlink()
    path.write_bytes(whole)
    assert rows(store) == before


def test_files_without_a_seal_are_read_and_merged(tmp_path):
    """As older versions wrote them, and as other programs write them anew."""
    store = TrialStore(tmp_path / "store")
    store.append(fake_records(0, 4))
    store.append(fake_records(4, 4))
    before = rows(store)
    for path in store.folder.iterdir():
        pq.write_table(pq.read_table(path), path, write_page_checksum=True)
        with path.open("rb") as file:
            assert read_seal(pa.PythonFile(file)) is None
    assert rows(store) == before
    assert len(StoreSnapshot.take(store)) == 8
    assert store.compact(minimum=0) == 2
    assert rows(store) == before
    [path] = store.folder.iterdir()
    assert read_seal(pa.BufferReader(path.read_bytes())) is not None


def test_damaged_files_of_a_run_are_computed_again_and_reported(tmp_path, capsys, monkeypatch, caplog):
    results = tmp_path / "results"
    reproduce(results)
    expected = outcome(results)
    paths = sorted((results / "store").glob("*.parquet"))
    assert len(paths) == 3
    paths[0].write_bytes(paths[0].read_bytes()[:-500])
    whole = paths[1].read_bytes()
    paths[1].write_bytes(flipped(whole, len(whole) - 3000))
    monkeypatch.setattr("provlab.project.some_artefacts", list)  # composing all takes long
    assert main(["status", "--results", str(results)]) == 0
    assert caplog.text.count("expected a whole Parquet file") == 2
    store = TrialStore(results / "store")
    note = store.damaged_note()
    assert note.startswith(f"store {store.folder}: 2 damaged files were set aside ({paths[0].stem}.damaged, ")
    report = reproduce(results)
    assert (report.n_found, report.n_run) == (3, 6)
    assert outcome(results) == expected
    assert len(leftovers(results)) == 2
    for path in results.rglob("*.damaged"):
        path.unlink()
    assert store.damaged_note() == ""


@pytest.mark.parametrize("column", ["error", "features", "certificate_radius_bound"])
@pytest.mark.parametrize("is_sealed", [True, False])
def test_a_complete_run_notices_damage_in_columns_that_its_tables_do_not_read(column, is_sealed, tmp_path):
    """Else it would end with all stored, and the next reader of that column with less."""
    results = tmp_path / "results"
    reproduce(results)
    expected = outcome(results)
    path = sorted((results / "store").glob("*.parquet"))[1]
    if not is_sealed:
        pq.write_table(pq.read_table(path), path, write_page_checksum=True)
    metadata = pq.read_metadata(path)
    start, length = sealing._range(metadata, 0, metadata.schema.to_arrow_schema().names.index(column))
    path.write_bytes(flipped(path.read_bytes(), start + length - 1))
    report = reproduce(results)
    assert (report.n_found, report.n_run) == (6, 3)
    assert leftovers(results) == [f"{path.stem}.damaged"]
    assert outcome(results) == expected


def test_a_run_says_how_many_files_were_set_aside(tmp_path):
    store = TrialStore(tmp_path / "store")
    run_quietly([small_cell(UNIFORM)], store)
    (store.folder / "abc.damaged").write_bytes(b"x")
    _, text = run_quietly([small_cell(UNIFORM)], store)
    assert "1 damaged file was set aside (abc.damaged); their trials count as not run until" in text


def test_a_column_of_another_type_is_an_error_with_the_name_of_the_file(tmp_path):
    store = TrialStore(tmp_path / "store")
    store.append(fake_records(0, 2))
    [path] = store.folder.iterdir()
    table = pq.read_table(path)
    place = SCHEMA.names.index("error")
    pq.write_table(table.set_column(place, "error", pa.array(["low", "high"])), path)
    with pytest.raises(
        ValueError, match=rf"store file {path}: expected the column error as double, got string .*move it"
    ):
        store.query()
    assert path.exists()
    assert store.keys() == {record["key"] for record in fake_records(0, 2)}  # the others can be read
    place = SCHEMA.names.index("repeat")
    pq.write_table(table.set_column(place, "repeat", pa.array([2**40, 1])), path)
    with pytest.raises(ValueError, match=r"expected the column repeat as int32, got int64"):
        store.query(columns=["repeat"])


@pytest.mark.parametrize("number", [errno.EACCES, errno.EMFILE, errno.EIO])
def test_a_file_that_the_system_does_not_give_is_not_called_damaged(number, tmp_path, monkeypatch):
    store = TrialStore(tmp_path / "store")
    store.append(fake_records(0, 2))
    [path] = store.folder.iterdir()

    def refuse(self):
        raise OSError(number, os.strerror(number), str(self))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", refuse)
        with pytest.raises(
            OSError, match=rf"store file {path}: expected to read it, got '{os.strerror(number)}'; it stays"
        ):
            store.keys()
    assert len(store.keys()) == 2
    monkeypatch.setattr(stored_file, "SMALL", 0)
    monkeypatch.setattr(pa, "OSFile", lambda *_: refuse(path))
    with pytest.raises(OSError, match="it stays where it is"):
        store.keys()
    assert leftovers(store.folder) == []


def test_too_little_memory_is_not_called_damage(tmp_path, monkeypatch):
    store = TrialStore(tmp_path / "store")
    store.append(fake_records(0, 2))
    [path] = store.folder.iterdir()

    def refuse(*_, **__):
        raise pa.ArrowMemoryError("malloc of size 1 failed")

    monkeypatch.setattr(pq.ParquetFile, "read_row_groups", refuse)
    with pytest.raises(OSError, match=rf"store file {path}: expected to read it, got 'Cannot allocate memory'"):
        store.keys()
    assert path.exists()
    # an older file may ask for it because of its damage
    whole = path.read_bytes()
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    path.write_bytes(flipped(whole, footer - 1))
    assert store.keys() == set()
    assert not path.exists()


def test_a_damaged_file_in_a_store_of_others_is_passed_over(tmp_path, monkeypatch, caplog):
    """Where nothing can be renamed, a reader continues without the file."""
    store = TrialStore(tmp_path / "store")
    store.append(fake_records(0, 2))
    [path] = store.folder.iterdir()
    store.append(fake_records(2, 3))
    path.write_bytes(path.read_bytes()[:-1])

    def refuse(*_):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "replace", refuse)
    assert len(store.keys()) == 3
    assert len(StoreSnapshot.take(store)) == 3
    assert "left where it is (Read-only file system), its trials will be run again" in caplog.text
    assert path.exists()


def test_a_whole_file_that_took_the_place_of_a_damaged_one_is_not_set_aside(tmp_path, monkeypatch):
    """A run may compute and write the trials again while another reader has just found the damage."""
    store = TrialStore(tmp_path / "store")
    store.append(fake_records(0, 2))
    [path] = store.folder.iterdir()
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    real = stored_file.read_seal

    def overtaken(source):
        try:
            return real(source)
        except DamagedFileError:
            with replacing(path) as temporary:
                temporary.write_bytes(whole)
            raise

    monkeypatch.setattr(stored_file, "read_seal", overtaken)
    assert len(store.keys()) == 2
    assert leftovers(store.folder) == []


def test_two_readers_find_the_same_damage(tmp_path, monkeypatch):
    store = TrialStore(tmp_path / "store")
    store.append(fake_records(0, 2))
    [path] = store.folder.iterdir()
    path.write_bytes(path.read_bytes()[:-1])
    real = os.replace

    def faster(source, target):
        real(source, target)
        real(source, target)  # as this reader comes second

    monkeypatch.setattr(os, "replace", faster)
    assert store.keys() == set()


def test_a_file_that_is_replaced_while_it_is_read_is_read_from_one_of_both(tmp_path, monkeypatch):
    """Two runs of the same trials write the same name with other times in it."""
    store = TrialStore(tmp_path / "store")
    records = fake_records(0, 2000)
    store.append(records)
    monkeypatch.setattr(stored_file, "SMALL", 0)
    real = pq.ParquetFile.read_row_groups

    def overtaken(self, *arguments, **options):
        store.append([record | {"select_cpu": float(k)} for k, record in enumerate(records)])
        return real(self, *arguments, **options)

    monkeypatch.setattr(pq.ParquetFile, "read_row_groups", overtaken)
    assert len(store.encoded(["key", "cell", "select_cpu"])) == 2000
    assert leftovers(store.folder) == []


def test_a_flipped_bit_in_a_cached_data_set_is_noticed(tmp_path, monkeypatch):
    """Zip's checksums, the digest of the content, or both; what no reader of data looks at may pass."""
    monkeypatch.setenv("PROVSEL_DATA", str(tmp_path))
    made = load_dataset("synthetic", n_samples=6, n_features=4, n_relevant=2)
    builds = []

    def build(paths, content):
        builds.append(1)
        return made

    def get():
        return parsed("synthetic", checked_parameters("synthetic", {}), build)

    get()
    [path] = (tmp_path / "cache").glob("*.npz")
    whole = path.read_bytes()
    builds.clear()
    for position in range(0, len(whole), 7):
        path.write_bytes(flipped(whole, position))
        found = get()
        assert np.array_equal(found.X, made.X)
        assert np.array_equal(found.y, made.y)
        assert list(found.feature_names) == list(made.feature_names)
        assert (found.content, found.name, found.source) == (made.content, made.name, made.source)
    assert len(builds) > len(whole) / 7 / 10


def test_a_copy_of_a_store_is_the_store(tmp_path):
    """Seals are in the files, so copying files together merges stores, as results/README.md says."""
    first, second = TrialStore(tmp_path / "a"), TrialStore(tmp_path / "b")
    first.append(fake_records(0, 3))
    second.append(fake_records(3, 3))
    for path in second.folder.iterdir():
        shutil.copy(path, first.folder)
    assert len(first.keys()) == 6
