"""Several theorems, measured on one selection or model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from provsel.certificates.theorem import UNDECIDED, VIOLATED, Theorem
from provsel.values import ValuesWithNaN

if TYPE_CHECKING:
    from provsel.certificates.clustering import ClusteringCost, PartitionCost
    from provsel.certificates.compression import (
        CompressedRecovery,
        FeatureSelectiveRecovery,
    )
    from provsel.certificates.margin import MarginPreservation, SoftMarginBound
    from provsel.certificates.online_scores import OnlineScoreSum
    from provsel.certificates.radius import RadiusPreservation
    from provsel.certificates.ridge_regression import (
        RidgeRegressionCost,
        RidgeRegressionRisk,
    )
    from provsel.certificates.spectral import SpectralSparsification


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(ValuesWithNaN):
    """Records of theorems on one selection or model: `certificate.margin.margin_ratio`, `certificate.margin.state`.

    Printing it shows the state, the source and the numbers of each. Two are equal if
    their values are.

    Attributes
    ----------
    records : tuple of Theorem
        Each is an attribute, by the theorem's name.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.certificates import certify
    >>> from provsel.selectors import BSSSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((20, 4)) @ rng.standard_normal((4, 600))
    >>> certificate = certify(BSSSelector(500).fit(X), X)
    >>> [record.name for record in certificate if record.state == "held"], certificate.held
    (['spectral', 'radius'], True)
    """

    records: tuple[Theorem, ...] = ()

    # for completion in editors; your own theorem is an attribute as well
    if TYPE_CHECKING:
        spectral: ClassVar[SpectralSparsification]
        scores: ClassVar[OnlineScoreSum]
        margin: ClassVar[MarginPreservation]
        soft: ClassVar[SoftMarginBound]
        radius: ClassVar[RadiusPreservation]
        ridge_cost: ClassVar[RidgeRegressionCost]
        ridge_risk: ClassVar[RidgeRegressionRisk]
        cost: ClassVar[ClusteringCost]
        partition: ClassVar[PartitionCost]
        recovery: ClassVar[CompressedRecovery | FeatureSelectiveRecovery]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(record.name for record in self.records)]

    def __getattr__(self, name: str) -> Any:
        names = [record.name for record in vars(self).get("records", ())]
        if name not in names:
            raise AttributeError(
                f"Certificate: expected one of {', '.join(names) or 'no theorems'}, got {name!r}."
            )
        return self.records[names.index(name)]

    def __iter__(self) -> Iterator[Theorem]:
        return iter(self.records)

    def __repr__(self) -> str:
        return "\n".join(
            f"{record.name:9} {record.state:13} {record.source}{_numbers(record)}"
            for record in self.records
        )

    @property
    def held(self) -> bool:
        """Whether no measured record violates its bound, or might do so because the rank is undecided."""
        return all(record.state not in (VIOLATED, UNDECIDED) for record in self.records)

    @property
    def good_for(self) -> tuple[str, ...]:
        """Purposes for which the selection is good, of "geometry", "margin" and "rank-k approximation" if measured."""
        return tuple(
            dict.fromkeys(
                record.question
                for record in self.records
                if record.question and record.is_good
            )
        )

    def as_record(self) -> dict[str, float | str | None]:
        """Return the columns of all records in one mapping."""
        return {
            name: value
            for record in self.records
            for name, value in record.as_record().items()
        }


def _numbers(record: Theorem) -> str:
    numbers = {
        name: value
        for name, value in vars(record).items()
        if isinstance(value, float) and value == value
    }
    return "".join(f"\n    {name:15} {value:.4g}" for name, value in numbers.items())
