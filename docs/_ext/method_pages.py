"""Pages of the benchmark's methods, from their classes, entries and results, and the table that links to the pages.

The pages are written to `docs/methods` before the build reads the sources. They are not
committed.
"""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from sphinx.application import Sphinx

import provlab.bench.methods
from provlab.bench.methods import PanelMethod, panel_methods
from provlab.bench.panel import stored_folder
from provlab.bench.panel_pages import size_text
from provlab.core.vocabulary import SELECTORS
from provlab.verdicts.panel_pairs import EVERYWHERE
from provlab.verdicts.panel_scores import ERROR_OF
from provsel.selectors import AtSize

DOCS = Path(__file__).resolve().parents[1]
FOLDER = DOCS / "methods"

KINDS = {
    "filter": "filter: uses only the data",
    "embedded": "embedded: uses a model that it trains",
    "wrapper": "wrapper: trains models repeatedly",
    "subset": "subset: chooses columns that approximate the others, without labels",
    "control": "control: a baseline that the others should beat",
}
"""Descriptions of the families of `provlab.core.vocabulary.Described`."""

SIZES = {
    "fixed": "the requested number",
    "at most": "at most the requested number",
    "own": "chosen by the method",
}
"""Descriptions of the values of `PanelMethod.sizes`."""

PROMISES = {
    "budget": ("budget", "budget: a theorem states how many features are needed"),
    "subset": (
        "subset_promise",
        "subset: a theorem bounds the error of the columns kept",
    ),
}
"""Guarantees by name: the method of a class that provides the guarantee, and its description."""

TITLES = {"classification": "Classes", "regression": "Numeric targets"}
"""Headings of the results of each task."""

UNDECIDED = "inconclusive"

EXAMPLE_SIZE = 20


def page_name(method: str) -> str:
    """Return the name of the page of a method, without its folder."""
    return re.sub(r"\W+", "-", method.lower()).strip("-")


def described_class(method: PanelMethod) -> type:
    """Return the class that orders the features; for `AtSize`, the class of the selector inside."""
    selector = method.selector()
    return type(selector.selector if isinstance(selector, AtSize) else selector)


def summary_and_source(cls: type) -> tuple[str, str]:
    """Return the first paragraph of a class's docstring, and its references, each on one line."""
    documented = (inspect.getdoc(cls) or "").replace(
        "References\n----------\n", "Source: "
    )
    summary = documented.partition("\n\n")[0]
    source = documented.partition("Source: ")[2]
    return " ".join(summary.split()), " ".join(source.split())


def guarantees(method: PanelMethod) -> list[str]:
    """Return the names of a method's guarantees; theorems on random draws do not apply to the largest scores."""
    if getattr(method.selector(), "strategy", "") == "top":
        return []
    cls = described_class(method)
    return [
        name for name, (attribute, _) in PROMISES.items() if hasattr(cls, attribute)
    ]


def labels_text(method: PanelMethod) -> str:
    """Return the kinds of targets that a method accepts."""
    if not method.selector().needs_labels:
        return "none"
    if "regression" in method.tasks:
        return "classes or numbers"
    return "classes" if method.multiclass else "two classes"


def public_class(method: PanelMethod) -> str:
    """Return the import path of provsel's class for a method, or "" if it has none."""
    cls = described_class(method)
    return (
        f"provsel.selectors.{cls.__name__}"
        if cls.__module__.startswith("provsel.selectors.")
        else ""
    )


def read_results(name: str) -> pd.DataFrame:
    """Return a table of results of the stored panel, empty if it is not computed."""
    path = stored_folder() / f"_{name}.csv"
    columns = ["task", "method", "rank", "domain", "size"]
    return pd.read_csv(path) if path.is_file() else pd.DataFrame(columns=columns)


def facts(name: str, method: PanelMethod) -> list[tuple[str, str]]:
    """Return the properties of a method that need no results, as pairs of a property and its value."""
    _, source = summary_and_source(described_class(method))
    rows = [
        ("name in settings", f"`selector={method.selector_name}`"),
        ("kind", KINDS[method.family]),
        ("target", labels_text(method)),
        ("number of features", SIZES[method.sizes]),
    ]
    if method.selector_name in SELECTORS:
        rows.append(("time grows with", SELECTORS[method.selector_name].cost))
    promised = [PROMISES[kind][1] for kind in guarantees(method)]
    rows.append(("[guarantee](../guarantees.md)", "; ".join(promised) or "none"))
    rows.append(("code in the benchmark", method.source))
    own_class = public_class(method)
    if own_class:
        rows.append(("class", f"{{py:class}}`~{own_class}`"))
    if source:
        rows.append(("source", source))
    return rows


