"""Audits on disk: one JSON file each below results/audits, for the report and for people."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Mapping
from dataclasses import asdict, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from provlab.audit.agreement import Agreement, ColumnAgreement
from provlab.audit.compare import OUTCOMES, Difference
from provlab.audit.outcomes import AuditRun, TrialOutcome
from provlab.keys import digest
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
        except (ValueError, TypeError, OSError, RecursionError) as error:
            log.warning("audit ledger %s: expected a file that provsel audit wrote, got %s; left out.", path, error)
    return sorted(runs, key=lambda run: datetime.fromisoformat(run.when), reverse=True)


def _run(data: Any) -> AuditRun:
    if not isinstance(data, dict) or data.get("format") not in (FORMAT, WITHOUT_SUM):
        raise ValueError(f"a file without the format {FORMAT!r}")
    if data["format"] == FORMAT and data.pop("sha256", None) != digest(_plain(data)):
        raise ValueError("another checksum than when it was written")
    data.setdefault("agreements", [])  # which older ledgers lack
    values = _checked(AuditRun, data)
    if datetime.fromisoformat(values["when"]).utcoffset() is None:
        raise ValueError(f"when = {values['when']!r}, which has no time zone")
    if not 0 < values["fraction"] <= 1:
        raise ValueError(f"fraction = {values['fraction']!r:.80}")
    skipped = []
    for pair in values["skipped"]:
        reason, number = pair
        if type(reason) is not str or type(number) is not int:
            raise TypeError(f"skipped = {pair!r:.80}")
        skipped.append((reason, number))
    trials, agreements = tuple(map(_trial, values["trials"])), tuple(map(_agreement, values["agreements"]))
    return AuditRun(**{**values, "skipped": tuple(skipped), "trials": trials, "agreements": agreements})


def _agreement(data: Any) -> Agreement:
    values = _checked(Agreement, data)
    columns = tuple(ColumnAgreement(**_checked(ColumnAgreement, each)) for each in values["columns"])
    for column in columns:
        if not 0 <= column.worst < math.inf:
            raise ValueError(f"worst = {column.worst!r:.80}")
    return Agreement(**{**values, "columns": columns})


def _plain(content: dict[str, Any]) -> Any:
    """Return the content as JSON has it: tuples become lists."""
    return json.loads(json.dumps(content))


def _trial(data: Any) -> TrialOutcome:
    values = _checked(TrialOutcome, data)
    if values["outcome"] not in OUTCOMES:
        raise ValueError(f"outcome = {values['outcome']!r:.80}")
    if not all(type(name) is str for name in values["not_compared"]):
        raise TypeError("not_compared with something that is no text")
    differences = tuple(Difference(**_checked(Difference, each)) for each in values["differences"])
    return TrialOutcome(**{**values, "differences": differences, "not_compared": tuple(values["not_compared"])})


KINDS: Mapping[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "int | None": (int, type(None)),
}
"""Types of a value in JSON by the annotation of its field; all others are lists."""


def _checked(cls: Any, data: Any) -> dict[str, Any]:
    """Return the values of a dataclass's fields in a dict of JSON, of the right types."""
    if not isinstance(data, dict):
        raise TypeError(f"{cls.__name__} = {data!r:.80}")
    values = {}
    for field in fields(cls):
        value, kinds = data.get(field.name, data), KINDS.get(str(field.type), (list,))
        if type(value) not in kinds:  # not isinstance: true is an int
            raise TypeError(f"no {field.name}" if value is data else f"{field.name} = {value!r:.80}")
        values[field.name] = value
    return values
