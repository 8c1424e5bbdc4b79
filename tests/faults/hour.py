"""Faults at random over a real run for as long as is asked: `make faults`.

An artefact is computed in an empty folder, and computed again and again: its run is killed, interrupted, robbed of a
worker, left without room, given a clock that jumps, joined by a second run; bits of its store are flipped. Then the
same command runs undisturbed. Tables, figures and records have to be the bytes of the run that nobody disturbed. The
tests beside this file do each of these at chosen moments, in seconds; this does what nobody chose.
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
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from fault_tools import mount_own, outcome

from provlab.store import TrialStore
from small_runs import PROVSEL, REPO, start_script

ARTEFACT = "paul2016/figure1"
OVERRIDES = ["dataset.set=[Exp_10341_10755,Exp_10341_14271,Exp_14630_814096]", "protocol.repeats=1"]
ROOM = 512
"""MiB of the small disk."""

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


NOTHING, TOO_LATE, INTERRUPTED, BALLAST = "nothing", "it had ended before", "Ctrl-C", "ballast"
HARMLESS = (NOTHING, TOO_LATE)

COLUMNS = ("runs", "two at once", "clock jumps", "went through", "said an error", "killed")


class BrokenError(AssertionError):
    """What must not come of any fault."""


@dataclass
class Disturbed:
    """A run in a folder, what may befall it, and what came of that.

    Attributes
    ----------
    command : list of str
        Arguments of provsel, but the folder.
    results : Path
    chosen : random.Random
    has_disk : bool
        Whether the folder is a disk of its own, which can be filled.
    seconds : float
        That a run takes which nobody disturbs.
    left : float
        Share of the trials that are not stored yet.
    counts : Counter
        By fault and, of its runs, how many were two at once, had a clock that jumped, or ended how.
    """

    command: list[str]
    results: Path
    chosen: random.Random
    has_disk: bool
    seconds: float = 1.0
    left: float = 1.0
    counts: Counter = field(default_factory=Counter)

    def start(self, script=PROVSEL):
        return start_script(script, [*self.command, f"results={self.results}"], REPO)

    def end(self, process, fault):
        """Wait for a run, count how it ended, and end what it left behind."""
        try:
            _, said = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            raise BrokenError(f"{fault}: a run did not end within {LIMIT} s") from None
        finally:
            kill_group(process.pid)
        status = process.returncode
        if "Traceback" in said or "internal error" in said or (status and fault in HARMLESS):
            raise BrokenError(f"{fault}: expected an end as without, or an error that says what to do, got\n{said}")
        self.counts[fault, "runs"] += 1
        self.counts[fault, {0: "went through", -signal.SIGKILL: "killed"}.get(status, "said an error")] += 1

    def later(self, process):
        """Wait for a moment at random; return whether the run is still on."""
        try:
            process.wait(self.chosen.uniform(0.0, 0.8 * self.seconds * max(0.1, self.left)))
        except subprocess.TimeoutExpired:
            return True
        return False

    def undisturbed(self):
        self.end(self.start(), NOTHING)

    def disturbed(self):
        """Run the command, perhaps twice at once, perhaps by a clock that jumps, until something happens to it."""
        fault = self.chosen.choice(self.faults())
        jumps, two = self.chosen.random() < 0.25, self.chosen.random() < 0.25
        for path in self.stored() if jumps else []:
            moment = self.chosen.choice((0, 1, 4_000_000_000, time.time() + 3600))
            os.utime(path, (moment, moment))
        runs = [self.start(("-c", JUMPING) if jumps else PROVSEL) for _ in range(1 + two)]
        is_on = self.later(runs[0])
        name = fault.__doc__ if is_on else TOO_LATE
        if is_on:
            fault(runs[0])
        self.counts[name, "two at once"] += two
        self.counts[name, "clock jumps"] += len(runs) * jumps
        for process in runs:
            self.end(process, name)
        (self.results / BALLAST).unlink(missing_ok=True)
        return name

    def nothing(self, process):
        """nothing"""

    def killed(self, process):
        """killed"""
        process.kill()  # its workers notice, or are ended with the group

    def group_killed(self, process):
        """killed with its workers"""
        kill_group(process.pid)

    def interrupted(self, process):
        """Ctrl-C"""
        os.killpg(process.pid, signal.SIGINT)

    def worker_lost(self, process):
        """a worker killed"""
        children = psutil.Process(process.pid).children(recursive=True)
        if children:
            self.chosen.choice(children).kill()

    def disk_full(self, process):
        """disk full"""
        with (self.results / BALLAST).open("wb", buffering=0) as file, suppress(OSError):
            while file.write(bytes(1 << 20)):
                pass

    def flipped(self, process):
        """bit flipped"""
        files = self.stored()
        if files:
            flip(self.chosen.choice(files), self.chosen)

    def stored(self):
        return sorted((self.results / "store").glob("*.parquet"))

    def faults(self):
        faults = [self.nothing, self.killed, self.group_killed, self.interrupted, self.worker_lost, self.flipped]
        return [*faults, self.disk_full] if self.has_disk else faults

    def round(self, expected, planned, n_faults):
        """Disturb a run from its start so many times, let it finish, and compare what it made."""
        for path in self.results.iterdir():
            shutil.rmtree(path)
        kept, self.left = set(), 1.0
        for _ in range(n_faults):
            fault = self.disturbed()
            keys = TrialStore(self.results / "store").keys()
            if not keys <= planned:
                raise BrokenError(f"{fault}: {len(keys - planned)} trials are stored that were not planned")
            if not kept <= keys and fault != self.flipped.__doc__:
                raise BrokenError(f"{fault}: {len(kept - keys)} trials are lost")
            kept, self.left = keys, 1 - len(keys) / len(planned)
            print(f"  {fault}: {len(keys)} of {len(planned)} trials stored", flush=True)
            if keys == planned and self.chosen.random() < 0.5:
                break
        self.undisturbed()
        got = made(self.results)
        if got != expected:
            names = [name for name in expected[0] | got[0] if expected[0].get(name) != got[0].get(name)]
            kept = shutil.copytree(self.results, self.results.parent / "broken", dirs_exist_ok=True)
            raise BrokenError(f"other bytes: {names or 'records'}, see {kept}")


def flip(path, chosen):
    """Change one bit of a file where it is."""
    try:
        with path.open("r+b") as file:
            place = chosen.randrange(path.stat().st_size)
            file.seek(place)
            [byte] = file.read(1)
            file.seek(place)
            file.write(bytes([byte ^ 1 << chosen.randrange(8)]))
    except FileNotFoundError:
        pass  # merged meanwhile


def made(results):
    """Return the bytes of all tables and figures by name, and the records without what two runs may differ in."""
    figures = {path.name: path.read_bytes() for path in (results / "figures").rglob("*.svg")}
    tables, records = outcome(results)
    return {**tables, **figures}, records


def kill_group(group):
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def disturb(command, folder, *, seed, seconds=float("inf"), rounds=10**6, n_faults=None):
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

    Raises
    ------
    BrokenError
        When a run ended otherwise than it may, or made other bytes.
    """
    begin = time.monotonic()
    small = folder / "disturbed"
    small.mkdir()
    run = Disturbed(command, folder / "undisturbed", random.Random(seed), mount_own(small, f"{ROOM}m"))
    run.undisturbed()
    run.seconds = time.monotonic() - begin
    expected = made(run.results)
    planned = TrialStore(run.results / "store").keys()
    run.results, done = small, 0
    while done < rounds and time.monotonic() - begin < seconds:
        done += 1
        print(f"round {done}, {(time.monotonic() - begin) / 60:.0f} min", flush=True)
        run.round(expected, planned, n_faults or run.chosen.randint(1, MOST))
    return run.counts, done, len(planned)


