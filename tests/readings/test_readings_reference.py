"""What the reference keeps of the readings of a paper."""

import shutil

import pandas as pd
import pytest
from studies import made_study

from provlab.cli import main
from provlab.reference import Reference


@pytest.fixture
def results(tmp_path, monkeypatch):
    made_study(tmp_path, monkeypatch)
    return tmp_path / "results"


def test_a_letter_stays_where_no_readings_came(results):
    """What data it is about stands in readings.yaml, which may be another by then."""
    assert main(["reproduce", "known2000/table", "executor=serial"]) == 0
    assert main(["readings", "known2000", "--letter", "executor=serial"]) == 0
    assert main(["reference"]) == 0
    letter = results / "reference" / "readings" / "known2000" / "letter.md"
    assert letter.read_bytes() == (results / "readings" / "known2000" / "letter.md").read_bytes()
    letter.write_text("Of the data of then.\n")
    shutil.move(results / "readings", results / "later")
    assert main(["reference"]) == 0
    assert letter.read_text() == "Of the data of then.\n"
    shutil.move(results / "later", results / "readings")
    assert main(["reference"]) == 0
    assert "defensible reading" in letter.read_text()


def test_what_is_left_out_of_the_data_is_not_waited_for(results):
    """A claim on data that the part has not has no verdict, but everything that was planned of it is there."""
    assert main(["readings", "known2000", "executor=serial"]) == 0
    universes = results / "readings" / "known2000" / "universes.csv"
    lines = pd.read_csv(universes, dtype=str, keep_default_na=False)
    full = lines["claim"] == "known2000.full"
    n, n_full = len(lines), int(full.sum())

    def judged(state):
        lines.loc[full, ["verdict", "state"]] = "not run", state
        lines.to_csv(universes, index=False)
        assert main(["reference", "--readings"]) == 0
        return Reference.read(results / "reference").judged["known2000/table"]

    assert judged("complete") == (n - n_full, n - n_full)
    assert "verdicts of" not in (results / "reference" / "README.md").read_text()
    assert judged("not run") == (n - n_full, n)
    assert f"so far {n - n_full} verdicts of {n}" in (results / "reference" / "README.md").read_text()
