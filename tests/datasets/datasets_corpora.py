"""Small corpora in both TechTC forms."""

import lzma
from collections import Counter

SMALL = [
    (1, [b"paintball", b"gear", b"paintball", b"s\xa0pace"]),
    (-1, [b"river", b"gear", b"fishing"]),
    (-1, []),
    (1, [b"the", b"paintball"]),
]


def tokens_bytes(documents):
    lines = [b" ".join([b"+1" if label > 0 else b"-1", b"a", *words]) for label, words in documents]
    return b"".join(line + b"\n" for line in lines)


def official_bytes(documents, order=None):
    """Return vectors.dat and features.idx; `order` permutes the indices of the words."""
    words = sorted({word for _, words in documents for word in words})
    if order is not None:
        words = [words[i] for i in order]
    index = {word: i for i, word in enumerate(words, start=1)}
    features = b"# Features\n#\n" + b"".join(b"%d %s\n" % (i, word) for word, i in index.items())
    vectors = b"# Vectors\n"
    for number, (label, document) in enumerate(documents):
        counts = Counter(document)
        pairs = b" ".join(b"%d:%d" % (index[word], count) for word, count in sorted(counts.items()))
        vectors += b"# document %d\n%s %s\n" % (number, b"+1" if label > 0 else b"-1", pairs)
    return vectors, features


def write_tokens(root, name, documents):
    path = root / "techtc100" / "tokens" / f"{name}.txt.xz"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress(tokens_bytes(documents)))
    return path


def write_official(root, name, documents, collection="techtc300"):
    folder = root / collection / name
    folder.mkdir(parents=True)
    vectors, features = official_bytes(documents)
    (folder / "vectors.dat").write_bytes(vectors)
    (folder / "features.idx").write_bytes(features)
    return folder