def table(counts):
    """Return how many runs each fault befell, and how they ended, as Markdown."""
    faults = sorted({fault for fault, _ in counts})
    rows = [[fault, *(str(counts[fault, column]) for column in COLUMNS)] for fault in faults]
    head = ["what befell a run", *COLUMNS]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---", *["--:"] * len(COLUMNS)], *rows])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", type=Path, help="Markdown file for what came of it")
    parser.add_argument("command", nargs="*", help="artefact and overrides; without them Figure 1 on three sets")
    given = parser.parse_args()
    command = ["reproduce", *(given.command or [ARTEFACT, *OVERRIDES])]
    folder = Path(tempfile.mkdtemp())  # stays when something broke
    print(folder, flush=True)
    counts, rounds, n_trials = disturb(command, folder, seed=given.seed, seconds=60 * given.minutes)
    for path in (folder / "disturbed").iterdir():
        shutil.rmtree(path)
    shutil.rmtree(folder, ignore_errors=True)  # but the small disk, which goes with this process
    n_runs = sum(n for (_, column), n in counts.items() if column == "runs")
    text = (
        f"`provsel {' '.join(command)}`, {n_trials} trials, {given.minutes:g} minutes, seed {given.seed}: {rounds} "
        f"rounds of {n_runs} runs. Each round ended with the bytes of the run that nobody disturbed.\n\n"
        f"{table(counts)}\n"
    )
    print(text)
    if given.write:
        given.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
