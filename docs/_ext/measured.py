"""Directives that write pages from the code and from results in the repository, so that no number is typed."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType

import pandas as pd
from api_index import index_lines
from contents import contents_path, place_of, read_contents, said_of
from docutils import nodes
from method_pages import methods_table
from numpydoc.docscrape import ClassDoc
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import provsel.certificates
from provlab.bench.methods import panel_methods
from provlab.bench.panel import stored_folder
from provlab.bench.panel_answers import (
    ANSWERS,
    BESIDE_RANDOM,
    LEADERBOARD,
    SHAPED,
    SHAPES,
    TOLD_SIZE,
    WITHOUT,
    medians,
    n_different,
    stored_answers,
)
from provlab.bench.panel_pages import VERDICTS as PAIR_VERDICTS
from provlab.bench.panel_pages import size_text
from provlab.bench.statement_pages import by_theme, not_testable, summary
from provlab.bench.statements import statement_frame
from provlab.bench.stored_panel import read_panel
from provlab.custody.texts import first_in_words
from provlab.project.papers import papers
from provlab.verdicts.claims import table
from provlab.verdicts.claims.rules import VERDICTS
from provlab.verdicts.claims.schema import Claim, all_claim_files, claim_files
from provlab.verdicts.panel_answers import SAME_DOMAINS
from provlab.verdicts.panel_pairs import (
    EVERY_SOURCE,
    EVERYWHERE,
    compared_with_all,
    pairs_of,
)
from provlab.verdicts.panel_ranking import everywhere, front, leaderboard
from provlab.verdicts.panel_scores import ALL, ERROR_OF, Scores
from provlab.verdicts.readings import schema
from provlab.verdicts.readings.robustness import count_text, stored_robustness
from provlab.verdicts.readings.study import texts
from provsel.certificates import THEOREMS, SubsetApproximation, Theorem

REPO = Path(__file__).resolve().parents[2]
REFERENCE = REPO / "results" / "reference"
SUBSETS = REPO / "docs" / "measured" / "column_subset.csv"


def theorems() -> list[type[Theorem]]:
    """Return the theorems that protocols measure by default, then the other public ones."""
    public = [
        getattr(provsel.certificates, name) for name in provsel.certificates.__all__
    ]
    others = [
        each
        for each in public
        if isinstance(each, type) and issubclass(each, Theorem) and each is not Theorem
    ]
    return [*THEOREMS, *(each for each in others if each not in THEOREMS)]


def theorem_lines(theorem: type[Theorem]) -> list[str]:
    """Return a section on a theorem, from the docstring of its class."""
    said = ClassDoc(theorem)
    measured = (
        "each trial with a suitable protocol"
        if theorem in THEOREMS
        else "trials that request it"
    )
    lines = [
        f"## {theorem.__name__}",
        "",
        " ".join(said["Summary"]),
        "",
        *said["Extended Summary"],
        "",
    ]
    lines += [
        f"- Source: {theorem.source}",
        f"- Measured in: {measured}",
        f"- State: `{theorem.column('state')}`",
        "",
    ]
    for group in said["Attributes"]:
        columns = ", ".join(
            f"`{theorem.column(name.strip())}`" for name in group.name.split(",")
        )
        lines += [f"- {columns}: {' '.join(group.desc)}"]
    lines += [
        "",
        f"{{py:class}}`provsel.certificates.{theorem.__name__}` is the class.",
        "",
    ]
    return [*lines, *measured_lines(theorem)]


@cache
def verdicts() -> dict[str, dict[str, str]]:
    """Return the rows of the reference run's verdicts, by id of the claim."""
    return {
        line["id"]: line
        for line in texts(REFERENCE / "verdicts.csv").to_dict("records")
    }


@cache
def claims() -> list[Claim]:
    """Return all claims of the papers that have a verdict in the reference run."""
    return [
        claim
        for file in all_claim_files()
        for claim in file.claims
        if claim.id in verdicts()
    ]


