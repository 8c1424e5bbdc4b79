"""Run one cell, or with -m a sweep over cells.

python experiments/run.py dataset=digits selector=leverage selector.n_features_to_select=20
python experiments/run.py -m dataset=techtc selector=bss,leverage selector.n_features_to_select=300,400,500
python experiments/run.py -m hydra/launcher=joblib dataset=techtc selector=bss,leverage   # jobs side by side

Sweeps and artefacts fill the same store: what one has computed, the other finds. A sweep goes on after a failed job and
lists the failures at the end; with --fail-fast the first one ends it.
"""

import sys

import hydra
from omegaconf import DictConfig

from provlab.cli.scripts import run_job, sweep_main
from provlab.configs import conf_dir


@hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name="config")
def main(config: DictConfig) -> None:
    run_job(config)


if __name__ == "__main__":
    sys.exit(sweep_main(main))
