"""Script that repeats the selection of `select` on all rows with scikit-learn and provsel only."""

from __future__ import annotations

import math
from inspect import isroutine, signature
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from provlab.bench.selection.table_selector import sized
from provlab.project.estimators import is_default, public_name
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
    }
    model_text = _written(model, imports)
    selector_text = _written(selector, imports)
    source = list(selected.source) or [
        "# X and y are the table and its target",
        "X = pd.DataFrame(X)",
    ]
    copies = [name for names in selected.copies.values() for name in names]
    if copies:
        source.append(f"X = X.drop(columns={copies!r})  # copies of other columns")
    if table_selector.texts_ or not isinstance(preparation, TablePreparation | None):
        imports.add("from provlab.bench.selection.table_selector import TableSelector")
        source.append(f"preparation = {_written(preparation, imports)}")
        body = [
            f"selector = TableSelector({selector_text}, {count}, preparation=preparation)",
            f"pipeline = make_pipeline(selector, preparation, {model_text}).fit(X, y)",
            "print(selector.fit(X, y).features_)",
        ]
    else:
        steps = _steps(preparation, imports)
        body = [
            f"prepare = make_pipeline({', '.join(steps)})",
            f"selector = {selector_text}",
            f"features = X.columns[selector.fit(prepare.fit_transform(X), y).{kept}].tolist()",
            f"pipeline = make_pipeline(prepare, {model_text}).fit(X[features], y)",
            "print(features)",
        ]
    imports |= {line for line in source if line.startswith(("from ", "import "))}
    source = [line for line in source if line not in imports]
    return "\n".join([*sorted(imports), "", *source, *body])


def _written(value: Any, imports: set[str]) -> str:
    """Return the expression that makes a value, such as an estimator with those within it, and add its imports."""
    if hasattr(value, "get_params") and not isinstance(value, type):
        defaults = signature(type(value)).parameters
        settings = []
        for name, setting in value.get_params(deep=False).items():
            if not is_default(setting, defaults[name].default):
                settings.append(f"{name}={_written(setting, imports)}")
        return f"{_imported(type(value), imports)}({', '.join(settings)})"
    if isinstance(value, type) or isroutine(value):
        return _imported(value, imports)
    if isinstance(value, list):
        return f"[{', '.join([_written(item, imports) for item in value])}]"
    if isinstance(value, tuple):
        items = [f"{_written(item, imports)}, " for item in value]
        return f"({''.join(items).rstrip()})"
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
    return repr(value)


def _imported(component: Any, imports: set[str]) -> str:
    """Return the name of a class or function, and add its import."""
    package, _, name = public_name(component).rpartition(".")
    if package:
        imports.add(f"from {package} import {name}")
    return name or component.__name__


def _steps(preparation: Any, imports: set[str]) -> list[str]:
    """Return the calls that prepare the numeric columns, and add their imports."""
    if preparation is None:
        return ["'passthrough'"]
    steps = []
    for _, step in preparation.of_numbers().steps:
        if step != "passthrough":
            steps.append(_written(step, imports))
    return steps
