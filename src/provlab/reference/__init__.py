"""The reference results: what a full run gave, small enough to be committed, and checked by every later version.

`provsel reference` writes them from what is stored, one artefact at a time, as a run of all takes long (`writing`,
`parts`); `readme` says what is older than the code. Nothing in them is computed in another way than by the commands
that they document: tables and figures by the artefacts' recipes, verdicts as `provsel verify`.
The project's texts state them (`provlab.texts`).
"""

from provlab.reference.contents import Contents
from provlab.reference.readme import README, readme, write_readme
from provlab.reference.writing import FOLDER, MAX_BYTES, write_readings, write_reference

__all__ = [
    "FOLDER", "MAX_BYTES", "README", "Contents", "readme", "write_readings", "write_readme", "write_reference",
]  # fmt: skip