def claims_of(theorem: type[Theorem]) -> list[Claim]:
    """Return the claims that read a theorem's columns; if several theorems share these, the artefact decides."""
    found = []
    for claim in claims():
        read = set(claim.rule.reads)
        about = [each for each in theorems() if read & set(each.columns())]
        if len(about) > 1:
            artefact = claim.rule.artefact.rpartition("/")[2]
            about = [
                each
                for each in about
                if artefact in re.sub(r"\W", "", each.source.lower())
            ]
        found += [claim] if theorem in about else []
    return found


def claim_lines(chosen: list[Claim]) -> list[str]:
    """Return the number of claims with each verdict, and a table of the claims with results of the reference run."""
    rows = []
    for claim in chosen:
        line = verdicts()[claim.id]
        effect = f"{float(line['effect']):.4g} {line['unit']}" if line["effect"] else ""
        cells = [
            claim.text,
            claim.where,
            f"`{claim.rule.artefact}`",
            effect,
            line["n"],
            line["verdict"],
        ]
        rows.append([cell.replace("|", "\\|") for cell in cells])
    counts = Counter(verdicts()[claim.id]["verdict"] for claim in chosen)
    said = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    return [
        f"{len(chosen)} claims: {said}.",
        "",
        *table_lines(["claim", "where", "artefact", "found", "n", "verdict"], rows),
    ]


def measured_lines(theorem: type[Theorem]) -> list[str]:
    """Return the results on a theorem in the repository's runs."""
    if theorem is SubsetApproximation:
        said = "**Measured** by the benchmark `column_subset`; a single draw may exceed a bound on the expectation:"
        return [said, "", *promise_lines()]
    chosen = claims_of(theorem)
    if not chosen:
        return [
            "**Measured**: no claim of the papers and no trial of the reference run concerns it.",
            "",
        ]
    return ["**Measured** in the reference run:", "", *claim_lines(chosen)]


def promise_lines() -> list[str]:
    """Return, for each method with a bound, its states and the largest ratio of error to bound."""
    rows = []
    runs = pd.read_csv(
        SUBSETS,
        keep_default_na=False,
        na_values={"subset_frobenius_bound": ["", "nan"]},
    )
    runs = runs.dropna(subset=["subset_frobenius_bound"])
    for method, found in runs.groupby("method", sort=False):
        states = ", ".join(
            f"{n} {state}"
            for state, n in Counter(found["subset_approximation"]).items()
        )
        nearest = (
            found["subset_frobenius_ratio"] / found["subset_frobenius_bound"]
        ).max()
        rows.append(
            [str(method), found["subset_promised_by"].iloc[0], states, f"{nearest:.2g}"]
        )
    return table_lines(
        ["method", "bound by", "runs by state", "largest ratio divided by its bound"],
        rows,
    )


def table_lines(header: list[str], rows: list[list[str]]) -> list[str]:
    """Return a Markdown table; numeric columns are aligned right."""
    numbers = [
        all(re.match(r"^[-\d.]*(e[-+]\d+)?$", row[place]) for row in rows)
        for place in range(len(header))
    ]
    rule = ["--:" if each else "---" for each in numbers]
    return [f"| {' | '.join(cells)} |" for cells in (header, rule, *rows)] + [""]


def subset_lines() -> tuple[list[str], list[Path]]:
    """Return the mean ratio of each method on each matrix, and the file with the ratios."""
    runs = pd.read_csv(SUBSETS)
    means = runs.pivot_table("subset_frobenius_ratio", "method", "data", sort=False)
    rows = [
        [str(method), *(f"{mean:.3g}" for mean in line)]
        for method, line in means.iterrows()
    ]
    return table_lines(["method", *means.columns], rows), [SUBSETS]


def claims_of_paper(paper: str) -> tuple[list[str], list[Path]]:
    """Return the claims of a paper with their verdicts, and the file with the verdicts."""
    return claim_lines([claim for claim in claims() if claim.paper == paper]), [
        REFERENCE / "verdicts.csv"
    ]


