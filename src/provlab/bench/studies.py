"""Studies beside the panel: its methods on changed data sets, or changed methods on its data sets.

In: `studies.yaml` and the panel's data sets, methods and judges. Out: a Parquet file
for each study and data set, with a line for each trial, as in the panel, and the change
in `variant`; and `_studies.csv`, the answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from provlab.bench.methods import PanelMethod
from provlab.bench.panel import (
    PanelCell,
    PanelDataset,
    base_cell,
    panel_cells,
    panel_datasets,
    shape_of,
    stored_folder,
)
from provlab.bench.stored_panel import (
    SCHEMA,
    panel_of,
    read_file,
    replace_trials,
    trials_from,
)
from provlab.core.plan import load_from
from provlab.core.store import TrialStore
from provlab.project.documents import read_record
from provlab.verdicts.panel_frame import ALL_FEATURES, HALF_SIZE

STUDY_SCHEMA = SCHEMA.append(pa.field("variant", pa.string()))
"""Columns of the files: those of the panel, and the value of the study."""

KIND = ["variant", "task", "method", "size"]
"""Columns that say what a mean of a study is of."""


@dataclass(frozen=True)
class Study:
    """An entry of `studies.yaml`, which describes it.

    Attributes
    ----------
    sets, values, choose : tuple of str
    sizes : mapping
        Numbers of features for each judge.
    tags : mapping
        What distinguishes its trials from those of the panel, in columns of
        `provlab.verdicts.panel_table`.
    methods : tuple of str
        By default all.
    relevant : str
        "all", or a number in digits; "" if it is not known which columns are relevant.
    grids : mapping
        Values of each parameter of the methods that are tuned; if there are any, only
        these methods are run.
    """

    sets: tuple[str, ...]
    values: tuple[str, ...]
    sizes: Mapping[str, tuple[int, ...]]
    tags: Mapping[str, str]
    choose: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    relevant: str = ""
    grids: Mapping[str, Mapping[str, tuple[Any, ...]]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Studies:
    studies: Mapping[str, Study]


@cache
def studies() -> Mapping[str, Study]:
    """Return the studies by name."""
    return read_record(Path(__file__).with_name("studies.yaml"), _Studies).studies


def folder_of(study: str, folder: Path | None = None) -> Path:
    """Return the folder of the files of a study, by default in the panel that comes with provsel."""
    return (folder or stored_folder()) / study


def variants(study: Study, name: str) -> dict[str, PanelDataset]:
    """Return the data set of each value of a study: a set of the panel with the study's overrides."""
    dataset = panel_datasets()[name]
    has_folds = any(text.startswith("protocol=") for text in study.choose)
    kept = [
        text
        for text in dataset.choose
        if not (has_folds and text.startswith("protocol"))
    ]
    is_sized = any("ROWS" in text for text in study.choose)
    n_classes = shape_of(dataset)[2]
    support = _n_relevant(study, dataset)
    by_value = {}
    for value in study.values:
        n_rows = int(value) * n_classes if is_sized else None
        changes = [
            text.replace("VALUE", value).replace("ROWS", str(n_rows))
            for text in study.choose
        ]
        by_value[value] = replace(
            dataset, choose=(*kept, *changes), support=support, train_rows=n_rows
        )
    return by_value


def _n_relevant(study: Study, dataset: PanelDataset) -> int:
    """Return the number of relevant columns of a data set in a study, 0 if unknown."""
    if not study.choose:
        return dataset.support
    if study.relevant == "all":
        return int(load_from(base_cell(dataset).dataset).X.shape[1])
    return int(study.relevant or 0)


