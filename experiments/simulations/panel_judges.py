"""python experiments/simulations/panel_judges.py [--panel FOLDER] [--csv FILE]: what each judge alone says.

How many methods of the benchmark are better and worse than all features by each model alone, beside the mean of both
that the benchmark judges by: on all domains, and on texts.
"""

from pathlib import Path

from tables import arguments, write_table

from provlab.bench.stored_panel import read_panel
from provlab.verdicts.panel_pairs import EVERYWHERE, pairs
from provlab.verdicts.panel_scores import Scores

FIELDS = ["domain", "features", "judge", "better", "inconclusive", "same", "worse"]
SIZES = (20, 200)


def lines_of(scores):
    """Yield a line for each domain, size and judge."""
    judges = [None, *sorted(scores.lines["model"].unique())]
    for domain, part in ((EVERYWHERE, scores), ("text", scores.on("text"))):
        for size in SIZES:
            for judge in judges:
                verdicts = pairs(part.of_slice(size=size, model=judge))["verdict"].value_counts()
                line = {"domain": domain, "features": size, "judge": judge or "both"}
                yield line | {verdict: int(verdicts.get(verdict, 0)) for verdict in FIELDS[3:]}


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--panel", type=Path, help="of a folder with a stored panel, by default that of provsel")
    options = parser.parse_args()
    write_table(FIELDS, list(lines_of(Scores.of(read_panel(options.panel)))), options.csv)