def contents_of_paper(paper: str) -> tuple[list[str], list[Path]]:
    """Return a row for each item of a paper's contents, and the source files."""
    [own] = [file.claims for file in claim_files(paper)]
    asked, path = stored_robustness(REFERENCE), contents_path(paper)
    rows = []
    for item in read_contents(path):
        cells = [
            item.item,
            item.where,
            item.says,
            place_of(item),
            said_of(item, own, verdicts(), asked),
        ]
        rows.append([cell.replace("|", "\\|") for cell in cells])
    header = [
        "item",
        "where",
        "what it says",
        "in provsel",
        "verdicts, or reason for leaving it out",
    ]
    return table_lines(header, rows), [path, REFERENCE / "verdicts.csv"]


def figures_of(paper: str) -> tuple[list[str], list[Path]]:
    """Return the figures of a paper's reference run, and their files."""
    paths = sorted((REFERENCE / "figures" / paper).glob("*.svg"))
    return [
        line
        for path in paths
        for line in (
            f"![{paper}, {path.stem}]({beside(path)})",
            "",
            f"*{path.stem}*",
            "",
        )
    ], paths


def tables_of(paper: str) -> tuple[list[str], list[Path]]:
    """Return the tables of a paper's reference run, and their files."""
    paths = sorted((REFERENCE / "tables" / paper).glob("*.md"))
    return [
        line
        for path in paths
        for line in (f"## {path.stem}", "", path.read_text(encoding="utf-8"), "")
    ], paths


def beside(path: Path) -> str:
    """Return the path of a file relative to the pages of `docs/papers`."""
    return os.path.relpath(path, REPO / "docs" / "papers")


def verdict_counts() -> tuple[list[str], list[Path]]:
    """Return a table with the number of claims of each paper with each verdict in the reference run."""
    found = {
        paper: [
            verdicts()[claim.id]["verdict"]
            for claim in claims()
            if claim.paper == paper
        ]
        for paper in papers()
    }
    kinds = [
        kind
        for kind in VERDICTS
        if any(kind in of_paper for of_paper in found.values())
    ]
    rows = [
        [
            f"[{paper}]({paper}_claims.md)",
            *(str(of_paper.count(kind)) for kind in kinds),
        ]
        for paper, of_paper in found.items()
        if of_paper
    ]
    return table_lines(["claims of", *kinds], rows), [REFERENCE / "verdicts.csv"]


@cache
def stored_panel() -> pd.DataFrame:
    """Return the stored panel."""
    return read_panel()


def panel_files() -> list[Path]:
    """Return the files of the stored panel."""
    return sorted(stored_folder().glob("*.parquet"))


def leaderboard_lines(task: str) -> tuple[list[str], list[Path]]:
    """Return the leaderboard of a task."""
    scores = Scores.of(stored_panel(), task)
    board = leaderboard(scores)
    largest = zip(board["worst"], board["worst_domain"], strict=True)
    board["largest"] = [
        f"{points:+.1f}, {name}" if points else "" for points, name in largest
    ]
    shown = {
        "rank": ("rank", ".1f"), "from": ("low", ".1f"), "to": ("high", ".1f"), "wins": ("win_rate", ".0%"),
        "loss": ("loss", "+.1f"), "largest loss": ("largest", ""),
        "stability": ("stability", ".2f"), "F1 of the support": ("support_f1", ".2f"),
        "CPU seconds": ("seconds", ".2g"), "failed": ("failed", ".0f"), "not run": ("missing", ".0f"),
    }  # fmt: skip
    rows = [
        [
            str(name),
            *(
                "" if pd.isna(row[column]) else format(row[column], form)
                for column, form in shown.values()
            ),
        ]
        for name, row in board.iterrows()
    ]
    error = ERROR_OF[task]
    said = (
        f"{len(board)} methods on {scores.domains.sum()} data sets of {len(scores.domains)} domains, with all sizes "
        f"and judges. The table shows the mean rank by {error} with its 95 % interval, the share of wins over the "
        f"other methods, the loss in points of {error} relative to all features, and the domain with the largest "
        f"loss. *Failed* and *not run* are numbers of data sets."
    )
    return [said, "", *table_lines(["method", *shown], rows)], panel_files()


