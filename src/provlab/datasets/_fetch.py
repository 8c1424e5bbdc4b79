"""Fetch the files of a source: the only code of the project that touches the network."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ._loaders import dataset_names
from ._obtain import Obtained, Obtaining
from ._paths import data_dir as default_data_dir
from ._progress import Progress
from ._sources import forms_of, read_source, source_names

_log = logging.getLogger(__name__)


def fetch(
    name: str,
    *,
    data_dir: Path | None = None,
    registry: Path | None = None,
    keep_raw: bool = False,
    progress: bool = False,
    **transfer: Any,
) -> list[Path]:
    """Make the files of a data set available: take those that are there, download, make and verify the others.

    Parameters
    ----------
    name : str
        One of `source_names()`; a data set that needs no files is accepted and nothing is done.
    data_dir : Path or None, default=None
        Folder to write to, in place of `$PROVSEL_DATA`.
    registry : Path or None, default=None
        Folder of source YAML files; None is the registry of the package.
    keep_raw : bool, default=False
        Keep the downloads that other files are made from.
    progress : bool, default=False
        Show on the standard error output what is going on.
    **transfer
        `retries`, `timeout` and `backoff`, see `Transfer`.

    Returns
    -------
    list of Path
        The verified files. Archives are extracted beside them as the registry says.

    Raises
    ------
    ValueError
        For an unknown name, or an archive or a raw file that is refused.
    MissingDataError
        When files have no public address and no mirror holds them.
    DataIntegrityError
        When what arrives, or what a mirror holds, is not the registered file. Nothing is kept of a download.
    FetchError
        When no address could be downloaded.

    The error is that of the first file, after all were tried. Where files stand in for each other, there is none as
    long as the files of one form are there; what could not be had of the others is logged.
    """
    options: dict[str, Any] = {"data_dir": data_dir, "registry": registry, "keep_raw": keep_raw, "progress": progress}
    (obtained,) = fetch_all([name], **options, **transfer).values()
    if obtained and not usable(obtained):
        raise next(item.error for item in obtained if item.error is not None)
    for item in obtained:
        if item.error is not None:
            _log.warning("%s: left out, as the data set can be loaded without it: %s", item.file.path, item.error)
    return [item.path for item in obtained if item.path is not None]


def fetch_all(
    names: Sequence[str],
    *,
    data_dir: Path | None = None,
    registry: Path | None = None,
    keep_raw: bool = False,
    progress: bool = False,
    **transfer: Any,
) -> dict[str, list[Obtained]]:
    """Fetch several data sets as `fetch` does, and continue after a file that cannot be had.

    Parameters
    ----------
    names : sequence of str
    data_dir, registry, keep_raw, progress, **transfer
        As in `fetch`.

    Returns
    -------
    dict of str to list of Obtained
        By name, what became of each file that the loader can read; empty for a data set that needs none.

    Raises
    ------
    ValueError
        For an unknown name or a malformed entry of the registry, before anything is fetched.
    """
    known, loaders = source_names(registry), dataset_names()
    sources = {name: read_source(name, registry) if name in known or name not in loaders else None for name in names}
    folder = default_data_dir() if data_dir is None else Path(data_dir)
    outcomes: dict[str, list[Obtained]] = {}
    with Progress(progress) as shown:
        for name, source in sources.items():
            if source is None:
                _log.info("%s needs no files: nothing to fetch", name)
                outcomes[name] = []
                continue
            outcomes[name] = Obtaining(source, folder, shown, keep_raw=keep_raw, **transfer).all_files()
    return outcomes


def usable(obtained: Sequence[Obtained]) -> bool:
    """Tell whether the loader finds all that it needs: the files of one form."""
    there = {item.file.path for item in obtained if item.path is not None}
    forms = forms_of([item.file for item in obtained])
    return any(all(file.path in there for file in files) for files in forms.values())
