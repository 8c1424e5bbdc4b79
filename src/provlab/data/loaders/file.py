"""Your own file: CSV and other text, ARFF, Excel, Parquet, npz, npy, svmlight or MATLAB, with a target."""

from __future__ import annotations

import codecs
import inspect
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from scipy import sparse

from provlab.data.dataset import Dataset, make_dataset
from provlab.data.files import TableError
from provlab.data.own_columns import column_beside, features_of, target_of
from provlab.data.own_table import (
    APART,
    FORMATS,
    OF_TEXT,
    UNNAMED,
    column_names,
    faults_of,
    has_index,
    is_read_anew,
    once,
    read_table,
)
from provlab.data.own_text import (
    MISSING,
    PACKED,
    SPACES,
    SPELLED,
    SVMLIGHT,
    TEXTS,
    Reading,
    format_of,
    layout_of,
    some,
)
from provlab.project.project import current_project

VERSION = 1
OBTAIN = "say dataset=file dataset.path=FILE"

TARGETS = ("label", "target", "class", "y")
"""Names of the column of labels that need not be said."""

SETTINGS = (*OF_TEXT, "sheet_name", "X", "zero_based", "n_features")
BESIDE = ("groups", "sample_weight", "fold")
ROLES = ("target", *BESIDE)
LATER = ("index_col", *BESIDE, "task", *SETTINGS)
CHOICES = {"task": ("auto", "classification", "regression")}


def _is_place(value: Any) -> bool:
    return value is None or (isinstance(value, str | int) and not isinstance(value, bool))