def advice_lines(task: str) -> tuple[list[str], list[Path]]:
    """Return the comparisons with all features and with the best method, over all domains and in each domain."""
    scores = Scores.of(stored_panel(), task)
    compared = compared_with_all(scores)
    lines = [
        " ".join(stored_answers(stored_folder(), task)),
        "",
        "For each of the verdicts *better*, *same* (within 1 point) and *worse*, the probability that a table contains "
        "a wrong one is at most 5 %, [if differences are symmetric](benchmark.md#how-far-the-results-hold). *Least "
        "error* considers the methods that were run on all data sets. *Detectable* is the difference in points that a "
        "comparison detects nine times in ten (median); smaller differences are mostly *inconclusive*.",
        "",
        *compared_lines(
            compared[EVERYWHERE], f"{len(scores.domains)} domains with equal weights"
        ),
        *best_lines(scores),
        *compared_lines(
            compared[EVERY_SOURCE],
            f"{scores.lines['source'].nunique()} sources with equal weights",
        ),
        "The second table treats the sources of a domain as independent, and applies to data such as these. The first "
        "table applies to data of a new domain.",
        "",
    ]
    board = leaderboard(scores)
    for column, text in (("seconds", "faster"), ("stability", "more stable")):
        names = ", ".join(front(everywhere(board), column))
        lines += [
            f"Among the selectors run on all data sets, none is both {text} and lower in error than one of these: "
            f"{names}.",
            "",
        ]
    for domain in scores.decidable:
        own = scores.on(domain)
        over = (
            f"{own.lines['source'].nunique()} sources of {own.domains.sum()} data sets"
        )
        lines += [f"```{{rubric}} On {domain}", ":heading-level: 3", "```", ""]
        lines += [*compared_lines(compared[domain], over), *best_lines(own)]
    return lines, panel_files()


def compared_lines(compared: pd.DataFrame, over: str) -> list[str]:
    """Return a table with a row per size: which methods are better than all features, and how many are worse."""
    rows = []
    for size, of_size in compared.groupby(level="size", sort=False):
        names = {
            word: [
                *of_size.index[of_size["verdict"] == word].get_level_values("method")
            ]
            for word in PAIR_VERDICTS
        }
        named = [", ".join(names[word]) or "none" for word in ("better", "same")]
        counts = [str(len(names[word])) for word in ("worse", "inconclusive")]
        differences = of_size["difference"][of_size["sets"] == of_size["sets"].max()]
        least = f"{differences.idxmin()[1]}, {differences.min():+.1f}"
        rows.append(
            [
                size_text(size),
                *named,
                *counts,
                least,
                f"{of_size['detectable'].median():.1f}",
            ]
        )
    header = [
        "features",
        "better",
        "same",
        "worse",
        "inconclusive",
        "least error, points",
        "detectable",
    ]
    return [
        f"{len(compared)} comparisons with all features over {over}:",
        "",
        *table_lines(header, rows),
    ]


def best_lines(scores: Scores) -> list[str]:
    """Return sentences that compare the method with the best mean rank with all others."""
    board = leaderboard(scores)
    best = next(name for name in board.index if name != ALL)
    rank, low, high = board.loc[best, ["rank", "low", "high"]]
    first = first_in_words(
        board.dropna(subset=["first"]).reset_index(names="method").to_dict("records")
    )
    beside_best = pairs_of(scores.of_slice(), best)
    verdicts, seen = beside_best["verdict"], beside_best["detectable"].median()
    alike = [*verdicts.index[~verdicts.isin(["better", "worse"])]]
    return [
        f"{first}. The mean rank of {best} is {rank:.1f} ({low:.1f} to {high:.1f}) of {len(board)}. Its error "
        f"is smaller than that of {(verdicts == 'better').sum()} methods, "
        f"{'not including' if 'random' in alike else 'including'} random features. Differences of {seen:.1f} points "
        f"are detectable (median). Inconclusive comparisons: {', '.join(alike) or 'none'}.",
        "",
    ]


def robustness_lines(paper: str) -> tuple[list[str], list[Path]]:
    """Return the verdicts on each claim of a paper under all readings, and the source file."""
    path = REFERENCE / "readings" / paper / "robustness.csv"
    rows = []
    for line in texts(path).to_dict("records"):
        number = count_text(int(line["run"]), int(line["universes"]))
        rows.append(
            [
                f"`{line['claim']}`",
                number,
                line["default"],
                line["shares"],
                line["flip"],
            ]
        )
    header = [
        "claim",
        "universes",
        "by default",
        "share of each verdict",
        "smallest change with another verdict",
    ]
    return table_lines(header, rows), [path]


