"""Every processor gives trials the same names and the same seeds."""

import json
from pathlib import Path

import kinds

COMPOSING = Path(__file__).with_name("composing.py")


def composed(kind):
    done = kinds.run_as(kind, [COMPOSING])
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_keys_and_seeds(others):
    native, *of_others = map(composed, ("native", *others))
    counts = {name: len(cells) for name, cells in native["cells"].items()}
    assert counts["paul2016/table1"] == 36
    assert [n for name, n in counts.items() if name.startswith("techtc")] == [80] * 4
    assert (
        len({key for cells in native["cells"].values() for _, _, key, _ in cells})
        >= 600
    )
    for of_kind in of_others:
        for name, cells in native["cells"].items():
            assert of_kind["cells"][name] == cells, name
        assert of_kind["folds"] == native["folds"]


CONTENTS = """
from provlab.data import load_dataset
from provlab.data.loaders.design import DESIGNS
print([load_dataset("design", kind=kind, n_samples=300, n_features=1000, seed=7).content for kind in DESIGNS])
"""


def test_designs_have_the_same_bits(others):
    done = [kinds.run_as(kind, ["-c", CONTENTS]) for kind in ("native", *others)]
    assert [run.returncode for run in done] == [0] * len(done), done[0].stderr
    assert len({run.stdout for run in done}) == 1
