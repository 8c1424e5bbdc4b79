"""Run tasks on a Dask cluster: submit a few at a time, yield what comes back, and say clearly what went wrong."""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from queue import Empty, Queue
from typing import Any

from distributed import CancelledError, Client, Future, KilledWorker, WorkerPlugin
from distributed.comm import CommClosedError

from provlab.plan import Task
from provlab.run.dask_watch import AGAIN, LOOK_EVERY, Watch, check_python
from provlab.run.dask_worker import encode
from provlab.run.errors import ClusterError
from provlab.run.task import TaskResult

TASKS_A_THREAD = 2
"""Submitted at a time: one that runs and the next one. More would only fill the memory of scheduler and client."""


def run_on(client: Client, where: str, tasks: Sequence[Task], patience: float) -> Iterator[TaskResult]:
    """Yield the result of each task, in any order; whatever happens, nothing of them stays on the cluster.

    Tasks of a lost worker run again elsewhere. Those of one data set run one after the other, so that a worker, which
    keeps the last data sets that it loaded, loads each once.

    Parameters
    ----------
    client : Client
    where : str
        The cluster, for messages.
    tasks : sequence of Task
    patience : float
        Seconds to wait for a first worker, and for another one when all are gone.

    Raises
    ------
    ClusterError
        No workers, or a worker without provsel, of another version, or without the data; a task that takes its workers
        down with it.
    """
    watch = Watch(client, where, patience)
    watch.wait_for_workers()
    check_python(client)
    order = {data: place for place, data in enumerate(dict.fromkeys(task.data for task in tasks))}
    tasks = sorted(tasks, key=lambda task: order[task.data])
    content, messages = encode(tasks)
    name = f"provsel-{uuid.uuid4().hex[:12]}"
    run = task_runner()
    waiting = deque(enumerate(messages))
    running: dict[str, tuple[Future, Task]] = {}
    finished: Queue[Future] = Queue()
    try:
        client.register_plugin(_plan_plugin(name, content))
        while waiting or running:
            while waiting and len(running) < TASKS_A_THREAD * max(1, watch.n_threads):
                number, message = waiting.popleft()
                # the order of submission as priorities: those of one moment would run in any order
                key = name, number
                future = client.submit(run, name, tuple(message), key=key, priority=-number, pure=False)
                running[str(future.key)] = future, tasks[number]
                future.add_done_callback(finished.put)
            try:
                future = finished.get(timeout=LOOK_EVERY)
            except Empty:
                watch.look()
                continue
            watch.look_now_and_then()
            result = _result(client, future, running[str(future.key)][1], watch)
            del running[str(future.key)]
            yield result
    finally:
        if not watch.is_lost:  # it would take half a minute to find that out again
            with suppress(Exception):
                client.cancel([future for future, _ in running.values()])
                client.unregister_worker_plugin(name)


def _plan_plugin(plan: str, compressed: bytes) -> WorkerPlugin:
    """Return a plugin that brings a plan to each worker once, also to those that come later.

    It and `task_runner` are inner ones, so that they are sent as code. A worker without provsel loses its connection
    when it is sent a name of provsel, its tasks go to the next one, and nobody hears why; so it can answer. A plan as
    a future on which all tasks depend would do too, but Dask gives tasks to the worker that has what they depend on.
    """

    class PlanPlugin(WorkerPlugin):
        name = plan

        def run(self, message: tuple[int, ...]) -> Any:
            import socket

            try:
                from provlab.run import dask_worker
            except Exception as error:
                reason = f"cannot import provsel ({type(error).__name__}: {error})"
                return socket.gethostname(), reason, "install it for the workers, and start them again"
            return dask_worker.run_message(compressed, dask_worker.Message(*message))

    return PlanPlugin()


def task_runner() -> Callable[..., Any]:
    """Return the function that is sent with every task, and so has no types, which would be sent too."""

    def run(plan, message):  # type: ignore[no-untyped-def]
        import distributed

        plugin: Any = distributed.get_worker().plugins[plan]
        return plugin.run(message)

    return run


def _result(client: Client, future: Future, task: Task, watch: Watch) -> TaskResult:
    if future.status == "error":
        raise _explained(future.exception(), task)
    while future.status not in ("cancelled", "lost"):
        try:
            result = future.result(timeout=LOOK_EVERY)
            break
        except TimeoutError:  # its worker died before it handed the result over: the task runs again
            watch.look()
        except (CommClosedError, CancelledError):  # results come by way of the scheduler, and it went with this one
            raise watch.lost() from None
    else:
        raise watch.lost()
    if isinstance(result, tuple):
        host, reason, next_step = result
        raise ClusterError(f"executor: the worker on host {host} {reason}; {next_step}; {AGAIN}.")
    return result


def _explained(error: BaseException, task: Task) -> BaseException:
    if isinstance(error, KilledWorker):
        name = f"{task.dataset.get('name')} {task.dataset.get('set', '')}".strip()
        return ClusterError(
            f"executor: the task {name}, split {task.split}, repeat {task.repeat}, fold {task.fold} "
            f"({len(task.trials)} trials) was on {error.allowed_failures + 1} workers when they died, the last at "
            f"{error.last_worker.address}; look for lack of memory there, give each worker more; {AGAIN}."
        )
    error.add_note(f"in the task {dict(task.dataset)}, split {task.split}, repeat {task.repeat}, fold {task.fold}")
    return error