def claims_of_theorems() -> tuple[list[str], list[Path]]:
    """Return a section for each theorem."""
    return [line for each in theorems() for line in theorem_lines(each)], [
        REFERENCE / "verdicts.csv",
        SUBSETS,
    ]


def format_of(module: ModuleType) -> tuple[list[str], list[Path]]:
    """Return the description of a format from the docstring of a module."""
    return (module.__doc__ or "").split("\n", 1)[1].splitlines(), []


def statement_summary(paper: str) -> tuple[list[str], list[Path]]:
    """Return the results on the statements of a paper, as a paragraph and a figure, and the source files."""
    folder = REFERENCE / paper
    image = f"![Shares of verdicts over readings](../results/reference/{paper}/statements.svg)"
    return [summary(statement_frame(paper, folder)), "", image, ""], [
        folder / "verdicts.csv",
        folder / "robustness.csv",
    ]


def statement_lines(paper: str) -> tuple[list[str], list[Path]]:
    """Return the benchmark's verdicts on the statements of a paper, by theme, and the source files."""
    folder = REFERENCE / paper
    frame = statement_frame(paper, folder)
    lines = []
    for theme, of_theme in by_theme(frame).items():
        rows = []
        for line in of_theme.to_dict("records"):
            said = f"{line['claim']} *{line['citation']}* (read: {line['read']}). Tested: {line['asked']}"
            said += f" Left out: {line['left_out']}"
            if line["seen"]:
                said += f" Known before: {line['seen']}"
            cells = [
                said,
                line["own"],
                line["beyond"],
                line["effect"],
                line["detectable"],
                line["readings"],
            ]
            rows.append([cell.replace("|", "\\|") for cell in cells])
        lines += [f"## {theme.capitalize()}", ""]
        lines += table_lines(
            [
                "statement",
                "on its data",
                "elsewhere",
                "effect",
                "detectable",
                "readings",
            ],
            rows,
        )
    lines += ["## Not testable here", ""]
    lines += [f"- {item.statement}: {item.missing}." for item in not_testable(paper)]
    return [*lines, ""], [folder / "verdicts.csv", folder / "robustness.csv"]


FAMILIES = {
    "control": "random features", "subset": "columns that approximate X", "filter": "filters", "wrapper": "wrappers",
    "embedded": "embedded in a model",
}  # fmt: skip
"""Words for the families of methods, which are compared with all features."""

SHARES = {"better": "lower", "within": "within a point", "worse": "higher"}
"""Words for the error that stand for the probabilities of an answer in tables."""


def answer_lines(task: str) -> tuple[list[str], list[Path]]:
    """Return the stored answers of a task: in sentences, by family, by shape, and compared with random features."""
    folder = stored_folder()
    answers = pd.read_csv(folder / ANSWERS).query("task == @task")
    board = pd.read_csv(folder / LEADERBOARD).query("task == @task").set_index("method")
    at_size = answers[
        (answers["size"] == TOLD_SIZE) & (answers["place"] == SAME_DOMAINS)
    ]
    lines = [" ".join(stored_answers(folder, task)), ""]
    lines += [
        f"Medians over the methods of each family, with {TOLD_SIZE} features instead of all:",
        "",
    ]
    lines += _family_lines(at_size, board)
    shaped = answers[
        (answers["size"] == TOLD_SIZE)
        & (answers["judge"] == SHAPED)
        & answers["place"].isin(SHAPES)
    ]
    lines += [
        f"The same by shape, with a {SHAPED} model, for the lower and the upper quartile of these data sets:",
        "",
    ]
    rows = [[place, *_percents(shaped[shaped["place"] == place])] for place in SHAPES]
    lines += table_lines(
        ["data sets of a new domain with", *(f"{word}, %" for word in SHARES.values())],
        rows,
    )
    lines += ["", _without_domains(answers), ""]
    lines += _random_lines(pd.read_csv(folder / BESIDE_RANDOM).query("task == @task"))
    return lines, [folder / ANSWERS, folder / BESIDE_RANDOM, folder / LEADERBOARD]


