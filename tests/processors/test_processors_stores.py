"""A store that one kind began, another continued, and a third brought its own to; and audits between kinds.

One test, as all of it is about two stores that four processes take seconds to fill.
"""

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pyarrow.compute as pc
from small_work import add_to, table_1

import kinds
from provlab.cli import main
from provlab.core.store import SCHEMA, TrialStore
from provlab.custody.agreement import DIGITS
from provlab.custody.audit_runs import read_audits

NUMBERS = ("value", "sd")


def add(kind, results, repeats):
    done = kinds.run_as(
        kind, [Path(__file__).with_name("small_work.py"), results, repeats]
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def audit(kind, results):
    """Return exit status and output of an audit of all, by that kind."""
    done = kinds.run_as(
        kind,
        [
            "-m",
            "provlab.cli",
            "audit",
            "--results",
            results,
            "--fraction",
            1,
            "executor=serial",
        ],
    )
    assert not done.stderr.startswith("provsel:"), done.stderr
    return done.returncode, done.stdout


def table_of(results):
    """Return the CSV of the small Table 1, and check that all of it was stored."""
    assert (
        main(
            [
                "reproduce",
                "paul2016/table1",
                *table_1(2),
                f"results={results}",
                "executor=serial",
            ]
        )
        == 0
    )
    return pd.read_csv(results / "tables" / "paul2016" / "table1.csv")


def records_of(results, columns=SCHEMA.names):
    return TrialStore(results / "store").query(columns=columns)


def test_stores_and_audits(others, tmp_path, capsys):
    turns = tmp_path / "turns"
    alone = tmp_path / "alone"
    steps = (
        ("native", turns, 1),
        ("avx2", turns, 2),
        ("baseline", turns, 2),
        ("baseline", alone, 2),
    )
    counts = [add(*step) for step in steps]
    check_counts(*counts)
    check_merge(turns, alone, tmp_path / "merged", counts[-1][1])
    assert capsys.readouterr().err.count(" 0 computed") == 3
    check_audit_by_a_third_kind(turns)
    check_audit_by_the_same_kind(alone)
    check_audit_of_changed_records(alone, tmp_path / "changed")


def check_counts(first, second, again, alone):
    """Nothing is computed twice, and nothing is refused."""
    assert [failed for *_, failed in (first, second, again, alone)] == [0, 0, 0, 0]
    assert second[0] == first[1] > 0
    assert second[1] > 0
    assert again[:2] == [first[1] + second[1], 0]
    assert alone[1] == first[1] + second[1]


def check_merge(turns, alone, merged, total):
    """All trials are there once, and tables agree to the promised digits."""
    (merged / "store").mkdir(parents=True)
    for store in (turns, alone):
        for path in (store / "store").glob("*.parquet"):
            shutil.copy(path, merged / "store" / path.name)
    assert add_to(merged, 2) == [total, 0, 0]
    assert len(records_of(merged, ["key"])) == total
    tables = [table_of(results) for results in (turns, alone, merged)]
    for table in tables[1:]:
        same = [name for name in table if name not in NUMBERS]
        pd.testing.assert_frame_equal(table[same], tables[0][same])
        for name in NUMBERS:
            pd.testing.assert_series_equal(
                table[name], tables[0][name], rtol=10**-DIGITS, atol=0
            )
    names = {kinds.environment_in_records(kind) for kind in kinds.KINDS}
    assert names >= set(records_of(merged, ["environment"])["environment"].to_pylist())


def check_audit_by_a_third_kind(turns):
    """It says which columns agree, and to how many digits."""
    status, out = audit("baseline", turns)
    assert status == 0, out
    run = read_audits(turns)[0]
    assert run.skipped == {}
    assert run.n_drawn == run.count("identical") + run.count("close") == run.n_stored
    # one, where there is no AVX-512
    names = {kinds.environment_in_records(kind) for kind in ("native", "avx2")}
    assert {*run.agreement["environment"]} == names
    for _, columns in run.agreement.groupby("environment"):
        # nothing that is chosen or counted differs, and every number has the promised
        # digits and more
        assert not columns["n_beyond"].any()
        is_same = columns["n_same"] == columns["n_compared"]
        assert {*columns["column"][~is_same]} >= {"content"}
        assert {"key", "data", "seed", "error", "features"} <= {
            *columns["column"][is_same]
        }
        assert 0 < columns["worst"].max() <= 10**-DIGITS
        assert not columns["worst"][columns["column"] == "content"].any()
    assert out.count("another environment") == len(names)
    assert re.search(r"content +│ \d+ +│ \d+ +│ only reported", out)


def check_audit_by_the_same_kind(alone):
    status, _ = audit("baseline", alone)
    run = read_audits(alone)[0]
    assert status == 0
    assert run.count("identical") == run.n_drawn
    assert run.agreement.empty


def check_audit_of_changed_records(alone, changed):
    """Found is one row that is classified otherwise, one feature, and a number in its sixth digit."""
    table = records_of(alone)
    chosen = table.filter(pc.equal(table["dataset"], "synthetic")).to_pylist()
    records = [
        record
        for record in chosen
        if record["features"] and record["certificate_eigenvalue_max"] > 0.1
    ][:12]
    records[0]["error"] += 1 / records[0]["n_test"]
    records[1]["features"] = records[1]["features"][::-1]
    records[2]["certificate_eigenvalue_max"] *= 1 + 3 * 10.0**-DIGITS
    TrialStore(changed / "store").append(records)
    status, out = audit("avx2", changed)
    assert status == 1
    run = read_audits(changed)[0]
    assert {*run.trials["key"][run.trials["outcome"] == "different"]} == {
        record["key"] for record in records[:3]
    }
    beyond = run.agreement.set_index("column")["n_beyond"]
    assert beyond[beyond > 0].to_dict() == {
        "error": 1,
        "features": 1,
        "certificate_eigenvalue_max": 1,
    }
    assert re.search(r"features +│ 12 +│ 11 +│ 1 different", out)
