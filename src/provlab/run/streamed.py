"""Training from a file in a separate process, with its memory and the quality of the predictions."""

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

from provlab.core.protocols.base import Method, Record
from provlab.project.components import build
from provlab.project.estimators import as_config
from provlab.run.fitting import build_seeded, fit_selector
from provlab.run.fold import Fold

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Variables that limit a new process to one BLAS thread, because buffers of more threads would count as memory."""


def measure_from_file(
    method: Method, fold: Fold, *, seed: int, split_seed: int
) -> Record:
    """Return the test error, file size, memory, and times, which include reading the file."""
    fitted = fit_selector(method, seed, fold.view)
    return fitted.as_record(fold) | train_alone(
        as_config(build_seeded(method.model, seed)), fold
    )


def train_alone(config: Mapping[str, Any], fold: Fold) -> Record:
    """Train in a new process on the training rows in a temporary svmlight file, and test in this process.

    Numbers in the file have 16 digits. The memory of the training process is measured
    relative to its memory after imports, so `peak_memory` is that of the training. Its
    times include reading the file.

    Parameters
    ----------
    config : mapping
        Config of a linear model, with `random_state` if it should be fixed.
    fold : Fold
        Training rows and test rows.

    Returns
    -------
    dict
        error, file_bytes, and the measurements of `training_process.train`.

    Raises
    ------
    ValueError
        If the process fails. The message has its exit status or signal, and its last
        line of output.
    """
    from sklearn.datasets import dump_svmlight_file

    with TemporaryDirectory(prefix="provsel-") as folder:
        path, n_features = Path(folder) / "train.svm", fold.view.n_features
        dump_svmlight_file(fold.view.X, fold.view.y, str(path), zero_based=False)
        size = path.stat().st_size
        done = subprocess.run(
            # -P, because a file json.py in the user's folder must not be imported
            [sys.executable, "-P", "-m", "provlab.run.training_process"],
            input=json.dumps(
                {"model": dict(config), "data": str(path), "n_features": n_features}
            ),
            env={**os.environ, **dict.fromkeys(ONE_THREAD, "1")},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it wrote nothing"])[-1]
        how = (
            f"exit status {done.returncode}"
            if done.returncode > 0
            else f"signal {-done.returncode}"
        )
        raise ValueError(
            f"training in a separate process:  expected {config.get('_target_')} to be fitted, got {how} and "
            f"{last!r}; correct the cause, or free memory if it ran out."
        )
    # warnings, for example of a solver that stopped early
    sys.stderr.write(done.stderr)
    trained, model = json.loads(done.stdout.splitlines()[-1]), build("model", config)
    for name in ("coef_", "intercept_", "classes_"):
        setattr(model, name, np.array(trained.pop(name)))
    model.n_features_in_ = n_features
    return {
        "error": float(np.mean(model.predict(fold.X_test) != fold.y_test)),
        "file_bytes": size,
        **trained,
    }
