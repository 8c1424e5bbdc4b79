"""What the trials were computed with, this machine, the store's health, and audits."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyarrow.compute as pc

from provlab.agreement import CLOSE, DIFFERENT, IDENTICAL
from provlab.audit import AuditRun, read_audits
from provlab.doctor import OK, Check, examine
from provlab.site.model_environment import AuditSummary, EnvironmentPage
from provlab.site.tracing import version_text, versions
from provlab.store import StoreSnapshot

SHOWN = {"Python and packages", "Machine", "BLAS"}
"""Groups of checks that describe the machine. Paths of folders stay out: a report is passed on."""


def environment_page(results: Path, snapshot: StoreSnapshot) -> EnvironmentPage:
    """Return what the page of the environment shows."""
    checks = examine(results)
    without = "without a key or a cell, or a repeat, fold or draw,"
    nameless = f"{snapshot.n_nameless:,} records {without} belong to no number and are left out"
    store = [check for check in checks if check.group == "Store" and check.name not in ("folder", "writable")]
    return EnvironmentPage(
        environments=tuple((versions(text), n) for text, n in _counts(snapshot, "environment")),
        revisions=tuple(_counts(snapshot, "git_revision")),
        machine=tuple(_lines(check for check in checks if check.group in SHOWN and "disk" not in check.name)),
        store=tuple(_lines(check for check in store if check.state == OK)),
        problems=(
            *(f"{check.name}: {check.value}" for check in store if check.state != OK),
            *([nameless] if snapshot.n_nameless else []),
        ),
        audits=tuple(audit_summary(run) for run in read_audits(results)),
    )


def audit_summary(run: AuditRun) -> AuditSummary:
    """Return what the report says of an audit."""
    left = run.n_drawn - len(run.trials) - sum(run.skipped.values())
    return AuditSummary(
        when=run.when,
        fraction=run.fraction,
        n_stored=run.n_stored,
        n_drawn=run.n_drawn,
        n_identical=run.count(IDENTICAL),
        n_close=run.count(CLOSE),
        n_different=run.count(DIFFERENT),
        skipped=(*run.skipped.items(), *((("not reached: interrupted", left),) if run.interrupted else ())),
        different=tuple(
            (where, "; ".join(f"{column}: {stored} stored, {now} now" for column, stored, now in each))
            for where, each in run.different
        ),
        processor=version_text(versions(run.environment).get("cpu", "")),
        digits=run.digits,
    )


def _counts(snapshot: StoreSnapshot, column: str) -> list[tuple[str, int]]:
    """Return the values of a column by how many trials have them; "" where a record does not say."""
    counts = pc.value_counts(snapshot.table[column].combine_chunks()).to_pylist()
    found: dict[str, int] = {}
    for item in counts:
        name = item["values"] or ""
        found[name] = found.get(name, 0) + item["counts"]
    return sorted(found.items(), key=lambda item: (-item[1], item[0]))


def _lines(checks: Iterable[Check]) -> Iterable[tuple[str, str]]:
    # The terminal has a heading for each group, the page has one list.
    return ((f"BLAS {check.name}" if check.group == "BLAS" else check.name, check.value) for check in checks)
