"""What can be seen of a Dask cluster from the client: who is there, and what is wrong with it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from distributed import Client

from provlab.run.errors import ClusterError

LOOK_EVERY = 1.0
"""Seconds between two looks at the cluster: who has come, who has gone."""

AGAIN = "what was finished is stored; run the same command again to resume"


def check_python(client: Client) -> None:
    """Raise where a worker's Python is of another series, which cannot read our code and would only die of it."""
    versions: Any = client.get_versions()
    ours = _series(versions["client"])
    bad = {address: _series(found) for address, found in versions["workers"].items() if _series(found) != ours}
    for address, found in sorted(bad.items()):
        others = f" (and {len(bad) - 1} other workers not either)" if len(bad) > 1 else ""
        raise ClusterError(
            f"executor: expected Python {ours} on every worker, got {found} on {address}{others}; "
            f"start the workers in an environment like the client's."
        )


def _series(versions: Mapping[str, Any]) -> str:
    return ".".join(str(versions["host"]["python"]).split(".")[:2])


class Watch:
    """Knows how many threads the cluster has, and for how long it has had none."""

    def __init__(self, client: Client, where: str, patience: float) -> None:
        self._client, self._where, self._patience = client, where, patience
        self._looked = self._seen = time.monotonic()
        self.n_threads, self.is_lost = 0, False

    def wait_for_workers(self) -> None:
        """Return when there is a worker."""
        self.look()
        while not self.n_threads:
            time.sleep(min(0.1, self._patience))
            self.look()

    def look_now_and_then(self) -> None:
        """Look when the last look was long ago."""
        if time.monotonic() - self._looked > LOOK_EVERY:
            self.look()

    def look(self) -> None:
        """Count threads; raise when there has been none for longer than the patience, or no scheduler."""
        try:
            threads: dict[str, Any] = self._client.nthreads()
        except (OSError, RuntimeError, TimeoutError):
            raise self.lost() from None
        self.n_threads, self._looked = sum(threads.values()), time.monotonic()
        if self.n_threads:
            self._seen = self._looked
        elif self._looked - self._seen > self._patience:
            address = self._client.scheduler_info()["address"]
            raise ClusterError(
                f"executor: expected workers at {self._where}, got none for {self._patience:g} s "
                f"(executor.patience); start some: dask worker {address} --nthreads 1; {AGAIN}."
            )

    def lost(self) -> ClusterError:
        """Note that the scheduler does not answer, and return the error that says so."""
        self.is_lost = True
        return ClusterError(f"executor: lost the scheduler at {self._where}; start it and its workers again; {AGAIN}.")
