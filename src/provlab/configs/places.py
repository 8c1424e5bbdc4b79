"""Where configs and artefacts are, and what they are called."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
_INSTALLED = Path(__file__).resolve().parents[1] / "conf"


def tool(name: str) -> str:
    """Return how a command of this environment is called from the checkout: .venv/bin/<name> where that is it."""
    environment = Path(sys.prefix)
    return f"{environment.name}/bin/{name}" if environment.parent == ROOT else name


def conf_dir() -> Path:
    """Return the folder of configs: inside an installed package, or at the top of a checkout."""
    return _INSTALLED if _INSTALLED.is_dir() else ROOT / "conf"


def experiments_dir() -> Path:
    """Return the folder of artefact scripts and printed numbers, which only a checkout has."""
    return ROOT / "experiments"


def artefact_names() -> list[str]:
    """Return the names paper/artefact of all experiment configs."""
    root = conf_dir() / "experiment"
    return sorted(path.relative_to(root).with_suffix("").as_posix() for path in root.glob("*/*.yaml"))


def full_name(name: str) -> str:
    """Return paper/artefact of an artefact's name with or without its paper.

    Raises
    ------
    ValueError
        For a name that no artefact has.
    """
    known = artefact_names()
    found = [full for full in known if name in (full, full.split("/")[1])]
    if not found:
        raise ValueError(f"artefact: expected one of {', '.join(full.split('/')[1] for full in known)}, got {name!r}.")
    return found[0]
