"""Your own file: CSV and other text, ARFF, Excel, Parquet, Feather, Stata, JSON lines, npz, npy, svmlight or MATLAB."""

from __future__ import annotations

import codecs
import inspect
import re
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from provlab.data.dataset import Dataset, make_dataset, rows_from
from provlab.data.files import TableError
from provlab.data.own_columns import column_beside, features_of, target_of
from provlab.data.own_table import (
    APART,
    FORMATS,
    UNNAMED,
    Table,
    faults_of,
    has_index,
    is_read_anew,
    names_of,
    once,
    read_table,
)
from provlab.data.own_text import MISSING, PACKED, SPACES, SVMLIGHT, TEXTS, Reading, format_of, layout_of
from provlab.project.documents import read_json
from provlab.project.messages import did_you_mean, listed
from provlab.project.project import current_project

VERSION = 1
OBTAIN = "say dataset=file dataset.path=FILE"

TARGETS = ("label", "target", "class", "y")
"""Names of the column of labels that need not be said."""

EVENTS = {"event", "status", "death", "died", "dead", "censored", "censor", "cens", "fustat", "os", "vital_status"}
TIMES = {"time", "duration", "survival", "survival_time", "follow_up", "futime", "time_to_event", "os_time", "os.time"}
"""Names of columns of survival data: each tells of the other."""

SPELLED = {"tab": "\t", "\\t": "\t", "space": SPACES}
"""Separators that are hard to write on a command line."""

SETTINGS = tuple(setting.name for setting in fields(Reading) if setting.name != "vectors")
BESIDE = ("groups", "sample_weight", "fold")
ROLES = ("target", *BESIDE)
LATER = ("index_col", *BESIDE, "task", *SETTINGS, "categorical", "target_path", "test_path", "splits")
CHOICES = {"task": ("auto", "classification", "regression")}


def _is_place(value: Any) -> bool:
    return value is None or (isinstance(value, str | int) and not isinstance(value, bool))


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _is_sign(value: Any) -> bool:
    return isinstance(value, str) and (len(value) == 1 or value == SPACES)


def _is_encoding(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(codecs.lookup(value))
    except LookupError:
        return False


def _is_header(value: Any) -> bool:
    return value == "none" or (type(value) is int and value >= 0)


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool)


CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(("index", "index_col", *ROLES), (_is_place, "a column's name or number")),
    **dict.fromkeys(("left_out", "categorical"), (_is_list, "a list of columns such as [id, date]")),
    **dict.fromkeys(("sep", "decimal", "thousands", "comment"), (_is_sign, "one character")),
    "encoding": (_is_encoding, "one of Python, such as cp1252, utf-16"),
    "header": (_is_header, "infer, none or a row from 0"),
    "keep_default_na": (_is_truth, "true or false"),
    "sheet_name": (lambda value: isinstance(value, str) or type(value) is int, "a name or a number from 0"),
    "X": (lambda value: isinstance(value, str), "the name of a variable"),
    "zero_based": (_is_truth, "true, false or null"),
    "n_features": (lambda value: type(value) is int and value >= 1, "a whole number from 1"),
    "transpose": (_is_truth, "true or false"),
}
"""By parameter, what tells a right value where it is not the default, and its description."""


