"""What the report shows of a claim under other readings."""

import math

import pandas as pd
import pytest
from studies import made_study

from provlab.cli import main
from provlab.readings import stored_outcome
from provlab.site.build import build_report
from provlab.site.collect_readings import MAX_UNIVERSES, claim_readings


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


def readings_of(results):
    from provlab.claims.judged import all_claim_files

    return claim_readings(all_claim_files(), results)


def test_a_page_has_what_the_command_found(results):
    found = readings_of(results)["known2000.better"]
    assert [place.id for place in found.places] == ["method", "C"]
    assert (found.n_universes, found.n_run, found.default, found.same) == (4, 4, "replicated", 0.5)
    assert found.flips == (("method=a coin", "no difference"),)
    effects = [line.effect for line in found.universes]
    assert effects == sorted(effects)
    assert [line.options for line in found.universes if line.is_default] == [("elimination", "1")]
    assert math.isnan(found.printed)


def test_the_report_shows_them(results):
    build_report(results, n_jobs=1)
    page = (results / "report" / "claims" / "known2000.better.html").read_text()
    assert "Would it hold under another reading?" in page
    assert "method=a coin" in page
    assert 'data-draws="curve"' in page


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
        assert readings_of(results) == {}
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


def test_very_many_universes_are_thinned_and_keep_their_ends_and_the_defaults(results, monkeypatch):
    monkeypatch.setattr("provlab.site.collect_readings.MAX_UNIVERSES", 2)
    found = readings_of(results)["known2000.better"]
    assert found.n_run == 4
    kept = [line.effect for line in found.universes]
    assert len(kept) in (2, 3)
    assert any(line.is_default for line in found.universes)
    assert MAX_UNIVERSES >= 100
