"""Small files in the forms of what the converters read: pickles of protocol 0, R data files, a repository's archive."""

import io
import struct
import tarfile

import numpy as np

# ---- pickles, as Python 2 and NumPy wrote them


class Written:
    """A pickle under way; `parts` are joined at the end."""

    def __init__(self):
        self.parts, self.memo = [], 0

    def put(self, text):
        self.parts.append(text)
        return self

    def remember(self):
        self.memo += 1
        return self.put(b"p%d\n" % (self.memo - 1))

    def string(self, content):
        plain = {**{byte: b"%c" % byte for byte in range(32, 127)}, 92: b"\\\\", 39: b"\\'", 10: b"\\n"}
        return self.put(b"S'" + b"".join(plain.get(b, b"\\x%02x" % b) for b in content) + b"'\n").remember()


def token_pickle(first, second):
    """Return a pickle of two halves; each is a list of pairs of a label, 0 or 1, and a list of tokens."""
    out = Written().put(b"(")
    kind = None
    for half in (first, second):
        out.put(b"((l").remember()
        for _, tokens in half:
            out.put(b"(l").remember()
            for token in tokens:
                out.string(token).put(b"a")
            out.put(b"a")
        out.put(b"cnumpy.core.multiarray\n_reconstruct\n").remember().put(b"(cnumpy\nndarray\n").remember()
        out.put(b"(I0\nt").remember().string(b"b").put(b"t").remember().put(b"R").remember()
        out.put(b"(I1\n(L%dL\nt" % len(half)).remember()
        if kind is None:
            out.put(b"cnumpy\ndtype\n").remember().put(b"(").string(b"i4").put(b"I0\nI1\nt").remember().put(b"R")
            kind = out.memo
            out.remember().put(b"(I3\n").string(b"<").put(b"NNNI-1\nI-1\nI0\nt").remember().put(b"b")
        else:
            out.put(b"g%d\n" % kind)
        out.put(b"I00\n").string(struct.pack(f"<{len(half)}i", *(label for label, _ in half)))
        out.put(b"t").remember().put(b"bt").remember()
    return b"".join(out.put(b"t").remember().put(b".").parts)


HALVES = (
    [(1, [b"alpha", b"be'ta", b"gam\xa0ma"]), (0, [b"door"]), (1, [])],
    [(0, [b"alpha", b"back\\slash"]), (1, [b"alpha", b'dou"ble'])],
)
TOKEN_TEXT = b"+1 a alpha be'ta gam\xa0ma\n-1 b alpha back\\slash\n-1 a door\n+1 b alpha dou\"ble\n+1 a\n"

# ---- R data files


def word(number):
    return struct.pack(">i", number)


def text(content):
    return word(9) + (word(-1) if content is None else word(len(content)) + content)


class Names:
    """Writes names as symbols: as such once, and by their number from then on."""

    def __init__(self):
        self.known = []

    def symbol(self, name):
        if name in self.known:
            return word(255 | (self.known.index(name) + 1) << 8)
        self.known.append(name)
        return word(1) + text(name)

    def pairs(self, **values):
        """Return a pair list; values that name symbols are functions, as symbols are numbered in the file's order."""
        content = b""
        for name, value in values.items():
            content += word(2 | 0x400) + self.symbol(name.encode())
            content += value() if callable(value) else value
        return content + word(254)

    def vector(self, kind, content, **attributes):
        return word(kind | 0x200 * bool(attributes)) + content + (self.pairs(**attributes) if attributes else b"")

    def doubles(self, values, **attributes):
        array = np.asarray(values, dtype=">f8")
        return self.vector(14, word(array.size) + array.tobytes(), **attributes)

    def integers(self, values, **attributes):
        return self.vector(13, word(len(values)) + np.asarray(values, dtype=">i4").tobytes(), **attributes)

    def texts(self, values):
        return self.vector(16, word(len(values)) + b"".join(map(text, values)))

    def list(self, values, names):
        content = word(len(values)) + b"".join(values)
        return self.vector(19, content, names=self.texts(names))


def r_stream(objects, version=2):
    """Return the bytes of a file, before they are packed."""
    encoding = word(5) + b"UTF-8" if version == 3 else b""
    return b"RDX%d\nX\n" % version + word(version) + word(0x30303) + word(0x20300) + encoding + objects


# ---- a repository


def repository(names, top="made-0123/", mode="w:gz"):
    """Return an archive as a repository's host packs one: a comment, a folder named after the commit, sorted."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode, format=tarfile.PAX_FORMAT, pax_headers={"comment": "0123"}) as archive:
        for name in ["", *sorted(names)]:
            info = tarfile.TarInfo(top + name)
            if name.endswith("/") or not name:
                info.type = tarfile.DIRTYPE
                archive.addfile(info)
                continue
            info.size = len(name)
            archive.addfile(info, io.BytesIO(name.encode()))
    return file.getvalue()


# ---- the page of TechTC


def page_row(number, one, two, documents, accuracy="0.75"):
    link = '<td align="center"><a href="http://www.dmoz.org/Arts/{0}">{0}</a></td>'
    rest = "".join(f"<td>{value}</td>" for value in (documents, accuracy, 1, 1, 1, 1, 1))
    return f"<tr>\n<td>{number}</td>\n{link.format(one)}\n{link.format(two)}{rest}</tr>\n"


def page(*rows):
    return ("<table><tr><th>No.</th></tr>" + "".join(rows) + "</table>").encode()
