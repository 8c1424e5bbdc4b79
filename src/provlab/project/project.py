"""The current project: its folder, configs, papers and trusted code, and the creation of new projects."""

from __future__ import annotations

import keyword
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from provlab.project.documents import parse_toml, read_as, read_text
from provsel.files import replacing_folder

FILE = "provsel.toml"
VARIABLE = "PROVSEL_PROJECT"
"""Environment variable with the root of the project, for processes started elsewhere."""

TEMPLATE = "my-study"
"""Name of the project in `template`, whose module is `my_study`."""


@dataclass(frozen=True)
class Settings:
    """Settings in a project's file; folders are within the project's folder."""

    papers: str = "experiments"
    conf: str = "conf"
    trust: tuple[str, ...] = ()
    methods: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("papers", "conf"):
            path = Path(getattr(self, name))
            if path.is_absolute() or ".." in path.parts:
                raise ValueError(
                    f"{name}: expected a folder within the project's, such as {getattr(Settings, name)!r}, got "
                    f"{str(path)!r:.80}."
                )
        for name in self.trust:
            if not name.isidentifier():
                raise ValueError(
                    f'trust: expected top-level modules such as ["sklearn"], got {name!r:.80}.'
                )
            if name in sys.stdlib_module_names:
                raise ValueError(
                    f"trust: expected modules of estimators, got {name!r}, a module of Python itself that can run "
                    f"any code; leave it out, and rename your own module if it has this name."
                )


@dataclass(frozen=True)
class Project:
    """A folder with provsel.toml, or with [tool.provsel] in its pyproject.toml.

    Attributes
    ----------
    root : Path
    papers : Path or None
        Folder of the papers; None outside of any project.
    conf : Path or None
        Folder of the project's own config groups.
    trust : tuple of str
        Top-level modules whose classes a config may name, in addition to provsel's.
        Only the project's file can extend the list.
    methods : mapping of str
        Appearance of methods in figures, by name in artefacts, see
        `provlab.report.figures.looks`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from provlab import Project
    >>> Project(Path("."), trust=("my_study",)).trust
    ('my_study',)
    """

    root: Path
    papers: Path | None = None
    conf: Path | None = None
    trust: tuple[str, ...] = field(default=())
    methods: Mapping[str, str] = field(default_factory=dict, hash=False)

    @classmethod
    def find(cls, start: Path | None = None) -> Project:
        """Return the project that contains `start`, by default the working directory; an empty project otherwise.

        Raises
        ------
        ValueError
            If the project file is not TOML or has other settings.
        """
        named = os.environ.get(VARIABLE) if start is None else None
        folder = Path(named or start or "").absolute()
        for root in (folder,) if named else (folder, *folder.parents):
            if (stated := _stated(root)) is not None:
                settings: Settings = read_as(Settings, stated, f"project {root}")
                folders = root / settings.papers, root / settings.conf
                return cls(root, *folders, settings.trust, settings.methods)
        if named:
            raise ValueError(
                f"{VARIABLE}: expected a folder with {FILE}, got {named!r}; correct it, or unset it to look for "
                f"the project from the working directory upwards."
            )
        return cls(folder)


def current_project() -> Project:
    """Return the project of this process, see `Project.find`; it is searched again if its file changes."""
    place = os.environ.get(VARIABLE), os.getcwd()
    project, changed = _known.get(place, (None, ()))
    if project is None or changed != _changed(project.root):
        project = Project.find()
        _known[place] = project, _changed(project.root)
    return project


_known: dict[tuple[str | None, str], tuple[Project, tuple[int, ...]]] = {}


def _changed(root: Path) -> tuple[int, ...]:
    """Return the modification times of the possible project files."""
    times = []
    for name in (FILE, "pyproject.toml"):
        path = f"{root}/{name}"
        times.append(os.stat(path).st_mtime_ns if os.path.exists(path) else 0)
    return tuple(times)


def tool(name: str) -> str:
    """Return how to call a command of this environment from the project: .venv/bin/<name> if it exists."""
    environment = Path(sys.prefix)
    return (
        f"{environment.name}/bin/{name}"
        if environment.parent == current_project().root
        else name
    )


@cache
def package_conf() -> Path:
    """Return the folder of the package's config groups, in an installed wheel or a checkout."""
    inside = Path(__file__).resolve().parents[1]
    return inside / "conf" if (inside / "conf").is_dir() else inside.parents[1] / "conf"


def conf_dirs() -> list[Path]:
    """Return the folders of config groups, with the project's own, which takes precedence, first."""
    folders = [current_project().conf, package_conf()]
    return list(
        dict.fromkeys(
            folder for folder in folders if folder is not None and folder.is_dir()
        )
    )


def conf_files(group: str) -> list[Path]:
    """Return the files of a config group, sorted by name."""
    by_name = {
        path.name: path
        for folder in reversed(conf_dirs())
        for path in (folder / group).glob("*.yaml")
    }
    return [by_name[name] for name in sorted(by_name)]


def _stated(root: Path) -> dict[str, Any] | None:
    """Return the content of a project's file; None if there is none."""
    for name, inside in ((FILE, ()), ("pyproject.toml", ("tool", "provsel"))):
        path = root / name
        if not path.is_file():
            continue
        try:
            content: Any = parse_toml(read_text(path))
        except ValueError as error:
            if inside:
                continue  # another tool reports its faults
            raise ValueError(
                f"{path}: expected TOML, got {error}; see docs/your_data.md."
            ) from error
        for part in inside:
            content = content.get(part) if isinstance(content, dict) else None
        if isinstance(content, dict):
            return content
    return None


def new_project(folder: Path) -> list[str]:
    """Create a project, and return its files.

    Parameters
    ----------
    folder : Path
        Folder that does not exist yet; its name becomes that of the project's module.

    Raises
    ------
    ValueError
        If the folder exists, or its name is not a valid or not a free module name.
    """
    module = folder.name.replace("-", "_").lower()
    if not re.fullmatch(r"[a-z]\w*", module):
        raise ValueError(
            f"new: expected a name of letters, digits and hyphens, got {folder.name!r:.80}; choose another."
        )
    if folder.exists():
        raise ValueError(
            f"new: expected a folder that does not exist yet, got {folder}; choose another name."
        )
    if keyword.iskeyword(module) or find_spec(module) is not None:
        raise ValueError(
            f"new: expected a name that no installed Python module has, got {folder.name!r:.80}, whose module "
            f"{module}.py would hide the other; choose another name."
        )
    template = Path(__file__).parent / "template"
    names = []
    with replacing_folder(folder) as temporary:
        for source in sorted(
            path
            for path in template.rglob("*")
            if path.is_file() and path.suffix != ".pyc"
        ):
            name = (
                source.relative_to(template)
                .as_posix()
                .replace("my_study", module)
                .replace("gitignore", ".gitignore")
            )
            (temporary / name).parent.mkdir(parents=True, exist_ok=True)
            text = (
                source.read_text(encoding="utf-8")
                .replace("my_study", module)
                .replace(TEMPLATE, folder.name)
            )
            (temporary / name).write_text(text, encoding="utf-8", newline="\n")
            names.append(name)
    return names
