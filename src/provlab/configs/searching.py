"""Where Hydra looks for configs: the project's groups, the package's below them, and the artefacts of papers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import DictConfig, ListConfig, OmegaConf

from provlab.configs.plain import CELL_GROUPS
from provlab.nearest import did_you_mean
from provlab.project import artefact_file, artefact_names, conf_dirs, conf_file, conf_files, package_conf


class ProjectSearchPath(SearchPathPlugin):
    """Puts the project's config groups before the package's, in the processes that compose configs of provsel."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Add the folders that the package does not have."""
        for folder in reversed(conf_dirs()):
            if folder != package_conf():
                search_path.prepend("provsel-project", f"file://{folder}")


GROUPS = (*CELL_GROUPS, "executor")
_MEMBERS = re.compile(rf"\+*({'|'.join(GROUPS)})=([\w.-]+)")
"""A choice of a member of a group by its name; globs and references are Hydra's, and sweeps compose each job."""


def check_members(overrides: Iterable[str]) -> None:
    """Refuse members of config groups that are not there: Hydra says it in forty lines.

    Raises
    ------
    ValueError
        Names those that there are, and the nearest.
    """
    for text in overrides:
        choice = _MEMBERS.fullmatch(text)
        if choice and conf_file(*choice.groups()) is None:
            group, name = choice.groups()
            known = [path.stem for path in conf_files(group)]
            raise ValueError(
                f"{group}: expected one of {', '.join(known)}, got {name!r:.80}"
                + (did_you_mean(name, known) or "; provsel list says what they are.")
            )


def prepare_hydra(overrides: Iterable[str] = ()) -> None:
    """Tell Hydra of the project: to be called before it starts, each time, as the files may have changed.

    It copies all that it knows for each config, so that it knows only the artefacts that the overrides name; all where
    they name none by its whole name, as for a glob or a mistake.
    """
    overrides = [*overrides]
    check_members(overrides)
    if ProjectSearchPath not in Plugins.instance().discover(SearchPathPlugin):
        Plugins.instance().register(ProjectSearchPath)
    text = "\n".join(text for text in overrides if "experiment" in text)
    if not text:
        return
    store, names = ConfigStore.instance(), artefact_names()
    store.repo.pop("experiment", None)
    for name in [name for name in names if name in text] or names:
        paper, _, artefact = name.partition("/")
        path = artefact_file(name)
        node = _loaded(path, path.stat().st_mtime_ns)
        if isinstance(node, DictConfig):
            store.store(group=f"experiment/{paper}", name=artefact, node=node, package="_global_", provider="provsel")


@lru_cache(maxsize=1024)
def _loaded(path: Path, changed: int) -> DictConfig | ListConfig:
    """Return a file's content, read again when it has changed: a process composes thousands of configs."""
    return OmegaConf.load(path)
