"""Train from a file, in a process of its own: what that takes in memory, and how well the model predicts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from provlab.project.components import build, component_class
from provlab.project.estimators import as_config
from provlab.protocols.base import AbstractOwnSplit, Fold, Method, Record, columns

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Set to 1 before the libraries load: the buffers of more threads would be counted as memory."""


class StreamedTraining(AbstractOwnSplit):
    """The data set's own split, where a process of its own trains from a file, and its memory is measured."""

    name = "streamed"
    columns = (
        *columns("number", "error", "objective"),
        *columns("seconds", "train_cpu", "train_wall"),
        *columns("int64", "file_bytes"),
        *columns("volatile bytes", "peak_memory"),
    )

    def check(self, protocol: Mapping[str, Any], method: Method) -> None:
        """Refuse a selection, as the rows are trained on as they are in the file, and what is no linear model."""
        from provsel.models import BaseLinearSVM
        from provsel.selectors import FullDataSelector

        super().check(protocol, method)
        if method.measures:
            raise ValueError("protocol.measures: expected none with streamed, where the model is in another process.")
        selector = component_class("selector", method.selector)
        if selector is not FullDataSelector or method.setting != "unsupervised":
            raise ValueError(
                f"protocol.split: expected selector=full and setting=unsupervised with streamed, which trains on the "
                f"rows as they are in a file; got {selector.__name__} and {method.setting}."
            )
        if not issubclass(component_class("model", method.model), BaseLinearSVM):
            raise ValueError(
                f"protocol.split: expected a linear model with streamed, got {method.model['_target_']}; use model=..."
            )

    def run(self, method: Method, fold: Fold, *, seed: int, split_seed: int) -> Record:
        """Return test error, file size, memory, and times with the reading of the file."""
        from provlab.protocols.fitting import fit_selector, seeded

        fitted = fit_selector(method, seed, fold.view)
        return fitted.as_record(fold) | classify_streamed(as_config(seeded(method.model, seed)), fold)


def classify_streamed(config: Mapping[str, Any], fold: Fold) -> dict[str, Any]:
    """Train on the training rows from a temporary svmlight file, and test in this process.

    The file has 16 digits of each number. The memory of the process that trains is compared with what it has after its
    imports, so `peak_memory` is what the training takes. Its times include the reading of the file.

    Parameters
    ----------
    config : mapping
        Of a linear model, with `random_state` where that is to be fixed.
    fold : Fold
        Training rows and test rows.

    Returns
    -------
    dict
        error, objective, train_cpu, train_wall, file_bytes, and peak_memory in bytes (None where the system has no
        VmHWM and no getrusage).

    Raises
    ------
    ValueError
        The process failed: with the last line that it wrote, or the signal that ended it.
    """
    from sklearn.datasets import dump_svmlight_file

    with TemporaryDirectory(prefix="provsel-") as folder:
        path = Path(folder) / "train.svm"
        dump_svmlight_file(fold.view.X, fold.view.y, str(path), zero_based=False)
        size = path.stat().st_size
        found = train_alone(config, path, fold.view.n_features)
    model = build("model", config)
    model.coef_, model.intercept_, model.classes_ = found["coef"], found["intercept"], found["classes"]
    model.n_features_in_ = fold.view.n_features
    objective, peak = float(found["objective"]), int(found["peak"])
    return {
        "error": float(np.mean(model.predict(fold.X_test) != fold.y_test)),
        "objective": None if np.isnan(objective) else objective,
        "train_cpu": float(found["cpu"]),
        "train_wall": float(found["wall"]),
        "file_bytes": size,
        "peak_memory": None if peak < 0 else peak,
    }


def train_alone(config: Mapping[str, Any], path: Path, n_features: int) -> dict[str, Any]:
    """Return the arrays that `training_process.train` writes for a model and an svmlight file, from a new process."""
    request, result = path.with_suffix(".json"), path.with_suffix(".npz")
    asked = {"model": dict(config), "data": str(path), "n_features": n_features, "result": str(result)}
    request.write_text(json.dumps(asked), encoding="utf-8")
    done = subprocess.run(
        # -P: a file json.py where the user happens to be is not what we import
        [sys.executable, "-P", "-m", "provlab.protocols.training_process", str(request)],
        env={**os.environ, **dict.fromkeys(THREADS, "1")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it wrote nothing"])[-1]
        how = f"exit status {done.returncode}" if done.returncode > 0 else f"signal {-done.returncode}"
        raise ValueError(
            f"training in a process of its own: expected {config.get('_target_')} to be fitted, got {how} and "
            f"{last!r}; correct that, or free memory if it ran out."
        )
    sys.stderr.write(done.stderr)  # warnings, as of a solver that stopped early
    with np.load(result, allow_pickle=False) as arrays:
        return dict(arrays)
