"""Where Hydra looks for configs: the project's groups, the package's below them, and the artefacts of papers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from hydra._internal.core_plugins.file_config_source import FileConfigSource
from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins
from hydra.errors import ConfigCompositionException
from hydra.plugins.config_source import ConfigResult
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import OmegaConf

from provlab.configs.plain import CELL_GROUPS
from provlab.configs.reading import read_config
from provlab.messages import did_you_mean
from provlab.project import artefact_file, artefact_names, conf_dirs, conf_file, conf_files, package_conf


class ProjectSearchPath(SearchPathPlugin):
    """Puts the project's config groups before the package's, in the processes that compose configs of provsel."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Add the folders that the package does not have."""
        for folder in reversed(conf_dirs()):
            if folder != package_conf():
                search_path.prepend("provsel-project", f"{ProjectConfigs.scheme()}://{folder}")


class ProjectConfigs(FileConfigSource):
    """A project's config groups: of its other files, and of what its files say of Hydra, Hydra sees nothing."""

    @staticmethod
    def scheme() -> str:
        """Return what stands before the folder."""
        return "provsel"

    def is_group(self, config_path: str) -> bool:
        """Tell whether there is a folder of that name in a group of cells or executors, or it is the whole."""
        return config_path.split("/")[0] in ("", *GROUPS) and super().is_group(config_path)

    def is_config(self, config_path: str) -> bool:
        """Tell whether there is a file of that name in a group of cells or executors."""
        return config_path.split("/")[0] in GROUPS and super().is_config(config_path)

    def load_config(self, config_path: str) -> ConfigResult:
        """Return the content of a file that `read_config` takes, in the package of its group."""
        try:
            content = read_config(config_path.split("/")[0], Path(self.path, self._normalize_file_name(config_path)))
        except ValueError as error:  # Hydra shows its own errors without their stack
            raise ConfigCompositionException(str(error)) from error
        return ConfigResult(self.provider, self.full_path(), OmegaConf.create(content), header={"package": None})


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
        Plugins.instance().register(ProjectConfigs)
    text = "\n".join(text for text in overrides if "experiment" in text)
    if not text:
        return
    store, names = ConfigStore.instance(), artefact_names()
    store.repo.pop("experiment", None)
    for name in [name for name in names if name in text] or names:
        paper, _, artefact = name.partition("/")
        node = OmegaConf.create(read_config("", artefact_file(name)))
        store.store(group=f"experiment/{paper}", name=artefact, node=node, package="_global_", provider="provsel")
