"""Select features of a table, and print the answer and its evidence."""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from provlab.cli.commands import add_json
from provlab.project.messages import did_you_mean

if TYPE_CHECKING:
    import pandas as pd

    from provlab.bench.selection.selected import Selected
    from provlab.data import Dataset

GROUPS = ("dataset", "preparation", "model", "protocol")
"""Groups of settings that are accepted."""


def select_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the table, its target, and the options."""
    parser.usage = "provsel select TABLE TARGET [options] [dataset.SETTING=VALUE ...]"
    parser.epilog = (
        "Method and number of features are chosen by cross-validation inside each training fold, so the error "
        "is that of the whole procedure. Texts and missing values are prepared inside each fold. Settings of "
        "dataset=file control how the file is read, such as 'dataset.sep=\";\"' or dataset.left_out=[id]. TARGET can "
        "be the number of a column, counted from 0. protocol=... sets other outer folds, such as protocol=splitter "
        "protocol.cv._target_=... for scikit-learn. provsel list selectors lists the methods."
    )
    parser.add_argument(
        "words",
        nargs="+",
        metavar="TABLE TARGET",
        help="file, column to predict, and settings",
    )
    parser.add_argument(
        "--features",
        type=int,
        metavar="N",
        help="select N features (default: chosen by cross-validation)",
    )
    parser.add_argument(
        "--methods",
        metavar="A,B",
        help="names of selectors, or all fast ones (default: eight)",
    )
    parser.add_argument(
        "--metric",
        metavar="M",
        help="a scorer, such as roc_auc, r2 or my_module.my_scorer (default: error)",
    )
    parser.add_argument(
        "--groups",
        metavar="COL",
        help="column of groups, such as patients, whose rows stay in one fold",
    )
    parser.add_argument(
        "--time",
        metavar="COL",
        help="column of numbers or dates: models are tested on later rows",
    )
    parser.add_argument(
        "--task",
        choices=["classification", "regression"],
        help="kind of task (default: from the target)",
    )
    parser.add_argument(
        "--model",
        metavar="NAME",
        help="a model of provsel list models (default: a linear model)",
    )
    parser.add_argument(
        "--folds", type=int, metavar="K", help="outer folds (default: 10)"
    )
    parser.add_argument(
        "--repeats",
        type=int,
        default=1,
        metavar="R",
        help="repeats of the folds (default: 1)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="S",
        help="seed of all folds and draws (default: 0)",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        metavar="J",
        help="worker processes (default: depends on the work)",
    )
    parser.add_argument(
        "--code", action="store_true", help="print the same selection as a script"
    )
    parser.add_argument(
        "--out",
        metavar="FOLDER",
        help="folder for answer, tables, figure, page and script",
    )
    add_json(parser)


def call_select(options: argparse.Namespace) -> int:
    """Print the answer with its evidence, or a script for the same selection."""
    from provlab.bench.selection.select import select_on, time_order
    from provlab.core.plan import load_from
    from provlab.project.terminal import print_text

    config = _config(options)
    times = _times(options.time, config["dataset"])
    try:
        dataset = load_from(config["dataset"])
    except ValueError as error:
        raise ValueError(_in_options(str(error))) from error
    selected = select_on(
        dataset,
        n_features_to_select=options.features,
        methods=options.methods,
        scoring=options.metric or config["protocol"].get("scoring"),
        cv=_folds_of(config["protocol"], dataset, options.seed),
        time=None if times is None else time_order(times, dataset.n_rows),
        model=options.model or config["model"],
        preparation=config["preparation"],
        n_splits=options.folds,
        repeats=options.repeats,
        random_state=options.seed,
        n_jobs=options.jobs,
        tell=lambda text: print(text, file=sys.stderr, flush=True),
    )
    selected.source = _source(config["dataset"], dataset)
    if options.json:
        _print_json(selected)
    else:
        print_text(selected.code if options.code else str(selected))
    if options.out:
        _write(selected, Path(options.out))
    return 0


def _config(options: argparse.Namespace) -> dict[str, Any]:
    """Return data set, preparation and model of the command line; a model of None is chosen for the table."""
    from provlab.core.composition import compose_config, resolve_references
    from provlab.core.overrides import setting
    from provlab.data.loaders.file import or_example

    settings = [
        word
        for word in options.words
        if re.match(r"[+~]*\w[\w.]*=", word) and not Path(word).exists()
    ]
    words = [word for word in options.words if word not in settings]
    unknown = [text for text in settings if setting(text).split(".")[0] not in GROUPS]
    if unknown:
        raise ValueError(
            f"select: expected settings of {', '.join(GROUPS)}, got {unknown[0]!r:.80}; use "
            f"--methods for methods and --features for the number of features."
        )
    names_data = any(setting(text) == "dataset" for text in settings)
    if len(words) > 2 or bool(words) == names_data:
        raise ValueError(
            f"select: expected TABLE TARGET, such as provsel select penguins.csv species, or dataset=NAME, got "
            f"{' '.join(options.words):.200}."
        )
    table, target = [*words, None, None][:2]
    first = ["dataset=file"] if table is not None else []
    config = compose_config([*first, *settings])
    dataset = dict(config["dataset"])
    if table is not None:
        dataset["path"] = str(or_example(Path(table).expanduser().absolute()))
    stated = {
        "target": _column(target),
        "groups": _column(options.groups),
        "task": options.task,
    }
    if options.time is not None:
        stated["left_out"] = [*dataset.get("left_out", []), _column(options.time)]
    dataset |= {name: value for name, value in stated.items() if value is not None}
    parts = resolve_references({**config, "dataset": dataset}, GROUPS)
    stated_groups = {setting(text).split(".")[0] for text in settings}
    for group, default in (
        ("model", None),
        ("preparation", "standardise"),
        ("protocol", {}),
    ):
        # the settings of papers' data sets suit only the papers' methods
        if group not in stated_groups:
            parts[group] = default
    return parts


def _folds_of(settings: dict[str, Any], dataset: Dataset, seed: int) -> Any:
    """Return the outer folds of a protocol as `cv` of `provlab.select`; None if no protocol is given."""
    from sklearn.model_selection import TimeSeriesSplit

    from provlab.core.protocols import AbstractFolds, protocol_of

    if not settings:
        return None
    protocol = protocol_of(settings)
    if not isinstance(protocol, AbstractFolds):
        raise ValueError(
            f"select: expected a protocol with folds, got protocol.split={protocol.name}; use one such as "
            f"protocol=cross_validation, splitter, given_splits or time_order."
        )
    if protocol.name == "time_order":
        return TimeSeriesSplit(settings["n_splits"])
    if protocol.name == "splitter":
        return protocol.splitter(dataset, 0, seed)
    folds: list[Any] = []
    for repeat in range(settings["repeats"]):
        folds += protocol.splits(dataset, settings["n_splits"], seed + repeat)
    return folds


def _column(name: str | None) -> str | int | None:
    """Return the name or the number of a column."""
    return int(name) if name is not None and re.fullmatch(r"-?\d+", name) else name


def _in_options(text: str) -> str:
    """Rephrase a message about settings of a file in terms of the command line."""
    for setting, option in (
        ("target:", "TARGET:"),
        ("groups:", "--groups:"),
        ("task=", "--task "),
    ):
        text = text.replace(f"dataset.{setting}", option)
    return text


def _times(name: str | None, config: dict[str, Any]) -> pd.Series | None:
    """Return the column of times as it is in the file; None if none is requested."""
    if name is None:
        return None
    import pandas as pd

    path = Path(str(config.get("path", "")))
    if path.suffix == ".parquet":
        frame = pd.read_parquet(path)
    elif path.suffix == ".xlsx":
        frame = pd.read_excel(path)
    else:
        how = {
            "sep": config.get("sep"),
            "encoding": config.get("encoding"),
            "engine": "python",
        }
        header = pd.read_csv(path, nrows=0, **how)
        frame = pd.read_csv(path, usecols=[name], **how) if name in header else header
    columns = [str(column) for column in frame.columns]
    if name not in columns:
        hint = (
            did_you_mean(name, columns) or f"; columns are {', '.join(columns):.200}."
        )
        raise ValueError(
            f"select: --time: expected a column of the table, got {name!r:.80}{hint}"
        )
    return frame.iloc[:, columns.index(name)]


PLAIN = ("path", "target", "groups", "left_out", "task", "min_class_size", "name")
"""Settings of a file that do not affect how it is read."""


def _source(config: dict[str, Any], dataset: Dataset) -> list[str]:
    """Return the lines of a script that read y and the DataFrame X."""
    from provlab.core.composition import compose_config

    if (
        config["name"] == "file"
        and str(config["path"]).endswith(".csv")
        and len(dataset.feature_names) <= 40
    ):
        defaults = compose_config(["dataset=file"])["dataset"]
        settings = {
            name: value
            for name, value in config.items()
            if name not in PLAIN and value != defaults.get(name)
        }
        names = [str(name) for name in dataset.feature_names]
        if (
            not settings
            and isinstance(config["target"], str)
            and _is_read_by_default(config, names)
        ):
            return [
                "import pandas as pd",
                f"table = pd.read_csv({config['path']!r})",
                f"X, y = table[{names!r}], table[{config['target']!r}]",
            ]
    stated = {
        name: value
        for name, value in config.items()
        if name != "name" and value not in (None, [], "", "auto")
    }
    arguments = "".join(f", {name}={value!r}" for name, value in stated.items())
    lines = [
        "from provlab import load_dataset",
        f"data = load_dataset({config['name']!r}{arguments})",
    ]
    if dataset.categories:
        return [
            *lines,
            "from provlab.run.preparation import table_of",
            "X, y = table_of(data), data.y",
        ]
    return [
        *lines,
        "import pandas as pd",
        "X, y = pd.DataFrame(data.X, columns=data.feature_names), data.y",
    ]


def _is_read_by_default(config: dict[str, Any], names: list[str]) -> bool:
    """Return whether pandas' defaults find the columns of a file."""
    import pandas as pd

    try:
        header = pd.read_csv(config["path"], nrows=0).columns
    except ValueError:  # another encoding
        return False
    return {*names, config["target"]} <= {*header}


