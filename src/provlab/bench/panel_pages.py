"""Pages of the benchmark: per task, the leaderboard, the comparison with all features, and a page per method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from provlab.core.tables import write_frame
from provlab.project.documents import digest
from provlab.report.figures.ranks import draw_front
from provlab.report.figures.style import only_formats
from provlab.report.figures.trees import draw_tree
from provlab.report.templating import Site, slug
from provlab.verdicts.panel_families import THRESHOLD, families, tree
from provlab.verdicts.panel_frame import ALL_FEATURES, CHOSEN_SIZE, OWN_SIZE
from provlab.verdicts.panel_pairs import (
    EVERYWHERE,
    MARGIN,
    compared_with_all,
    win_rates,
)
from provlab.verdicts.panel_ranking import (
    everywhere,
    front,
    leaderboard,
    sets_of,
    standings,
)
from provlab.verdicts.panel_scores import ALL, ERROR_OF, HEADLINE, MEASURES, Scores

WHOLE = {"domain": EVERYWHERE, "size": "all sizes", "model": "all judges"}
"""Labels of a slice for the parts of the panel that it does not restrict."""

IN_SLICES = (HEADLINE, "stability", "support_f1", "seconds")

FRONTS = {
    "seconds": ("time", "CPU seconds of a selection, median over data sets"),
    "stability": ("stability", "stability"),
}
"""Measures plotted against the loss: name of the figure, and axis label."""

FOLDERS = {"classification": "benchmark", "regression": "benchmark/numbers"}
"""Folder of each task's pages within the site."""

TITLES = {
    "classification": "Feature selectors, ranked",
    "regression": "Feature selectors for numeric targets, ranked",
}

VERDICTS = ("better", "same", "worse", "inconclusive")


def measure_columns(scores: Scores) -> list[tuple[str, str, str | int]]:
    """Return the title, the column, and the pattern or number of digits of each measure."""
    columns: list[tuple[str, str, str | int]] = []
    for name in scores.measures:
        measure = MEASURES[name]
        label = measure_label(name, scores.task)
        if measure.unit == "s":
            columns.append((label, name, 3))
        elif measure.unit:
            columns.append((f"{label} ({measure.unit})", name, "0.0"))
        else:
            columns.append((label, name, "0.00"))
    return columns


def measure_label(name: str, task: str) -> str:
    """Return the label of a measure for a task."""
    return ERROR_OF[task].capitalize() if name == HEADLINE else MEASURES[name].label


def write_panel(
    site: Site, scores: Scores, mine: Sequence[str] = (), *, title: str = "",
    pairs: pd.DataFrame | None = None, sets: pd.DataFrame | None = None, index: str = "",
    problems: Sequence[str] = (), answer: Sequence[str] = (), also: Mapping[str, str] | None = None,
    overlap: pd.DataFrame | None = None,
) -> None:  # fmt: skip
    """Write the leaderboard of a panel with its figures and files, and a page for each method.

    Parameters
    ----------
    site : Site
    scores : Scores
    mine : sequence of str
        Methods of the user, which are highlighted.
    title : str, optional
    pairs, sets : DataFrame, optional
        Comparisons of the user's method with each other method, and its data sets, see
        `provlab.bench.rank`.
    index : str, optional
        Path of the leaderboard page; by default it is in the folder of the task.
    problems : sequence of str
        Problems of the user's method, shown above all numbers.
    answer : sequence of str
        Sentences that state the result of the benchmark or of the user's method.
    also : mapping, optional
        Further pages of the benchmark with their descriptions.
    overlap : DataFrame, optional
        Similarity of the methods' selections, see
        `provlab.verdicts.panel_families.overlaps`.
    """
    title = title or TITLES[scores.task]
    home = FOLDERS[scores.task]
    is_own_site = index != ""
    index = index or f"{home}/index.html"
    board = leaderboard(scores)
    errors = scores.of_slice()
    compared = compared_with_all(scores)
    slices = _slices(scores)
    folder = site.folder / home
    folder.mkdir(parents=True, exist_ok=True)
    figures = _draw_fronts(board, folder)
    alike: dict[str, list[str]] = {}
    trees: list[Path] = []
    if overlap is not None and len(overlap) > 1:
        members = families(overlap)
        alike = {
            name: [*group.index]
            for name, group in members.groupby(members)
            if len(group) > 1
        }
        with only_formats("svg"):
            trees = draw_tree(
                [*overlap.index], tree(overlap), THRESHOLD, folder / "selections"
            )
    files = {
        "leaderboard.csv": (
            board.rename_axis("method").reset_index(),
            "all numbers of the leaderboard",
        ),
        "slices.csv": (slices, "leaderboards by domain, size and model"),
        "against_all.csv": (
            pd.concat(compared, names=["domain"]).reset_index(),
            "each method compared with all features at each size, with p-values",
        ),
        "win_rates.csv": (
            win_rates(errors).rename_axis("method").reset_index(),
            "win rates of each pair of methods",
        ),
    }
    for name, (frame, _) in files.items():
        write_frame(frame, folder / name)
    methods = dict.fromkeys([*board.index, *scores.lines["method"]])
    columns = measure_columns(scores)
    shared: dict[str, Any] = {
        "mine": mine, "size_text": size_text, "measures": columns,
        "hrefs": {name: f"{home}/{slug('m', name, digest(name)[:8])}.html" for name in methods},
        "in_slices": [column for column in columns if column[1] in IN_SLICES],
    }  # fmt: skip
    beside = compared[EVERYWHERE]
    site.write(
        index, "benchmark.html", title, "benchmark", "" if is_own_site else title, board=board, compared=compared,
        pairs=pairs, sets=sets, problems=problems, sentences=answer, sizes=scores.sizes, domains=scores.domains,
        verdicts=VERDICTS,
        ordered=[*board.index.drop(ALL), *beside.index.unique("method").difference(board.index)],
        slices=slices, margin=MARGIN, by=_ranks_by(scores, board.index, slices),
        n_trials=int(scores.lines["trials"].sum()), also=also or {}, error=ERROR_OF[scores.task],
        files={f"{home}/{name}": text for name, (_, text) in files.items()},
        figures=[path.relative_to(site.folder).as_posix() for path in figures], alike=alike, threshold=THRESHOLD,
        trees=[path.relative_to(site.folder).as_posix() for path in trees], **shared,
    )  # fmt: skip
    for name, lines in scores.lines.groupby("method", sort=False):
        of_method = beside[beside.index.get_level_values("method") == name].droplevel(
            "method"
        )
        site.write(
            shared["hrefs"][name], "benchmark_method.html", str(name), "benchmark", str(name), above=[(title, index)],
            own=lines, name=name, sets=sets_of(errors, str(name)) if name in board.index else pd.DataFrame(),
            beside=of_method.rename(size_text), error=ERROR_OF[scores.task], **shared,
        )  # fmt: skip


