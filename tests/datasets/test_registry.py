"""The registry of sources: every entry is sound, and a malformed one names what is wrong."""

import re

import pytest
from misbehaving_server import made, plain

from provlab.datasets import read_source, source_names
from provlab.datasets.registry import is_safe_relative

RAW = "https://raw.githubusercontent.com/owner/repository"
FILE = plain("https://example.org/a.bin")


def test_every_file_of_the_package_has_an_address_or_is_made_of_files_that_have():
    """Of a form that suffices, at least one address of each is pinned: by a commit, or else by hash."""
    for name in source_names():
        source = read_source(name)
        assert source.citation
        assert all(file.source == name and file.fetchable for file in source.files)
        assert any(all(pinned(source, file) for file in files) for files in source.forms.values()), name


def pinned(source, file):
    at_commit = any(re.search(r"/[0-9a-f]{40}(/|$)", url) for url in file.urls)
    return at_commit or (bool(file.made_from) and all(pinned(source, source.find(path)) for path in file.made_from))


def test_techtc_entry():
    source = read_source("techtc")
    tokens = [file for file in source.files if file.path.startswith("techtc100/tokens/")]
    assert len(tokens) == len({file.made_from for file in tokens}) == 80
    assert all(file.sha256 and file.content_sha256 and file.size for file in tokens)
    assert len(source.find("techtc100/datasets.tsv").made_from) == 81
    assert source.find("nothing") is None


def test_raw_files_and_forms(write):
    files = [made("x", "raw/a", forms=["one", "two"]), made("y", "x", forms=["two"]), {**FILE, "path": "z"}]
    write("thing", *files, {**FILE, "path": "raw/a"}, {**FILE, "forms": []})
    source = read_source("thing")
    assert source.published() == [file for file in source.files if file.path != "raw/a"]
    assert {form: [file.path for file in files] for form, files in source.forms.items()} == {
        "one": ["x", "z"],
        "two": ["x", "y", "z"],
    }
    assert hash(source) == hash(read_source("thing"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sha256": "ABC"}, r"thing.yaml, 'set/file.bin': expected a SHA-256 of 64 lower-case digits"),
        ({"sha256": None}, "expected a SHA-256"),
        ({"size": None}, "max_size must be a limit, as size is null"),
        ({"path": "../a"}, "path must be a relative path without '..'"),
        ({"urls": ["file:///etc/passwd"]}, r"urls must be http\(s\) addresses"),
        ({"content_sha256": "0" * 64}, "format must be one of gz, npz, .*, as content_sha256 is set, got 'bin'"),
        ({"urls": [f"{RAW}/main/a.bin"]}, "urls must be addresses at a commit of 40 digits, not at .*/main/a.bin"),
        ({"urls": [f"{RAW}/48cffad4/a.bin"]}, "urls must be addresses at a commit"),
        ({"urls": ["https://codeload.github.com/a/b/tar.gz/refs/heads/main"]}, "urls must be addresses at a commit"),
        ({"made_from": ["set/file.bin"], "converter": "rm"}, "converter must be one of .*techtc_tokens.*, got 'rm'"),
        ({"made_from": ["b"], "converter": "pack_xz"}, r"made_from must be paths of this entry, got \('b',\)"),
        ({"path": "raw/a"}, "files below raw/ must be such that others are made from"),
        ({"sha265": "x"}, "thing.yaml: expected an entry .* got .*sha265"),
    ],
)
def test_malformed_files_are_refused(write, change, message):
    write("thing", {**FILE, **change})
    with pytest.raises(ValueError, match=message):
        read_source("thing")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "other"}, "thing.yaml: name must be 'thing' as in the file name, got 'other'"),
        ({"files": [FILE, FILE]}, "paths must be distinct"),
        ({"files": None}, "expected an entry such as those beside it"),
        ({"mat": {"version": 1, "transposed": True}}, "got .*transposed"),
        ({"mit": 1}, "got .*mit"),
    ],
)
def test_malformed_entries_are_refused(write, change, message):
    write("thing", **{"files": [FILE], **change})
    with pytest.raises(ValueError, match=message):
        read_source("thing")


@pytest.mark.parametrize("text", ["", "[1, 2]", "a: [", "!!python/object/apply:os.getcwd []"])
def test_other_files_are_refused(write, tmp_path, text):
    write("thing", FILE)
    (tmp_path / "registry" / "thing.yaml").write_text(text)
    with pytest.raises(ValueError, match=r"source registry thing\.yaml: expected an entry"):
        read_source("thing")
    with pytest.raises(ValueError, match=r"no source named '../thing'; registered sources are thing"):
        read_source("../thing")


def test_safe_relative_paths():
    assert all(map(is_safe_relative, ["a", "a/b.c", "./a", "a//b", "..a", "a.."]))
    assert not any(map(is_safe_relative, ["", "/", "/a", "..", "a/../b", "../a", "a/..", "c:a", "a\\b", "a\0", "."]))