def study_cells(
    study: Study, methods: Mapping[str, PanelMethod], name: str
) -> list[PanelCell]:
    """Return the cells of methods on all variants of a data set; `dataset` of each is its variant."""
    if study.grids:
        methods = {
            title: replace(methods[title], grid=(*grid.items(),))
            for title, grid in study.grids.items()
        }
    elif study.methods:
        methods = {title: methods[title] for title in study.methods}
    half = shape_of(panel_datasets()[name])[1]
    cells = []
    for value, dataset in variants(study, name).items():
        sizes = {}
        for judge, of_judge in study.sizes.items():
            sizes[judge] = [half if size == HALF_SIZE else size for size in of_judge]
        for entry in panel_cells(methods, {value: dataset}, sizes):
            is_half = HALF_SIZE in study.sizes[entry.model] and entry.size == half
            cells.append(entry._replace(size=HALF_SIZE) if is_half else entry)
    return cells


def write_study(
    name: str, cells: Sequence[PanelCell], store: TrialStore, folder: Path
) -> None:
    """Write the trials of cells of all variants of a data set, beside those stored of other cells."""
    folder.mkdir(parents=True, exist_ok=True)
    trials = trials_from(store, cells).rename(columns={"dataset": "variant"})
    replace_trials(name, trials, folder, STUDY_SCHEMA)


def read_study(study: str, folder: Path | None = None) -> pd.DataFrame:
    """Return the trials of a study, with the data set and the variant of each; errors as in `read_trials`."""
    parts = []
    for path in sorted(folder_of(study, folder).glob("*.parquet")):
        name, trials = read_file(path, STUDY_SCHEMA)
        parts.append(trials.assign(dataset=name))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def tagged_trials(
    folder: Path | None = None,
) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """Yield the trials of each study and variant in the columns of the panel, with the tags that distinguish them."""
    for name, study in studies().items():
        trials = read_study(name, folder)
        if trials.empty:
            continue
        if not any("VALUE" in tag for tag in study.tags.values()):
            trials["variant"] = ""  # the variants differ in their draws only
        panel = panel_of(trials, panel_datasets())
        for variant, of_variant in panel.groupby(trials["variant"]):
            yield (
                {
                    column: tag.replace("VALUE", str(variant))
                    for column, tag in study.tags.items()
                },
                of_variant,
            )


def study_answers(panel: pd.DataFrame, folder: Path | None = None) -> pd.DataFrame:
    """Return what the stored studies say.

    Parameters
    ----------
    panel : DataFrame
        The panel with which studies are compared, see `provlab.verdicts.panel_frame`.
    folder : Path, optional
        Folder of the studies, by default the one that comes with provsel.

    Returns
    -------
    DataFrame
        study, variant, task, method and size; measure, mean and standard_error over the
        data sets, and sets, their number; see the functions in `MEASURED`. Rows that
        differ only by the method are sorted by the mean. A method that failed on a data
        set is left out there.
    """
    columns = ["study", *KIND, "measure", "mean", "standard_error", "sets"]
    frames = [pd.DataFrame(columns=columns)]
    for study, measured in MEASURED.items():
        trials = read_study(study, folder)
        if trials.empty:
            continue
        values = measured(trials, panel)
        groups = values.groupby([*KIND, "measure"])["value"]
        means = groups.agg(mean="mean", standard_error="sem", sets="size").reset_index()
        ordered = means.sort_values(
            ["task", "variant", "size", "measure", "mean", "method"]
        )
        frames.append(ordered.assign(study=study)[columns])
    return pd.concat(frames[1:] or frames, ignore_index=True)


def excess_errors(trials: pd.DataFrame, panel: pd.DataFrame) -> pd.DataFrame:
    """Return how far balanced errors lie above chance, 1 - 1 / classes, in points, with the folds of a set pooled."""
    lines = []
    trials = trials[trials["class_rows"].notna()]  # others failed
    for (name, method, size), of_method in trials.groupby(
        ["dataset", "method", "size"]
    ):
        rows = np.sum([*of_method["class_rows"]], axis=0)
        errors = np.sum([*of_method["class_errors"]], axis=0)
        excess = 100 * (np.mean(errors / rows) - (1 - 1 / rows.size))
        lines.append({"dataset": name, "method": method, "size": size, "value": excess})
    frame = pd.DataFrame(lines, columns=["dataset", "method", "size", "value"])
    return frame.assign(variant="", task="classification", measure="excess")


