"""Where the documentation of a class is: the `?` beside an estimator in a notebook."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, metadata


@cache
def documentation() -> str:
    """Return the address of the documentation that the installed distribution names, or nothing."""
    try:
        addresses = metadata("provsel").get_all("Project-URL") or []
    except PackageNotFoundError:  # the sources alone, on the path
        return ""
    named = dict(each.split(", ", 1) for each in addresses)
    return named.get("Documentation", "").rstrip("/")


class DocumentedMixin:
    """Tells scikit-learn's HTML display which page of the documentation describes the class."""

    _doc_link_module = "provsel"

    @property
    def _doc_link_template(self) -> str:
        address = documentation()
        return f"{address}/reference/generated/{{page}}.html" if address else ""

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        package = ".".join(type(self).__module__.split(".")[:2])
        return {"page": f"{package}.{type(self).__name__}"}
