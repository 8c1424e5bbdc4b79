"""Script that repeats the selection of `select` on all rows with scikit-learn and provsel only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from provlab.bench.selection.table_selector import sized
from provlab.project.estimators import public_name
from provlab.run.preparation import TablePreparation
from provsel.selectors import BaseSelector

if TYPE_CHECKING:
    from provlab.bench.selection.selected import Selected


def code_of(selected: Selected) -> str:
    """Return a script that selects the same features on all rows and trains the same model on them."""
    pipeline = selected.pipeline
    table_selector, model = pipeline["columns"], clone(pipeline["model"])
    count = table_selector.n_features_to_select
    selector = sized(table_selector.selector, count)
    kept = "indices_" if isinstance(selector, BaseSelector) else "get_support()"
    preparation = table_selector.preparation
    imports = {
        "import pandas as pd",
        "from sklearn.pipeline import make_pipeline",
        _import(selector),
        _import(model),
    }
    source = list(selected.source) or [
        "# X and y are the table and its target",
        "X = pd.DataFrame(X)",
    ]
    copies = [name for names in selected.copies.values() for name in names]
    if copies:
        source.append(f"X = X.drop(columns={copies!r})  # copies of other columns")
    if table_selector.texts_ or not isinstance(preparation, TablePreparation | None):
        imports |= {
            "from provlab.bench.selection.table_selector import TableSelector",
            _import(preparation),
        }
        source.append(f"preparation = {preparation!r}")
        body = [
            f"selector = TableSelector({selector!r}, {count}, preparation=preparation)",
            f"pipeline = make_pipeline(selector, preparation, {model!r}).fit(X, y)",
            "print(selector.fit(X, y).features_)",
        ]
    else:
        steps = _steps(preparation, imports)
        body = [
            f"prepare = make_pipeline({', '.join(steps)})",
            f"selector = {selector!r}",
            f"features = X.columns[selector.fit(prepare.fit_transform(X), y).{kept}].tolist()",
            f"pipeline = make_pipeline(prepare, {model!r}).fit(X[features], y)",
            "print(features)",
        ]
    imports |= {line for line in source if line.startswith(("from ", "import "))}
    source = [line for line in source if line not in imports]
    return "\n".join([*sorted(imports), "", *source, *body])


def _import(estimator: Any) -> str:
    package, _, name = public_name(type(estimator)).rpartition(".")
    return f"from {package} import {name}"


def _steps(preparation: Any, imports: set[str]) -> list[str]:
    """Return the calls that prepare the numeric columns, and add their imports."""
    if preparation is None:
        return ["'passthrough'"]
    steps = []
    for _, step in preparation.of_numbers().steps:
        if step != "passthrough":
            imports.add(_import(step))
            steps.append(repr(step))
    return steps