def support_measures(trials: pd.DataFrame, panel: pd.DataFrame) -> pd.DataFrame:
    """Return recall, F1 and false discoveries in percent. Of twenty seeds a method has one mean."""
    frame = trials_of_methods(trials)
    seeds = frame["variant"].str.isdigit()
    frame["variant"] = frame["variant"].mask(seeds, "")
    means = (
        100
        * frame.groupby(["dataset", *KIND])[
            ["support_recall", "support_f1", "false_discovery"]
        ].mean()
    )
    return means.melt(ignore_index=False, var_name="measure").dropna().reset_index()


def harms_by_noise(trials: pd.DataFrame, panel: pd.DataFrame) -> pd.DataFrame:
    """Return `support_measures`, and for each judge by how much noise raises the error with all features."""
    support = support_measures(trials[trials["size"] == HALF_SIZE], panel)
    errors = with_errors_of_panel(trials[trials["size"] == ALL_FEATURES], panel)
    errors["value"] = errors["error"] - errors["error_of_panel"]
    errors["method"] = "all features, " + errors["model"]
    return pd.concat([support, errors.assign(measure="harm")], ignore_index=True)


def differences_to_all(trials: pd.DataFrame, panel: pd.DataFrame) -> pd.DataFrame:
    """Return errors minus those with all features, in points, and the errors themselves."""
    errors = errors_of(trials_of_methods(trials))
    place = ["dataset", "variant", "model"]
    baseline = errors[errors["size"] == ALL_FEATURES].set_index(place)["error"]
    errors = errors.join(baseline.rename("all"), on=place)
    errors["difference"] = errors["error"] - errors["all"]
    return errors.melt(["dataset", *KIND], ["error", "difference"], "measure").dropna(
        subset="value"
    )


def gains_by_tuning(trials: pd.DataFrame, panel: pd.DataFrame) -> pd.DataFrame:
    """Return the error with the parameters of the panel minus that with tuned ones, in points."""
    errors = with_errors_of_panel(trials, panel)
    return errors.assign(
        value=errors["error_of_panel"] - errors["error"], measure="gain"
    )


def with_errors_of_panel(trials: pd.DataFrame, panel: pd.DataFrame) -> pd.DataFrame:
    """Return `errors_of` a study, and the errors of the same methods on the same data sets in the panel."""
    place = ["dataset", "task", "method", "size", "model"]
    of_panel = errors_of(panel[panel["failure"] == ""].assign(variant=""))[
        [*place, "error"]
    ]
    return errors_of(trials_of_methods(trials)).merge(
        of_panel, on=place, suffixes=("", "_of_panel")
    )


def trials_of_methods(trials: pd.DataFrame) -> pd.DataFrame:
    """Return the trials of a study in the columns of the panel, with their variants, without methods that failed."""
    frame = panel_of(trials, panel_datasets()).assign(variant=trials["variant"])
    failed = (frame["failure"] != "").groupby(
        [frame[name] for name in ("dataset", "variant", "method", "size")]
    )
    return frame[~failed.transform("any")].copy()


def errors_of(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the mean error of each method and judge on each data set in points: for numbers unexplained variance."""
    means = frame.groupby(["dataset", "model", *KIND])["balanced_accuracy"].mean()
    return (100 * (1 - means)).rename("error").reset_index()


MEASURED = {
    "permuted": excess_errors,
    "noise": support_measures,
    "half": harms_by_noise,
    "simulated": support_measures,
    "few_rows": differences_to_all,
    "tuned": gains_by_tuning,
}
"""For each study, the function of its trials and of the panel that returns dataset, `KIND`, measure and value."""
