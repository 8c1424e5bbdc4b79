"""The source registry, the lock file, and finding and verifying files."""

import dataclasses
import hashlib
import re

import pytest
import yaml

from provlab.datasets import DataIntegrityError, MissingDataError, SourceFile, locate, read_source, source_names
from provlab.datasets._lock import LockEntry, read_lock, record
from provlab.datasets._paths import is_safe_relative
from provsel.files import replacing

CONTENT = b"some data"
SHA = hashlib.sha256(CONTENT).hexdigest()
FILE = {"path": "set/a.bin", "sha256": SHA, "size": 9, "urls": ["https://example.org/a.bin"], "format": "bin"}
RAW = "https://raw.githubusercontent.com/owner/repository"
ENTRY = {"name": "thing", "title": "t", "citation": "c", "licence": "l", "homepage": "h", "files": [FILE]}

MAT = {"version": 1, "holds": "rows", "about": "what", "citation": "who"}


def write(folder, entry, name="thing"):
    (folder / f"{name}.yaml").write_text(entry if isinstance(entry, str) else yaml.safe_dump(entry))
    return folder


def file_with(**changes):
    defaults = dict.fromkeys(field.name for field in dataclasses.fields(SourceFile))
    lists = {"urls": tuple(FILE["urls"]), "made_from": ()}
    return SourceFile(**{**defaults, **FILE, **lists, "source": "thing", **changes})


def test_every_entry_of_the_package_is_valid():
    for name in source_names():
        source = read_source(name)
        assert source.citation
        assert all(file.source == name for file in source.files)


def test_every_file_has_an_address_or_is_made_of_files_that_have():
    """Of a form that suffices, at least one address of each is pinned: by a commit, or else by hash."""
    for name in source_names():
        source = read_source(name)
        for file in source.files:
            assert file.fetchable, file.path
            assert file.urls or all(source.find(path).fetchable for path in file.made_from)
        assert any(all(pinned(source, file) for file in files) for files in source.forms.values()), name


def pinned(source, file):
    at_commit = any(re.search(r"/[0-9a-f]{40}(/|$)", url) for url in file.urls) and file.digest is not None
    return at_commit or (bool(file.made_from) and all(pinned(source, source.find(path)) for path in file.made_from))


def test_techtc_entry():
    source = read_source("techtc")
    tokens = [file for file in source.files if file.path.startswith("techtc100/tokens/")]
    assert len(tokens) == 80
    assert all(file.sha256 and file.content_sha256 and file.size and file.forms == ("tokens",) for file in tokens)
    assert len({file.made_from for file in tokens}) == 80
    assert len(source.find("techtc100/datasets.tsv").made_from) == 81
    assert source.find("nothing") is None


