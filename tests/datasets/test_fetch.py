"""Fetches from a local server that can misbehave in every way we know: a whole file, or none and the reason."""

import hashlib
import http.server
import lzma
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
import yaml

from provlab.cli import main
from provlab.data import (
    DataIntegrityError,
    FetchError,
    UnreachableError,
    fetch,
    load_dataset,
    locate,
    read_source,
    usable,
)

GOOD = bytes(range(256)) * 500
SHA = hashlib.sha256(GOOD).hexdigest()
TEXTS = dict.fromkeys(("title", "citation", "licence", "homepage"), "x")


class _Server(http.server.ThreadingHTTPServer):
    def __init__(self):
        self.requests, self.bodies = [], {"/other": GOOD[::-1], "/empty": b""}
        super().__init__(("127.0.0.1", 0), _Handler)

    def url(self, path):
        return f"http://127.0.0.1:{self.server_address[1]}{path}"


class _Handler(http.server.BaseHTTPRequestHandler):
    """The path says how to behave."""

    def log_message(self, *args):
        pass

    def do_GET(self):
        self.server.requests.append(self.path)
        body = self.server.bodies.get(self.path, GOOD)
        if self.path in ("/missing", "/down") or (
            self.path == "/flaky" and self.server.requests.count(self.path) < 2
        ):
            self.send_error(404 if self.path == "/missing" else 503)
            return
        self.send_response(302 if self.path == "/moved" else 200)
        if self.path == "/moved":
            self.send_header("Location", "/good")
            body = b""
        if self.path not in ("/endless", "/cut_without_length"):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        for _ in range(1000 if self.path == "/endless" else 1):
            try:
                self.wfile.write(
                    body[:100_000] if self.path.startswith("/cut") else body
                )
            except OSError:
                return


