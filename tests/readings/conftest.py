"""A paper with a known truth, whose readings are run once."""

import pytest

from provlab.cli import main
from studies import made_study


@pytest.fixture(scope="session")
def project(tmp_path_factory):
    """Run the study once."""
    folder = tmp_path_factory.mktemp("known")
    with pytest.MonkeyPatch.context() as patch:
        made_study(folder, patch)
        assert main(["readings", "known2000", "executor=serial"]) == 0
    return folder


@pytest.fixture
def study(project, monkeypatch):
    """Enter the project, and return the folder of its readings."""
    monkeypatch.setenv("PROVSEL_PROJECT", str(project))
    monkeypatch.chdir(project)
    return project / "results" / "readings" / "known2000"
