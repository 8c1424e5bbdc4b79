"""A local server that has what the registered addresses have, as far as a mirror folder holds it."""

import gzip
import http.server
import lzma
import re
import threading
from contextlib import contextmanager
from functools import cache
from urllib.parse import urlsplit

from provlab.datasets import read_source, source_names
from provlab.datasets.registry import SOURCES

TOP = "CIFAR-10-images-d7d05618061fe37d830fb0419063d113c575ccbc"
"""The folder that GitHub puts the files of a commit into."""


class _Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_GET(self):
        self.server.requests.append(self.path)
        body = self.server.bodies.get(self.path)
        if body is None:
            self.send_error(404)
            return
        content = body()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def serving(mirror, folder):
    """Yield a server, and write to `folder` the registry that names it in place of every host.

    Each file is served at its first address alone, in the form in which it is published: what the mirror has packed is
    unpacked, and what it has unpacked from the folder of a commit gets that folder again. The rest answers 404.
    """
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        server.requests, server.bodies = [], {}
        for name in source_names():
            text = (SOURCES / f"{name}.yaml").read_text()
            host = f"http://127.0.0.1:{server.server_address[1]}/"
            (folder / f"{name}.yaml").write_text(re.sub(r"(?<=- )https?://", host, text))
            for file in read_source(name).files:
                body = _body(mirror, file.path) if file.urls else None
                if body is not None:
                    parts = urlsplit(file.urls[0])
                    server.bodies[f"/{parts.netloc}{parts.path}"] = cache(body)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def _body(mirror, path):
    """Return a function that gives the published file, or None when the mirror has nothing like it."""
    if path == "raw/cifar10/CIFAR-10-images.tar.gz":
        return lambda: _repacked(mirror / "cifar10" / "cifar10_jpeg.tar.xz")
    if path == "raw/cifar10/cifar10_labels.js":
        return lambda: lzma.decompress((mirror / "cifar10" / "cifar10_labels.js.xz").read_bytes())
    for packed in (mirror / f"{path}.xz", mirror / "raw" / f"{path}.xz"):
        if packed.is_file():
            return lambda: lzma.decompress(packed.read_bytes())
    return (mirror / path).read_bytes if (mirror / path).is_file() else None


def _repacked(path):
    """Return a .tar.gz as GitHub makes it: all files in one folder.

    Headers are edited where they stand, as tarfile takes ten seconds for 60,000 of them.
    """
    tar, at = bytearray(lzma.decompress(path.read_bytes())), 0
    while tar[at]:
        header = tar[at : at + 512]
        header[:100] = (f"{TOP}/".encode() + header[:100].rstrip(b"\0")).ljust(100, b"\0")
        header[148:156] = b" " * 8  # as which the checksum counts itself
        header[148:156] = b"%06o\0 " % sum(header)
        assert len(header) == 512
        tar[at : at + 512] = header
        at += 512 * (1 + -(-int(header[124:135], 8) // 512))
    return gzip.compress(tar, 1)
