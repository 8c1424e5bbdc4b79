"""What the report shows of a claim under other readings."""

import pandas as pd
import pytest
from studies import made_study

from provlab.claims.schema import all_claim_files
from provlab.cli import main
from provlab.readings.stored import stored_outcome
from provlab.report.build import build_report
from provlab.report.claim import readings_of


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    here = tmp_path_factory.mktemp("pages")
    with pytest.MonkeyPatch.context() as patch:
        made_study(here, patch)
        assert main(["readings", "known2000", "executor=serial"]) == 0
    return here


@pytest.fixture
def results(project, monkeypatch):
    monkeypatch.setenv("PROVSEL_PROJECT", str(project))
    monkeypatch.chdir(project)
    return project / "results"


def shown(results):
    """Return what the pages of claims show of readings."""
    return readings_of(all_claim_files(), results)


def test_a_page_has_what_the_command_found(results):
    robustness, outcome = shown(results)["known2000.better"]
    assert outcome.places_of("known2000.better") == {"method": ["elimination", "a coin"], "C": ["1", "2"]}
    assert (robustness.n_universes, robustness.n_run, robustness.default, robustness.same) == (4, 4, "replicated", 0.5)
    build_report(results)
    page = (results / "report" / "claims" / "known2000.better.html").read_text()
    for words in ("Would it hold under another reading?", "method=a coin", 'data-draws="curve"', 'class="default"'):
        assert words in page


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("verdict", "verdct", "expected the columns method, C, strictness, table-unit, claim"),
        ("known2000.better", "known2000.other", "expected claims of known2000, got 'known2000.other'"),
        ("a coin", "a dice", r"expected options of method \(.*\), got 'a dice'"),
        (",complete", ',complete,"one more', "expected the columns method, C, strictness, table-unit, claim"),
    ],
)
def test_what_no_longer_fits_is_left_out_with_a_warning(results, caplog, old, new, message):
    path = results / "readings" / "known2000" / "universes.csv"
    kept = path.read_text()
    path.write_text(kept.replace(old, new))
    try:
        with pytest.raises(ValueError, match=message + ".*run provsel readings again"):
            stored_outcome("known2000", results)
        assert shown(results) == {}
        assert "the readings of known2000 cannot be shown" in caplog.text
    finally:
        path.write_text(kept)


def test_a_place_that_came_later_touches_nothing_that_was_asked_before(results):
    path = results / "readings" / "known2000" / "universes.csv"
    kept = path.read_text()
    before = stored_outcome("known2000", results)
    path.write_text(pd.read_csv(path, dtype=str, keep_default_na=False).drop(columns="table-unit").to_csv(index=False))
    try:
        after = stored_outcome("known2000", results)
    finally:
        path.write_text(kept)
    assert set(after.universes["table-unit"]) == {""}
    assert list(after.universes["verdict"]) == list(before.universes["verdict"])