def _print_json(selected: Selected) -> None:
    from provlab.project.terminal import print_json

    frames = {
        "table": selected.table,
        "curve": selected.curve,
        "frequency": selected.frequency,
    }
    lines = {
        name: frame.rename_axis("name").reset_index().to_dict("records")
        for name, frame in frames.items()
    }
    print_json(
        {
            "answer": selected.answer,
            "features": selected.features,
            "method": selected.method,
            "error": selected.error._asdict(),
            **lines,
            "notes": selected.notes,
        }
    )


def _write(selected: Selected, folder: Path) -> None:
    """Write the results into a folder, replacing those of an earlier call."""
    from provlab.core.tables import write_frame, write_text
    from provlab.project.messages import optional_figures

    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / "answer.txt", f"{selected}\n")
    write_text(folder / "selection.py", f"{selected.code}\n")
    write_text(folder / "features.json", json.dumps(selected.features, indent=1) + "\n")
    for name in ("table", "curve", "frequency"):
        write_frame(
            getattr(selected, name).rename_axis("name").reset_index(),
            folder / f"{name}.csv",
        )
    written: Path = folder
    with optional_figures():
        from provlab.bench.selection.page import write_page

        selected.draw().savefig(folder / "curve.svg")
        files = sorted(
            path.name
            for path in folder.iterdir()
            if path.is_file() and path.name != "index.html"
        )
        written = write_page(selected, folder, files)
    print(f"written: {written}", file=sys.stderr)


COMMANDS = {
    "select": (select_arguments, call_select),
}
"""Functions of each command: one adds its arguments, the other runs it and returns its exit status."""
