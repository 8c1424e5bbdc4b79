"""Methods of `select`, by the names that `selector=NAME` accepts, with their families and speed limits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from provlab.bench.selection.table_selector import SIZES
from provlab.core.composition import part_config
from provlab.core.vocabulary import family_of, file_named
from provlab.project.components import build
from provlab.project.project import conf_files

DEFAULT = (
    "f_test", "mutual_information", "mrmr", "relieff", "rfe", "stability_selection", "permutation_importance", "rrqr",
)  # fmt: skip

ALL = (
    *DEFAULT, "rank_test", "shrunken_centroids", "jmi", "multisurf", "forward", "forest_rfe",
    "ridge_leverage", "single_svd", "cur", "farthest_point", "randomly_pivoted_qr", "laplacian_score",
)  # fmt: skip
"""Methods of `methods="all"`: the fast ones that rank columns of any sign."""

SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "leverage": {"strategy": "top", "rescale": False},
    "permutation_importance": {"n_estimators": 15},
    "forest_rfe": {"n_estimators": 15},
    "stability_selection": {"n_pairs": 10},
}
"""Settings that differ from the file of a method with hundreds of fits: fewer trees and halves, no draws."""

MAX_ROWS = {
    "relieff": 5_000, "multisurf": 5_000, "laplacian_score": 5_000, "rfe": 5_000, "stability_selection": 20_000,
    "permutation_importance": 20_000, "forest_rfe": 20_000,
}  # fmt: skip
"""Number of training rows beyond which a method is too slow for all folds; it still runs if it is named."""

MAX_CELLS = {
    "rfe": 4_000_000,
    "forest_rfe": 1_000_000,
    "permutation_importance": 4_000_000,
}
"""The same for rows times columns."""


@dataclass(frozen=True)
class Method:
    """Name and family of a method, and its unfitted selector, which takes `n_features_to_select`."""

    name: str
    family: str
    selector: Any


def chosen_methods(
    methods: str | Iterable[str] | Mapping[str, Any] | None,
    *,
    shape: tuple[int, int],
    is_regression: bool,
    random_state: int,
) -> tuple[list[Method], list[str]]:
    """Return the methods that apply to a table, and notes on the others.

    Parameters
    ----------
    methods : str, iterable of str, mapping or None
        None means the default methods, and "all" means all fast ones. Otherwise a
        sequence of names as in `selector=NAME`, names separated by commas, or a mapping
        of names to selectors.
    shape : (int, int)
        Numbers of rows and columns.
    is_regression : bool
    random_state : int
        Seed for random selectors without a seed.

    Raises
    ------
    ValueError
        If a name is unknown, a selector takes no number of features, or no method
        applies.
    """
    notes = []
    chosen = []
    named = methods is not None and methods != "all"
    for method in _candidates(methods):
        reason = _reason_against(
            method, shape, is_regression=is_regression, named=named
        )
        if reason:
            notes.append(f"{method.name} is left out: {reason}")
            continue
        chosen.append(
            Method(
                method.name,
                method.family,
                _told(method.selector, is_regression, random_state),
            )
        )
    if not chosen:
        raise ValueError(
            f"select: no method applies to these data: {'; '.join(notes)}."
        )
    return chosen, notes


def _candidates(
    methods: str | Iterable[str] | Mapping[str, Any] | None,
) -> Iterator[Method]:
    if isinstance(methods, Mapping):
        for name, selector in methods.items():
            _check_selector(name, selector)
            yield Method(str(name), "yours", selector)
        return
    if methods is None:
        names: Iterable[str] = DEFAULT
    elif methods == "all":
        names = ALL
    elif isinstance(methods, str):
        names = [name.strip() for name in methods.split(",")]
    else:
        names = list(methods)
    for name in names:
        yield method_named(name)


def method_named(spelling: str) -> Method:
    """Return the unfitted method described by a file of conf/selector, with its settings for `select`.

    Raises
    ------
    ValueError
        If the name is unknown, or the selector takes no number of features.
    """
    name = file_named(
        "selector", spelling, [path.stem for path in conf_files("selector")]
    )
    config = {
        **part_config("selector", [f"selector='{name}'"]),
        **SETTINGS.get(name, {}),
    }
    if "n_features_to_select" not in config:
        raise ValueError(
            f"select: methods: expected selectors that take a number of features, got {name}, which does not; choose "
            f"at_size_lpsvm, at_size_l1_svm or another name from provsel list selectors."
        )
    if "version" in config:
        config["version"] = None  # use the installed version: no key depends on it
    return Method(
        name, family_of(name), build("selector", {**config, "n_features_to_select": 1})
    )


def _check_selector(name: str, selector: Any) -> None:
    is_estimator = (
        hasattr(selector, "get_params")
        and hasattr(selector, "fit")
        and not isinstance(selector, type)
    )
    if not is_estimator or not {*SIZES} & {*selector.get_params(deep=False)}:
        raise ValueError(
            f"select: methods: expected an unfitted selector with {' or '.join(SIZES)} for {name!r:.80}, got "
            f"{selector!r:.80}; use compare for selectors that choose the number themselves."
        )


def _reason_against(
    method: Method, shape: tuple[int, int], *, is_regression: bool, named: bool
) -> str:
    """Return why a method does not apply to a table; "" if it does."""
    n_rows, n_columns = shape
    if is_regression and getattr(method.selector, "classes_only", False):
        return "it is for classes, but the target is numeric"
    if named:
        return ""
    if n_rows > MAX_ROWS.get(method.name, n_rows):
        return f"slow on more than {MAX_ROWS[method.name]:,} rows; name it in --methods to run it anyway"
    n_values = n_rows * n_columns
    if n_values > MAX_CELLS.get(method.name, n_values):
        return f"slow on more than {MAX_CELLS[method.name]:,} values; name it in --methods to run it anyway"
    return ""


def _told(selector: Any, is_regression: bool, random_state: int) -> Any:
    """Return a copy with the task set, and with a seed if the method is random and has none."""
    prepared = clone(selector)
    parameters = prepared.get_params(deep=False)
    if "task" in parameters:
        prepared.set_params(task="regression" if is_regression else "classification")
    if parameters.get("random_state", 0) is None:
        prepared.set_params(random_state=random_state)
    return prepared
