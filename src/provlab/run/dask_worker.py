"""What crosses the network: a plan, once a worker, and for each task four numbers; and what a worker makes of them."""

from __future__ import annotations

import json
import signal
import socket
import threading
import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from provlab.datasets import DataIntegrityError, MissingDataError
from provlab.identity.cell import Cell
from provlab.identity.keys import digest, trial_key
from provlab.plan import Task, Trial
from provlab.run.task import TaskResult, run_task
from provsel import __version__

OTHER_CODE = "install the version of the client in the environment of the workers, and start them again"
NO_DATA = (
    "the client sees the data: give the worker the same files through PROVSEL_DATA or PROVSEL_DATA_MIRROR, "
    "or run provsel fetch there, and start it again"
)

_ONE_TASK = threading.Lock()
"""A worker of several threads runs one task at a time: BLAS's threads, CPU times and warnings are the process's."""


class Message(NamedTuple):
    """What is sent for one task: which cells and draws, as a position in the plan; which repeat and fold."""

    template: int
    repeat: int
    fold: int
    split_seed: int


class Refusal(NamedTuple):
    """What a worker answers that cannot run any task of the plan: where it is, and what it lacks, for people."""

    host: str
    reason: str
    next_step: str


def encode(tasks: Sequence[Task]) -> tuple[bytes, list[Message]]:
    """Return the plan of some tasks, and one message for each.

    Tasks of one data set mostly have the same cells and draws on another fold: these are kept once, as a template. The
    keys of trials follow from them and are not sent, only one digest a template, by which a worker can tell that its
    code would make others.

    Returns
    -------
    plan : bytes
        Compressed JSON: configs of primitives, no data and no pickles.
    messages : list of Message
    """
    places: dict[int, int] = {}
    cells: list[Cell] = []
    templates: dict[tuple[Any, ...], int] = {}
    digests: list[str] = []
    messages = []
    for task in tasks:
        for cell in task.cells:
            if id(cell) not in places:
                places[id(cell)] = len(cells)
                cells.append(cell)
        numbers = tuple(places[id(cell)] for cell in task.cells)
        template = (task.split, task.n_splits, numbers, tuple((trial.cell, trial.draw) for trial in task.trials))
        if template not in templates:
            templates[template] = len(templates)
            digests.append(_digest(task.cells))
        messages.append(Message(templates[template], task.repeat, task.fold, task.split_seed))
    plan = {
        "version": __version__,
        "cells": [[dict(c.dataset), dict(c.selector), dict(c.model), dict(c.protocol), c.data] for c in cells],
        "templates": [[*template, digests[place]] for template, place in templates.items()],
    }
    return zlib.compress(json.dumps(plan).encode()), messages


def run_message(plan: bytes, message: Message) -> TaskResult | Refusal:
    """Run one task of a plan on a worker, which loads the data itself; what all its tasks lack is a `Refusal`."""
    host, opened = socket.gethostname(), open_plan(plan)
    if opened.version != __version__:
        return Refusal(host, f"has provsel {__version__}, and the client has {opened.version}", OTHER_CODE)
    try:
        task = opened.task(message)
    except _OtherCodeError as error:
        return Refusal(host, str(error), OTHER_CODE)
    try:
        with _ONE_TASK:
            return run_task(task)
    except (MissingDataError, DataIntegrityError) as error:
        return Refusal(host, f"cannot load the data: {error}", NO_DATA)
    except OSError as error:  # such as a full disk
        return Refusal(host, f"failed: {error}", "mend that machine, or leave it out")


def dask_setup(worker: Any) -> None:
    """Let Ctrl-C end the client only, which then ends its workers: Dask calls this in those that we start."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class _OtherCodeError(Exception):
    """The code of this worker gives cells another identity than the client's."""


class Plan:
    """A plan on a worker; cells are built when a task needs them."""

    def __init__(self, compressed: bytes) -> None:
        content = json.loads(zlib.decompress(compressed))
        self.version: str = content["version"]
        self._cells: list[list[Any]] = content["cells"]
        self._templates: list[list[Any]] = content["templates"]
        self._built: dict[int, tuple[Cell, ...]] = {}

    def task(self, message: Message) -> Task:
        """Return the task of a message, with the keys of its trials."""
        split, n_splits, numbers, draws, expected = self._templates[message.template]
        cells = self._built.get(message.template)
        if cells is None:
            try:
                cells = tuple(Cell(*self._cells[number]) for number in numbers)
                found = _digest(cells)
            except (ValueError, TypeError) as error:
                raise _OtherCodeError(f"does not know a config of the client: {error}") from None
            if found != expected:
                raise _OtherCodeError("has other code than the client, and would give the trials other keys")
            self._built[message.template] = cells
        texts = [cell.json for cell in cells]
        return Task(
            dataset=cells[0].dataset,
            data=cells[0].data,
            split=split,
            n_splits=n_splits,
            split_seed=message.split_seed,
            repeat=message.repeat,
            fold=message.fold,
            cells=cells,
            trials=tuple(
                Trial(trial_key(texts[place], message.repeat, message.fold, draw), place, draw) for place, draw in draws
            ),
        )


@lru_cache(maxsize=1)
def open_plan(content: bytes) -> Plan:
    """Return the plan of `encode`; the last one is kept."""
    return Plan(content)


def _digest(cells: Sequence[Cell]) -> str:
    return digest([cell.id for cell in cells])