@pytest.fixture(scope="module")
def running_server():
    with _Server() as running:
        thread = threading.Thread(
            target=running.serve_forever, kwargs={"poll_interval": 0.01}
        )
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def server(running_server):
    running_server.requests.clear()
    return running_server


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Return a function that writes an entry of a registry, which is then the one of the package."""
    folder = tmp_path / "registry"
    folder.mkdir()
    monkeypatch.setattr("provlab.data.registry.SOURCES", folder)

    def entry(source, *files):
        (folder / f"{source}.yaml").write_text(
            yaml.safe_dump({**TEXTS, "name": source, "files": list(files)})
        )
        read_source.cache_clear()

    yield entry
    read_source.cache_clear()


def plain(*urls, path="set/file.bin", content=GOOD, **changes):
    """Return the entry of a published file."""
    sha256 = hashlib.sha256(content).hexdigest()
    return {
        "path": path,
        "sha256": sha256,
        "size": len(content),
        "urls": [*urls],
        "format": "bin",
        **changes,
    }


MADE = {
    "path": "set/file.xz", "sha256": "0" * 64, "content_sha256": SHA, "format": "xz", "made_from": ["raw/file"],
    "converter": "pack_xz",
}  # fmt: skip


def everything(folder):
    return sorted(
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()
    )


def run(name, **options):
    """Fetch a data set and return the paths of its files; raise the first reason why it cannot be loaded."""
    [obtained] = fetch([name], **{"retries": 0, **options}).values()
    if not usable(obtained):
        raise next(item.error for item in obtained if item.error is not None)
    return [item.path for item in obtained if item.path is not None]


def test_a_file_is_fetched_once(write, server, data_folder):
    write("thing", plain(server.url("/moved")))
    (path,) = run("thing")
    assert path == data_folder / "set" / "file.bin"
    assert path.read_bytes() == GOOD
    assert run("thing") == [path]
    assert server.requests == ["/moved", "/good"]
    path.write_bytes(b"tampered")
    run("thing")
    assert path.read_bytes() == GOOD
    assert everything(data_folder) == ["set/file.bin"]
    assert fetch(["synthetic"]) == {"synthetic": []}


def test_a_file_in_the_mirror_is_not_downloaded(write, server, mirror, data_folder):
    write("thing", plain(server.url("/good")))
    path = mirror / "set" / "file.bin"
    path.parent.mkdir()
    path.write_bytes(GOOD)
    assert run("thing") == [path]
    path.write_bytes(GOOD[:-1])
    with pytest.raises(DataIntegrityError, match=f"expected {len(GOOD)} bytes"):
        run("thing")
    assert server.requests == []
    assert not data_folder.exists()


@pytest.mark.parametrize(
    ("path", "changes", "message"),
    [
        (
            "/other",
            {},
            rf"expected SHA-256 {SHA} .*, found SHA-256 {hashlib.sha256(GOOD[::-1]).hexdigest()}\. Nothing",
        ),
        (
            "/endless",
            {},
            f"the server sends more than the registered {len(GOOD)} bytes",
        ),
        (
            "/endless",
            {"size": None, "max_size": 100_000},
            "the server sends more than the registered 100000 bytes",
        ),
        ("/missing", {}, "404"),
        ("/down", {}, "503"),
        ("/cut", {}, "100000 bytes read"),
        (
            "/cut_without_length",
            {},
            f"expected {len(GOOD)} bytes .*, found 100000 bytes",
        ),
        ("/empty", {}, "found 0 bytes"),
    ],
)
def test_what_is_not_the_file_leaves_nothing(
    write, server, data_folder, path, changes, message
):
    write("thing", plain(server.url(path), **changes))
    with pytest.raises(
        FetchError, match=f"could not fetch set/file.bin of thing: .*{message}"
    ) as caught:
        run("thing")
    assert server.url(path) in str(caught.value)
    assert "Nothing was kept. Try again later" in str(caught.value)
    assert everything(data_folder) == []


def test_addresses_are_tried_in_order_and_all_are_named_when_none_works(write, server):
    write(
        "thing",
        plain(*map(server.url, ["/missing", "/other", "/flaky", "/good", "/never"])),
    )
    assert run("thing", retries=0)[0].read_bytes() == GOOD
    assert server.requests == ["/missing", "/other", "/flaky", "/good"]
    with socket.socket() as unused:  # bound, but not listening: connections are refused
        unused.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{unused.getsockname()[1]}/closed"
        write("closed", plain(closed, server.url("/empty"), path="closed"))
        with pytest.raises(FetchError, match=rf"{closed}: .*refused.*/empty: expected"):
            run("closed")


def test_a_transfer_that_breaks_is_tried_again(write, server):
    write("thing", plain(server.url("/flaky")))
    run("thing", retries=1)
    assert server.requests == ["/flaky"] * 2


@pytest.fixture
def closed():
    """Return addresses of two hosts to which there is no connection: bound, but not listening."""
    with socket.socket() as first, socket.socket() as second:
        for unused in (first, second):
            unused.bind(("127.0.0.1", 0))
        yield [
            f"http://127.0.0.1:{unused.getsockname()[1]}" for unused in (first, second)
        ]


def test_without_a_network_hosts_are_tried_once_and_the_reason_is_said_once(
    write, server, closed, mirror, capsys
):
    first, second = closed
    (mirror / "set").mkdir()
    (mirror / "set" / "converted.xz").write_bytes(lzma.compress(GOOD, preset=1))
    converted = {**MADE, "path": "set/converted.xz", "forms": ["converted"]}
    files = [
        plain(
            f"{first}/{k}",
            f"{second}/{k}",
            server.url("/good"),
            path=f"set/{k}",
            forms=["raw"],
        )
        for k in "abc"
    ]
    write("thing", *files, converted, plain(f"{first}/raw", path="raw/file"))
    write("whole", plain(f"{first}/whole", path="whole"))
    begun = time.monotonic()
    assert main(["fetch", "thing"]) == 0
    assert time.monotonic() - begun < 10  # 27 attempts with pauses took 30 s
    shown = capsys.readouterr()
    assert shown.out.splitlines()[:-1] == [
        "thing  present (1 of 4 files, 0.0 MB); missing but not needed:",
        "         set/a: no network", "         set/b: no network", "         set/c: no network",
    ]  # fmt: skip
    hosts = [host.removeprefix("http://") for host in closed]
    reason = rf"there is no network: {hosts[0]}: .*refused\S*; {hosts[1]}: .*refused\S*; try again later, or put"
    assert re.match(reason, shown.out.splitlines()[-1])
    assert shown.err.splitlines() == ["download set/a (0.1 MB)"]
    assert server.requests == []
    with pytest.raises(
        UnreachableError,
        match=rf"could not fetch whole of whole: {hosts[0]}: .*refused.*a network",
    ):
        run("whole")


def test_one_host_that_is_gone_leaves_the_others(write, server, closed):
    gone = [
        plain(f"{closed[0]}/{k}", server.url("/good"), path=f"set/{k}") for k in "ab"
    ]
    write("thing", *gone)
    assert len(run("thing", retries=2)) == 2
    assert server.requests == ["/good"] * 2


def test_a_converted_file_in_the_mirror_is_not_made_again(
    write, server, mirror, data_folder
):
    (mirror / "set").mkdir()
    (mirror / "set" / "file.xz").write_bytes(lzma.compress(GOOD, preset=1))
    write(
        "thing",
        {**MADE, "urls": [server.url("/packed")]},
        plain(server.url("/good"), path="raw/file"),
    )
    assert run("thing") == [mirror / "set" / "file.xz"]
    assert (server.requests, everything(data_folder)) == ([], [])


def test_forms_stand_in_for_each_other(write, server):
    good = plain(server.url("/good"), path="a")
    bad = plain(server.url("/missing"), path="b")
    write("pair", {**bad, "forms": ["one", "two"]}, {**good, "forms": ["three"]})
    assert [path.name for path in run("pair")] == ["a"]
    write("both", {**bad, "forms": ["one", "two"]}, {**good, "forms": ["two"]})
    with pytest.raises(FetchError, match="could not fetch b of both"):
        run("both")


def test_a_file_is_made_and_its_raw_file_removed(write, server, data_folder):
    write("thing", MADE, plain(server.url("/good"), path="raw/file"))
    (path,) = run("thing")
    assert lzma.decompress(path.read_bytes()) == GOOD
    assert everything(data_folder) == ["set/file.xz"]
    assert locate(read_source("thing").files[0]) == path
    assert run("thing") == [path]
    path.write_bytes(b"tampered")
    run("thing", keep_raw=True)
    assert everything(data_folder) == ["raw/file", "set/file.xz"]
    path.unlink()
    run("thing")  # of the raw file that is there
    assert server.requests == ["/good"] * 2


def test_the_address_comes_before_the_converter(write, server):
    server.bodies["/packed"] = lzma.compress(GOOD, preset=1)
    urls = {"urls": [server.url("/packed")], "max_size": 10**6}
    write("thing", {**MADE, **urls}, plain(server.url("/good"), path="raw/file"))
    assert run("thing")[0].read_bytes() == server.bodies["/packed"]
    assert server.requests == ["/packed"]


@pytest.mark.parametrize(
    ("change", "raw", "message"),
    [
        (
            {"content_sha256": "0" * 64},
            "/good",
            "set/file.xz: the converter pack_xz made a different file from raw/file",
        ),
        ({}, "/missing", "could not fetch raw/file of thing: .* 404 "),
    ],
)
def test_a_file_that_cannot_be_made_leaves_nothing(
    write, server, data_folder, change, raw, message
):
    write("thing", {**MADE, **change}, plain(server.url(raw), path="raw/file"))
    with pytest.raises(FetchError, match=message):
        run("thing")
    assert everything(data_folder) == []


@pytest.fixture
def tables():
    """Return the registered files of the tables, before a test has a registry of its own."""
    return {file.path: file for file in read_source("tables").files}


def test_tables_are_fetched_and_loaded(
    tables, write, server, real_mirror, monkeypatch, data_folder
):
    """One of each form, as it is registered, but that this server has it."""
    chosen = [
        "pmlb/dermatology.tsv.gz",
        "uci_regression/gas.csv.gz",
        "chemometrics/ash.rda",
    ]
    files = []
    for name in chosen:
        path = f"tables/{name}"
        content = (real_mirror / path).read_bytes()
        server.bodies[f"/{path}"] = content
        file = tables[path]
        assert re.match(
            r"https://raw\.githubusercontent\.com/[\w-]+/\w+/[0-9a-f]{40}/",
            file.urls[0],
        )
        files.append(
            plain(
                server.url(f"/{path}"),
                path=path,
                content=content,
                sha256=file.sha256,
                size=file.size,
            )
        )
    monkeypatch.delenv("PROVSEL_DATA_MIRROR")
    write("tables", *files)
    assert len(run("tables")) == 3
    assert server.requests == [f"/tables/{name}" for name in chosen]
    for name, shape in (
        ("dermatology", (366, 34)),
        ("gas", (2565, 128)),
        ("ash", (99, 8)),
    ):
        assert load_dataset("tables", set=name).X.shape == shape


def test_two_fetches_at_once_do_no_harm(write, server, data_folder):
    write(
        "thing",
        MADE,
        plain(server.url("/good"), path="raw/file"),
        plain(server.url("/good")),
    )
    outcomes = []
    threads = [
        threading.Thread(target=lambda: outcomes.append(run("thing"))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (
        outcomes
        == [[data_folder / "set" / "file.xz", data_folder / "set" / "file.bin"]] * 4
    )
    assert everything(data_folder) == ["set/file.bin", "set/file.xz"]


KILLED = """
from pathlib import Path
from provlab.data import fetch, registry
registry.SOURCES = Path({!r})
fetch(["thing"])
"""


def begun_files(folder):
    """Return the files with something in them; a download makes and removes others meanwhile."""
    begun = []
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            begun += [path] * (path.is_file() and path.stat().st_size > 0)
    return begun


def test_a_killed_fetch_leaves_no_half_file(write, server, tmp_path, data_folder):
    write("thing", plain(server.url("/endless"), size=None, max_size=10**12))
    code = KILLED.format(str(tmp_path / "registry"))
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    begun = time.monotonic()
    while not begun_files(data_folder):
        assert time.monotonic() - begun < 60
        assert process.poll() is None
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    [left] = data_folder.iterdir()
    assert left.name.startswith(".fetching-")
    write("thing", plain(server.url("/good")))
    assert run("thing") == [data_folder / "set" / "file.bin"]


def test_the_command_says_what_is_there_and_what_is_not(write, server, capsys):
    write("good", MADE, plain(server.url("/good"), path="raw/file"))
    write(
        "bad",
        *(
            plain(server.url(url), path=f"bad/{k}")
            for k, url in enumerate(["/good", "/other"])
        ),
    )
    either = plain(server.url("/good"), path="either/yes", forms=["one"])
    write(
        "either", either, plain(server.url("/other"), path="either/no", forms=["two"])
    )
    write("many", *(plain(server.url("/other"), path=f"many/{k}") for k in range(8)))
    assert main(["fetch", "all"]) == 1
    shown = capsys.readouterr()
    lines = shown.out.splitlines()
    assert lines[0] == "bad     MISSING (1 of 2 files):"
    assert lines[1].startswith("          bad/1: could not fetch bad/1 of bad: http")
    assert lines[2] == "either  present (1 of 2 files, 0.1 MB); missing but not needed:"
    assert lines[4] == "good    present (1 file, 0.0 MB)"
    assert lines[5] == "many    MISSING (0 of 8 files):"
    assert lines[-1] == "          and 3 more files"
    assert shown.err.splitlines()[:2] == [
        "download bad/0 (0.1 MB)",
        "download bad/1 (0.1 MB)",
    ]
    assert "make set/file.xz" in shown.err
    assert main(["fetch", "good", "either", "digits", "good", "--quiet"]) == 0
    shown = capsys.readouterr()
    assert [line.split()[0] for line in shown.out.splitlines()] == [
        "good",
        "either",
        "either/no:",
        "digits",
    ]
    assert shown.err == ""
    server.requests.clear()
    assert main(["fetch", "many", "nope"]) == 2
    assert (
        "provsel: no source is called 'nope'; registered sources are bad, either"
        in capsys.readouterr().err
    )
    assert server.requests == []


def test_script():
    path = Path(__file__).parents[2] / "data_scripts" / "fetch.py"
    for names, status, said in (
        (["synthetic", "--quiet"], 0, "synthetic  needs no files\n"),
        (["nothing"], 2, ""),
        ([], 2, ""),
    ):
        done = subprocess.run(
            [sys.executable, path, *names], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout) == (status, said)
