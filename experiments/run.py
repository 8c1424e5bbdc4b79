"""Run one cell, or with -m a sweep over cells.

python experiments/run.py dataset=digits selector=leverage selector.n_features_to_select=20
python experiments/run.py -m dataset=techtc selector=bss,leverage selector.n_features_to_select=300,400,500

Sweeps and artefacts fill the same store: what one has computed, the other finds.
"""

import sys

import hydra
from omegaconf import DictConfig

from provsel.cli import run_main
from provsel.configs import conf_dir


@hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name="config")
def main(config: DictConfig) -> None:
    status = run_main(config)
    if status:
        sys.exit(status)


if __name__ == "__main__":
    main()
