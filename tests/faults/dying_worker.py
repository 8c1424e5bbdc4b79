"""A task whose worker is killed. A module of its own: workers import it, and with it little else."""

import os
import signal
import time
from pathlib import Path

from provlab.run.task import run_task


def dies_after_the_first(task):
    """Run a task in a worker; the one that takes the second task is killed when the first one's result is stored."""
    folder = Path(os.environ["FAULT_FOLDER"])
    if not _is_first_to_make(folder / "first") and _is_first_to_make(folder / "second"):
        limit = time.monotonic() + 60
        while not list(folder.glob("store/*.parquet")) and time.monotonic() < limit:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGKILL)
    return run_task(task)


def _is_first_to_make(path):
    """Make a file, unless it is there."""
    try:
        path.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True
