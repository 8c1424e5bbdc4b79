"""Readers of text from anywhere: after any damage, a whole result or one error that names the file."""

import pytest
from foreign_readers import TEXT, rows_of
from hostile_bytes import bounded, fuzz

from provlab.documents import read_plain_yaml
from small_runs import run_python

BILLION_LAUGHS = "a0: &a0 lol\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 10))
NESTED = {"flow": "a: " + "[" * 100_000, "block": "a:\n" + "- " * 100_000 + "x", "maps": "a: " + "{b: " * 100_000}


@pytest.mark.parametrize("name", TEXT)
def test_damaged_texts(name, tmp_path):
    fuzz(TEXT[name], tmp_path)


def read(folder, text):
    (folder / "made.yaml").write_text(text)
    return read_plain_yaml(folder / "made.yaml")


def test_references_in_yaml_do_not_multiply(tmp_path):
    with bounded(), pytest.raises(ValueError, match="more than 100000 values") as error:
        read(tmp_path, BILLION_LAUGHS)
    assert len(str(error.value)) < 1000
    assert read(tmp_path, "a: &t a long text\nb: *t") == {"a": "a long text", "b": "a long text"}


@pytest.mark.parametrize(
    "text", ["a: !!timestamp x", "a: !!bool x", "a: !!int ''", "a: 2001-99-99", "a: \x01", "[" * 5, "9" * 50000]
)
def test_values_in_yaml_that_are_none(text, tmp_path):
    with pytest.raises(ValueError, match=r"\w"):
        read(tmp_path, text)


def test_tags_in_yaml_run_nothing(tmp_path):
    with pytest.raises(ValueError, match="could not determine a constructor"):
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


def test_a_line_without_end_is_not_read_as_a_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("provsel.streams.svmlight_rows._MAX_LINE", 100)
    (tmp_path / "X.svm").write_bytes(b"1 1:1\n" + b" " * 99 + b"\n1 2:1\n")
    rows_of(tmp_path / "X.svm")
    (tmp_path / "X.svm").write_bytes(b"1 1:1\n1" + b" " * 100 + b"2:1")
    with pytest.raises(ValueError, match=r"row_chunks: .*X\.svm: expected .*a line of more than 100 bytes"):
        rows_of(tmp_path / "X.svm")
