"""Readers of text from anywhere: after any damage, a whole result or one error that names the file."""

import pytest
import yaml
from foreign_readers import LOCK, REGISTRY, TEXT, rows_of
from hostile_bytes import bounded, fuzz

from provlab.datasets._lock import LOCK_NAME, read_lock
from provlab.datasets._sources import read_source
from small_runs import run_python

BILLION_LAUGHS = "a0: &a0 lol\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 10))
NESTED = {"flow": "a: " + "[" * 100_000, "block": "a:\n" + "- " * 100_000 + "x", "maps": "a: " + "{b: " * 100_000}


@pytest.mark.parametrize("name", TEXT)
def test_damaged_texts(name, tmp_path):
    fuzz(TEXT[name], tmp_path)


def read_registry(folder, text):
    (folder / "made.yaml").write_text(text)
    read_source.cache_clear()
    return read_source("made", folder)


def read_lock_file(folder, text):
    (folder / LOCK_NAME).write_text(text)
    return read_lock(folder)


both = pytest.mark.parametrize(
    ("read", "message"),
    [(read_registry, "source registry made.yaml: not valid YAML"), (read_lock_file, "lock file .*Repair it")],
)


@both
def test_references_in_yaml_do_not_multiply(read, message, tmp_path):
    with bounded(), pytest.raises(ValueError, match=f"{message}|more than 100000 values") as error:
        read(tmp_path, BILLION_LAUGHS)
    assert len(str(error.value)) < 1000


def test_a_few_references_in_yaml_are_fine(tmp_path):
    entry = yaml.safe_load(REGISTRY)
    entry["files"][1]["path"] = entry["name"] = name = "made"
    entry["title"] = entry["citation"] = shared = "a long text" * 3
    text = yaml.safe_dump(entry).replace(f"citation: {shared}", f"citation: &t {shared}")
    source = read_registry(tmp_path, text.replace(f"title: {shared}", "title: *t"))
    assert (source.name, source.title) == (name, shared)


@both
@pytest.mark.parametrize(
    "text", ["a: !!timestamp x", "a: !!bool x", "a: !!int ''", "a: 2001-99-99", "a: \xe9\x01", "9" * 5000]
)
def test_values_in_yaml_that_are_none(read, message, text, tmp_path):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, text)


@both
def test_tags_in_yaml_run_nothing(read, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, f"a: !!python/object/apply:os.mkdir ['{tmp_path / 'canary'}']")
    assert not (tmp_path / "canary").exists()


ONE_BY_ONE = """
import sys
from pathlib import Path
from provlab.documents import read_plain_yaml
for path in map(Path, sys.argv[1:]):
    try:
        read_plain_yaml(path)
    except ValueError as error:
        print(error, flush=True)
"""


def test_nested_yaml_does_not_crash_the_process(tmp_path):
    """In a process of its own: libyaml's loader would end it with a segmentation fault."""
    for kind, text in NESTED.items():
        (tmp_path / kind).write_text(text)
    done = run_python(["-c", ONE_BY_ONE, *(tmp_path / kind for kind in NESTED)], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["it is nested in more than 20 levels"] * len(NESTED)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"a/c.xz": None}, "'a/c.xz': expected a mapping, got NoneType"),
        ({"../c.xz": {}}, r"the path '\.\./c\.xz'"),
        (
            {"a/c.xz": {"sha256": "0" * 63, "size": 4, "url": ""}},
            "'a/c.xz': sha256 must be 64 lower-case hexadecimal digits.*, got '000",
        ),
        (
            {"a/c.xz": {"sha256": "0" * 64, "size": True, "url": ""}},
            "'a/c.xz': size must be a whole number of at least 0, got True",
        ),
        (
            {"a/c.xz": {"sha256": "0" * 64, "size": -1, "url": ""}},
            "'a/c.xz': size must be a whole number of at least 0, got -1",
        ),
        ({"a/c.xz": {"sha256": "0" * 64, "size": 1, "url": 3}}, "'a/c.xz': url must be a text, got 3"),
        ([], None),
        (["a"], "a list"),
    ],
)
def test_entries_of_a_lock_file(change, message, tmp_path):
    assert read_lock_file(tmp_path, LOCK.decode())["a/c.xz"].size == 4
    if message is None:
        assert read_lock_file(tmp_path, yaml.safe_dump(change)) == {}
        return
    with pytest.raises(ValueError, match=rf"lock file .*got something else \({message}"):
        read_lock_file(tmp_path, yaml.safe_dump(change))


def test_a_line_without_end_is_not_read_as_a_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("provsel.streams.svmlight_rows._MAX_LINE", 100)
    (tmp_path / "X.svm").write_bytes(b"1 1:1\n" + b" " * 99 + b"\n1 2:1\n")
    rows_of(tmp_path / "X.svm")
    (tmp_path / "X.svm").write_bytes(b"1 1:1\n1" + b" " * 100 + b"2:1")
    with pytest.raises(ValueError, match=r"row_chunks: .*X\.svm: expected .*a line of more than 100 bytes"):
        rows_of(tmp_path / "X.svm")
