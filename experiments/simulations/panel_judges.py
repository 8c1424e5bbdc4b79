"""python experiments/simulations/panel_judges.py [--panel FOLDER] [--csv FILE]: what each judge alone says.

How many methods of the benchmark are better and worse than all features by each judge
alone, beside the mean of all that the benchmark judges by: of classes on all domains
and on texts, and of numeric targets.
"""

from pathlib import Path

from tables import arguments, write_table

from provlab.bench.stored_panel import read_panel
from provlab.verdicts.panel_pairs import EVERYWHERE, pairs
from provlab.verdicts.panel_scores import Scores

VERDICTS = ("better", "inconclusive", "same", "worse")
SIZES = (20, 100)
PARTS = (
    ("classification", EVERYWHERE),
    ("classification", "text"),
    ("regression", EVERYWHERE),
)


def lines_of(panel):
    """Yield a line for each task, domain, size and judge."""
    for task, domain in PARTS:
        scores = Scores.of(panel, task)
        part = scores if domain == EVERYWHERE else scores.on(domain)
        for size in SIZES:
            judges = sorted(part.of_slice(size=size).index.unique("model"))
            for judge in (None, *judges):
                verdicts = pairs(part.of_slice(size=size, model=judge))[
                    "verdict"
                ].value_counts()
                line = {
                    "task": task,
                    "domain": domain,
                    "features": size,
                    "judge": judge or "all",
                }
                yield line | {
                    verdict: int(verdicts.get(verdict, 0)) for verdict in VERDICTS
                }


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument(
        "--panel",
        type=Path,
        help="of a folder with a stored panel, by default that of provsel",
    )
    options = parser.parse_args()
    write_table(lines_of(read_panel(options.panel)), options.csv)
