"""Faults at random over a real run for as long as is asked: `make faults`.

An artefact is computed in an empty folder, and computed again and again: its run is
killed, interrupted, robbed of a worker, left without room, given a clock that jumps,
joined by a second run; bits of its store are flipped. Then the same command runs
undisturbed. Tables, figures and records have to be the bytes of an undisturbed run. The
tests beside this file do each of these at chosen moments, in seconds; this does it at
random moments.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from contextlib import suppress
from functools import partial
from pathlib import Path

import psutil
from fault_tools import mount_own

from provlab.core.store import TrialStore
from small_runs import PROVSEL, REPO, outcome, start_script

ARTEFACT = "paul2016/figure1"
OVERRIDES = [
    "dataset.set=[Exp_10341_10755,Exp_10341_14271,Exp_14630_814096]",
    "protocol.repeats=1",
]
ROOM = "512m"
"""Size of the small disk."""

LIMIT = 900
"""Seconds after which a run counts as hanging."""

MOST = 6
"""Faults of a round, at most."""

JUMPING = """
import random, sys, time
real, year = time.time, 365 * 86400.0
time.time = lambda: real() + random.choice((-year, 0.0, year))
time.time_ns = lambda: int(time.time() * 1e9)
from provlab.cli import main
sys.exit(main(sys.argv[1:]))
"""
"""Python that runs provsel by a clock that is right, a year behind or a year ahead at each look."""

NOTHING = "nothing"
TOO_LATE = "it had ended before"
FLIPPED = "bit flipped"
BALLAST = "ballast"

COLUMNS = (
    "runs",
    "two at once",
    "clock jumps",
    "went through",
    "said an error",
    "killed",
)


class BrokenError(AssertionError):
    """What must not come of any fault."""


def kill_group(group):
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def lose_worker(process, results, chosen):
    children = psutil.Process(process.pid).children(recursive=True)
    if children:
        chosen.choice(children).kill()


def fill_disk(process, results, chosen):
    with (results / BALLAST).open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(1 << 20)):
            pass


def flip_bit(process, results, chosen):
    # merged meanwhile, or nothing stored yet
    with suppress(FileNotFoundError, IndexError):
        path = chosen.choice(stored_files(results))
        with path.open("r+b") as file:
            place = chosen.randrange(path.stat().st_size)
            file.seek(place)
            [byte] = file.read(1)
            file.seek(place)
            file.write(bytes([byte ^ 1 << chosen.randrange(8)]))


FAULTS = {
    NOTHING: lambda *_: None,
    # its workers notice, or are ended with the group
    "killed": lambda process, *_: process.kill(),
    "killed with its workers": lambda process, *_: kill_group(process.pid),
    "Ctrl-C": lambda process, *_: os.killpg(process.pid, signal.SIGINT),
    "a worker killed": lose_worker,
    FLIPPED: flip_bit,
    "disk full": fill_disk,
}
"""What befalls a process with results in a folder, by name; the last needs a disk of its own."""


def stored_files(results):
    return sorted((results / "store").glob("*.parquet"))


def written(results):
    """Return the bytes of all tables and figures by name, and the records without what two runs may differ in."""
    figures = {
        path.name: path.read_bytes() for path in (results / "figures").rglob("*.svg")
    }
    tables, records = outcome(results)
    return {**tables, **figures}, records


def ended(process, fault, counts):
    """Wait for a run, count how it ended, and end what it left behind."""
    try:
        _, said = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        raise BrokenError(f"{fault}: a run did not end within {LIMIT} s") from None
    finally:
        kill_group(process.pid)
    status = process.returncode
    if (
        "Traceback" in said
        or "internal error" in said
        or (status and fault in (NOTHING, TOO_LATE))
    ):
        raise BrokenError(
            f"{fault}: expected an end as without, or an error that says what to do, got\n{said}"
        )
    counts[fault, "runs"] += 1
    counts[
        fault,
        {0: "went through", -signal.SIGKILL: "killed"}.get(status, "said an error"),
    ] += 1


def disturb_once(start, results, chosen, counts, *, seconds, has_disk):
    """Run the command, perhaps twice at once, perhaps by a clock that jumps, until something happens to it."""
    fault = chosen.choice([*FAULTS][: None if has_disk else -1])
    jumps = chosen.random() < 0.25
    two = chosen.random() < 0.25
    for path in stored_files(results) if jumps else []:
        moment = chosen.choice((0, 1, 4_000_000_000, time.time() + 3600))
        os.utime(path, (moment, moment))
    program = ("-c", JUMPING) if jumps else PROVSEL
    runs = [start(program) for _ in range(1 + two)]
    try:
        runs[0].wait(chosen.uniform(0.0, 0.8 * seconds))
        fault = TOO_LATE
    except subprocess.TimeoutExpired:
        FAULTS[fault](runs[0], results, chosen)
    counts[fault, "two at once"] += two
    counts[fault, "clock jumps"] += len(runs) * jumps
    for process in runs:
        ended(process, fault, counts)
    (results / BALLAST).unlink(missing_ok=True)
    return fault


def play_round(disturb, finish, results, expected, planned, n_faults):
    """Disturb a run from its start so many times, let it finish, and compare what it made.

    Parameters
    ----------
    disturb : callable
        Of the share of trials that are not stored yet; returns the name of the fault.
    finish : callable
        Runs the command undisturbed.
    results : Path
    expected : tuple
        What `written` gives of an undisturbed run.
    planned : set of str
        Keys of its trials.
    n_faults : int
    """
    for path in results.iterdir():
        shutil.rmtree(path)
    kept = set()
    for _ in range(n_faults):
        fault = disturb(max(0.1, 1 - len(kept) / len(planned)))
        keys = TrialStore(results / "store").keys()
        if not keys <= planned:
            raise BrokenError(
                f"{fault}: {len(keys - planned)} trials are stored that were not planned"
            )
        if not kept <= keys and fault != FLIPPED:
            raise BrokenError(f"{fault}: {len(kept - keys)} trials are lost")
        kept = keys
        print(f"  {fault}: {len(keys)} of {len(planned)} trials stored", flush=True)
    finish()
    got = written(results)
    if got != expected:
        names = [
            name
            for name in expected[0] | got[0]
            if expected[0].get(name) != got[0].get(name)
        ]
        copy = shutil.copytree(results, results.parent / "broken", dirs_exist_ok=True)
        raise BrokenError(f"other bytes: {names or 'records'}, see {copy}")


def disturb(
    command,
    folder,
    *,
    seed,
    seconds=float("inf"),
    rounds=10**6,
    n_faults=None,
    mount=mount_own,
):
    """Run rounds until the time is over; return what was counted, rounds and trials.

    Parameters
    ----------
    command : list of str
        Arguments of provsel.
    folder : Path
        Empty.
    seed : int
        Of faults and moments.
    seconds : float
    rounds : int
    n_faults : int, optional
        Of each round; without it drawn, 1 to MOST.
    mount : callable
        Makes a folder a small disk, and returns whether it is one.

    Raises
    ------
    BrokenError
        When a run ended otherwise than it may, or made other bytes.
    """

    def start(results, script=PROVSEL):
        return start_script(script, [*command, f"results={results}"], REPO)

    begin = time.monotonic()
    chosen = random.Random(seed)
    counts = Counter()
    whole = folder / "undisturbed"
    results = folder / "disturbed"
    results.mkdir()
    has_disk = mount(results, ROOM)
    ended(start(whole), NOTHING, counts)
    one_run = time.monotonic() - begin
    expected = written(whole)
    planned = TrialStore(whole / "store").keys()
    done = 0

    def fault(left):
        return disturb_once(
            partial(start, results),
            results,
            chosen,
            counts,
            seconds=left * one_run,
            has_disk=has_disk,
        )

    while done < rounds and time.monotonic() - begin < seconds:
        done += 1
        print(f"round {done}, {(time.monotonic() - begin) / 60:.0f} min", flush=True)
        n = n_faults or chosen.randint(1, MOST)
        play_round(
            fault,
            lambda: ended(start(results), NOTHING, counts),
            results,
            expected,
            planned,
            n,
        )
    return counts, done, len(planned)


def table(counts):
    """Return how many runs each fault befell, and how they ended, as Markdown."""
    rows = [["what befell a run", *COLUMNS], ["---", *["--:"] * len(COLUMNS)]]
    for fault in sorted({fault for fault, _ in counts}):
        rows.append([fault, *(str(counts[fault, name]) for name in COLUMNS)])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", type=Path, help="Markdown file for what came of it")
    parser.add_argument(
        "command",
        nargs="*",
        help="artefact and overrides; without them Figure 1 on three sets",
    )
    options = parser.parse_args()
    command = ["reproduce", *(options.command or [ARTEFACT, *OVERRIDES])]
    folder = Path(tempfile.mkdtemp())  # stays when something broke
    print(folder, flush=True)
    counts, rounds, n_trials = disturb(
        command, folder, seed=options.seed, seconds=60 * options.minutes
    )
    # but the small disk, which goes with this process
    shutil.rmtree(folder, ignore_errors=True)
    n_runs = sum(n for (_, column), n in counts.items() if column == "runs")
    text = (
        f"`provsel {' '.join(command)}`, {n_trials} trials, {options.minutes:g} minutes, seed {options.seed}: {rounds} "
        f"rounds of {n_runs} runs. Each round ended with the bytes of an undisturbed run.\n\n"
        f"{table(counts)}\n"
    )
    print(text)
    if options.write:
        options.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
