"""Your own file: CSV and other text, ARFF, Excel, Parquet, Feather, Stata, JSON lines, npz, npy, svmlight or MATLAB."""

from __future__ import annotations

import inspect
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from provlab.data.dataset import Dataset, make_dataset, rows_from
from provlab.data.files import TableError
from provlab.data.own.columns import features_of
from provlab.data.own.formats import APART, FORMATS, is_read_anew, names_of, read_table
from provlab.data.own.roles import Columns, columns_of, notes_on_names, place_of_target
from provlab.data.own.settings import (
    BESIDE,
    LATER,
    SETTINGS,
    has_columns,
    reading_of,
    reading_of_target,
    without_what_is_found,
)
from provlab.data.own.table import Table, faults_of, once
from provlab.data.own.target import column_beside, target_of
from provlab.data.own.text import PACKED, Reading, format_of
from provlab.project.documents import read_json
from provlab.project.messages import listed
from provlab.project.project import current_project

VERSION = 1
OBTAIN = "say dataset=file dataset.path=FILE"
EXAMPLE = Path(__file__).parents[1] / "penguins.csv"
"""Example file of provsel: sizes of 344 penguins of three species, with texts and missing values. Gorman, Williams,
Fraser (2014), PLoS ONE 9(3):e90081; CC0, as the package palmerpenguins states.
"""

CHOICES = {"task": ("auto", "classification", "regression")}


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
        Path relative to the project's folder. Its suffix determines the format: .csv,
        .tsv, .tab, .txt, .data, .dat, .arff or .jsonl, also compressed as .gz, .bz2,
        .xz or .zip; .xlsx; .parquet; .feather; .dta of Stata; .npz with arrays X (or
        data, indices, indptr and shape of a CSR matrix), y and optionally
        feature_names; .npy with one array of rows; .mat with X and Y; .svm, .svmlight
        or .libsvm, also compressed.
    target : str or int, optional
        Column to predict, by name or number from 0 (-1 is the last). The default is the
        column called label, target, class or y. For .npz and .mat, a name refers to a
        variable and a number to a column of X.
    left_out : sequence of str or int, default=()
        Columns that are not features.
    index, index_col : str or int, optional
        Column that numbers or names the rows, which is also left out. A first column
        without a name is always left out.
    groups, sample_weight, fold : str or int, optional
        Columns, or variables of .npz and .mat, that are not features. Rows of one group
        are never in different folds. Weights are used by models that accept them.
        `fold` is the number of the fold that tests a row, or -1 for rows used only for
        training. `groups="qid"` refers to the qid of svmlight.
    task : {"auto", "classification", "regression"}, default="auto"
        By default, texts, truth values, up to 20 different whole numbers and any two
        numbers are classes. More than 20 different real numbers, or more than half as
        many as rows, are a regression. In all other cases the task must be stated.
    sep, decimal, thousands, encoding, header, comment, na_values, keep_default_na
        Parameters of `pandas.read_csv`, for text tables. By default they are detected
        from the first lines if unambiguous, with the separators , ; | tab and space,
        and decimal commas. "tab" and "space" are allowed as values. `header` is
        "infer", "none", or the number of the row with the names.
    sheet_name : str or int, optional
        Sheet of .xlsx, by name or number from 0, if there are several. Needs openpyxl
        (`provsel[excel]`).
    X : str, optional
        Name of the matrix variable in .npz or .mat; by default X.
    zero_based : bool, optional
        Whether the columns of svmlight are counted from 0; None means that they are if
        a 0 occurs.
    n_features : int, optional
        Number of columns of svmlight, if the last ones may be empty; columns are then
        counted from 1 unless `zero_based` is set.
    transpose : bool, default=False
        Whether the samples are columns, in text files whose first column has the
        feature names, or in the matrix of .npz, .npy and .mat.
    categorical : sequence of str or int, default=()
        Numeric columns that are codes of categories.
    target_path : str, optional
        A second file with the target, with one row for each row of `path`, in the same
        order. `target` is one of its columns; a single column need not be named. Text
        settings apply to both files.
    test_path : str, optional
        A second file with the test rows and the same columns; `official_train` marks
        the rows of `path`.
    splits : str, optional
        JSON file, relative to the folder of `path`, with the training and test rows of
        each fold as a list of pairs of lists of row numbers from 0.

    Returns
    -------
    Dataset
        Two classes become -1 and +1 in the order of their sorted names, which are
        `class_names`; more classes become 0, 1, .... Missing values are NaN, and texts
        are the numbers of their `categories`; both need a preparation. Columns of
        dates, and of texts that all differ, are left out with a warning.

    Raises
    ------
    ValueError
        If the file does not exist, is damaged or has another format; if a setting does
        not apply to the format; if there is a text among numbers, whose line is named;
        if there are complex numbers or columns without values; if the target is
        missing, constant or ambiguous; or if the content needs more memory than
        PROVSEL_MEMORY_GB (in 10^9 bytes) allows, by default an eighth of the machine's.
    """
    settings = dict(locals())
    file, *second_file = files(path=path, target_path=target_path, test_path=test_path)
    with faults_of(file):
        how = reading_of(file, settings)
        table = read_table(file, how)
        n_train = table.columns.shape[0]
        if test_path is not None:
            table = table.with_rows_of(
                read_table(second_file[0], how), second_file[0].name
            )
        if not n_train:
            raise TableError(
                f"there are no rows below the names {listed(table.names)}; add rows."
            )
        columns = columns_of(file, table.names, settings)
        labels, place = _labels(table, columns, settings, second_file, how)
        y, class_names = target_of(labels, place, task)
        beside = {
            role: column_beside(table, role, columns.roles[role]) for role in BESIDE
        }
        places = [k for k in range(len(table.names)) if k not in columns.left_out]
        features = features_of(table, places, columns.categorical)
        if not features.places:
            nothing = "expected at least one feature, got only labels and columns that are left out"
            raise TableError(f"{'; '.join([nothing, *features.notes])}.")
        notes = [
            *table.notes,
            *notes_on_names(table, columns, features.places, class_names),
            *features.notes,
        ]
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
    """Check the parameters of `load`; return columns by their names, and by numbers from 0 if several share one.

    An index is a column that is left out, so the first of these columns is stored as
    the index. Settings that equal the detected ones are not stored, nor are later
    parameters at their defaults.
    """
    file, *second_file = files(**settings)
    with faults_of(file):
        how = without_what_is_found(file, reading_of(file, settings))
        # names refer to variables, and columns may have no names
        is_apart = format_of(file) in APART
        names = (
            [] if is_apart and not has_columns(settings) else once(names_of, file, how)
        )
        columns = columns_of(file, names, settings)
        times = Counter(names)
        spelled: list[str | int] = [*names]
        for k, name in enumerate(names):
            if times[name] > 1:
                spelled[k] = k
        left_out = [
            spelled[k] for k in sorted(columns.left_out - {*columns.roles.values()})
        ]
        parameters = {name: getattr(how, name) for name in SETTINGS}
        parameters["na_values"] = [*how.na_values] or ()
        parameters["categorical"] = [
            spelled[k] for k in sorted(columns.categorical)
        ] or ()
        for role, place in columns.roles.items():
            parameters[role] = settings[role]
            if place is not None:
                parameters[role] = place if is_apart else spelled[place]
        if settings["target_path"] is not None:
            target_names = once(names_of, second_file[0], reading_of_target(how))
            parameters["target"] = target_names[
                place_of_target(target_names, settings["target"])
            ]
        parameters["index"] = left_out[0] if left_out else None
        parameters["left_out"] = left_out[1:]
        parameters["index_col"] = None
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(load).parameters.items()
    }
    completed = {**settings, **parameters}
    return {
        name: value
        for name, value in completed.items()
        if name not in LATER or value != defaults[name]
    }


def version(**settings: Any) -> int:
    """Return the loader version in the identity of a data set: 2 if the file was read wrongly before."""
    file = files(**settings)[0]
    with faults_of(file):
        return VERSION + once(
            is_read_anew, file, Reading(encoding=settings.get("encoding"))
        )


def files(
    *,
    path: str,
    target_path: str | None = None,
    test_path: str | None = None,
    splits: str | None = None,
    **_: Any,
) -> list[Path]:
    """Return the user's file within the folder of the project, any second file, and any file of splits."""
    if target_path is not None and test_path is not None:
        raise ValueError(
            f"dataset.test_path: cannot be combined with dataset.target_path={target_path!r:.80}; write the target "
            f"as a column of both files."
        )
    paths = [_file("path", path)]
    for parameter, second_path in (
        ("target_path", target_path),
        ("test_path", test_path),
    ):
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
    """Return the training and test rows of each fold from a file."""
    content = read_json(path)
    folds = []
    try:
        for train, test in content:
            folds.append((rows_from(train, n_rows), rows_from(test, n_rows)))
        if not folds:
            raise ValueError("no fold")
    except (ValueError, TypeError) as error:
        raise TableError(
            f"dataset.splits: expected a list of pairs of lists of row numbers from 0, such as [[[0, 1, 2], [3, 4]], "
            f"...], in {path.name}, got in fold {len(folds)}: {error}; write it like this."
        ) from error
    return tuple(folds)


