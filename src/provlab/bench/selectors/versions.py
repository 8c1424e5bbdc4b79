"""Versions of the packages whose code ranks features."""

from __future__ import annotations

import importlib.metadata

from provlab.project.messages import to_install


def check_version(subject: str, package: str, stated: str | None) -> None:
    """Raise ImportError, which is not counted as a method's failure, if a package or its version is missing."""
    installed = installed_version(package)
    if installed is None:
        raise ModuleNotFoundError(
            f"{subject}: expected the package {package}, got none; {to_install('benchmark')}.",
            name=package,
        )
    if stated is not None and not f"{installed}.".startswith(f"{stated}."):
        raise ImportError(
            f"{subject}: expected {package} {stated}, got {installed}, which would change the keys of trials; install "
            f"{package} {stated}, or set selector.version={installed}."
        )


def installed_version(package: str) -> str | None:
    """Return the installed version of a package; None if it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
