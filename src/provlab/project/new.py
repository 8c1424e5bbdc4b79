"""A new project: files that work at once, to be changed one after the other."""

from __future__ import annotations

import keyword
import re
from importlib.util import find_spec
from pathlib import Path

from provsel.files import replacing_folder

NAME = "my-study"
"""Of the template: the folder, and `my_study` for the module."""


def new_project(folder: Path) -> list[str]:
    """Make a project, and return its files.

    Parameters
    ----------
    folder : Path
        Must not be there yet; its name becomes that of the project's module.

    Raises
    ------
    ValueError
        The folder is there, or its name cannot be that of a module, or is that of another one.
    """
    module = folder.name.replace("-", "_").lower()
    if not re.fullmatch(r"[a-z]\w*", module):
        raise ValueError(
            f"new: expected a name of letters, digits and hyphens, got {folder.name!r:.80}; choose another."
        )
    if folder.exists():
        raise ValueError(f"new: expected a folder that is not there yet, got {folder}; choose another name.")
    if keyword.iskeyword(module) or find_spec(module) is not None:
        raise ValueError(
            f"new: expected a name that no other Python module has, got {folder.name!r:.80}, and with it {module}.py, "
            f"which would hide that module or be hidden by it; choose another."
        )
    template = Path(__file__).parent / "template"
    made = []
    with replacing_folder(folder) as temporary:
        for source in sorted(path for path in template.rglob("*") if path.is_file() and path.suffix != ".pyc"):
            name = (
                source.relative_to(template).as_posix().replace("my_study", module).replace("gitignore", ".gitignore")
            )
            (temporary / name).parent.mkdir(parents=True, exist_ok=True)
            text = source.read_text(encoding="utf-8").replace("my_study", module).replace(NAME, folder.name)
            (temporary / name).write_text(text, encoding="utf-8", newline="\n")
            made.append(name)
    return made