def load(
    *,
    path: str = "",
    target: str | int | None = None,
    left_out: Sequence[str | int] = (),
    index: str | int | None = None,
    index_col: str | int | None = None,
    groups: str | int | None = None,
    sample_weight: str | int | None = None,
    fold: str | int | None = None,
    task: str = "auto",
    sep: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
    header: int | str | None = "infer",
    comment: str | None = None,
    na_values: Sequence[Any] | str | float = (),
    keep_default_na: bool = True,
    sheet_name: str | int | None = None,
    X: str | None = None,
    zero_based: bool | None = None,
    n_features: int | None = None,
    transpose: bool = False,
    categorical: Sequence[str | int] = (),
    target_path: str | None = None,
    test_path: str | None = None,
    splits: str | None = None,
) -> Dataset:
    """Load a file of your own.

    Parameters
    ----------
    path : str
        Relative to the project's folder. Its ending says the format: .csv, .tsv, .tab, .txt, .data, .dat, .arff or
        .jsonl, also packed as .gz, .bz2, .xz or .zip; .xlsx; .parquet; .feather; .dta of Stata; .npz with arrays X (or
        data, indices, indptr and shape of a CSR matrix), y and optionally feature_names; .npy with one array of rows;
        .mat with X and Y; .svm, .svmlight or .libsvm, also packed.
    target : str or int, optional
        The column to predict, by name or number from 0 (-1 is the last). By default the one that is called label,
        target, class or y. Of .npz and .mat a name is that of a variable, a number that of a column of X.
    left_out : sequence of str or int, default=()
        Columns that are no features.
    index, index_col : str or int, optional
        Column that numbers or names the rows: left out as well. A first column without a name always is.
    groups, sample_weight, fold : str or int, optional
        Columns, or variables of .npz and .mat, that are no features: rows of one group are never in two folds; weights
        are for models that take them; a whole number is the fold that tests a row, -1 for rows that are only trained
        on. `groups="qid"` is that of svmlight.
    task : {"auto", "classification", "regression"}, default="auto"
        Texts, truth values, up to 20 different whole numbers and any two numbers are classes; more than 20 different
        real numbers, or more than half as many as rows, are a regression; all else is asked about.
    sep, decimal, thousands, encoding, header, comment, na_values, keep_default_na
        As of `pandas.read_csv`, for tables of text. None is found in the first lines, of separators , ; | tab and
        space, and of a comma for decimals, where it is certain; "tab" and "space" may be written. `header` is
        "infer", "none", or the number of the row with the names.
    sheet_name : str or int, optional
        Sheet of .xlsx, by name or number from 0, where there are several. Needs openpyxl (`provsel[excel]`).
    X : str, optional
        Variable of .npz or .mat that is the matrix, by default X.
    zero_based : bool, optional
        Whether the columns of svmlight are counted from 0; None: where a 0 is there.
    n_features : int, optional
        Columns of svmlight, where the last ones may be empty; counted from 1 unless `zero_based` says otherwise.
    transpose : bool, default=False
        Whether the samples are the columns: of text, whose first column has the names of the features, or of the matrix
        of .npz, .npy and .mat.
    categorical : sequence of str or int, default=()
        Columns of numbers that are codes of categories.
    target_path : str, optional
        A second file, which has the target: a row for each of `path`, in the same order. `target` is one of its
        columns; a single one need not be said. Settings of text hold for both files.
    test_path : str, optional
        A second file with the test rows, and the same columns: `official_train` marks the rows of `path`.
    splits : str, optional
        JSON file, relative to the folder of `path`, with the training and the test rows of each fold: a list of pairs
        of lists of row numbers from 0.

    Returns
    -------
    Dataset
        Two classes are -1 and +1 in the order of their sorted names, which are `class_names`; more are 0, 1, ....
        Missing values are NaN, and texts the numbers of their `categories`: both need a preparation. Columns of dates,
        and of texts that differ from row to row, are left out with a warning.

    Raises
    ------
    ValueError
        No such file, another format, a damaged file; a setting that the format does not take; a value that is no number
        among numbers, with its line; complex numbers, columns without values, a target that is missing, constant or
        undecided; contents that would take more memory than PROVSEL_MEMORY_GB (in 10^9 bytes) allows, by default an
        eighth of the machine's.
    """
    settings = dict(locals())
    file, *second_file = files(path=path, target_path=target_path, test_path=test_path)
    with faults_of(file):
        how = _reading(file, settings)
        table = read_table(file, how)
        n_train = table.columns.shape[0]
        if test_path is not None:
            table = table.with_rows_of(read_table(second_file[0], how), second_file[0].name)
        if not n_train:
            raise TableError(f"expected rows, got none below {listed(table.names)}; write some.")
        columns = _columns_of(file, table.names, settings)
        labels, place = _labels(table, columns, settings, second_file, how)
        y, class_names = target_of(labels, place, task)
        beside = {role: column_beside(table, role, columns.roles[role]) for role in BESIDE}
        places = [k for k in range(len(table.names)) if k not in columns.left_out]
        features = features_of(table, places, columns.categorical)
        if not features.places:
            nothing = "expected at least one feature, got none beside labels and what is left out"
            raise TableError(f"{'; '.join([nothing, *features.notes])}.")
        notes = [*table.notes, *_notes(table, columns, features.places, class_names), *features.notes]
        for note in notes:
            warnings.warn(f"data set {file.name}: {note}.", stacklevel=2)
        return make_dataset(
            features.X,
            y,
            [table.names[k] for k in features.places],
            name=file.name[: file.name.lower().rindex(format_of(file))],
            source=path,
            official_train=None if test_path is None else np.arange(y.size) < n_train,
            regression=class_names is None,
            missing=not sparse.issparse(features.X),
            class_names=class_names,
            categories=features.categories,
            groups=beside["groups"],
            sample_weight=beside["sample_weight"],
            folds=beside["fold"],
            splits=None if splits is None else _splits(_beside(file, splits), y.size),
        )


