"""What a cell measures, and what every trial of it gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from provlab.protocols.columns import columns

SETTINGS = ("supervised", "unsupervised", "unsupervised_with_center")
"""On the support vectors of the model on all features; on all training rows; on these and the centre of their ball."""

Record = dict[str, Any]


@dataclass(frozen=True)
class Method:
    """What a cell measures: a selector and a model, as configs, and how they are used."""

    selector: Mapping[str, Any]
    model: Mapping[str, Any]
    setting: str
    certify: bool
    measures: tuple[Mapping[str, Any], ...] = ()


SELECTED = (
    *columns("text", "selector"),
    *columns("int32", "n_rows", "rank", "n_selected", "n_repeats"),
    *columns("number", "sampling_rate"),
    *columns("features", "features"),
    *columns("seconds", "select_cpu", "select_wall", "shared_cpu", "shared_wall"),
)
"""Columns of every selection, whatever is measured of it: see `fitting.Fitted.as_record`."""
