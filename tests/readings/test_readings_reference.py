"""What the reference keeps of the readings of a paper."""

import shutil

import pytest
from studies import made_study

from provlab.cli import main


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