def checked(**settings: Any) -> dict[str, Any]:
    """Check the parameters of `load`; return columns by their names, and by numbers from 0 where several share one.

    An index is no more than a column that is left out, so the first of all these is written as it. What would be found
    without a setting is not written, nor what came later than the first keys at its default.
    """
    file, *second_file = files(**settings)
    with faults_of(file):
        how = _without_what_is_found(file, _reading(file, settings))
        is_apart = format_of(file) in APART  # names are those of variables, and columns may need none
        names = [] if is_apart and not _has_columns(settings) else once(names_of, file, how)
        columns = _columns_of(file, names, settings)
        times = Counter(names)
        spelled: list[str | int] = [*names]
        for k, name in enumerate(names):
            if times[name] > 1:
                spelled[k] = k
        left_out = [spelled[k] for k in sorted(columns.left_out - {*columns.roles.values()})]
        parameters = {name: getattr(how, name) for name in SETTINGS}
        parameters["na_values"] = [*how.na_values] or ()
        parameters["categorical"] = [spelled[k] for k in sorted(columns.categorical)] or ()
        for role, place in columns.roles.items():
            parameters[role] = settings[role]
            if place is not None:
                parameters[role] = place if is_apart else spelled[place]
        if settings["target_path"] is not None:
            target_names = once(names_of, second_file[0], _reading_of_target(how))
            parameters["target"] = target_names[_place_of_target(target_names, settings["target"])]
        parameters["index"] = left_out[0] if left_out else None
        parameters["left_out"] = left_out[1:]
        parameters["index_col"] = None
    defaults = {name: parameter.default for name, parameter in inspect.signature(load).parameters.items()}
    completed = {**settings, **parameters}
    return {name: value for name, value in completed.items() if name not in LATER or value != defaults[name]}


def version(**settings: Any) -> int:
    """Return the number that the identity of a data set has as that of its loader: 2 where it was read wrongly."""
    file = files(**settings)[0]
    with faults_of(file):
        return VERSION + once(is_read_anew, file, Reading(encoding=settings.get("encoding")))


def files(
    *,
    path: str,
    target_path: str | None = None,
    test_path: str | None = None,
    splits: str | None = None,
    **_: Any,
) -> list[Path]:
    """Return the file of the user, below the folder of the project, the second one where there is one, and splits."""
    if target_path is not None and test_path is not None:
        raise ValueError(
            f"dataset.test_path: expected no dataset.target_path beside it, got {target_path!r:.80}; write the target "
            f"as a column of both files."
        )
    paths = [_file("path", path)]
    for parameter, second_path in (("target_path", target_path), ("test_path", test_path)):
        if second_path is not None:
            paths.append(_file(parameter, second_path))
    if splits is not None:
        paths.append(_beside(paths[0], splits))
    return paths