def _draw_fronts(board: pd.DataFrame, folder: Path) -> list[Path]:
    """Draw loss against time and against stability for methods that were run on all data sets."""
    complete = everywhere(board)
    figures = []
    with only_formats("svg"):
        for name, (stem, label) in FRONTS.items():
            best = front(complete, name)
            figures += draw_front(
                complete, name, best, folder / stem, label, log=name == "seconds"
            )
    return figures


def _ranks_by(
    scores: Scores, methods: pd.Index, slices: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Return the mean ranks of methods by measure, by size and by domain."""
    by_measure = {}
    for name in scores.measures:
        by_measure[measure_label(name, scores.task)] = standings(
            scores, name, shown=()
        )["rank"]
    all_judges = slices[slices["model"] == WHOLE["model"]]
    all_domains = all_judges[all_judges["domain"] == WHOLE["domain"]]
    all_sizes = all_judges[all_judges["size"] == WHOLE["size"]]
    by_size = all_domains.pivot(index="method", columns="size", values="rank")
    by_domain = all_sizes.pivot(index="method", columns="domain", values="rank")
    tables = {
        "measure": pd.DataFrame(by_measure),
        "size": by_size[[size_text(size) for size in scores.sizes]],
        "domain": by_domain[[*scores.domains.index]],
    }
    return {name: table.reindex(methods) for name, table in tables.items()}


def size_text(size: int) -> str:
    """Return a size of the panel in words."""
    return {
        ALL_FEATURES: "all features",
        OWN_SIZE: "its own",
        CHOSEN_SIZE: "chosen",
    }.get(size, str(size))


def _slices(scores: Scores) -> pd.DataFrame:
    """Return leaderboards over all data, by size and by domain, for each judge and for all judges."""
    parts: list[tuple[Scores, str, int | None]] = [(scores, WHOLE["domain"], None)]
    parts += [(scores, WHOLE["domain"], size) for size in scores.sizes]
    parts += [
        (scores.on(str(domain)), str(domain), None) for domain in scores.domains.index
    ]
    boards = {}
    for part, domain, size in parts:
        for model in (None, *scores.lines["model"].unique()):
            if not part.of_slice(size=size, model=model).empty:
                text = WHOLE["size"] if size is None else size_text(size)
                board = standings(part, size=size, model=model, shown=IN_SLICES)
                boards[domain, text, model or WHOLE["model"]] = board
    return pd.concat(boards, names=[*WHOLE, "method"]).reset_index()
