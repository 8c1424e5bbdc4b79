"""From records back to cells and tasks, by what the records say and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from provlab.audit.cells import CannotRebuild, cell_from, check_data, cut_reason
from provlab.audit.records import Stored
from provlab.identity.cell import Cell
from provlab.identity.keys import trial_key
from provlab.plan import Task, make_tasks, trials_of


@dataclass
class Rerun:
    """What is to be computed again.

    Attributes
    ----------
    tasks : list of Task
        They hold exactly the trials that can be computed.
    skipped : Counter
        Trials that cannot, by reason.
    contradicted : dict
        Stored key -> the key that the record's own config, repeat, fold and draw give, where it is another one.
    """

    tasks: list[Task] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    contradicted: dict[str, str] = field(default_factory=dict)


def rebuild(records: Mapping[str, Stored]) -> Rerun:
    """Return the tasks of stored trials, grouped by data set, repeat and fold as in a run; no data are loaded."""
    rerun = Rerun()
    members: dict[str, list[tuple[int, int, str]]] = {}
    sources: dict[str, str] = {}
    for key, record in records.items():
        values = record.values
        config, place = values["config"], (values["repeat"], values["fold"], values["draw"])
        if not config or None in place:
            rerun.skipped["the record has no config, repeat, fold or draw (older schema)"] += 1
            continue
        given = trial_key(config, *place)
        if given != key:
            rerun.contradicted[key] = given
            continue
        sources.setdefault(config, values.get("source") or "")
        members.setdefault(config, []).append((values["repeat"], values["draw"], key))
    cells, wanted = [], set()
    for config, cell in _cells(members, sources, rerun.skipped):
        counts = {
            "repeats": 1 + max(repeat for repeat, _, _ in members[config]),
            "draws": 1 + max(draw for _, draw, _ in members[config]),
        }
        try:
            cells.append(replace(cell, protocol={**cell.protocol, **counts}))
        except ValueError as error:  # such as a second repeat of a split that has one
            rerun.skipped[cut_reason(f"the config does not have such a trial: {error}")] += len(members[config])
            continue
        wanted |= {key for *_, key in members[config]}
    others = {key for cell in cells for *_, key in trials_of(cell)} - wanted
    rerun.tasks = make_tasks(cells, done=others)
    lost = len(wanted) - sum(len(task.trials) for task in rerun.tasks)
    if lost:
        rerun.skipped["the config does not have such a trial: its fold or draw is beyond its numbers"] += lost
    return rerun


def _cells(
    members: Mapping[str, list[tuple[int, int, str]]], sources: Mapping[str, str], skipped: Counter[str]
) -> Iterator[tuple[str, Cell]]:
    """Yield (config, cell) of those that can be built, and whose data are there; count the others."""
    for config, trials in members.items():
        try:
            cell = cell_from(config, sources[config])
            check_data(cell)
        except CannotRebuild as reason:
            skipped[str(reason)] += len(trials)
            continue
        yield config, cell


def keys_of(tasks: Iterable[Task]) -> set[str]:
    """Return the keys of all trials of some tasks."""
    return {trial.key for task in tasks for trial in task.trials}
