"""A paper with a known truth: of its open places one turns the claim, the others do not."""

from made_paper import enter, write_paper

ARTEFACT = """# @package _global_
defaults:
  - override /dataset: synthetic
dataset: {n_samples: 100, n_features: 300, n_relevant: 6}
protocol: {repeats: 1, n_splits: 10, draws: 1, certify: false, setting: unsupervised}
artefact:
  title: Known truth
  summary: {scale: 1.0}
  rows: {RFE: [selector=rfe], Random: [selector=uniform], Full: [selector=full]}
  columns: {r=4: [selector.n_features_to_select=4], r=6: [selector.n_features_to_select=6]}
"""

SCRIPT = """
from provlab.core.frames import error_summary
from provlab.core.recipe import Recipe

def summarise(entry, trials, *, scale):
    assert set(trials["n_features"]) == {300}  # no claim reads this column
    return [{**line, "value": scale * line["value"]} for line in error_summary(entry, trials)]

RECIPE = Recipe("known2000/table", lambda made: "", summarise=summarise, columns=("error", "n_features"))
"""

CLAIMS = """
paper: known2000
margins: {same: {points: 1.0, why: Nobody would see less.}}
claims:
  - id: known2000.better
    where: Table 1
    claim: RFE is better than random selection.
    artefact: known2000/table
    test: better
    parameters: {row: RFE, than: Random, columns: [r=4, r=6], over: folds, margin: same}
  - id: known2000.full
    where: Table 1
    claim: Without selection at most half of the rows are classified wrongly.
    artefact: known2000/table
    test: zero_error
    parameters: {row: Full, columns: [r=4], at_most: 50}
"""

READINGS = """
paper: known2000
places:
  - id: method
    asks: What is RFE?
    where: Section 2
    touches: {known2000/table: [RFE]}
    options:
      elimination: []
      a coin: [selector=uniform]
  - id: C
    asks: Which C?
    where: nowhere
    touches: {known2000/table: all}
    options:
      "1": []
      "2": [model.C=2, selector.C=2]
  - id: strictness
    asks: How many errors are too many?
    where: nowhere
    touches: {known2000/table: [Full]}
    options:
      half: []
      none at all: {parameters: {at_most: -1.0}}
  - id: table-unit
    asks: In which unit does the table print errors?
    where: Table 1
    touches: {known2000/table: all}
    options:
      percent: []
      shares: [artefact.summary.scale=0.01]
"""


def made_study(folder, monkeypatch, readings=READINGS, published=""):
    """Make a project with the paper, and return the paper's folder."""
    files = {
        "table.yaml": ARTEFACT,
        "table.py": SCRIPT,
        "claims.yaml": CLAIMS,
        "readings.yaml": readings,
    }
    enter(folder, monkeypatch)
    return write_paper(folder, "known2000", files | {"published.csv": published})
