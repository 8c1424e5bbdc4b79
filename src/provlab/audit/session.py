"""One audit: draw, compute again, compare, keep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from rich.console import Console

from provlab.audit.agreement import AgreementTally
from provlab.audit.cells import cut_reason
from provlab.audit.compare import DIFFERENT, Difference, compare, compared, is_same_environment
from provlab.audit.ledger import write_audit
from provlab.audit.outcomes import AuditRun, TrialOutcome
from provlab.audit.rebuild import keys_of, rebuild
from provlab.audit.records import Stored, read_records
from provlab.audit.sample import draw_sample
from provlab.plan import Task
from provlab.runner import Ticker
from provlab.store import TrialStore
from provlab.store.schema import record_schema
from provlab.terminal import PlainConsole
from provlab.trials.environment import environment, git_revision
from provlab.trials.errors import ClusterError
from provlab.trials.executors import execute
from provlab.trials.trial import TaskResult
from provsel import __version__


def run_audit(
    results: Path,
    *,
    fraction: float | None = None,
    cell: str = "",
    limit: int | None = None,
    seed: int | None = None,
    executor: Mapping[str, Any] | None = None,
    console: Console | None = None,
) -> tuple[AuditRun, Path]:
    """Compute a random sample of stored trials again, compare, and write a ledger.

    Parameters
    ----------
    results : path
        Folder with `store`; the ledger goes to `audits` beside it. Nothing is added to the store; a damaged
        file is set aside, as by all who read it.
    fraction, cell, limit, seed
        See `draw_sample`.
    executor : mapping, optional
        See `execute`; loky with one worker a core by default.
    console : Console, optional
        For progress; standard error by default.

    Returns
    -------
    run : AuditRun
    path : Path
        Of the ledger.

    Raises
    ------
    ValueError
        Nothing is stored, or what is asked for does not fit the store.
    KeyboardInterrupt, ClusterError
        After what was compared so far has been written.
    """
    console = console or PlainConsole(stderr=True)
    store, when = TrialStore(results / "store"), datetime.now(UTC).isoformat()
    sample = draw_sample(store, fraction=fraction, cell=cell, limit=limit, seed=seed)
    run = AuditRun(
        when, __version__, git_revision(), environment(), sample.seed, sample.fraction, sample.limit, sample.cell,
        sample.n_stored, len(sample.keys),
    )  # fmt: skip
    console.print(
        f"audit: {len(sample.keys)} of {sample.n_stored} stored trials, drawn with seed {sample.seed}",
        highlight=False, markup=False, soft_wrap=True,
    )  # fmt: skip
    outcomes: list[TrialOutcome] = []
    skipped: Counter[str] = Counter()
    tally = AgreementTally()

    def ledger(*, interrupted: bool) -> tuple[AuditRun, Path]:
        trials = tuple(sorted(outcomes, key=lambda trial: trial.key))
        final = replace(
            run, interrupted=interrupted, skipped=tuple(sorted(skipped.items())), trials=trials,
            agreements=tally.agreements(),
        )  # fmt: skip
        return final, write_audit(final, results)

    try:
        records = read_records(store, sample.keys)
        if len(records) < len(sample.keys):
            skipped["the record went away while the audit began"] = len(sample.keys) - len(records)
        rerun = rebuild(records)
        skipped.update(rerun.skipped)
        for key, given in rerun.contradicted.items():
            difference = Difference("key", key, f"{given}, from the record's config, repeat, fold and draw")
            outcomes.append(_outcome(records[key], DIFFERENT, (difference,)))
        with Ticker(console, "audit", len(keys_of(rerun.tasks))) as ticker:
            for result in _results(rerun.tasks, executor or {"name": "loky", "n_jobs": -1}):
                compared = _compared(result, records, tally)
                outcomes += compared
                ticker.advance(len(compared))
    except (KeyboardInterrupt, ClusterError):  # neither says anything about the trials
        _, path = ledger(interrupted=True)
        console.print(
            f"interrupted: {len(outcomes)} of {len(sample.keys)} drawn trials were compared, see {path}; "
            f"--seed {sample.seed} draws the same again.",
            highlight=False, markup=False, soft_wrap=True,
        )  # fmt: skip
        raise
    return ledger(interrupted=False)


def _compared(result: TaskResult, records: Mapping[str, Stored], tally: AgreementTally) -> list[TrialOutcome]:
    outcomes = []
    # through the schema, as stored ones went: the same types on both sides
    for now in pa.Table.from_pylist(result.records, schema=record_schema(result.records)).to_pylist():
        stored = records[now["key"]]
        outcome, differences = compare(stored.values, now, stored.absent)
        unknown = tuple(name for name in compared(now) if name in stored.absent and now[name] is not None)
        same = is_same_environment(stored.values, now)
        if not same:
            tally.add(stored.values, now, stored.absent)
        outcomes.append(_outcome(stored, outcome, differences, same_environment=same, not_compared=unknown))
    for key, _, reason in result.failures:
        outcomes.append(_outcome(records[key], DIFFERENT, (Difference("fails now", "a record", cut_reason(reason)),)))
    return outcomes


def _outcome(stored: Stored, outcome: str, differences: tuple[Difference, ...], **comparison: Any) -> TrialOutcome:
    values = stored.values
    texts = {name: values[name] or "" for name in ("key", "cell", "dataset", "selector", "git_revision")}
    numbers = {name: -1 if values[name] is None else values[name] for name in ("repeat", "fold", "draw")}
    here = values["environment"] == environment()
    return TrialOutcome(
        **{**texts, **numbers, "same_environment": here, **comparison}, outcome=outcome, differences=differences
    )


def _results(tasks: Sequence[Task], executor: Mapping[str, Any]) -> Iterator[TaskResult]:
    """Yield the results of the tasks; one that cannot even begin is a failure of its trials, and stops no other."""
    finished: set[str] = set()
    results = execute(tasks, executor)
    try:
        for result in results:
            finished |= {record["key"] for record in result.records} | {key for key, *_ in result.failures}
            yield result
        return
    except ClusterError:
        raise
    except Exception:
        pass  # which task it was is not known here: below, those without a result go one by one
    finally:
        close = getattr(results, "close", None)
        if close is not None:
            close()
    for task in tasks:
        keys = keys_of([task])
        if keys <= finished:
            continue
        try:
            yield from execute([task], executor)
        except Exception as error:
            yield TaskResult(failures=[(key, "", f"{type(error).__name__}: {error}") for key in sorted(keys)])
