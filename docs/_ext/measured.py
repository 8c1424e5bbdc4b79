"""Directives that write pages from the code and from results in the repository, so that no number is typed."""

from __future__ import annotations

import csv
import os
from collections import defaultdict
from pathlib import Path
from statistics import mean

from docutils import nodes
from numpydoc.docscrape import ClassDoc
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import provsel.certificates
from provlab.readings import schema
from provsel.certificates import THEOREMS, Theorem

REPO = Path(__file__).resolve().parents[2]
REFERENCE = REPO / "results" / "reference"
SUBSETS = REPO / "docs" / "measured" / "column_subset.csv"


def theorems() -> list[type[Theorem]]:
    """Return the classes that protocols measure by themselves, then the other public ones."""
    public = [getattr(provsel.certificates, name) for name in provsel.certificates.__all__]
    others = [each for each in public if isinstance(each, type) and issubclass(each, Theorem) and each is not Theorem]
    return [*THEOREMS, *(each for each in others if each not in THEOREMS)]


def theorem_lines(theorem: type[Theorem]) -> list[str]:
    """Return a section on a theorem: what its class says of itself."""
    said = ClassDoc(theorem)
    measured = "each trial whose protocol it fits" if theorem in THEOREMS else "trials that ask for it"
    lines = [f"## {theorem.__name__}", "", " ".join(said["Summary"]), "", *said["Extended Summary"], ""]
    lines += [f"- Source: {theorem.source}", f"- Measured of: {measured}", f"- State: `{theorem.column('state')}`", ""]
    for group in said["Attributes"]:
        columns = ", ".join(f"`{theorem.column(name.strip())}`" for name in group.name.split(","))
        lines += [f"- {columns}: {' '.join(group.desc)}"]
    return [*lines, "", f"{{py:class}}`provsel.certificates.{theorem.__name__}` is the class.", ""]


def table_lines(header: list[str], rows: list[list[str]]) -> list[str]:
    """Return a Markdown table."""
    return [f"| {' | '.join(cells)} |" for cells in (header, ["---"] + ["--:"] * (len(header) - 1), *rows)] + [""]


def subset_lines(path: Path = SUBSETS) -> list[str]:
    """Return the mean ratio of each method on each matrix, and the promise where there is one."""
    ratios: dict[tuple[str, str], list[float]] = defaultdict(list)
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            ratios[row["method"], row["data"]].append(float(row["subset_frobenius_ratio"]))
    methods, data = (list(dict.fromkeys(key[place] for key in ratios)) for place in (0, 1))
    rows = [[method, *(f"{mean(ratios[method, each]):.3g}" for each in data)] for method in methods]
    return table_lines(["method", *data], rows)


def result_lines(paper: str) -> tuple[list[str], list[Path]]:
    """Return the figures and tables of a paper's reference run, and the files that they are."""
    figures = sorted((REFERENCE / "figures" / paper).glob("*.svg"))
    tables = sorted((REFERENCE / "tables" / paper).glob("*.md"))
    here = REPO / "docs" / "papers"
    lines = ["## Figures", ""]
    for path in figures:
        lines += [f"![{paper}, {path.stem}]({os.path.relpath(path, here)})", "", f"*{path.stem}*", ""]
    lines += ["## Tables", ""]
    for path in tables:
        lines += [f"### {path.stem}", "", *path.read_text(encoding="utf-8").splitlines(), ""]
    return lines, [*figures, *tables]


class FromCode(SphinxDirective):
    """`theorems`, `column-subsets`, `format-of-readings` and `results PAPER`: Markdown made by the build."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the nodes, and note the files that they are made of."""
        if self.name == "theorems":
            lines, files = [line for each in theorems() for line in theorem_lines(each)], []
        elif self.name == "format-of-readings":
            lines, files = (schema.__doc__ or "").split("\n", 1)[1].splitlines(), []
        elif self.name == "column-subsets":
            lines, files = subset_lines(), [SUBSETS]
        else:
            lines, files = result_lines(self.arguments[0])
        for path in files:
            self.env.note_dependency(str(path))
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives."""
    for name in ("theorems", "column-subsets", "format-of-readings", "results"):
        app.add_directive(name, FromCode)
    return {"parallel_read_safe": True}
