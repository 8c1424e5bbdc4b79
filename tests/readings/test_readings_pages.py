"""What the report shows of a claim under other readings."""

from pathlib import Path

import pandas as pd
import pytest

from provlab.custody.artefact_results import readings_of
from provlab.verdicts.claims.schema import all_claim_files
from provlab.verdicts.readings.study import stored_outcome


@pytest.fixture
def universes(study):
    """Return the file of all universes; what a test makes of it is undone."""
    path = study / "universes.csv"
    text = path.read_text()
    yield path
    path.write_text(text)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "verdict",
            "verdct",
            "expected the columns claim, method, C, strictness, table-unit, verdict",
        ),
        (
            "known2000.better",
            "known2000.other",
            "expected claims of known2000, got 'known2000.other'",
        ),
        ("a coin", "a dice", r"expected options of method \(.*\), got 'a dice'"),
        (
            ",complete",
            ',complete,"one more',
            "expected the columns claim, method, C, strictness, table-unit, verdict",
        ),
    ],
)
def test_what_no_longer_fits_is_left_out_with_a_warning(
    universes, caplog, old, new, message
):
    universes.write_text(universes.read_text().replace(old, new))
    with pytest.raises(ValueError, match=message + ".*run provsel readings again"):
        stored_outcome("known2000", Path("results"))
    assert readings_of(all_claim_files(), Path("results")) == {}
    assert "the readings of known2000 cannot be shown" in caplog.text


def test_a_place_that_came_later_touches_nothing_that_was_asked_before(universes):
    before = stored_outcome("known2000", Path("results")).universes
    assert set(before["table-unit"]) == {""}
    pd.read_csv(universes, dtype=str, keep_default_na=False).drop(
        columns="table-unit"
    ).to_csv(universes, index=False)
    pd.testing.assert_frame_equal(
        stored_outcome("known2000", Path("results")).universes, before
    )
