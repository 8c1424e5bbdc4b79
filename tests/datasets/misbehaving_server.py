"""A local server that can misbehave in every way we know, and a registry of one file that it serves."""

import hashlib
import http.server
import threading

import pytest
import yaml

from provlab.datasets import fetch

GOOD = bytes(range(256)) * 500
CUT = 100_000
"""Bytes that a broken transfer sends."""

KEPT = 65536
"""Bytes among them that reach the file where the server has said how many would come: whole blocks."""

SHA = hashlib.sha256(GOOD).hexdigest()
PAGE = b"\n <!DOCTYPE HTML><html><body>Please log in</body></html>"


class Server(http.server.ThreadingHTTPServer):
    """Counts requests; the path says how to behave."""

    def __init__(self):
        self.requests = []
        self.ranges = []
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
        asked = self.headers.get("Range", "")
        self.server.ranges.append(asked)
        if asked and self.path == "/beyond":
            self.send_error(416)
            return
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked and "range" in self.path else 0
        self.send_response(206 if start else 200)
        if start:
            shown = start + 7 if self.path == "/wrong_range" else start
            self.send_header("Content-Range", f"bytes {shown}-{len(body) - 1}/{len(body)}")
        body = body[start:]
        if self.path not in ("/endless", "/cut_without_length"):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.path == "/endless":
            for _ in range(10_000):
                try:
                    self.wfile.write(b"\0" * 65536)
                except OSError:
                    return
        elif self.path.startswith("/cut") or (self.path.endswith("_once") and count == 1):
            self.wfile.write(body[:CUT])
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
