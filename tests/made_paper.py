"""A paper of its own in a project of its own, for the tests of commands that look at all artefacts and claims."""

from provlab.verdicts.claims.stored import artefact_layout

CLAIMS = """
paper: made2000
margins: {same: {points: 1.0, why: Nobody would see less.}}
claims:
  - id: made2000.zero
    where: Table 1
    claim: BSS makes no errors.
    artefact: made2000/table
    test: zero_error
    parameters: {row: BSS, columns: [r=30, r=40], at_most: 100}
  - id: made2000.bound
    where: Lemma 2
    claim: BSS meets its bound.
    artefact: made2000/table
    test: certificates
    parameters: {row: BSS, columns: [r=30, r=40], quantity: spectral}
  - id: made2000.folds
    where: Table 1
    claim: Leverage-score sampling is better than random selection.
    artefact: made2000/table
    test: better
    parameters: {row: Lvg, than: Random, columns: [r=30], over: folds, margin: same}
  - id: made2000.text
    where: Figure 1
    claim: BSS is better than random selection.
    artefact: made2000/text
    test: better
    parameters: {row: BSS, than: Random, columns: [r=30], over: datasets, margin: same}
rankings:
  - {artefact: made2000/table, rows: [BSS, Lvg, Random], columns: [r=30]}
"""

ARTEFACT = """# @package _global_
defaults:
  - override /dataset: {dataset}
artefact:
  title: Made
  rows: {{BSS: [selector=bss], Lvg: [selector=leverage], Random: [selector=uniform]}}
  columns: {{r=30: [selector.n_features_to_select=30], r=40: [selector.n_features_to_select=40]}}
"""

SCRIPT = """
from provlab.report.figures.curves import draw_curves
from provlab.core.recipe import Recipe, Rendering
from provlab.core.tables import cell_text, write_tables


def render(made: Rendering) -> str:
    frame, sizes = made.frame, list(made.artefact.config.artefact.columns)
    draw_curves(frame.assign(column=frame["column"].str.removeprefix("r=")), made.figures, "", ylabel="test error (%)")
    lines = frame.drop_duplicates(["row", "column"]).set_index(["row", "column"])
    rows = [[row, *(cell_text(lines, row, size) for size in sizes)] for row in made.artefact.config.artefact.rows]
    return write_tables(made.tables, ["", *sizes], rows, caption=made.artefact.title, note=made.note)


RECIPE = Recipe("made2000/{name}", render, unit="test error (%)")
"""

PUBLISHED = """artefact,row,column,dataset,printed_value,printed_sd
table,BSS,r=30,,12.50,1.5
table,Lvg,r=40,,not said,
"""

NOTES = """# Notes on Made (2000)

What we read into it: `alpha` is **one** <script>alert(1)</script>.

| place | choice |
|---|---|
| Table 1 | all |
"""


def write_paper(folder, paper, files):
    """Make a project with a paper of some files, and return the paper's folder."""
    room = folder / "experiments" / paper
    room.mkdir(parents=True)
    for name, content in files.items():
        if content:
            (room / name).write_text(content, encoding="utf-8")
    (folder / "provsel.toml").write_text("")
    return room


def enter(folder, monkeypatch):
    """Enter a project, where no data are: another test may have one with the same names."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PROVSEL_PROJECT", str(folder))
    monkeypatch.setenv("PROVSEL_DATA", str(folder / "no-data"))
    monkeypatch.delenv("PROVSEL_DATA_MIRROR", raising=False)
    artefact_layout.cache_clear()


def made_paper(folder, monkeypatch):
    """Make a project with a paper of two artefacts, one without data, enter it, and return the paper's folder."""
    files = {"claims.yaml": CLAIMS, "published.csv": PUBLISHED, "NOTES.md": NOTES}
    for name, dataset in (("table", "synthetic"), ("text", "techtc")):
        files |= {
            f"{name}.yaml": ARTEFACT.format(dataset=dataset),
            f"{name}.py": SCRIPT.format(name=name),
        }
    enter(folder, monkeypatch)
    return write_paper(folder, "made2000", files)
