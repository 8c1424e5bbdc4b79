"""Where Hydra looks for configs: the project's groups, the package's below them, and the artefacts of papers."""

from __future__ import annotations

from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import DictConfig, OmegaConf

from provlab.project import artefact_file, artefact_names, conf_dirs, package_conf


class ProjectSearchPath(SearchPathPlugin):
    """Puts the project's config groups before the package's, in the processes that compose configs of provsel."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Add the folders that the package does not have."""
        for folder in reversed(conf_dirs()):
            if folder != package_conf():
                search_path.prepend("provsel-project", f"file://{folder}")


def prepare_hydra() -> None:
    """Tell Hydra of the project: to be called before it starts, each time, as the files may have changed."""
    if ProjectSearchPath not in Plugins.instance().discover(SearchPathPlugin):
        Plugins.instance().register(ProjectSearchPath)
    store = ConfigStore.instance()
    store.repo.pop("experiment", None)
    for name in artefact_names():
        paper, _, artefact = name.partition("/")
        node = OmegaConf.load(artefact_file(name))
        if isinstance(node, DictConfig):
            store.store(group=f"experiment/{paper}", name=artefact, node=node, package="_global_", provider="provsel")
