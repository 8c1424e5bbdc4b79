"""Without data: what is stored is shown, and a run says before it begins what is missing."""

import re
from dataclasses import replace

import pytest

from provlab.cli import main
from provlab.core.composition import compose_config
from provlab.core.plan import cells_of, identity_of, make_tasks
from provlab.core.store import TrialStore
from provlab.data import MissingDataError
from provlab.run.runner import check_data, run_cells
from small_runs import UNIFORM, small_cell

SETS = ["Exp_10341_10755", "Exp_10341_14271"]


def techtc(name):
    return replace(
        small_cell(UNIFORM), dataset={"name": "techtc", "set": name}, data=name
    )


@pytest.mark.parametrize("executor", ["serial", "loky"])
def test_a_run_says_what_is_missing_before_it_writes_anything(no_data, executor):
    store = TrialStore(no_data / "store")
    with pytest.raises(
        MissingDataError,
        match=r"2 of 3 data sets of this run are missing, such as techtc Exp_10341_10755: expected techtc100/tokens/.*"
        r"found none; run provsel fetch techtc\.",
    ):
        run_cells([small_cell(UNIFORM), *map(techtc, SETS)], store, {"name": executor})
    assert not store.folder.exists()


def test_those_that_are_there_are_named(no_data):
    folder = no_data / "data" / "techtc100" / "tokens"
    folder.mkdir(parents=True)
    (folder / f"{SETS[1]}.txt.xz").write_bytes(
        b"whatever it is: this is about being there"
    )
    with pytest.raises(
        MissingDataError,
        match=rf"1 of 2 .*choose available ones: dataset\.set=\[{SETS[1]}\]\.",
    ):
        check_data(make_tasks(map(techtc, SETS)), {"name": "serial"})


def test_one_command_gets_all_that_is_missing(no_data):
    [arcene] = cells_of(compose_config(["dataset=arcene"]))
    with pytest.raises(
        MissingDataError, match=r"2 of 2 .*run provsel fetch techtc arcene\.$"
    ) as refused:
        check_data(make_tasks([techtc(SETS[0]), arcene]), {"name": "serial"})
    assert refused.value.dataset == "techtc arcene"


def test_workers_elsewhere_have_their_own_files(no_data):
    check_data(make_tasks(map(techtc, SETS)), {"name": "dask"})


def test_plans_and_verdicts_need_no_data(no_data, monkeypatch, capsys):
    monkeypatch.chdir(no_data)
    assert main(["status", "--artefact", "figure1"]) == 0
    assert "0 of 336000" in capsys.readouterr().out
    assert (
        main(
            [
                "explain",
                "figure1",
                "--row",
                "BSS",
                "--column",
                "r=300",
                "--dataset",
                SETS[0],
            ]
        )
        == 0
    )
    assert SETS[0] in capsys.readouterr().out
    assert main(["verify", "--paper", "paul2016"]) == 0
    assert re.search(
        r"\b(\d+) claims: \1 not run; others: \d+ alternative, \d+ certain, ",
        capsys.readouterr().out,
    )
    written = {
        path.relative_to(no_data / "data").as_posix()
        for path in (no_data / "data").rglob("*.*")
    }
    assert {path for path in written if not path.startswith("cache/plans/")} == set()


def test_a_file_that_nobody_knows_the_hash_of_is_needed_even_for_a_plan(no_data):
    with pytest.raises(
        MissingDataError, match=r"Exp_1_2 is missing.*provsel fetch techtc"
    ) as caught:
        identity_of({"name": "techtc", "set": "Exp_1_2"})
    assert caught.value.dataset == "techtc"
