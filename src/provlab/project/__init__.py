"""The current project: its folders, its papers, and the classes that its configs can name."""

from provlab.project.papers import (
    Paper,
    artefact_file,
    artefact_names,
    full_name,
    paper_of,
    papers,
    reproduce_command,
    short_name,
    some_artefacts,
)
from provlab.project.project import Project, conf_dirs, conf_files, current_project, package_conf, tool

__all__ = [
    "Paper", "Project", "artefact_file", "artefact_names", "conf_dirs", "conf_files", "current_project", "full_name",
    "package_conf", "paper_of", "papers", "reproduce_command", "short_name", "some_artefacts", "tool",
]  # fmt: skip
