"""The pages of the benchmark: the leaderboard, what survives beside all features, and a page a method."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from provlab.core.tables import write_frame
from provlab.project.documents import digest
from provlab.report.figures.ranks import draw_front
from provlab.report.figures.style import only_formats
from provlab.report.templating import Site, slug
from provlab.verdicts.panel_frame import ALL_FEATURES, OWN_SIZE
from provlab.verdicts.panel_pairs import EVERYWHERE, MARGIN, compared_with_all, win_rates
from provlab.verdicts.panel_ranking import everywhere, front, leaderboard, sets_of
from provlab.verdicts.panel_scores import ALL, HEADLINE, MEASURES, Scores

EVERY = {"domain": EVERYWHERE, "size": "all sizes", "model": "both models"}

IN_SLICES = (HEADLINE, "stability", "support_f1", "seconds")

COLUMNS = [
    (f"{each.label} ({each.unit})" if each.unit not in ("", "s") else each.label, name,
     {"": "0.00", "s": 3}.get(each.unit, "0.0"))
    for name, each in MEASURES.items()
]  # fmt: skip
"""Columns of tables: title, measure, and a pattern of its numbers or how many digits."""

FRONTS = {
    "seconds": ("time", "CPU seconds of a selection, median over data sets"),
    "stability": ("stability", "stability"),
}
"""Measures beside the loss: name of the figure, and what its axis says."""

VERDICTS = ("better", "same", "worse", "inconclusive")


def write_panel(
    site: Site, scores: Scores, mine: Sequence[str] = (), *, title: str = "Feature selectors, ranked",
    pairs: pd.DataFrame | None = None, sets: pd.DataFrame | None = None, index: str = "",
    problems: Sequence[str] = (),
) -> None:  # fmt: skip
    """Write the leaderboard of a panel with its figures and files, and a page for each method.

    Parameters
    ----------
    site : Site
    scores : Scores
    mine : sequence of str
        Methods of the user, which are marked.
    title : str
    pairs, sets : DataFrame, optional
        Of the user's method beside each other one, and its data sets, see `provlab.bench.rank`.
    index : str
        Where the leaderboard goes, by default benchmark/index.html.
    problems : sequence of str
        Of the user's method, above all numbers.
    """
    board, errors, lines = leaderboard(scores), scores.of_slice(), scores.lines
    compared = compared_with_all(scores)
    beside, all_compared = compared[EVERYWHERE], pd.concat(compared, names=["domain"]).reset_index()
    ordered = [*board.index.drop(ALL), *beside.index.unique("method").difference(board.index)]
    sizes, domains = scores.sizes, scores.domains
    hrefs = {name: f"benchmark/{slug('m', name, digest(name)[:8])}.html" for name in [*board.index, *lines["method"]]}
    folder = site.folder / "benchmark"
    folder.mkdir(parents=True, exist_ok=True)
    figures, whole = [], everywhere(board)
    with only_formats("svg"):
        for name, (stem, label) in FRONTS.items():
            figures += draw_front(whole, name, front(whole, name), folder / stem, label, log=name == "seconds")
    slices = _slices(scores)

    def ranks_by(name: str, values: Iterable[str]) -> pd.DataFrame:
        chosen = [slices[other] == text for other, text in EVERY.items() if other != name]
        return slices[np.logical_and(*chosen)].pivot(index="method", columns=name, values="rank")[[*values]]

    of_measures = {each.label: leaderboard(scores, name, shown=())["rank"] for name, each in MEASURES.items()}
    by = {
        "measure": pd.DataFrame(of_measures),
        "size": ranks_by("size", map(size_text, sizes)),
        "domain": ranks_by("domain", domains.index),
    }
    files = {
        "leaderboard.csv": (board.rename_axis("method").reset_index(), "all numbers of the leaderboard"),
        "slices.csv": (slices, "leaderboards by domain, size and model"),
        "against_all.csv": (all_compared, "each method beside all features at each size, with p-values"),
        "win_rates.csv": (win_rates(errors).rename_axis("method").reset_index(), "of each pair of methods"),
    }
    for name, (frame, _) in files.items():
        write_frame(frame, folder / name)
    shared: dict[str, Any] = {
        "mine": mine, "hrefs": hrefs, "size_text": size_text, "measures": COLUMNS,
        "in_slices": [each for each in COLUMNS if each[1] in IN_SLICES],
    }  # fmt: skip
    href = index or "benchmark/index.html"
    site.write(
        href, "benchmark.html", title, "benchmark", "" if index else title, board=board, compared=compared,
        pairs=pairs, sets=sets, problems=problems, ordered=ordered, sizes=sizes, domains=domains, verdicts=VERDICTS,
        slices=slices, margin=MARGIN, by={name: table.reindex(board.index) for name, table in by.items()},
        n_trials=int(lines["trials"].sum()), files={f"benchmark/{name}": text for name, (_, text) in files.items()},
        figures=[path.relative_to(site.folder).as_posix() for path in figures], **shared,
    )  # fmt: skip
    for name, own in lines.groupby("method", sort=False):
        sets = sets_of(errors, str(name)) if name in board.index else pd.DataFrame()
        site.write(
            hrefs[name], "benchmark_method.html", str(name), "benchmark", str(name), above=[(title, href)], own=own,
            name=name, sets=sets, **shared,
            beside=beside[beside.index.get_level_values("method") == name].droplevel("method").rename(size_text),
        )  # fmt: skip


def size_text(size: int) -> str:
    """Return a size of the panel in words."""
    return {ALL_FEATURES: "all features", OWN_SIZE: "its own"}.get(size, str(size))


def _slices(scores: Scores) -> pd.DataFrame:
    """Return leaderboards of everything, of each size and of each domain, with each model and with both."""
    found, models = {}, {EVERY["model"]: None, **{name: name for name in scores.lines["model"].unique()}}
    parts: list[tuple[str, int | None]] = [
        ("", None),
        *(("", size) for size in scores.sizes),
        *((str(name), None) for name in scores.domains.index),
    ]
    for (domain, size), (model_text, model) in product(parts, models.items()):
        own = scores.on(domain) if domain else scores
        place = domain or EVERY["domain"], EVERY["size"] if size is None else size_text(size), model_text
        if not own.of_slice(size=size, model=model).empty:
            found[place] = leaderboard(own, size=size, model=model, shown=IN_SLICES)
    return pd.concat(found, names=[*EVERY, "method"]).reset_index()
