"""Data sets of the first release keep the seeds that their published numbers were computed with."""

import json
from pathlib import Path

from provlab.core import keys
from provlab.core.artefact import compose_artefact
from provlab.core.cell import trial_seed
from provlab.core.keys import seed_from, split_seed, trial_key
from provlab.core.plan import identity_of, unique_cells
from provlab.project.documents import canonical_json, digest
from provlab.project.papers import artefact_names
from small_runs import DATASET, UNIFORM, small_cell

SYNTHETIC = {
    "name": "synthetic",
    "n_samples": 200,
    "n_features": 1000,
    "n_relevant": 50,
    "seed": 0,
}
LATER = (
    "paul2016/theorems",
    "wang2018/ofs-growth",
    "wang2018/ofs-section3",
    "giesen2013/theorem5-growth",
)
"""Artefacts that came after the first release and have data sets of their own, which are seeded by their keys."""

CONTENT = "c775e5c6c6d7ad16736e699c10454031761295b578095b6528b7c82d92a8e657"


def test_every_data_set_of_the_artefacts_is_listed_and_nothing_else():
    then = [name for name in artefact_names() if name not in LATER]
    cells = unique_cells(cell for name in then for cell in compose_artefact(name).cells)
    listed = json.loads(
        Path(keys.__file__).with_name("first_release.json").read_text(encoding="utf-8")
    )
    assert {cell.data for cell in cells} == set(listed)
    assert len(set(listed.values())) == len(listed)


def test_they_are_seeded_as_when_keys_held_the_digest_of_their_content():
    cell = small_cell(UNIFORM, dataset=SYNTHETIC)
    assert keys.first_content(cell.data) == CONTENT
    then = {name: value for name, value in cell.identity.items() if name != "data"} | {
        "fingerprint": CONTENT
    }
    assert trial_seed(cell, 1, 2, 0) == seed_from(
        digest({"cell": then, "repeat": 1, "fold": 2, "draw": 0})
    )
    assert split_seed(cell.data, 3, 0, 1) == seed_from(
        digest({"split": [CONTENT, 3, 0, 1]})
    )


def test_all_others_are_seeded_by_their_key():
    cell = small_cell(UNIFORM)
    assert cell.data == identity_of(DATASET)
    assert keys.first_content(cell.data) is None
    assert trial_seed(cell, 1, 2, 0) == seed_from(
        trial_key(canonical_json(cell.identity), 1, 2, 0)
    )
    assert split_seed(cell.data, 3, 0, 1) == seed_from(
        digest({"split": [cell.data, 3, 0, 1]})
    )
