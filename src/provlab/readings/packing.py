"""The trials behind the readings of a paper, packed: to judge them again, or go on, where the store is not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from provlab.claims.evidence import FOLD_COLUMNS
from provlab.claims.made_with import COLUMNS
from provlab.frames import columns_with_sizes
from provlab.identity.cell import Cell
from provlab.readings.prints import printed_rows
from provlab.readings.universes import Multiverse
from provlab.recipe import load_recipe
from provlab.store import StoreSnapshot
from provlab.store.packed import Block, pack, unpack
from provlab.store.snapshot import LARGE


def trials_file(folder: Path, artefact: str) -> Path:
    """Return where the packed trials of the readings of an artefact stand in a folder of readings."""
    return folder / f"trials-{artefact.partition('/')[2]}.parquet"


def with_packed(store: StoreSnapshot, multiverse: Multiverse, folders: Iterable[Path]) -> StoreSnapshot:
    """Return a snapshot with what folders of readings have packed of the artefacts' blocks.

    Raises
    ------
    ValueError
        When a file is damaged.
    """
    blocks = trial_blocks(multiverse)
    for folder in folders:
        for artefact, of_artefact in blocks.items():
            path = trials_file(folder, artefact)
            if path.is_file():
                store = store.beside(unpack(of_artefact, path))
    return store


def pack_trials(store: StoreSnapshot, multiverse: Multiverse, folder: Path) -> None:
    """Pack the trials of each artefact of which all claims are asked, but for those that need lists of features."""
    asked, blocks = {claim.id for claim in multiverse.claims}, trial_blocks(multiverse)
    for artefact in sorted({claim.evaluator.artefact for claim in multiverse.claims}):
        about = {claim.id for claim in multiverse.family if claim.evaluator.artefact == artefact}
        if about <= asked and not any(block.columns & {*LARGE} for block in blocks[artefact]):
            pack(blocks[artefact], store, trials_file(folder, artefact))


def trial_blocks(multiverse: Multiverse) -> dict[str, list[Block]]:
    """Return for each artefact its blocks: the cells of a row on a data set under all choices.

    So a method that changes leaves the blocks of the others as they are.
    """
    cells: dict[tuple[str, str, str], list[Cell]] = defaultdict(list)
    for (artefact, row, _), found in multiverse.entries.items():
        for entry in found:
            cells[artefact, row, entry.cell.data].append(entry.cell)
    read, blocks = _columns(multiverse), defaultdict[str, list[Block]](list)
    for (artefact, row, _), of_block in cells.items():
        blocks[artefact].append(Block.of(of_block, read[artefact, row]))
    return dict(blocks)


def _columns(multiverse: Multiverse) -> dict[tuple[str, str], set[str]]:
    """Return what any claim of the paper, comparing with the print, and the cost read of the trials of a row."""
    found: dict[tuple[str, str], set[str]] = defaultdict(lambda: {*COLUMNS, *FOLD_COLUMNS})
    for test in (test for claim in multiverse.family for test in multiverse.tests(claim)):
        for artefact, row, _ in test.places((*test.columns, *test.also)):
            found[artefact, row] |= {*test.reads}
    for artefact in {artefact for artefact, _ in found}:
        if rows := printed_rows(artefact):
            compared = {*columns_with_sizes(load_recipe(artefact).columns)}
            for row in rows:
                found[artefact, row] |= compared
    return found