def test_reading_an_entry(tmp_path):
    source = read_source("thing", write(tmp_path, ENTRY))
    assert source.files == (file_with(),)
    with pytest.raises(ValueError, match=r"no source named '../thing'; registered sources are thing"):
        read_source("../thing", tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sha256": "ABC"}, r"thing.yaml, files\[0\] \('set/a.bin'\): sha256 must be 64 lower-case .* got 'ABC'"),
        ({"size": -3}, "size must be a positive integer or null, got -3"),
        ({"size": True}, "size must be a positive integer"),
        ({"size": None}, "max_size must be a limit, as size is null"),
        ({"path": "../a"}, "path must be a relative path without '..', got '../a'"),
        ({"path": "/etc/a"}, "path must be a relative path"),
        ({"path": "C:\\a"}, "path must be a relative path"),
        ({"path": ""}, "path must be a relative path"),
        ({"path": None}, "path must be a relative path"),
        ({"urls": "https://example.org"}, r"urls must be a list of http\(s\) addresses"),
        ({"urls": ["file:///etc/passwd"]}, r"urls must be a list of http\(s\) addresses"),
        ({"urls": None}, "urls must be a list"),
        ({"format": 3}, "format must be a text, got 3"),
        ({"extract": "rar"}, "extract must be zip, tar or null, got 'rar'"),
        ({"extract": "zip", "max_expanded": 9}, "extract_to must be a folder, as extract is set"),
        ({"extract": "zip", "extract_to": "x"}, "max_expanded must be a limit, as extract is set"),
        ({"extract": "zip", "extract_to": "../x", "max_expanded": 9}, "extract_to must be a relative path"),
        ({"content_sha256": 7}, "content_sha256 must be 64 lower-case hexadecimal digits, or null, got 7"),
        (
            {"content_sha256": SHA},
            "format must be one of gz, npz, tar.gz, tar.xz, xz, as content_sha256 is set, got 'bin'",
        ),
        (
            {"urls": [f"{RAW}/main/a.bin"]},
            "urls must be addresses at a commit of 40 digits, not at a branch .*/main/a.bin",
        ),
        ({"urls": [f"{RAW}/v1.0/a.bin"]}, "urls must be addresses at a commit"),
        ({"urls": [f"{RAW}/48cffad4/a.bin"]}, "urls must be addresses at a commit"),
        ({"urls": ["https://github.com/a/b/raw/master/a.bin"]}, "urls must be addresses at a commit"),
        ({"urls": ["https://codeload.github.com/a/b/tar.gz/refs/heads/main"]}, "urls must be addresses at a commit"),
        ({"urls": ["https://example.org/a", f"{RAW}/HEAD/a.bin"]}, "urls must be addresses at a commit"),
        ({"forms": "one"}, "forms must be a list of texts"),
        ({"made_from": ["b"]}, "converter must be one of .*techtc_tokens.*, got None"),
        ({"made_from": ["b"], "converter": "rm"}, "converter must be one of .*techtc_tokens.*, got 'rm'"),
        ({"made_from": [3], "converter": "pack_xz"}, "made_from must be a list of texts"),
        ({"made_from": ["b"], "converter": "pack_xz"}, "made_from must be paths of this entry, got .'b'"),
        (
            {"made_from": ["b"], "converter": "pack_xz", "sha256": None},
            "sha256 must be the hash that the converter must arrive at",
        ),
        ({"converter": "pack_xz"}, "made_from must be a list, as converter is set"),
        ({"path": "raw/a"}, "files must be files below raw/ that others are made from, got .'raw/a'"),
        ({"sha265": "x"}, r"missing keys \[\], unknown keys \['sha265'\]. Allowed: .*'sha256'"),
    ],
)
def test_malformed_files_are_refused(tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        read_source("thing", write(tmp_path, {**ENTRY, "files": [{**FILE, **change}]}))


def made(path, *sources, **changes):
    return {**FILE, "path": path, "urls": [], "made_from": list(sources), "converter": "pack_xz", **changes}


def test_files_that_are_made_from_each_other(tmp_path):
    cycle = {**ENTRY, "files": [made("a", "b"), made("b", "c", "d"), made("c", "a"), {**FILE, "path": "d"}]}
    with pytest.raises(ValueError, match=r"made_from must be paths that lead to published files, got '. < . < . < .'"):
        read_source("thing", write(tmp_path, cycle))
    with pytest.raises(ValueError, match="made_from must be paths that lead to published files, got 'b < b'"):
        read_source("thing", write(tmp_path, {**ENTRY, "files": [made("b", "b")]}))


def test_raw_files_and_forms(tmp_path):
    raw = {**FILE, "path": "raw/a", "urls": [f"{RAW}/{'0' * 40}/a"]}
    files = [
        made("x", "raw/a", forms=["one", "two"]),
        made("y", "x", forms=["two"]),
        {**FILE, "path": "z"},
        raw,
        {**FILE, "forms": []},
    ]
    source = read_source("thing", write(tmp_path, {**ENTRY, "files": files}))
    assert source.published() == [file for file in source.files if file.path != "raw/a"]
    forms = {form: [file.path for file in files] for form, files in source.forms.items()}
    assert forms == {"one": ["x", "z"], "two": ["x", "y", "z"]}
    assert all(file.fetchable for file in source.files)
    assert {form: len(files) for form, files in read_source("colon").forms.items()} == {"": 1}


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({**ENTRY, "name": "other"}, "thing.yaml: name must be 'thing' as in the file name, got 'other'"),
        ({**ENTRY, "licence": None}, "licence must be a text, got None"),
        ({**ENTRY, "files": []}, r"files must be a list, got \[\]"),
        ({**ENTRY, "files": [FILE, FILE]}, "files must be distinct paths"),
        ({**ENTRY, "files": ["a"]}, r"files\[0\]: expected a mapping, got str"),
        ({"name": "thing"}, r"missing keys \['citation', 'files'"),
        ({**ENTRY, "mat": {**MAT, "version": "1"}}, r"thing.yaml, mat: version must be a whole number, got '1'"),
        ({**ENTRY, "mat": {**MAT, "variables": ["X"]}}, r"mat: variables must be a list, got \['X'\]"),
        ({**ENTRY, "mat": {**MAT, "transposed": True}}, r"mat: missing keys \[\], unknown keys \['transposed'\]"),
        ({**ENTRY, "mat": {"version": 1}}, r"mat: missing keys \['about', 'citation', 'holds'\]"),
        ("[1, 2]", "expected a mapping, got list"),
        ("", "expected a mapping, got NoneType"),
        ("a: [", "not valid YAML"),
        ("!!python/object/apply:os.getcwd []", "not valid YAML"),
    ],
)
def test_malformed_entries_are_refused(tmp_path, entry, message):
    with pytest.raises(ValueError, match=message):
        read_source("thing", write(tmp_path, entry))


