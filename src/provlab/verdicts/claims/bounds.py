"""Rules about bounds: those of theorems, which certificates check, and bounds on measured numbers and errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import bdtr, bdtrc, betaincinv

from provlab.core.summaries import (
    RADIUS_MARGIN,
    RADIUS_MARGIN_READS,
    with_radius_margin,
)
from provlab.verdicts.claims.evidence import POINTS, AbstractEvidence, Place
from provlab.verdicts.claims.paired_tests import holm, observations_for_p
from provlab.verdicts.claims.rules import (
    ALPHA,
    CONTRADICTED,
    INCONCLUSIVE,
    NOT_CONTRADICTED,
    REPLICATED,
    VACUOUS,
    AbstractRule,
    Finding,
    check_one_of,
    nothing_stored,
)
from provlab.verdicts.claims.stored import artefact_theorems
from provsel.certificates import HELD, THEOREMS, VIOLATED
from provsel.certificates import VACUOUS as VACUOUS_STATE

STATES = {theorem.name: theorem.state_column() for theorem in THEOREMS} | {
    "radius_margin": RADIUS_MARGIN
}
NUMBERS: list[str] = []
for _theorem in THEOREMS:
    NUMBERS += [
        name
        for name, kind in _theorem.columns().items()
        if kind is float and name not in NUMBERS
    ]

NEARLY_ALL = 0.05
"""Failure rate that is tested if a claim says "all". No number of runs can show that the rate is 0; 59 runs without a
failure show that it is smaller than this.
"""


@dataclass(frozen=True, kw_only=True)
class Certificates(AbstractRule):
    """The bound on `quantity` holds in all trials of `row`, except for the share that the theorem allows to fail.

    Parameters
    ----------
    row : str
    quantity : {"spectral", "margin", "soft", "radius", "radius_margin", "scores", "cost", "partition", "recovery"}
        Or the name of a theorem of the project, from the artefact's
        `protocol.measures`.
    at_most : float
        Probability of failure that the theorem allows.
    """

    row: str
    quantity: str
    at_most: float = 0.0
    alpha: float = ALPHA

    words = """The bound on {quantity} holds in all trials of {row}, except for the share {at_most} that the theorem
        allows to fail. A theorem that holds with certainty is contradicted by a single violation. A theorem that may
        fail with some probability is contradicted by significantly more violations than that (binomial test, on one
        data set or on all together, corrected by Holm's method). Otherwise the claim is vacuous, unless the bound holds
        in most of the trials to which it applies. It is replicated if on each data set the share of violations is
        significantly below the allowed one (exact binomial), or below 5 % if none is allowed. Otherwise it is not
        contradicted. The effect is the share of trials that held, among those that held, were violated or were
        vacuous."""

    def __post_init__(self) -> None:
        if self.quantity not in STATES:
            own = artefact_theorems(self.artefact)
            if self.quantity not in own:
                raise ValueError(
                    f"quantity: expected one of {', '.join((*STATES, *own))}, got {self.quantity!r}; list your "
                    f"own theorem under the artefact's protocol.measures."
                )

    @property
    def reads(self) -> tuple[str, ...]:
        """Columns of the records that the rule reads in addition to `FOLD_COLUMNS`."""
        return (
            RADIUS_MARGIN_READS
            if self._state_column == RADIUS_MARGIN
            else (self._state_column,)
        )

    @property
    def _state_column(self) -> str:
        return (
            STATES.get(self.quantity) or artefact_theorems(self.artefact)[self.quantity]
        )

    def findings(
        self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]
    ) -> list[Finding]:
        """Return one finding, over all columns."""
        states = self._states(columns, evidence)
        if states.empty:
            return [nothing_stored(self.quantity, self.row)]
        note = ", ".join(f"{count} {state}" for state, count in states.sum().items())
        test = "certificate of every trial"
        states = states.reindex(columns=[HELD, VIOLATED, VACUOUS_STATE], fill_value=0)
        held, violated, vacuous = (int(count) for count in states.sum())
        applicable = held + violated + vacuous
        if not applicable:
            return [
                Finding(
                    self.quantity,
                    VACUOUS,
                    test=test,
                    note=f"applies to no trial: {note}",
                )
            ]
        p_value = math.nan
        needed = math.nan
        is_contradicted = violated > 0
        if self.at_most and held + violated:
            worst, p_value = self._most_violated(states)
            is_contradicted = p_value < self.alpha
            test += f", more than {100 * self.at_most:g} % violated (binomial)"
            if len(states) > 1:
                test += f", Holm over {len(states)} data sets and all together"
                note += f"; clearest on {worst}"
        if is_contradicted:
            verdict = CONTRADICTED
        elif 2 * held <= applicable:
            verdict = VACUOUS
        else:
            verdict, p_value, needed, test = self._support(states)
        return [
            Finding(self.quantity, verdict, 100 * held / applicable, p_value=p_value, n=applicable, test=test,
                    unit="% of trials held", note=note, needed=needed)
        ]  # fmt: skip

    def _states(
        self, columns: Sequence[str], evidence: AbstractEvidence
    ) -> pd.DataFrame:
        """Return how many trials of each data set are in each state."""
        column = self._state_column
        trials = self.trials(columns, evidence)
        if column == RADIUS_MARGIN:
            trials = with_radius_margin(trials)
        trials = trials.dropna(subset=[column])
        if trials.empty:
            return pd.DataFrame()
        return (
            trials.groupby("dataset", sort=True)[column]
            .value_counts()
            .unstack(fill_value=0)
        )

    def _support(self, states: pd.DataFrame) -> tuple[str, float, float, str]:
        """Test whether the share of violations is below the limit on each data set; return the verdict and details."""
        share = self.at_most or NEARLY_ALL
        trials = []
        for n_violated, n_held in zip(states[VIOLATED], states[HELD], strict=True):
            if n_violated + n_held:
                trials.append((int(n_violated), int(n_violated + n_held)))
        # all data sets must show it, so no correction is needed
        p_value, violated, n = max(
            (float(bdtr(violated, n, share)), violated, n) for violated, n in trials
        )
        where = " on each data set" if len(trials) > 1 else ""
        test = f"certificate of every trial, fewer than {100 * share:g} % violated{where} (exact binomial)"
        if p_value < self.alpha:
            return REPLICATED, p_value, math.nan, test
        return (
            NOT_CONTRADICTED,
            p_value,
            runs_needed(violated, n, share, self.alpha),
            test,
        )

    def _most_violated(self, states: pd.DataFrame) -> tuple[str, float]:
        """Return the data set on which the bound is violated most clearly, and the corrected p-value.

        Each data set is tested separately, because a data set on which the theorem
        always fails would be hidden among many others. All are also tested together,
        because each may exceed the allowed share slightly.
        """
        if len(states) > 1:
            states = pd.concat([states, states.sum().to_frame("all together").T])
        p_values = []
        for violated, held in zip(states[VIOLATED], states[HELD], strict=True):
            p_values.append(
                more_than_p_value(int(violated), int(violated + held), self.at_most)
            )
        adjusted = holm(p_values)
        worst = int(np.argmin(adjusted))
        return str(states.index[worst]), adjusted[worst]


@dataclass(frozen=True, kw_only=True)
class Within(AbstractRule):
    """`quantity` exceeds `bound` in at most a share `at_most` of the trials, in each column separately.

    Parameters
    ----------
    row : str
    quantity : str
        A numeric column of the certificates, such as "certificate_delta".
    bound : float
    at_most : float
        Share of the trials that may exceed the bound.
    trivial : str
        Another quantity: if it is within the bound too, the finding is vacuous. "" for
        none.
    """

    row: str
    quantity: str
    bound: float
    at_most: float = 0.0
    trivial: str = ""
    alpha: float = ALPHA

    words = """{quantity} of {row} exceeds {bound} in at most a share {at_most} of the trials, in each column
        separately. Contradicted: significantly more trials exceed the bound (binomial test; one trial is enough if none
        may). Vacuous: the bound says nothing in at least half of the trials. Replicated: significantly fewer trials
        exceed it, so that the interval of the share lies below {at_most} (exact binomial; below 5 % if none may exceed
        it). Not contradicted: no larger share of trials exceeds it. Otherwise inconclusive. The effect is the share of
        trials within the bound."""

    def __post_init__(self) -> None:
        check_one_of("quantity", self.quantity, NUMBERS)
        if self.trivial:
            check_one_of("trivial", self.trivial, NUMBERS)

    @property
    def reads(self) -> tuple[str, ...]:
        """Columns of the records that the rule reads in addition to `FOLD_COLUMNS`."""
        return (self.quantity, self.trivial) if self.trivial else (self.quantity,)

    def finding(self, place: Place, evidence: AbstractEvidence) -> Finding:
        """Return the finding of one column."""
        column = place[-1]
        trials = evidence.trials(place, self.reads).dropna(subset=[self.quantity])
        if trials.empty:
            return nothing_stored(column, self.row)
        n = len(trials)
        above = int((trials[self.quantity] > self.bound).sum())
        n_trivial = (
            int((trials[self.trivial] <= self.bound).sum()) if self.trivial else 0
        )
        share = self.at_most or NEARLY_ALL
        p_fewer = float(bdtr(above, n, share))
        if self.at_most:
            p_more = more_than_p_value(above, n, self.at_most)
            is_contradicted = p_more < self.alpha
        else:
            p_more = math.nan if above else 1.0
            is_contradicted = above > 0
        p_value = p_more
        needed = math.nan
        if is_contradicted:
            verdict = CONTRADICTED
        elif 2 * n_trivial >= n:
            verdict = VACUOUS
        elif p_fewer < self.alpha:
            verdict = REPLICATED
            p_value = p_fewer
        elif above <= self.at_most * n:
            verdict = NOT_CONTRADICTED
            p_value = p_fewer
            needed = runs_needed(above, n, share, self.alpha)
        else:
            verdict = INCONCLUSIVE
            needed = observations_for_p(n, p_more, self.alpha)
        note = f"from {trials[self.quantity].min():.4g} to {trials[self.quantity].max():.4g}"
        if self.trivial:
            note += f"; in {n_trivial} of {n} it says nothing"
        test = (
            f"{self.quantity.removeprefix('certificate_')} at most {self.bound:g}, at most {100 * share:g} % above "
            f"(exact binomial, {100 * (1 - 2 * self.alpha):g} % interval)"
        )
        # Clopper, Pearson (1934), Biometrika 26: the shares that neither one-sided test
        # rejects
        largest = (
            float(betaincinv(above + 1, n - above, 1 - self.alpha))
            if above < n
            else 1.0
        )
        least = float(betaincinv(above, n - above + 1, self.alpha)) if above else 0.0
        return Finding(column, verdict, 100 * (n - above) / n, 100 * (1 - largest), 100 * (1 - least), p_value, n, test,
                       "% within", note, needed=needed)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ZeroError(AbstractRule):
    """The mean test error of `row` is at most `at_most` in every column.

    Parameters
    ----------
    row : str
    at_most : float
        In percent: the largest value that rounds to the paper's number.
    """

    row: str
    at_most: float

    words = """The mean test error of {row} is at most {at_most} in every column. This is a statement about these data,
        without a p-value."""

    def finding(self, place: Place, evidence: AbstractEvidence) -> Finding:
        """Return the finding of one column."""
        column = place[-1]
        errors = evidence.by_fold(place)
        if not errors:
            return nothing_stored(column, self.row)
        values = np.array([*errors.values()])
        mean = float(values.mean())
        verdict = REPLICATED if mean <= self.at_most else CONTRADICTED
        note = f"{int((values > 0).sum())} of {len(errors)} folds have errors"
        unit = "%" if evidence.unit == POINTS else evidence.unit
        test = f"mean at most {self.at_most:g} {unit}"
        return Finding(column, verdict, mean, n=len(errors), test=test, unit=f"{unit} error", note=note,
                       margins=(self.at_most,), sample=tuple(errors.items()))  # fmt: skip


def runs_needed(successes: int, trials: int, share: float, alpha: float) -> float:
    """Return the n needed to show a probability below `share` at the observed rate; exact without successes."""
    if not successes:
        return math.ceil(math.log(alpha) / math.log1p(-share))
    return observations_for_p(trials, float(bdtr(successes, trials, share)), alpha)


def more_than_p_value(successes: int, trials: int, share: float) -> float:
    """Return the p-value of the binomial test that the probability is greater than `share`."""
    return float(bdtrc(successes - 1, trials, share)) if successes else 1.0
