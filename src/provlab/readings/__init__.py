"""Readings: every defensible way to read the open places of a paper, and what each claim becomes under all of them."""

from provlab.readings.packing import trials_file
from provlab.readings.schema import Option, Place, Readings, load_readings, paper_readings
from provlab.readings.study import (
    Outcome,
    print_file,
    readings_changes,
    readings_versions,
    stored_made,
    stored_outcome,
    universes_file,
)
from provlab.readings.universes import Multiverse, Universe

__all__ = [
    "Multiverse", "Option", "Outcome", "Place", "Readings", "Universe", "load_readings", "paper_readings", "print_file",
    "readings_changes", "readings_versions", "stored_made", "stored_outcome", "trials_file", "universes_file",
]  # fmt: skip
