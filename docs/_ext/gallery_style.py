"""Style of figures in the gallery: text and lines that remain legible on a thumbnail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

STYLE = {
    "font.size": 13,
    "lines.linewidth": 2.5,
    "lines.markersize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "savefig.dpi": 150,
}


def set_style(gallery_conf: dict[str, Any], file: Path) -> None:
    """Set matplotlib's defaults before an example runs."""
    plt.rcdefaults()
    plt.rcParams.update(STYLE)