def _is_encoding(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(codecs.lookup(value))
    except LookupError:
        return False


VALUES: dict[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(("index", "index_col", *ROLES), (_is_place, "a column's name or number")),
    "left_out": (
        lambda value: isinstance(value, Sequence) and not isinstance(value, str),
        "a list of columns such as [id, date]",
    ),
    **dict.fromkeys(
        ("sep", "decimal", "thousands", "comment"),
        (lambda value: isinstance(value, str) and (len(value) == 1 or value == SPACES), "one character"),
    ),
    "encoding": (_is_encoding, "one of Python, such as cp1252, utf-16"),
    "header": (lambda value: value == "none" or (type(value) is int and value >= 0), "infer, none or a row from 0"),
    "keep_default_na": (lambda value: isinstance(value, bool), "true or false"),
    "sheet_name": (lambda value: isinstance(value, str) or type(value) is int, "a name or a number from 0"),
    "X": (lambda value: isinstance(value, str), "the name of a variable"),
    "zero_based": (lambda value: isinstance(value, bool), "true, false or null"),
    "n_features": (lambda value: type(value) is int and value >= 1, "a whole number from 1"),
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
) -> Dataset:
    """Load a file of your own.

    Parameters
    ----------
    path : str
        Relative to the project's folder. Its ending says the format: .csv, .tsv, .tab, .txt, .data, .dat or .arff, also
        packed as .gz, .bz2, .xz or .zip; .xlsx; .parquet; .npz with arrays X (or data, indices, indptr and shape of a
        CSR matrix), y and optionally feature_names; .npy with one array of rows; .mat with X and Y; .svm, .svmlight or
        .libsvm, also packed.
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
    given = dict(locals())
    [file] = files(path=path)
    with faults_of(file):
        how = _reading(file, given)
        table = read_table(file, how)
        if not table.columns.shape[0]:
            raise TableError(f"expected rows, got none below {some(table.names)}; write some.")
        roles, out = _places(file, table.names, given)
        y, class_names = target_of(table, roles["target"], task)
        beside = [column_beside(table, role, roles[role]) for role in BESIDE]
        kept = [k for k in range(len(table.names)) if k not in out]
        values, kept, categories, notes = features_of(table, kept)
        if not kept:
            what = "; ".join(["expected at least one feature, got none beside labels and what is left out", *notes])
            raise TableError(f"{what}.")
        odd = [] if class_names is None else [repr(each) for each in class_names if each.lower() in MISSING]
        if odd:
            notes.insert(0, f"classes are called {some(odd)}; where that means no label, say dataset.na_values")
        if UNNAMED.fullmatch(table.names[0]) and 0 in out:
            notes.insert(0, f"column {table.names[0]!r}, which only numbers the rows, is left out")
        nameless = [k for k in kept if UNNAMED.fullmatch(table.names[k])]
        if nameless:
            names = some([table.names[k] for k in nameless])
            places = ",".join(map(str, nameless[:5]))
            step = f"give them names in the first line, or leave them out: dataset.left_out=[{places}]"
            notes.insert(0, f"columns without a name, {names}, are features; {step}")
        for note in [*table.notes, *notes]:
            warnings.warn(f"data set {file.name}: {note}.", stacklevel=2)
        others: dict[str, Any] = dict(zip(("groups", "sample_weight", "folds"), beside, strict=True))
        others |= {"class_names": class_names, "regression": class_names is None, "categories": categories}
        others["missing"] = not sparse.issparse(values)
        name = file.name[: file.name.lower().rindex(format_of(file))]
        return make_dataset(values, y, [table.names[k] for k in kept], name=name, source=path, **others)


def checked(**given: Any) -> dict[str, Any]:
    """Check the parameters of `load`; return columns by their names, and by numbers from 0 where several share one.

    An index is no more than a column that is left out, so the first of all these is written as it. What would be found
    without a setting is not written, nor what came later than the first keys at its default.
    """
    [file] = files(path=given["path"])
    with faults_of(file):
        how = _reading(file, given)
        if format_of(file) in TEXTS:
            layout = once(layout_of, file, how)
            for name in ("sep", "decimal", "encoding", "header"):
                without = replace(how, **{name: getattr(Reading, name)})
                with suppress(ValueError):  # it has to be said
                    how = without if once(layout_of, file, without) == layout else how
        apart = format_of(file) in APART  # where names are those of variables, and columns may need none
        by_name = [*given["left_out"], *(name for name in ("index", "index_col") if given[name] is not None)]
        by_name += [role for role in ROLES if isinstance(given[role], int)]
        names = once(column_names, file, how) if by_name or not apart else []
        roles, out = _places(file, names, given)
        times = Counter(names)
        spelled = {k: name if times[name] == 1 else k for k, name in enumerate(names)}
        beside = [spelled[k] for k in sorted(out - {*roles.values()})]
        written = {role: given[role] if k is None else k if apart else spelled[k] for role, k in roles.items()}
        found = {name: getattr(how, name) for name in SETTINGS} | {"na_values": [*how.na_values] or ()}
        left_out = {"left_out": beside[1:], "index": next(iter(beside), None), "index_col": None}
        parameters = {**given, **found, **written, **left_out}
    defaults = inspect.signature(load).parameters
    return {name: value for name, value in parameters.items() if name not in LATER or value != defaults[name].default}


def version(**given: Any) -> int:
    """Return the number that the identity of a data set has as that of its loader: 2 where it was read wrongly."""
    [file] = files(path=given["path"])
    with faults_of(file):
        return VERSION + once(is_read_anew, file, Reading(encoding=given.get("encoding")))


def files(*, path: str, **_: Any) -> list[Path]:
    """Return the file of the user, below the folder of the project."""
    root = current_project().root
    if not isinstance(path, str) or path in ("", "???"):
        raise ValueError(f"dataset.path: expected the path of a file, got {path!r:.80}; such as dataset.path=my.csv.")
    file = root / Path(path).expanduser()
    if format_of(file) not in FORMATS:
        step = "save it as .xlsx or CSV" if file.suffix.lower().startswith((".xls", ".ods")) else "convert or rename it"
        raise ValueError(
            f"dataset.path: expected a file ending in {', '.join((*FORMATS, *(f'.csv{each}' for each in PACKED)))}, "
            f"got {path!r:.200}; {step}."
        )
    if not file.is_file():
        raise ValueError(
            f"dataset.path: expected a file, got {path!r:.200}, which is none in {root}; correct the path."
        )
    return [file]


def _reading(file: Path, given: Mapping[str, Any]) -> Reading:
    """Return how the file is read, with all settings checked and in one spelling."""
    found: dict[str, Any] = {name: given[name] for name in SETTINGS}
    missing = found["na_values"]
    many = missing if isinstance(missing, Sequence) and not isinstance(missing, str) else [missing]
    found["na_values"] = tuple(sorted({"null" if each is None else str(each) for each in many}))
    found["header"] = "none" if found["header"] is None else found["header"]
    found["sep"] = SPELLED.get(found["sep"], found["sep"]) if isinstance(found["sep"], str) else found["sep"]
    ending = format_of(file)
    takes = FORMATS[ending][1]
    for name, value in found.items():
        if value != getattr(Reading, name) and name not in takes:
            raise ValueError(
                f"dataset.{name}: expected settings of {ending} files, {', '.join(takes) or 'none'}, got "
                f"{value!r:.80}; leave it out."
            )
    for name, (is_right, expected) in VALUES.items():
        value = {**given, **found}[name]
        if value != getattr(Reading, name, None) and not is_right(value):
            raise ValueError(f"dataset.{name}: expected {expected}, got {value!r:.80}.")
    # the usual labels of variables are found by their names, too
    named = [
        (role, given[role]) for role in ROLES if isinstance(given[role], str) or (role, given[role]) == ("target", None)
    ]
    return Reading(**found, vectors=tuple(named) if ending in APART else ())


def _places(file: Path, names: list[str], given: Mapping[str, Any]) -> tuple[dict[str, int | None], set[int]]:
    """Return the columns of the target and of what stands beside it, None where they are apart, and all no features."""
    apart, is_svmlight = format_of(file) in APART, format_of(file) in SVMLIGHT
    left_out = [("left_out", column) for column in given["left_out"]]
    left_out += [(name, given[name]) for name in ("index", "index_col") if given[name] is not None]
    out = {_place(name, names, column) for name, column in left_out}
    if names and UNNAMED.fullmatch(names[0]) and once(has_index, file, _reading(file, given)):
        out.add(0)
    roles: dict[str, int | None] = {}
    for role in ROLES:
        column = given[role]
        if is_svmlight and column is not None and (role, column) != ("groups", "qid"):
            raise TableError(
                f"expected no {role}, as svmlight has labels and qid only, got {column!r:.80}; leave it out."
            )
        if column is None and role == "target" and not apart:
            usual = [k for k, name in enumerate(names) if name.lower() in TARGETS]
            if len(usual) != 1:
                step = "dataset.target=NAME, or a number from 0, -1 for the last"
                if format_of(file) == ".arff":  # where by convention it is the last one
                    step = f"by the format's convention 'dataset.target=\"{names[-1]:.80}\"', the last attribute"
                raise TableError(
                    f"expected one column of labels called {', '.join(TARGETS)}, got {len(usual)} among "
                    f"{some(names)}; say which: {step}."
                )
            column = usual[0]
        roles[role] = None if column is None or (apart and isinstance(column, str)) else _place(role, names, column)
    return roles, out | {place for place in roles.values() if place is not None}


def _place(parameter: str, names: list[str], column: str | int) -> int:
    """Return the number of a column that is given by name or number."""
    if isinstance(column, int) and not isinstance(column, bool) and -len(names) <= column < len(names):
        return column % len(names)
    if names.count(str(column)) == 1:
        return names.index(str(column))
    raise TableError(f"dataset.{parameter}: expected a column of {some(names)}, got {column!r:.80}.")
