"""Our numbers against the printed ones, on the scale of what chance explains."""

from __future__ import annotations

import numpy as np
import pandas as pd


def with_differences(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of numbers with `difference`, ours minus printed, and `standard_errors`, on that scale.

    The standard error of each side is its sd times the scale of ours, see `frames.standard_error_scale`: the paper's
    protocol is ours. Where the paper prints no sd, its standard error counts as ours. NaN where a side is no number, or
    where nothing is randomised: then any difference is real.

    Parameters
    ----------
    frame : DataFrame
        See `frames.artefact_frame`.
    """
    ours, printed = (pd.to_numeric(frame[name], errors="coerce") for name in ("value", "printed_value"))
    scale = pd.to_numeric(frame["scale"], errors="coerce")
    own = pd.to_numeric(frame["sd"], errors="coerce") * scale
    theirs = (pd.to_numeric(frame["printed_sd"], errors="coerce") * scale).fillna(own)
    difference, error = ours - printed, np.hypot(own, theirs)
    in_errors = (difference / error.where(error > 0)).where(difference != 0, 0.0 * error)
    return frame.assign(difference=difference, standard_errors=in_errors)
