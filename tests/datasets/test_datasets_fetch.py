"""Downloads against a local server that can misbehave in every way we know."""

import hashlib
import http.server
import importlib.util
import io
import logging
import socket
import sys
import threading
import zipfile
from pathlib import Path

import pytest
import yaml

from provsel.datasets import DataIntegrityError, FetchError, MissingDataError, fetch, load_dataset
from provsel.datasets._lock import read_lock

GOOD = bytes(range(256)) * 500
SHA = hashlib.sha256(GOOD).hexdigest()
PAGE = b"\n <!DOCTYPE HTML><html><body>Please log in</body></html>"


class Server(http.server.ThreadingHTTPServer):
    """Counts requests; the path says how to behave."""

    def __init__(self):
        self.requests = []
        self.bodies = {"/good": GOOD, "/other": GOOD[::-1], "/page": PAGE, "/xhtml": b"<?xml version='1.0'?>" + PAGE}
        super().__init__(("127.0.0.1", 0), Handler)

    def url(self, path):
        return f"http://127.0.0.1:{self.server_address[1]}{path}"


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_GET(self):
        self.server.requests.append(self.path)
        count = self.server.requests.count(self.path)
        body = self.server.bodies.get(self.path, GOOD)
        if self.path == "/missing":
            self.send_error(404)
            return
        if self.path == "/down" or (self.path == "/flaky" and count <= 2):
            self.send_error(503)
            return
        self.send_response(200)
        if self.path not in ("/endless", "/cut_without_length"):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.path == "/endless":
            for _ in range(10_000):
                try:
                    self.wfile.write(b"\0" * 65536)
                except OSError:
                    return
        elif self.path.startswith("/cut") or (self.path == "/flaky_cut" and count == 1):
            self.wfile.write(body[:1000])
        elif self.path != "/empty":
            self.wfile.write(body)


@pytest.fixture
def server():
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def registry(tmp_path, server):
    """Return a function that writes a registry of one file and fetches it."""
    folder = tmp_path / "registry"
    folder.mkdir()
    number = iter(range(100))

    def run(*paths, retries=3, **changes):
        urls = [path if path.startswith("http") else server.url(path) for path in paths]
        file = {"path": "set/file.bin", "sha256": SHA, "size": len(GOOD), "urls": urls, "format": "bin", **changes}
        name = f"thing{next(number)}"  # entries are cached by name
        entry = dict.fromkeys(("title", "citation", "licence", "homepage"), "x") | {"name": name, "files": [file]}
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(entry))
        return fetch(name, registry=folder, retries=retries, backoff=0.001, timeout=5)

    return run


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
        ("/other", DataIntegrityError, f"expected SHA-256 {SHA}, found {hashlib.sha256(GOOD[::-1]).hexdigest()}"),
        ("/page", DataIntegrityError, "answers with a web page, expected bin; probably an error page"),
        ("/xhtml", DataIntegrityError, "answers with a web page"),
        ("/endless", DataIntegrityError, f"sends more than the registered {len(GOOD)} bytes of set/file.bin"),
        ("/missing", FetchError, r"/missing: 404 .*\(1 attempts\)"),
        ("/down", FetchError, r"/down: 503 .*\(3 attempts\)"),
        ("/cut", FetchError, r"/cut: .*\(3 attempts\)"),
        ("/cut_without_length", FetchError, f"the transfer was cut: 1000 of {len(GOOD)} bytes arrived"),
        ("/empty", FetchError, r"/empty: .*\(3 attempts\)"),
    ],
)
def test_what_is_not_the_file_leaves_nothing(registry, server, data_folder, path, error, message):
    with pytest.raises(error, match=message) as caught:
        registry(path, retries=2)
    assert server.url(path) in str(caught.value)
    assert "could not fetch set/file.bin of thing0" in str(caught.value)
    assert "Nothing was kept" in str(caught.value)
    assert everything(data_folder) == []
    assert len(server.requests) == (3 if "3 attempts" in str(caught.value) else 1)


def test_a_failed_download_keeps_the_earlier_lock(registry, data_folder):
    registry("/good", sha256=None)
    (data_folder / "set" / "file.bin").unlink()
    lock = read_lock(data_folder)
    with pytest.raises(FetchError, match="503"):
        registry("/down", retries=0, sha256=None)
    assert read_lock(data_folder) == lock
    assert everything(data_folder) == ["sources.lock.yaml"]


@pytest.mark.parametrize("path", ["/flaky", "/flaky_cut"])
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
    with pytest.raises(MissingDataError, match=r"1 of 1 files are missing, among them set/file.bin. They can only be "
                       r"taken from a mirror folder.*set PROVSEL_DATA_MIRROR to a folder"):  # fmt: skip
        registry()
    assert not data_folder.exists()


def test_files_that_only_a_mirror_has_are_left_out_beside_others(tmp_path, server, caplog):
    good = {"path": "a", "sha256": SHA, "size": len(GOOD), "urls": [server.url("/good")], "format": "bin"}
    entry = dict.fromkeys(("title", "citation", "licence", "homepage"), "x")
    entry |= {"name": "pair", "files": [{**good, "path": "b", "urls": []}, good]}
    (tmp_path / "pair.yaml").write_text(yaml.safe_dump(entry))
    with caplog.at_level(logging.INFO, "provsel"):
        paths = fetch("pair", registry=tmp_path)
    assert [path.name for path in paths] == ["a"]
    assert "pair: 1 files without a public address are in no mirror; left out" in caplog.text


def test_progress_is_shown(registry, server, tmp_path, capsys):
    registry("/good")
    (tmp_path / "data" / "set" / "file.bin").unlink()
    fetch("thing0", registry=tmp_path / "registry", progress=True)
    assert "set/file.bin" in capsys.readouterr().out


def test_names(data_folder):
    assert fetch("synthetic") == []
    with pytest.raises(ValueError, match=r"no source named 'nothing'; registered sources are .*techtc"):
        fetch("nothing")
    assert not data_folder.exists()


def test_data_dir_takes_the_place_of_the_variable(registry, server, tmp_path, data_folder):
    registry("/good")
    (path,) = fetch("thing0", registry=tmp_path / "registry", data_dir=tmp_path / "elsewhere")
    assert path == tmp_path / "elsewhere" / "set" / "file.bin"


@pytest.fixture
def script(monkeypatch):
    path = Path(__file__).parents[2] / "data_scripts" / "fetch.py"
    spec = importlib.util.spec_from_file_location("data_scripts_fetch", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["fetch.py", *arguments])
        return module.main()

    return run


def test_script(script, monkeypatch, capsys):
    assert script("synthetic", "digits", "--quiet") == 0
    assert script("nothing") == 1
    assert "fetch.py: no source named 'nothing'" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        script()
