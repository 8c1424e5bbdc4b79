"""A browser, pages that are watched, and the reports that it opens."""

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from browsing import Visits, find_chromium, made_once
from playwright.sync_api import sync_playwright

from provlab.cli import main

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))


@pytest.fixture(scope="session")
def chromium():
    return find_chromium()


# One a module, not one a session: while it is open, its event loop is in the way of
# other tests that need their own.
@pytest.fixture(scope="module")
def browser(chromium):
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def visits(browser):
    """Open pages; at the end of the test none of them may have complained or asked for anything outside."""
    visits = Visits(browser)
    yield visits
    visits.close()
    assert visits.problems == []


def write_seen(folder, *, evil):
    """Make the project of `seen_paper` with an audit, and its report."""
    from seen_paper import seen_report

    with pytest.MonkeyPatch.context() as patch:
        seen_report(folder, patch, evil=evil)
        assert (
            main(
                [
                    "audit",
                    "executor=serial",
                    "--fraction",
                    "0.1",
                    "--limit",
                    "5",
                    "--seed",
                    "1",
                ]
            )
            == 0
        )
        assert main(["report"]) == 0


@pytest.fixture(scope="session")
def report(chromium, tmp_path_factory):
    """The report of a small paper: eight data sets, a figure without its data, an audit, and readings of a claim."""
    return (
        made_once(
            tmp_path_factory, "made", lambda folder: write_seen(folder, evil=False)
        )
        / "results"
        / "report"
    )


@pytest.fixture(scope="session")
def hostile(chromium, tmp_path_factory):
    return (
        made_once(
            tmp_path_factory, "hostile", lambda folder: write_seen(folder, evil=True)
        )
        / "results"
        / "report"
    )


def write_answers(folder):
    """Make a table, and the pages of `select` and `run` on it."""
    rng = np.random.default_rng(0)
    table = (
        pd.DataFrame(rng.standard_normal((80, 6)))
        .add_prefix("a_long_name_of_column_")
        .assign(y=["a", "b"] * 40)
    )
    table.loc[table["y"] == "b", "a_long_name_of_column_2"] += 2
    folder.joinpath("table.csv").write_text(table.to_csv(index=False))
    data = ["dataset=file", "dataset.path=table.csv", "dataset.target=y"]
    methods = ["selector=rrqr,uniform,full", "selector.n_features_to_select=1,3"]
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PROVSEL_PROJECT", raising=False)
        patch.chdir(folder)
        assert (
            main(
                [
                    "select",
                    "table.csv",
                    "y",
                    "--methods=f_test,rrqr",
                    "--folds=4",
                    "--jobs=1",
                    "--out=selected",
                ]
            )
            == 0
        )
        assert main(["run", "-m", *data, *methods, "protocol.n_splits=4"]) == 0
        assert main(["report"]) == 0


@pytest.fixture(scope="session")
def answers(chromium, tmp_path_factory):
    """A folder with pages that begin with an answer."""
    return made_once(tmp_path_factory, "answers", write_answers)
