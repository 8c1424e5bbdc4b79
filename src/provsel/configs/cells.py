"""Compose Hydra configs, and turn them into cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, OmegaConf

from provsel.configs.places import conf_dir
from provsel.configs.plain import ELSEWHERE, check_overrides, check_plain, check_references
from provsel.datasets import MissingDataError, dataset_members
from provsel.evaluation import Cell, load_from
from provsel.evaluation.plan import OWN, WHOLE

CELL_GROUPS = ("dataset", "selector", "model", "protocol")
"""Parts of a config that make a cell."""

MAX_COUNT = 100_000
"""Of repeats, folds or draws: each trial is listed before the first one is run."""


def compose_config(overrides: Sequence[str] = ()) -> DictConfig:
    """Return the config with some overrides, in Hydra's own grammar.

    Raises
    ------
    ValueError, HydraException, OmegaConfBaseException
        For what is no config, and for one that asks the environment for anything but `ELSEWHERE`.
    """
    check_overrides(overrides)
    with initialize_config_dir(config_dir=str(conf_dir()), version_base="1.3"):
        config = compose("config", overrides=list(overrides))
    _check_references(config)
    return config


def _check_references(config: DictConfig) -> None:
    raw: Any = OmegaConf.to_container(config)  # asking for one part of a config may resolve it
    for name in sorted(raw.keys() - {*ELSEWHERE}):
        check_references(raw[name], name, [*CELL_GROUPS, "artefact"])


def cells_of(config: DictConfig, fingerprints: dict[str, str] | None = None) -> list[Cell]:
    """Return the cells of a composed config: one, or one for each member of a collection of data sets.

    Parameters
    ----------
    config : DictConfig
    fingerprints : dict, optional
        Of data sets that were loaded before, by their config; filled in place.
    """
    known = {} if fingerprints is None else fingerprints
    _check_references(config)
    parts = {group: OmegaConf.to_container(config[group], resolve=True) for group in CELL_GROUPS}
    for group, part in parts.items():
        check_plain(part, group)
    _check_cell_parts(parts)  # type: ignore[arg-type]
    split = parts["protocol"]["split"]  # type: ignore[index, call-overload]
    if split in (*OWN, *WHOLE):
        # numbers that a sweep or an artefact sets for its k-fold columns do not apply
        parts["protocol"] |= {"n_splits": 1, **({"repeats": 1} if split in OWN else {})}  # type: ignore[operator]
    cells = []
    for dataset in _members(parts.pop("dataset")):  # type: ignore[arg-type]
        text = repr(sorted(dataset.items()))
        if text not in known:
            known[text] = _fingerprint(dataset)
        cells.append(Cell(dataset=dataset, fingerprint=known[text], **parts))  # type: ignore[arg-type]
    return cells


def _check_cell_parts(parts: Mapping[str, Mapping[str, Any]]) -> None:
    """Check what is needed to make cells of the parts; `Cell` and the loader check the rest."""
    dataset, protocol = parts["dataset"], parts["protocol"]
    if not isinstance(dataset.get("name"), str):
        raise ValueError(f"dataset.name: expected a text, got {dataset.get('name')!r:.80}; choose with dataset=....")
    chosen = dataset.get("set", "all")
    if not isinstance(chosen, str) and not (isinstance(chosen, list) and all(isinstance(name, str) for name in chosen)):
        raise ValueError(f"dataset.set: expected a name, all, or a list of names, got {chosen!r:.80}.")
    if not isinstance(protocol.get("split"), str):
        raise ValueError(f"protocol.split: expected a text, got {protocol.get('split')!r:.80}.")
    for name in ("repeats", "n_splits", "draws"):
        number = protocol.get(name)
        if isinstance(number, int | float) and number > MAX_COUNT:
            raise ValueError(f"protocol.{name}: expected at most {MAX_COUNT}, got {number!r:.80}; lower it.")


def _fingerprint(dataset: Mapping[str, Any]) -> str:
    try:
        return load_from(dataset).fingerprint
    except MissingDataError as error:
        error.dataset = str(dataset["name"])
        raise


def _members(dataset: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    chosen: Any = dataset.get("set")
    if "set" not in dataset or (isinstance(chosen, str) and chosen != "all"):
        yield dict(dataset)
        return
    names = dataset_members(dataset["name"]) if chosen == "all" else list(chosen)
    if not names:  # the loader's own error says what is missing and how to get it
        yield {name: value for name, value in dataset.items() if name != "set"}
    for name in names:
        yield {**dataset, "set": name}