def standing(line: Mapping[str, Any], n_methods: int) -> list[str]:
    """Return sentences about a row of the leaderboard."""
    error = ERROR_OF[line["task"]]
    sentences = [
        f"Its mean rank by {error} is **{line['rank']:.1f} of {n_methods}** (95 % interval {line['low']:.1f} to "
        f"{line['high']:.1f}), over {line['sets']:.0f} data sets."
    ]
    if pd.notna(line["loss"]) and line["loss"] != 0:
        direction = "above" if line["loss"] > 0 else "below"
        sentences.append(
            f"On average over domains, its {error} is {abs(line['loss']):.1f} points {direction} that of all features. "
            f"The difference is largest in the domain {line['worst_domain']}, with {line['worst']:+.1f} points."
        )
    if pd.notna(line["stability"]):
        sentences.append(
            f"Its [stability](../glossary.md) over folds is {line['stability']:.2f}."
        )
    if pd.notna(line["seconds"]):
        sentences.append(
            f"A selection takes {line['seconds']:.2g} CPU seconds (median over data sets)."
        )
    if line["failed"]:
        sentences.append(f"It failed on {line['failed']:.0f} data sets.")
    if line["missing"]:
        sentences.append(f"It was not run on {line['missing']:.0f} data sets.")
    return sentences


def beside_all_features(compared: pd.DataFrame) -> list[str]:
    """Return a table with a row for each size: the difference from all features, and its verdict if it has one."""
    domains = list(dict.fromkeys(compared["domain"]))
    lines = [f"| features | {' | '.join(domains)} |", f"|---|{'---|' * len(domains)}"]
    for size, of_size in compared.groupby("size", sort=False):
        by_domain = of_size.set_index("domain")
        cells = [size_text(int(size))]
        for domain in domains:
            if domain not in by_domain.index:
                cells.append("")
                continue
            row = by_domain.loc[domain]
            interval = (
                f" [{row['low']:.1f}, {row['high']:.1f}]"
                if domain == EVERYWHERE
                else ""
            )
            verdict = "" if row["verdict"] == UNDECIDED else f" {row['verdict']}"
            cells.append(f"{row['difference']:+.1f}{interval}{verdict}")
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def method_page(
    name: str, method: PanelMethod, board: pd.DataFrame, compared: pd.DataFrame
) -> str:
    """Return the Markdown of the page of a method."""
    summary, _ = summary_and_source(described_class(method))
    lines = [f"# {name}", "", summary, "", f"| property | {name} |", "|---|---|"]
    for key, value in facts(name, method):
        escaped = value.replace("|", "\\|")
        lines.append(f"| {key} | {escaped} |")
    lines += ["", "## Results", ""]
    for task, title in TITLES.items():
        of_task = board[board["task"] == task]
        own_line = of_task[of_task["method"] == name]
        own_comparisons = compared[
            (compared["method"] == name) & (compared["task"] == task)
        ]
        if not own_line.empty:
            lines += [f"### {title}", "", *standing(own_line.iloc[0], len(of_task)), ""]
        if not own_comparisons.empty:
            lines += [
                f"The table shows the difference from all features in points of {ERROR_OF[task]}, for all domains with "
                f"a 95 % interval. A number without a verdict is inconclusive: the benchmark cannot distinguish the "
                f"two. See [how far the results hold](../benchmark.md#how-far-the-results-hold).",
                "",
                *beside_all_features(own_comparisons),
                "",
            ]
    if (board["method"] != name).all() and (compared["method"] != name).all():
        lines += [
            "This method is not measured yet. `provsel panel` computes the benchmark.",
            "",
        ]
    settings = " \\\n    ".join(
        shlex.quote(setting) for setting in method.overrides(EXAMPLE_SIZE)
    )
    lines += [
        "## Run it",
        "",
        "This command uses the benchmark's settings on the digits data of scikit-learn:",
        "",
    ]
    lines += [
        "```console",
        f"$ provsel run dataset=digits \\\n    {settings}",
        "```",
        "",
    ]
    lines += [
        "[The leaderboard](../benchmark.md#the-leaderboard) lists all methods.",
        "",
    ]
    return "\n".join(lines)


def methods_table() -> tuple[list[str], list[Path]]:
    """Return a table with a row for each method that links to its page, and the file that names the methods."""
    board = read_results("leaderboard").pivot(
        index="method", columns="task", values="rank"
    )
    ranks = board.reindex(columns=[*TITLES])
    lines = [
        "| method | kind | target | guarantee | mean rank: classes | numeric targets | what it does |",
        "|---|---|---|---|--:|--:|---|",
    ]
    for name, method in panel_methods().items():
        summary, _ = summary_and_source(described_class(method))
        own_ranks = (
            ranks.loc[name]
            if name in ranks.index
            else pd.Series(index=[*TITLES], dtype=float)
        )
        rank_texts = ["" if pd.isna(rank) else f"{rank:.1f}" for rank in own_ranks]
        link = f"[{name}](methods/{page_name(name)}.md)"
        promised = ", ".join(guarantees(method))
        cells = [
            link,
            method.family,
            labels_text(method),
            promised,
            *rank_texts,
            summary,
        ]
        escaped = [cell.replace("|", "\\|") for cell in cells]
        lines.append(f"| {' | '.join(escaped)} |")
    return [*lines, ""], [
        Path(provlab.bench.methods.__file__).with_name("methods.yaml")
    ]


def write_pages(app: Sphinx) -> None:
    """Write the pages of methods that have changed, and delete the pages of removed methods."""
    FOLDER.mkdir(exist_ok=True)
    board = read_results("leaderboard")
    compared = read_results("against_all")
    written = set()
    for name, method in panel_methods().items():
        path = FOLDER / f"{page_name(name)}.md"
        written.add(path)
        text = method_page(name, method, board, compared)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in set(FOLDER.glob("*.md")) - written:
        path.unlink()


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before the sources are read."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True}