def _without_domains(answers: pd.DataFrame) -> str:
    """Return a sentence with how far the answer for a new domain depends on any single domain."""
    at_size = answers[(answers["size"] == TOLD_SIZE) & (answers["judge"] == SHAPED)]
    without = at_size[at_size["place"].str.startswith(WITHOUT)]
    if without.empty:
        return ""
    shares = (
        100
        * pd.DataFrame(
            {place: medians(of_place) for place, of_place in without.groupby("place")}
        ).T
    )
    parts = []
    for column in ("better", "worse"):
        of_column = shares[column].sort_values()
        ends = [
            f"{value:.0f} % ({place})"
            for place, value in (of_column.iloc[[0, -1]]).items()
        ]
        parts.append(f"{SHARES[column]} by more than a point with {' to '.join(ends)}")
    return (
        f"If each domain is left out in turn, the error on a new domain with {TOLD_SIZE} features and a {SHAPED} model "
        f"is {' and '.join(parts)}."
    )


def _family_lines(answers: pd.DataFrame, board: pd.DataFrame) -> list[str]:
    family = answers["method"].map(lambda method: panel_methods()[method].family)
    rows = []
    for name, words in FAMILIES.items():
        of_family = answers[family == name]
        methods = of_family["method"].unique()
        cells = [words, str(len(methods))]
        for judge in ("linear", "boosting"):
            of_judge = of_family[of_family["judge"] == judge]
            cells += [
                f"{100 * value:.0f}" for value in medians(of_judge)[["better", "worse"]]
            ]
        own = board.reindex(methods)
        rows.append(
            [
                *cells,
                f"{own['stability'].median():.2f}",
                f"{own['seconds'].median():.3f}",
            ]
        )
    heads = [
        f"{judge}: {word}, %"
        for judge in ("linear", "boosted trees")
        for word in ("lower", "higher")
    ]
    return table_lines(["family", "methods", *heads, "stability", "CPU s"], rows)


def _random_lines(answers: pd.DataFrame) -> list[str]:
    """Return how likely methods that approximate X have a lower error than random features."""
    rows = []
    for place, of_place in answers.groupby("place", sort=False):
        best = of_place.loc[of_place["better"].idxmax()]
        likeliest = f"{best['method']}, {100 * best['better']:.0f} %"
        rows.append(
            [str(place), f"{best['sources']:.0f}", *_percents(of_place), likeliest]
        )
    heads = [
        "new data set of",
        "sources",
        *(f"{word}, %" for word in SHARES.values()),
        "most likely lower",
    ]
    head = (
        f"Methods that approximate X compared with {TOLD_SIZE} random features, with a {SHAPED} model: medians over "
        f"{n_different(answers)}."
    )
    return [head, "", *table_lines(heads, rows)]


def _percents(answers: pd.DataFrame) -> list[str]:
    return [f"{100 * share:.0f}" for share in medians(answers)[[*SHARES]]]


PARTS: dict[str, Callable[..., tuple[list[str], list[Path]]]] = {
    "theorems": claims_of_theorems,
    "column-subsets": subset_lines,
    "leaderboard": leaderboard_lines,
    "advice": advice_lines,
    "answers": answer_lines,
    "verdict-counts": verdict_counts,
    "claims": claims_of_paper,
    "contents-of": contents_of_paper,
    "figures": figures_of,
    "tables": tables_of,
    "robustness": robustness_lines,
    "statement-summary": statement_summary,
    "statements": statement_lines,
    "panel-methods": methods_table,
    "api-index": index_lines,
    "format-of-readings": lambda: format_of(schema),
    "format-of-results": lambda: format_of(table),
}
"""Directives by name, with the functions that return their Markdown, given the directive's argument if it has one."""


class FromCode(SphinxDirective):
    """Markdown generated by the build; see `PARTS`."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the nodes, and register the files that they depend on."""
        lines, files = PARTS[self.name](*self.arguments)
        for path in files:
            self.env.note_dependency(str(path))
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives."""
    for name in PARTS:
        app.add_directive(name, FromCode)
    return {"parallel_read_safe": True}
