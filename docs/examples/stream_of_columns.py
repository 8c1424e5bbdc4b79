"""
A stream larger than memory
===========================

The columns of a file are read in blocks, and only one block is in memory at a time. The
selector decides on each column once, when it arrives.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from provsel.selectors import OnlineLeverageSelector
from provsel.streams import column_blocks

rng = np.random.default_rng(0)
selector = OnlineLeverageSelector(sampling_rate=1.0, random_state=0)
seen, kept = [], []
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "columns.npy"
    np.save(path, np.asfortranarray(rng.standard_normal((30, 20_000))))
    size = path.stat().st_size
    for block, features in column_blocks(path, block_size=500):
        selector.partial_fit_columns(block, features)
        seen.append(selector.n_seen_)
        kept.append(selector.indices_.size)

share = f"{block.nbytes / size:.1%} of the file was in memory at a time"
print(f"{kept[-1]} of {seen[-1]} columns are kept; {share}")
figure, axes = plt.subplots(figsize=(5.5, 3.3), layout="constrained")
axes.plot(seen, kept, color="#0072B2")
axes.set(xlabel="columns seen", ylabel="columns kept", xscale="log")
