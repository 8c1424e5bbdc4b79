"""Errors of the data layer; each says what is wrong, what was expected, what was found and what to do."""


class MissingDataError(FileNotFoundError):
    """A file that a data set needs is in none of the searched folders; `dataset` names what to fetch, where known."""

    dataset: str = ""


class DataIntegrityError(ValueError):
    """A file is there, but is not the registered one: other hash, other size, or an error page."""


class FetchError(OSError):
    """No address of a file could be downloaded."""
