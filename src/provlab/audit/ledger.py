"""Audits on disk: one JSON file each below results/audits, for the report and for people."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from provlab.audit.compare import OUTCOMES
from provlab.audit.outcomes import AuditRun
from provlab.fields import read_as
from provlab.identity.keys import digest
from provsel.files import replacing

log = logging.getLogger(__name__)

FORMAT = "provsel audit 2"
WITHOUT_SUM = "provsel audit 1"
"""Older ledgers, which have no checksum."""

FOLDER = "audits"


def write_audit(run: AuditRun, results: Path) -> Path:
    """Write a run below `results`/audits and return the file: whole, or not at all."""
    stamp = datetime.fromisoformat(run.when).strftime("%Y%m%dT%H%M%S.%fZ")
    path = results / FOLDER / f"{stamp}-{run.seed}.json"
    counts = {outcome: run.count(outcome) for outcome in OUTCOMES} | {"skipped": run.n_skipped}
    content = {"format": FORMAT, "counts": counts, **asdict(run)}
    text = json.dumps({**content, "sha256": digest(_plain(content))}, indent=1, allow_nan=False)
    with replacing(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")
    return path


def read_audits(results: Path) -> list[AuditRun]:
    """Return the runs whose files are below `results`/audits, newest first.

    A file that is no ledger is left out, and a warning says so: anybody can put files there.
    """
    runs = []
    for path in sorted((Path(results) / FOLDER).glob("*.json")):
        try:
            runs.append(_run(json.loads(path.read_text(encoding="utf-8"))))
        except (ValueError, OSError, RecursionError) as error:
            log.warning("audit ledger %s: expected a file that provsel audit wrote, got %s; left out.", path, error)
    return sorted(runs, key=lambda run: datetime.fromisoformat(run.when), reverse=True)


def _run(data: Any) -> AuditRun:
    if not isinstance(data, dict) or data.get("format") not in (FORMAT, WITHOUT_SUM):
        raise ValueError(f"a file without the format {FORMAT!r}")
    if data["format"] == FORMAT and data.pop("sha256", None) != digest(_plain(data)):
        raise ValueError("another checksum than when it was written")
    values = {name: value for name, value in data.items() if name not in ("format", "counts")}
    return read_as(AuditRun, values, "audit", exactly=True, step="")


def _plain(content: dict[str, Any]) -> Any:
    """Return the content as JSON has it: tuples become lists."""
    return json.loads(json.dumps(content))
