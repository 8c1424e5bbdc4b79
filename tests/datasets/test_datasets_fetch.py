"""Downloads against a local server that can misbehave in every way we know."""

import hashlib
import io
import logging
import runpy
import socket
import sys
import zipfile
from pathlib import Path

import pytest
import yaml
from misbehaving_server import CUT, GOOD, KEPT, SHA

from provlab.datasets import DataIntegrityError, FetchError, MissingDataError, fetch, load_dataset
from provlab.datasets._lock import read_lock


def everything(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_good_file_is_fetched_once(registry, server, data_folder):
    (path,) = registry("/good")
    assert path == data_folder / "set" / "file.bin"
    assert path.read_bytes() == GOOD
    assert registry("/good") == [path]
    assert server.requests == ["/good"]
    assert everything(data_folder) == ["set/file.bin"]  # no lock, as the hash was known


def test_a_file_in_the_mirror_is_not_downloaded(registry, server, mirror, data_folder):
    path = mirror / "set" / "file.bin"
    path.parent.mkdir()
    path.write_bytes(GOOD)
    assert registry("/good") == [path]
    path.write_bytes(GOOD[:-1])
    with pytest.raises(DataIntegrityError, match=f"expected {len(GOOD)} bytes"):
        registry("/good")
    assert server.requests == []
    assert not data_folder.exists()


def test_a_damaged_download_is_made_again(registry, data_folder):
    (path,) = registry("/good")
    path.write_bytes(b"tampered")
    registry("/good")
    assert path.read_bytes() == GOOD


@pytest.mark.parametrize(
    ("path", "error", "message"),
    [
        (
            "/other",
            DataIntegrityError,
            rf"expected SHA-256 {SHA} \(the source registry\), found SHA-256 {hashlib.sha256(GOOD[::-1]).hexdigest()}",
        ),
        ("/page", DataIntegrityError, "answers with a web page, expected bin; probably an error page"),
        ("/xhtml", DataIntegrityError, "answers with a web page"),
        ("/endless", DataIntegrityError, f"sends more than the registered {len(GOOD)} bytes of set/file.bin"),
        ("/missing", FetchError, r"/missing: 404 .*\(1 attempts\)"),
        ("/down", FetchError, r"/down: 503 .*\(3 attempts\)"),
        ("/cut", FetchError, r"/cut: .*100000 bytes read.*\(3 attempts\)"),
        ("/cut_without_length", FetchError, f"the transfer was cut: {CUT} of {len(GOOD)} bytes arrived"),
        ("/empty", FetchError, r"/empty: .*\(3 attempts\)"),
    ],
)
def test_what_is_not_the_file_leaves_nothing(registry, server, data_folder, path, error, message):
    with pytest.raises(error, match=message) as caught:
        registry(path, retries=2)
    assert server.url(path) in str(caught.value)
    assert "could not fetch set/file.bin of thing0" in str(caught.value)
    if "/cut" in path:  # the hash is known: what arrived can be gone on with
        kept = KEPT if path == "/cut" else CUT
        assert f"The {kept} bytes that arrived are kept" in str(caught.value)
        assert [path.stat().st_size for path in data_folder.rglob(".file.bin.*.part")] == [kept]
    else:
        assert "Nothing was kept" in str(caught.value)
        assert everything(data_folder) == []
    assert not (data_folder / "set" / "file.bin").exists()
    assert len(server.requests) == (3 if "3 attempts" in str(caught.value) else 1)


def test_a_failed_download_keeps_the_earlier_lock(registry, data_folder):
    registry("/good", sha256=None)
    (data_folder / "set" / "file.bin").unlink()
    lock = read_lock(data_folder)
    with pytest.raises(FetchError, match="503"):
        registry("/down", retries=0, sha256=None)
    assert read_lock(data_folder) == lock
    assert everything(data_folder) == ["sources.lock.yaml"]


@pytest.mark.parametrize("path", ["/flaky", "/flaky_once"])
def test_retries_until_it_works(registry, server, path):
    registry(path)
    assert len(server.requests) == (3 if path == "/flaky" else 2)


def test_addresses_are_tried_in_order(registry, server):
    (path,) = registry("/missing", "/page", "/other", "/good", "/never")
    assert path.read_bytes() == GOOD
    assert server.requests == ["/missing", "/page", "/other", "/good"]


def test_all_addresses_are_named_when_none_works(registry, data_folder):
    with socket.socket() as unused:  # bound, but not listening: connections are refused
        unused.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{unused.getsockname()[1]}/closed"
        with pytest.raises(FetchError, match="could not fetch") as caught:
            registry(closed, "/page", retries=1)
    assert closed in str(caught.value)
    assert "(2 attempts)" in str(caught.value)
    assert "/page answers with a web page" in str(caught.value)
    assert everything(data_folder) == []


def test_size_limit_holds_when_the_size_is_not_known(registry, data_folder):
    with pytest.raises(DataIntegrityError, match="sends more than the registered 100000 bytes"):
        registry("/endless", sha256=None, size=None, max_size=100_000)
    assert everything(data_folder) == []


def test_unknown_hash_is_recorded_at_first_and_compared_later(registry, server, data_folder, caplog):
    unknown = {"sha256": None, "size": None, "max_size": 10**6}
    with caplog.at_level(logging.WARNING, "provsel"):
        (path,) = registry("/good", **unknown)
    assert f"set/file.bin: hash not known beforehand. Recorded SHA-256 {SHA} and {len(GOOD)} bytes" in caplog.text
    entry = read_lock(data_folder)["set/file.bin"]
    assert (entry.sha256, entry.size, entry.url) == (SHA, len(GOOD), server.url("/good"))
    path.unlink()
    caplog.clear()
    registry("/good", **unknown)
    assert "Recorded" not in caplog.text
    path.unlink()
    with pytest.raises(DataIntegrityError, match=rf"expected SHA-256 {SHA}.*first download.*delete its entry"):
        registry("/other", **unknown)
    assert everything(data_folder) == ["sources.lock.yaml"]


def zipped(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


ARCHIVE = {"path": "archives/a.zip", "sha256": None, "size": None, "max_size": 10**6, "format": "zip",
           "extract": "zip", "extract_to": "techtc300", "max_expanded": 5000}  # fmt: skip


def test_an_archive_is_extracted_and_loads(registry, server, data_folder):
    server.bodies["/set.zip"] = zipped(
        {"Exp_1_2/vectors.dat": b"# c\n+1 1:2\n-1 2:1\n", "Exp_1_2/features.idx": b"1 paintball\n2 fishing\n"}
    )
    (path,) = registry("/set.zip", **ARCHIVE)
    assert path == data_folder / "archives" / "a.zip"
    data = load_dataset("techtc", set="Exp_1_2")
    assert data.X.toarray().tolist() == [[0, 2], [1, 0]]
    assert registry("/set.zip", **ARCHIVE) == [path]
    assert server.requests == ["/set.zip"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (zipped({"../../evil": b"x"}), "would leave its folder"),
        (zipped({"bomb": b"\0" * 100_000}), "expands to more than the registered 5000 bytes"),
        (b"PK but no archive", "damaged zip archive"),
    ],
)
def test_a_refused_archive_leaves_nothing(registry, server, data_folder, tmp_path, body, message):
    server.bodies["/set.zip"] = body
    with pytest.raises(ValueError, match=message):
        registry("/set.zip", **ARCHIVE)
    assert everything(data_folder) == []
    assert not list(tmp_path.rglob("evil"))


def test_without_any_address_only_a_mirror_helps(registry, data_folder):
    with pytest.raises(MissingDataError, match=r"thing0: the file set/file.bin is missing. It can only be "
                       r"taken from a mirror folder.*set PROVSEL_DATA_MIRROR to a folder"):  # fmt: skip
        registry()
    assert not data_folder.exists()


def test_forms_stand_in_for_each_other(tmp_path, server, caplog):
    good = {"path": "a", "sha256": SHA, "size": len(GOOD), "urls": [server.url("/good")], "format": "bin"}
    entry = dict.fromkeys(("title", "citation", "licence", "homepage"), "x")
    bad = {**good, "path": "b", "urls": [server.url("/missing")]}
    entry |= {"name": "pair", "files": [{**bad, "forms": ["one", "two"]}, {**good, "forms": ["three"]}]}
    (tmp_path / "pair.yaml").write_text(yaml.safe_dump(entry))
    assert [path.name for path in fetch("pair", registry=tmp_path)] == ["a"]
    assert "b: left out, as the data set can be loaded without it: could not fetch b of pair" in caplog.text
    entry |= {"name": "both", "files": [{**bad, "forms": ["one", "two"]}, {**good, "forms": ["two"]}]}
    (tmp_path / "both.yaml").write_text(yaml.safe_dump(entry))
    with pytest.raises(FetchError, match="could not fetch b of both"):
        fetch("both", registry=tmp_path)


def test_progress_is_shown(registry, server, tmp_path, capsys):
    registry("/good")
    (tmp_path / "data" / "set" / "file.bin").unlink()
    fetch("thing0", registry=tmp_path / "registry", progress=True)
    assert capsys.readouterr().err == "download set/file.bin (0.1 MB)\n"


def test_names(data_folder):
    assert fetch("synthetic") == []
    with pytest.raises(ValueError, match=r"no source named 'nothing'; registered sources are .*techtc"):
        fetch("nothing")
    assert not data_folder.exists()


def test_data_dir_takes_the_place_of_the_variable(registry, server, tmp_path, data_folder):
    registry("/good")
    (path,) = fetch("thing0", registry=tmp_path / "registry", data_dir=tmp_path / "elsewhere")
    assert path == tmp_path / "elsewhere" / "set" / "file.bin"


def test_script(monkeypatch, capsys):
    path = Path(__file__).parents[2] / "data_scripts" / "fetch.py"

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["fetch.py", *arguments])
        with pytest.raises(SystemExit) as stop:
            runpy.run_path(str(path), run_name="__main__")
        return stop.value.code

    assert run("synthetic", "digits", "--quiet") == 0
    assert capsys.readouterr().out == "synthetic  needs no files\ndigits     needs no files\n"
    assert run("nothing") == 2
    assert "provsel: no source named 'nothing'" in capsys.readouterr().err
    assert run() == 2
