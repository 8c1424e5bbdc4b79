"""A local server that can misbehave in every way we know, and a registry of files that it serves."""

import hashlib
import http.server
import threading

import pytest
import yaml

from provlab.datasets import read_source

GOOD = bytes(range(256)) * 500
SHA = hashlib.sha256(GOOD).hexdigest()
PAGE = b"\n <!DOCTYPE HTML><html><body>Please log in</body></html>"
TEXTS = dict.fromkeys(("title", "citation", "licence", "homepage"), "x")


class Server(http.server.ThreadingHTTPServer):
    """Counts requests; the path says how to behave."""

    def __init__(self):
        self.requests = []
        self.bodies = {"/other": GOOD[::-1], "/page": PAGE, "/empty": b""}
        super().__init__(("127.0.0.1", 0), Handler)

    def url(self, path):
        return f"http://127.0.0.1:{self.server_address[1]}{path}"


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_GET(self):
        self.server.requests.append(self.path)
        body = self.server.bodies.get(self.path, GOOD)
        if self.path in ("/missing", "/down") or (self.path == "/flaky" and self.server.requests.count(self.path) < 2):
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
                self.wfile.write(body[:100_000] if self.path.startswith("/cut") else body)
            except OSError:
                return


@pytest.fixture
def server():
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Return a function that writes an entry of a registry, which is then the one of the package."""
    folder = tmp_path / "registry"
    folder.mkdir()
    monkeypatch.setattr("provlab.datasets.registry.SOURCES", folder)
    read_source.cache_clear()

    def entry(source, *files, **changes):
        content = {**TEXTS, "name": source, "files": list(files), **changes}
        (folder / f"{source}.yaml").write_text(yaml.safe_dump(content))
        read_source.cache_clear()

    yield entry
    read_source.cache_clear()


def plain(*urls, path="set/file.bin", content=GOOD, **changes):
    """Return the entry of a published file."""
    sha256 = hashlib.sha256(content).hexdigest()
    return {"path": path, "sha256": sha256, "size": len(content), "urls": [*urls], "format": "bin", **changes}


def made(path="set/file.xz", source="raw/file", **changes):
    """Return the entry of a file that is made of another."""
    hashes = {"content_sha256": SHA, "max_size": 10**6}
    return {"path": path, **hashes, "format": "xz", "made_from": [source], "converter": "pack_xz"} | changes
