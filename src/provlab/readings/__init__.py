"""Readings: every defensible way to read the open places of a paper, and what each claim becomes under all of them."""

from provlab.readings.schema import Option, Place, Readings, load_readings, paper_readings
from provlab.readings.stored import stored_made, stored_outcome
from provlab.readings.study import Outcome, readings_changes, readings_versions
from provlab.readings.universes import Multiverse, Universe

__all__ = [
    "Multiverse", "Option", "Outcome", "Place", "Readings", "Universe", "load_readings", "paper_readings",
    "readings_changes", "readings_versions", "stored_made", "stored_outcome",
]  # fmt: skip
