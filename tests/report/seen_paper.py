"""A paper whose report has every kind of page: computed, not run, read in two ways; or with evil names."""

import json

from made_paper import SCRIPT, enter, write_paper
from provlab.cli import main

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>&amp;{{ 7*7 }}</script><!-- ]]> ünï ✓ 数 "

FIGURE = """# @package _global_
defaults:
  - override /dataset: synthetic
dataset: {n_samples: 60, n_features: 600, n_relevant: 20}
protocol: {repeats: 1, n_splits: 3, draws: 1, certify: true}
artefact:
  title: Seen on eight data sets
  differs: The print rounds.
  rows: {Lvg: [selector=leverage], Random: [selector=uniform], Full: [selector=full]}
  columns: {"10": [selector.n_features_to_select=10], "30": [selector.n_features_to_select=30]}
  datasets: {sets}
"""

ABSENT = """# @package _global_
defaults:
  - override /dataset: techtc
artefact:
  title: Without its data
  rows: {Lvg: [selector=leverage], Random: [selector=uniform]}
  columns: {r=30: [selector.n_features_to_select=30]}
"""

CLAIMS = """
paper: seen2020
margins: {same: {points: 1.0, why: Nobody would see less.}}
claims:
  - {id: seen2020.lvg, where: Figure 1, claim: Leverage-score sampling beats random selection.,
     artefact: seen2020/figure, test: better,
     parameters: {row: Lvg, than: Random, columns: ["30"], over: datasets, margin: same}}
  - {id: seen2020.random, where: Figure 1, claim: Random selection beats all features., artefact: seen2020/figure,
     test: better, parameters: {row: Random, than: Full, columns: ["10", "30"], over: datasets, margin: same}}
  - {id: seen2020.absent, where: Figure 2, claim: The same on text., artefact: seen2020/absent,
     test: better, parameters: {row: Lvg, than: Random, columns: [r=30], over: datasets, margin: same}}
"""

READINGS = """
paper: seen2020
places:
  - {id: method, asks: What is Lvg?, where: Section 2, touches: {seen2020/figure: [Lvg]},
     options: {sampling: [], a coin: [selector=uniform]}}
  - {id: C, asks: Which C?, where: nowhere, touches: {seen2020/figure: [Lvg]}, options: {"1": [], "2": [model.C=2]}}
"""

PUBLISHED = """artefact,row,column,dataset,printed_value,printed_sd
figure,Lvg,10,set 1,12.50,1.5
figure,Lvg,30,set 1,not said,
figure,Full,10,set 2,99,0.01
"""

NOTES = """# Notes on Seen (2020)

What we read into it: `alpha` is **one** <script>alert(1)</script>.
"""


def seen_paper(folder, monkeypatch, *, evil=False):
    """Make a project with the paper, and return the paper's folder; evil: names and texts are `EVIL`."""
    sets = {f"set {k}": {"choose": [f"dataset.seed={k}"]} for k in range(1, 9)}
    published = PUBLISHED
    readings = READINGS
    files = {
        "figure.yaml": FIGURE.replace("{sets}", json.dumps(sets)),
        "absent.yaml": ABSENT,
        "claims.yaml": CLAIMS,
    }
    if evil:
        text = json.dumps(EVIL)
        files = {
            name: content.replace("Lvg:", f"{text}:").replace('"set 1"', text)
            for name, content in files.items()
        }
        for old in (
            "Seen on eight data sets",
            "Leverage-score sampling beats random selection.",
            "Figure 1",
        ):
            files = {
                name: content.replace(old, text) for name, content in files.items()
            }
        files["claims.yaml"] = files["claims.yaml"].replace("row: Lvg", f"row: {text}")
        published = ""
        readings = ""
    scripts = {
        name: SCRIPT.format(name=name).replace("made2000", "seen2020")
        for name in ("figure", "absent")
    }
    files |= {f"{name}.py": script for name, script in scripts.items()}
    files |= {"published.csv": published, "readings.yaml": readings, "NOTES.md": NOTES}
    enter(folder, monkeypatch)
    return write_paper(folder, "seen2020", files)


def seen_report(folder, monkeypatch, *, evil=False):
    """Make the paper, compute its figure and, where it is not evil, its readings; return the folder of the report."""
    seen_paper(folder, monkeypatch, evil=evil)
    assert main(["reproduce", "seen2020/figure", "executor=serial"]) == 0
    if not evil:
        assert main(["readings", "seen2020", "executor=serial"]) == 0
    assert main(["report"]) == 0
    return folder / "results" / "report"