def _file(parameter: str, path: Any) -> Path:
    root = current_project().root
    if not isinstance(path, str) or path in ("", "???"):
        raise ValueError(
            f"dataset.{parameter}: expected the path of a file, got {path!r:.80}; set for example dataset.path=my.csv."
        )
    file = or_example(root / Path(path).expanduser())
    if format_of(file) not in FORMATS:
        step = (
            "save it as .xlsx or CSV"
            if file.suffix.lower().startswith((".xls", ".ods"))
            else "convert or rename it"
        )
        endings = [*FORMATS, *(f".csv{packed}" for packed in PACKED)]
        raise ValueError(
            f"dataset.{parameter}: expected a file ending in {', '.join(endings)}, got {path!r:.200}; {step}."
        )
    if not file.is_file():
        raise ValueError(
            f"dataset.{parameter}: there is no file {path!r:.200} in {root}; correct the path."
        )
    return file


def or_example(file: Path) -> Path:
    """Return a file, or the example table of provsel if a missing file of that name is requested."""
    return EXAMPLE if file.name == EXAMPLE.name and not file.exists() else file


def _labels(
    table: Table,
    columns: Columns,
    settings: Mapping[str, Any],
    second_file: list[Path],
    how: Reading,
) -> tuple[Table, int | None]:
    """Return the table with the target, and the number of its column."""
    if settings["target_path"] is None:
        return table, columns.roles["target"]
    [file] = second_file
    labels = read_table(file, reading_of_target(how))
    n = table.columns.shape[0]
    n_labels = labels.columns.shape[0]
    if n_labels != n:
        raise TableError(
            f"dataset.target_path: expected {n} rows, one for each row of dataset.path, got {n_labels} in {file.name}; "
            f"correct it, or set dataset.header=none if the first row of values was read as names."
        )
    return labels, place_of_target(labels.names, settings["target"])