def _beside(file: Path, splits: Any) -> Path:
    """Return the file of splits, in the folder of the data."""
    path = file.parent / str(splits)
    if not isinstance(splits, str) or path.suffix != ".json" or not path.is_file():
        raise ValueError(
            f"dataset.splits: expected the name of a JSON file in the folder of {file.name}, got {splits!r:.200}; "
            f"write it there, or correct the name."
        )
    return path


def _splits(path: Path, n_rows: int) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Return training and test rows of each fold as a file states them."""
    content = read_json(path)
    form = "a list of pairs of lists of row numbers from 0, as [[[0, 1, 2], [3, 4]], ...]"
    if not isinstance(content, list) or not content:
        raise TableError(f"dataset.splits: expected {form}, got {content!r:.80} in {path.name}; write it so.")
    folds = []
    for place, fold in enumerate(content):
        if not isinstance(fold, list) or len(fold) != 2:
            raise TableError(f"dataset.splits: expected {form}, got {fold!r:.80} as fold {place}; write it so.")
        try:
            folds.append((rows_from(fold[0], n_rows), rows_from(fold[1], n_rows)))
        except (ValueError, TypeError) as error:
            raise TableError(f"dataset.splits: fold {place}: {error}; write {form}.") from error
    return tuple(folds)


def _file(parameter: str, path: Any) -> Path:
    root = current_project().root
    if not isinstance(path, str) or path in ("", "???"):
        raise ValueError(
            f"dataset.{parameter}: expected the path of a file, got {path!r:.80}; such as dataset.path=my.csv."
        )
    file = root / Path(path).expanduser()
    if format_of(file) not in FORMATS:
        step = "save it as .xlsx or CSV" if file.suffix.lower().startswith((".xls", ".ods")) else "convert or rename it"
        endings = [*FORMATS, *(f".csv{packed}" for packed in PACKED)]
        raise ValueError(
            f"dataset.{parameter}: expected a file ending in {', '.join(endings)}, got {path!r:.200}; {step}."
        )
    if not file.is_file():
        raise ValueError(
            f"dataset.{parameter}: expected a file, got {path!r:.200}, which is none in {root}; correct the path."
        )
    return file


# ---- settings


def _reading(file: Path, settings: Mapping[str, Any]) -> Reading:
    """Return how the file is read, with all settings checked and in one spelling."""
    values = {name: settings[name] for name in SETTINGS}
    missing = values["na_values"]
    if not _is_list(missing):
        missing = [missing]
    words = {str(value) for value in missing if value is not None}
    if None in missing:
        words.add("null")
    values["na_values"] = tuple(sorted(words))
    if values["header"] is None:
        values["header"] = "none"
    if isinstance(values["sep"], str):
        values["sep"] = SPELLED.get(values["sep"], values["sep"])
    ending = format_of(file)
    accepted = FORMATS[ending][1]
    for name, value in values.items():
        if value != getattr(Reading, name) and name not in accepted:
            raise ValueError(
                f"dataset.{name}: expected settings of {ending} files, {', '.join(accepted) or 'none'}, got "
                f"{value!r:.80}; leave it out."
            )
    if _is_list(settings["target"]) and settings["target"]:
        targets = ",".join(map(str, settings["target"]))
        raise ValueError(
            f"dataset.target: expected one target at a time, got {settings['target']!r:.80}; run each, "
            f"'-m dataset.target={targets:.80}', and leave the others out."
        )
    for name, (is_right, expected) in CHECKS.items():
        value = {**settings, **values}[name]
        if value != getattr(Reading, name, None) and not is_right(value):
            raise ValueError(f"dataset.{name}: expected {expected}, got {value!r:.80}.")
    if ending not in APART:
        return Reading(**values)
    vectors = []
    for role in ROLES:
        if isinstance(settings[role], str):
            vectors.append((role, settings[role]))
        elif role == "target" and settings[role] is None and settings["target_path"] is None:
            vectors.append((role, None))  # the usual labels of variables are found by their names
    return Reading(**values, vectors=tuple(vectors))


def _reading_of_target(how: Reading) -> Reading:
    """Return how the second file is read that has the target."""
    return replace(how, transpose=False, vectors=())


def _without_what_is_found(file: Path, how: Reading) -> Reading:
    """Return how a file is read without the settings that its first lines tell as well."""
    if format_of(file) not in TEXTS:
        return how
    layout = once(layout_of, file, how)
    for name in ("sep", "decimal", "encoding", "header"):
        without = replace(how, **{name: getattr(Reading, name)})
        with suppress(ValueError):  # it has to be said
            if once(layout_of, file, without) == layout:
                how = without
    return how


def _has_columns(settings: Mapping[str, Any]) -> bool:
    """Tell whether settings name columns of a matrix, where others name variables beside it."""
    if settings["left_out"] or settings["categorical"]:
        return True
    if settings["index"] is not None or settings["index_col"] is not None:
        return True
    return any(isinstance(settings[role], int) for role in ROLES)


# ---- columns


@dataclass(frozen=True)
class _Columns:
    """The columns of each role, None where it has none or stands apart, those that are no features, and categories."""

    roles: dict[str, int | None]
    left_out: set[int]
    categorical: set[int]


def _columns_of(file: Path, names: list[str], settings: Mapping[str, Any]) -> _Columns:
    """Return which columns are what."""
    left_out = {_place("left_out", names, column) for column in settings["left_out"]}
    for parameter in ("index", "index_col"):
        if settings[parameter] is not None:
            left_out.add(_place(parameter, names, settings[parameter]))
    if names and UNNAMED.fullmatch(names[0]) and once(has_index, file, _reading(file, settings)):
        left_out.add(0)
    roles = {role: _place_of_role(file, names, role, settings) for role in ROLES}
    left_out.update(place for place in roles.values() if place is not None)
    return _Columns(roles, left_out, {_place("categorical", names, column) for column in settings["categorical"]})


def _place_of_role(file: Path, names: list[str], role: str, settings: Mapping[str, Any]) -> int | None:
    """Return the number of the column that has a role, None where there is none or it is apart."""
    column = settings[role]
    if role == "target" and settings["target_path"] is not None:
        return None
    if format_of(file) in SVMLIGHT and column is not None and (role, column) != ("groups", "qid"):
        raise TableError(f"expected no {role}, as svmlight has labels and qid only, got {column!r:.80}; leave it out.")
    is_apart = format_of(file) in APART
    if column is None and role == "target" and not is_apart:
        step = "dataset.target=NAME, or a number from 0, -1 for the last"
        if "transpose" in FORMATS[format_of(file)][1]:
            step += "; where the samples are columns, dataset.transpose=true"
        if format_of(file) == ".arff":  # where by convention it is the last one
            step = f"by the format's convention 'dataset.target=\"{names[-1]:.80}\"', the last attribute"
        return _usual_target(names, step)
    if column is None or (is_apart and isinstance(column, str)):
        return None
    return _place(role, names, column)


def _usual_target(names: list[str], step: str) -> int:
    """Return the number of the column that has one of the usual names of labels."""
    usual = [k for k, name in enumerate(names) if name.lower() in TARGETS]
    if len(usual) != 1:
        raise TableError(
            f"expected one column of labels called {', '.join(TARGETS)}, got {len(usual)} among {listed(names)}; say "
            f"which: {step}."
        )
    return usual[0]


def _place_of_target(names: list[str], target: str | int | None) -> int:
    """Return the number of the target in a second file."""
    if target is not None:
        return _place("target", names, target)
    if len(names) == 1:
        return 0
    return _usual_target(names, "dataset.target=NAME, a column of dataset.target_path")


def _place(parameter: str, names: list[str], column: str | int) -> int:
    """Return the number of a column that is given by name or number."""
    if isinstance(column, int) and not isinstance(column, bool) and -len(names) <= column < len(names):
        return column % len(names)
    if names.count(str(column)) == 1:
        return names.index(str(column))
    step = did_you_mean(str(column), names)
    if parameter == "target" and not step:
        step = "; where the samples are columns, say dataset.transpose=true."
    raise TableError(f"dataset.{parameter}: expected a column of {listed(names)}, got {column!r:.80}{step or '.'}")


def _labels(
    table: Table, columns: _Columns, settings: Mapping[str, Any], second_file: list[Path], how: Reading
) -> tuple[Table, int | None]:
    """Return the table that has the target, and the number of its column."""
    if settings["target_path"] is None:
        return table, columns.roles["target"]
    [file] = second_file
    labels = read_table(file, _reading_of_target(how))
    n = table.columns.shape[0]
    n_labels = labels.columns.shape[0]
    if n_labels != n:
        raise TableError(
            f"dataset.target_path: expected {n} rows, one for each row of dataset.path, got {n_labels} in {file.name}; "
            f"correct it, or say dataset.header=none where a first row of values was read as names."
        )
    return labels, _place_of_target(labels.names, settings["target"])


def _notes(table: Table, columns: _Columns, features: list[int], class_names: np.ndarray | None) -> list[str]:
    """Return what people should know of names."""
    notes = []
    nameless = [k for k in features if UNNAMED.fullmatch(table.names[k])]
    if nameless:
        places = ",".join(map(str, nameless[:5]))
        notes.append(
            f"columns without a name, {listed([table.names[k] for k in nameless])}, are features; give them names in "
            f"the first line, or leave them out: dataset.left_out=[{places}]"
        )
    if UNNAMED.fullmatch(table.names[0]) and 0 in columns.left_out:
        notes.append(f"column {table.names[0]!r}, which only numbers the rows, is left out")
    if class_names is not None:
        odd = [repr(name) for name in class_names if name.lower() in MISSING]
        if odd:
            notes.append(f"classes are called {listed(odd)}; where that means no label, say dataset.na_values")
    target = columns.roles["target"]
    if target is not None:
        names = [table.names[k] for k in features]
        survival = _notes_of_survival(table.names[target], names)
        notes += survival or _notes_of_other_targets(table.names[target], names)
    return notes


def _notes_of_other_targets(target: str, names: list[str]) -> list[str]:
    """Return a note on features that may be further targets by their names: t2 beside t1, labelB beside labelA."""
    stem = re.sub(r"(\d+|[A-Z])$", "", target).rstrip("_.- ")
    if stem == target or not stem:
        return []
    alike = [name for name in names if name != target and re.fullmatch(rf"{re.escape(stem)}[_.\- ]?(\d+|[A-Z])", name)]
    if not alike or 2 * len(alike) > len(names):
        return []
    return [
        f"features with names like that of the target {target}: {listed(alike)}; one target at a time: where they are "
        f"other targets, leave them out, 'dataset.left_out=[{','.join(alike):.200}]'"
    ]


def _notes_of_survival(target: str, names: list[str]) -> list[str]:
    """Return a note on a time as a feature of an event, or the other way round."""
    partners: set[str] = set()
    for targets, beside in ((EVENTS, TIMES), (TIMES, EVENTS)):
        if target.lower() in targets:
            partners |= beside
    return [
        f"column {name} is a feature, but is known only with the target {target} where these are survival data; leave "
        f"it out: dataset.left_out=[{name}]"
        for name in names
        if name.lower() in partners
    ]
