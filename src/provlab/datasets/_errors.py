"""Errors of the data layer; each says what is wrong, what was expected, what was found and what to do."""


class MissingDataError(FileNotFoundError):
    """A file that a data set needs is in none of the searched folders; `dataset` names what to fetch, where known."""

    dataset: str = ""


class DataIntegrityError(ValueError):
    """A file is there, but is not the registered one: other hash, other size, or an error page."""


class FetchError(OSError):
    """No address of a file could be downloaded."""


def bad_line(where: object, number: int, expected: str, got: bytes) -> ValueError:
    """Return the error for a line of a text file, counted from 1."""
    shown = got[:60].decode("latin-1")
    return ValueError(
        f"{where}, line {number}: expected {expected}, got {shown!r}. The file is damaged: fetch it again"
    )
