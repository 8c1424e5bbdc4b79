"""Objects of R as the bytes that its `save` writes."""

import numpy as np


def r(kind, content, **attributes):
    """Return an R object as the bytes of `save`: its attributes are pairs of a name and another object."""
    flags = kind | (0x200 if attributes else 0)
    return integer(flags) + content + (pairs(attributes) if attributes else b"")


def integer(number):
    return int(number).to_bytes(4, "big", signed=True)


def text(value):
    return integer(9) + (
        integer(-1) if value is None else integer(len(value)) + value.encode()
    )


def pairs(objects):
    return b"".join(
        integer(0x402) + integer(1) + text(name) + value
        for name, value in objects.items()
    ) + integer(254)


def texts(*values):
    return r(16, integer(len(values)) + b"".join(map(text, values)))


def vector(values, **attributes):
    values = np.asarray(values)
    kind = 14 if values.dtype.kind == "f" else 13
    big = values.astype(">f8" if kind == 14 else ">i4")
    return r(kind, integer(values.size) + big.tobytes(), **attributes)