def put(root, content=CONTENT):
    path = root / "set" / "a.bin"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_the_mirror_is_searched_first(mirror, data_folder):
    ours = put(data_folder)
    assert locate(file_with()) == ours
    theirs = put(mirror)
    assert locate(file_with()) == theirs
    assert locate(file_with(sha256=None, size=None)) == theirs


def test_missing_file_says_where_and_how(mirror, data_folder):
    with pytest.raises(MissingDataError, match=r"thing: the file set/a.bin is missing") as caught:
        locate(file_with())
    for piece in (str(mirror), str(data_folder), "https://example.org/a.bin", "`provsel fetch thing`"):
        assert piece in str(caught.value)
    with pytest.raises(MissingDataError, match=r"no public address .* set PROVSEL_DATA_MIRROR to a folder that holds"):
        locate(file_with(urls=()))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (CONTENT[:-1], "expected 9 bytes .the source registry., found 8 bytes. .* `provsel fetch thing`"),
        (b"some dat!", f"expected SHA-256 {SHA} .*found SHA-256 {hashlib.sha256(b'some dat!').hexdigest()}"),
    ],
)
def test_damaged_files_are_refused(mirror, content, message):
    path = put(mirror, content)
    with pytest.raises(DataIntegrityError, match=message) as caught:
        locate(file_with())
    assert str(caught.value).startswith(str(path))
    assert isinstance(caught.value, ValueError)


def test_a_file_without_registered_hash_is_compared_with_the_lock(data_folder):
    put(data_folder, b"other")
    unknown = file_with(sha256=None, size=None, max_size=100)
    assert locate(unknown).read_bytes() == b"other"
    record(data_folder, "set/a.bin", LockEntry(SHA, 5, "https://example.org"))
    with pytest.raises(DataIntegrityError, match="first download, in the lock file"):
        locate(unknown)


def test_lock_file_keeps_earlier_entries(data_folder):
    one, two = LockEntry(SHA, 9, "https://a"), LockEntry("0" * 64, 1, "https://b")
    assert read_lock(data_folder) == {}
    record(data_folder, "b", one)
    record(data_folder, "a", two)
    assert read_lock(data_folder) == {"a": two, "b": one}
    assert [path.name for path in data_folder.iterdir()] == ["sources.lock.yaml"]


@pytest.mark.parametrize("content", ["[1]", "a: {sha256: x}", "a: 3", "a: [", "a: {sha256: x, size: big, url: u}"])
def test_damaged_lock_file(data_folder, content):
    data_folder.mkdir()
    (data_folder / "sources.lock.yaml").write_text(content)
    with pytest.raises(ValueError, match=r"(?s)lock file .*Repair it, or delete it and fetch again"):
        read_lock(data_folder)


def test_safe_relative_paths():
    assert all(map(is_safe_relative, ["a", "a/b.c", "./a", "a//b", "..a", "a.."]))
    assert not any(map(is_safe_relative, ["", "/", "/a", "..", "a/../b", "../a", "a/..", "c:a", "a\\b", "a\0", "."]))


def test_replacing_is_all_or_nothing(tmp_path):
    target = tmp_path / "new" / "file"
    with replacing(target) as temporary:
        temporary.write_text("one")
    with pytest.raises(TypeError, match="data must be str"), replacing(target) as temporary:
        temporary.write_text(2)
    assert target.read_text() == "one"
    assert list(target.parent.iterdir()) == [target]
