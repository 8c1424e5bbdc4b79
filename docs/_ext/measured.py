"""Directives that write pages from the code and from results in the repository, so that no number is typed."""

from __future__ import annotations

import csv
import os
import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from statistics import mean

from docutils import nodes
from numpydoc.docscrape import ClassDoc
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import provsel.certificates
from provlab.claims import Claim, load_claims, table
from provlab.readings import schema
from provsel.certificates import THEOREMS, SubsetApproximation, Theorem

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
    lines += ["", f"{{py:class}}`provsel.certificates.{theorem.__name__}` is the class.", ""]
    return [*lines, *measured_lines(theorem)]


@cache
def verdicts() -> dict[str, dict[str, str]]:
    """Return the lines of the reference run's verdicts by the claim's id."""
    with (REFERENCE / "verdicts.csv").open(encoding="utf-8") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


@cache
def claims() -> tuple[Claim, ...]:
    """Return all claims of the papers that have a verdict in the reference run."""
    found = (claim for path in sorted(REPO.glob("experiments/*/claims.yaml")) for claim in load_claims(path).claims)
    return tuple(claim for claim in found if claim.id in verdicts())


def claims_of(theorem: type[Theorem]) -> list[Claim]:
    """Return the claims that read a theorem's columns; of several theorems with these, the artefact names the one."""
    found = []
    for claim in claims():
        read = set(claim.evaluator.reads)
        about = [each for each in theorems() if read & set(each.columns())]
        if len(about) > 1:
            artefact = claim.evaluator.artefact.rpartition("/")[2]
            about = [each for each in about if artefact in re.sub(r"\W", "", each.source.lower())]
        found += [claim] if theorem in about else []
    return found


def claim_lines(chosen: list[Claim]) -> list[str]:
    """Return a table of claims with what the reference run found, and how often there was which verdict."""
    rows = []
    for claim in chosen:
        line = verdicts()[claim.id]
        effect = f"{float(line['effect']):.4g} {line['unit']}" if line["effect"] else ""
        cells = [claim.text, claim.where, f"`{claim.evaluator.artefact}`", effect, line["n"], line["verdict"]]
        rows.append([cell.replace("|", "\\|") for cell in cells])
    counts = Counter(verdicts()[claim.id]["verdict"] for claim in chosen)
    said = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    return [
        f"{len(chosen)} claims: {said}.",
        "",
        *table_lines(["claim", "where", "artefact", "found", "n", "verdict"], rows),
    ]


def measured_lines(theorem: type[Theorem]) -> list[str]:
    """Return what came out of a theorem in the repository's runs."""
    if theorem is SubsetApproximation:
        said = "**Measured**, by the benchmark `column_subset`; a single draw may exceed a bound in expectation:"
        return [said, "", *promise_lines()]
    chosen = claims_of(theorem)
    if not chosen:
        return ["**Measured**: no claim of the papers is about it, and the reference run has no trial of it.", ""]
    return ["**Measured**, in the reference run:", "", *claim_lines(chosen)]


def promise_lines(path: Path = SUBSETS) -> list[str]:
    """Return, for each method that promises something, its states and how near its ratio came to the bound."""
    found: dict[str, list[dict[str, str]]] = defaultdict(list)
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["subset_frobenius_bound"] not in ("", "nan"):
                found[row["method"]].append(row)
    rows = []
    for method, runs in found.items():
        states = Counter(row["subset_approximation"] for row in runs)
        nearest = max(float(row["subset_frobenius_ratio"]) / float(row["subset_frobenius_bound"]) for row in runs)
        promised = runs[0]["subset_promised_by"]
        rows.append([method, promised, ", ".join(f"{n} {state}" for state, n in states.items()), f"{nearest:.2g}"])
    return table_lines(["method", "promised by", "runs by state", "largest ratio over its bound"], rows)


def table_lines(header: list[str], rows: list[list[str]]) -> list[str]:
    """Return a Markdown table; columns of numbers are flush right."""
    numbers = [all(re.match(r"^[-\d.]*$", row[place]) for row in rows) for place in range(len(header))]
    rule = ["--:" if each else "---" for each in numbers]
    return [f"| {' | '.join(cells)} |" for cells in (header, rule, *rows)] + [""]


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
    of_paper = [claim for claim in claims() if claim.paper == paper]
    lines = ["## Claims", "", *claim_lines(of_paper), "## Figures", ""]
    for path in figures:
        lines += [f"![{paper}, {path.stem}]({os.path.relpath(path, here)})", "", f"*{path.stem}*", ""]
    lines += ["## Tables", ""]
    for path in tables:
        lines += [f"### {path.stem}", "", *path.read_text(encoding="utf-8").splitlines(), ""]
    return lines, [*figures, *tables, REFERENCE / "verdicts.csv"]


def robustness_lines(path: Path) -> list[str]:
    """Return what became of each claim under all readings, from what `provsel readings` wrote."""
    with path.open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    rows = [[f"`{line['claim']}`", line["universes"], line["default"], line["shares"], line["flip"]] for line in lines]
    return table_lines(
        ["claim", "universes", "by default", "share of each verdict", "smallest change for another"], rows
    )


class FromCode(SphinxDirective):
    """Markdown made by the build: `theorems`, `results PAPER`, `robustness PAPER`, and those without an argument."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the nodes, and note the files that they are made of."""
        if self.name == "theorems":
            lines = [line for each in theorems() for line in theorem_lines(each)]
            files = [REFERENCE / "verdicts.csv", SUBSETS]
        elif self.name == "format-of-readings":
            lines, files = (schema.__doc__ or "").split("\n", 1)[1].splitlines(), []
        elif self.name == "format-of-results":
            lines, files = (table.__doc__ or "").split("\n", 1)[1].splitlines(), []
        elif self.name == "robustness":
            files = [REFERENCE / "readings" / self.arguments[0] / "robustness.csv"]
            lines = robustness_lines(files[0])
        elif self.name == "column-subsets":
            lines, files = subset_lines(), [SUBSETS]
        else:
            lines, files = result_lines(self.arguments[0])
        for path in files:
            self.env.note_dependency(str(path))
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives."""
    for name in ("theorems", "column-subsets", "format-of-readings", "format-of-results", "results", "robustness"):
        app.add_directive(name, FromCode)
    return {"parallel_read_safe": True}
