"""Run one cell, or with -m a sweep over cells: the same as `provsel run`.

python experiments/run.py dataset=digits selector=leverage
selector.n_features_to_select=20 python experiments/run.py -m dataset=techtc
selector=bss,leverage selector.n_features_to_select=300,400,500

Sweeps and artefacts fill the same store: what one has computed, the other finds. A
sweep continues after a failed trial and lists the failures at the end; with --fail-fast
the first one ends it.
"""

import sys

from provlab.cli import main

if __name__ == "__main__":
    sys.exit(main(["run", *sys.argv[1:]]))
