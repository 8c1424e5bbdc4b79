"""Files of the user's own as data sets."""

import os
import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from provlab.cli import main
from provlab.core.composition import compose_config
from provlab.core.keys import split_seed
from provlab.core.plan import cells_of, load_from, make_tasks
from provlab.data import dataset_identity, load_dataset
from provlab.run.task import run_task

X = np.array([[1.0, 2.5, -3.0], [0.0, 1.5, 2.0], [4.0, 0.0, 0.5], [2.0, 2.0, 2.0]])
SPECIES = ["robin", "finch", "robin", "finch"]
SIGNS = [1, -1, 1, -1]


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    (tmp_path / "provsel.toml").write_text("")
    monkeypatch.setenv("PROVSEL_PROJECT", str(tmp_path))
    monkeypatch.setenv("PROVSEL_DATA", str(tmp_path / "cache"))
    return tmp_path


def dense(dataset):
    return dataset.X.toarray() if sparse.issparse(dataset.X) else dataset.X


def frame(labels=SPECIES, **columns):
    return pd.DataFrame(
        {
            "wing": X[:, 0],
            "bill": X[:, 1],
            **columns,
            "tail": X[:, 2],
            "species": labels,
        }
    )


@pytest.mark.parametrize(
    "kind", ["bool", "int8", "uint64", "float16", "float32", "longdouble", ">f8", ">i4"]
)
def test_real_numbers_of_any_type(project, kind):
    values = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 0], [0, 1, 0]])
    np.savez(project / "dense.npz", X=values.astype(kind), y=SIGNS)
    rows = sparse.csr_array(values)
    arrays = {"indices": rows.indices, "indptr": rows.indptr, "shape": rows.shape}
    np.savez(project / "sparse.npz", data=rows.data.astype(kind), **arrays, y=SIGNS)
    np.save(project / "a.npy", np.column_stack([values, [1, 0, 1, 0]]).astype(kind))
    for name, target in (("dense.npz", None), ("sparse.npz", None), ("a.npy", -1)):
        dataset = load_dataset("file", path=name, target=target)
        np.testing.assert_array_equal(dense(dataset), values)
        assert dataset.X.dtype == np.float64
        assert dataset.y.tolist() == SIGNS


NAMES = ["wing", "bill", "ring", "tail", "Label"]


def chosen(dataset):
    parts = {**compose_config(["selector=uniform"]), "dataset": dataset}
    [cell] = cells_of(parts)
    return cell


@pytest.mark.filterwarnings(
    "ignore:.*different whole numbers in each row of ring:UserWarning"
)
@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.data())
def test_equal_data_have_one_key_and_the_same_folds_however_they_are_spelt(
    project, data
):
    """Columns by name, number or number from the end; left out as index or so; defaults written or not; any path."""
    ending = data.draw(st.sampled_from([".csv", ".tsv", ".parquet", ".npy"]))
    table = frame(ring=[7, 8, 9, 10]).assign(Label=[1, 0, 1, 0])[NAMES]
    names = NAMES if ending != ".npy" else ["1", "2", "3", "4", "5"]
    out = data.draw(st.lists(st.integers(0, 3), unique=True, max_size=3))
    file = project / f"a{ending}"
    if not file.is_file():
        write = {
            ".csv": table.to_csv,
            ".tsv": partial(table.to_csv, sep="\t"),
            ".parquet": table.to_parquet,
        }
        write[ending](file, index=False) if ending in write else np.save(
            file, table.to_numpy(dtype=float)
        )

    def spelling():
        def column(k):
            return data.draw(st.sampled_from([names[k], k, k - 5]))

        places = data.draw(st.permutations(out))
        first = data.draw(st.booleans()) and bool(places)
        path = data.draw(st.sampled_from([file.name, f"./{file.name}", str(file)]))
        written_as = {"path": path, "index": None, "target": column(4)}
        if first:
            written_as[data.draw(st.sampled_from(["index", "index_col"]))] = column(
                places[0]
            )
        written_as["left_out"] = [column(k) for k in places[first:]]
        default = {"index": None, "left_out": []} | (
            {"target": None} if ending != ".npy" else {}
        )
        if default.get("target", "") is None and data.draw(st.booleans()):
            written_as["target"] = None
        defaults = [
            name for name, value in written_as.items() if default.get(name, "") == value
        ]
        left_out = [name for name in defaults if data.draw(st.booleans())]
        written = {
            name: value for name, value in written_as.items() if name not in left_out
        }
        separator = {".csv": ",", ".tsv": "tab"}.get(ending)
        if separator and data.draw(st.booleans()):  # what is found is not written
            written |= {
                "sep": separator,
                "decimal": ".",
                "encoding": "utf-8",
                "header": 0,
            }
        return {"name": "file", **written} | data.draw(
            st.sampled_from([{}, {"unit_rows": False, "shuffle_columns": None}])
        )

    first = spelling()
    second = spelling()
    cells = chosen(first), chosen(second)
    assert cells[0].id == cells[1].id
    assert len({split_seed(cell.data, 10, 0, 0) for cell in cells}) == 1
    settings_of_all = [first, second, cells[0].dataset, cells[1].dataset]
    assert len({load_from(dataset).content for dataset in settings_of_all}) == 1
    assert load_from(first).X.shape[1] == 4 - len(out)
    less = chosen(
        {"name": "file", "path": file.name, "target": 4, "left_out": [*out, 3]}
    )
    assert (less.data == cells[0].data) == (3 in out)


def test_labels_that_are_texts_stay_texts(project):
    rows = [
        f"{k}.5,{label}\n" for k, label in enumerate(["01", "1", "2", "1", "01", "2"])
    ]
    (project / "a.csv").write_text("wing,label\n" + "".join(rows))
    dataset = load_dataset("file", path="a.csv")
    assert dataset.class_names.tolist() == ["01", "1", "2"]
    assert dataset.y.tolist() == [0, 1, 2, 1, 0, 2]
    (project / "b.csv").write_text("wing,label\n" + "".join(rows).replace("01", "10"))
    dataset = load_dataset("file", path="b.csv")
    # numbers in their order, as ever
    assert dataset.class_names.tolist() == ["1", "2", "10"]


def test_columns_of_unlike_sizes_are_warned_of_where_nothing_scales_them(
    project, recwarn
):
    table = frame(area=[1000.0, 9000.0, 8.0, 1.0], none=[3.0] * 4)
    pd.concat([table, table]).to_csv(project / "a.csv", index=False)
    plain = [
        "dataset=file",
        "dataset.path=a.csv",
        "dataset.target=species",
        "selector=full",
        "protocol.n_splits=2",
    ]

    def run(*settings, preparation="none"):
        [task, *_] = make_tasks(
            cells_of(compose_config([*plain, f"preparation={preparation}", *settings]))
        )
        return run_task(task)

    with pytest.warns(
        UserWarning,
        match=r"'a': .* ranges from 2.5 \(bill\) to 9e\+03 \(area\).*preparation=standardise",
    ):
        run()
    recwarn.clear()
    run(preparation="range")
    run("dataset.left_out=[area]")
    run("dataset.left_out=[wing,bill,area,tail]")
    assert not [
        warning for warning in recwarn if "similar size" in str(warning.message)
    ]


def test_trials_of_a_file_still_count(project):
    """Settings that came later are no part of the identity of a file that is read as ever."""
    (project / "a.csv").write_text("wing,bill,label\n1,2.5,a\n2,0.5,b\n3,1.5,a\n")
    whole = "28bfcdaa1a3f48477b9e9269561f0fe73c0c9c6d0de19647eb7660dc5206af84"
    part = "bcda99d6ca99f225bbe1028a17e4accdf9beab79a12d4686fd2467fbbc3555fd"
    assert dataset_identity("file", path="a.csv") == whole
    assert (
        dataset_identity("file", path="a.csv", target="label", left_out=["wing"])
        == part
    )
    assert (
        dataset_identity("file", path="a.csv", task="classification", na_values=["-"])
        != whole
    )
    # whose first column was a feature
    (project / "b.csv").write_text(",bill,label\n1,2.5,a\n2,0.5,b\n3,1.5,a\n")
    assert dataset_identity("file", path="b.csv") == dataset_identity(
        "file", path="b.csv", index="Unnamed: 0"
    )


def test_the_path_is_no_part_of_identity_and_key(project):
    frame().to_csv(project / "a.csv", index=False)
    (project / "sub").mkdir()
    frame().to_csv(project / "sub" / "b.csv", index=False)
    identities = {
        dataset_identity("file", path=name, target="species")
        for name in ("a.csv", "sub/b.csv")
    }
    assert len(identities) == 1
    cells = [
        chosen({"name": "file", "path": path, "target": "species"})
        for path in ("a.csv", "sub/b.csv")
    ]
    assert cells[0].id == cells[1].id
    assert "a.csv" not in str(cells[0].identity)
    frame(labels=SPECIES[::-1]).to_csv(project / "a.csv", index=False)
    assert dataset_identity("file", path="a.csv", target="species") not in identities


@pytest.mark.parametrize("name", ["a.csv", "a.npz"])
def test_columns_of_equal_names_and_of_other_formats_are_spelt_in_one_way(
    project, name
):
    frame().assign(other=0.5).set_axis(["x", " x", "w", "label", "z"], axis=1).to_csv(
        project / "a.csv", index=False
    )
    np.savez(
        project / "a.npz",
        X=np.column_stack([X, X[:, :1]]),
        y=SIGNS,
        feature_names=["p", "q", "r", "s"],
    )
    last = {"a.csv": ("z", 4, -1), "a.npz": ("s", 3, -1)}[name]
    cells = [chosen({"name": "file", "path": name, "index": k}) for k in last]
    assert len({cell.id for cell in cells}) == 1
    from_the_end = {"a.csv": -len(NAMES), "a.npz": -4}[name]
    first = [
        chosen({"name": "file", "path": name, "left_out": [k]})
        for k in (0, from_the_end)
    ]
    assert first[0].id == first[1].id != cells[0].id
    assert first[0].dataset["index"] == {"a.csv": "x", "a.npz": "p"}[name]


@pytest.mark.parametrize("ending", ["csv", "xlsx", "npz"])
@pytest.mark.parametrize(
    "protocol",
    [["protocol=tenfold", "model=libsvm"], ["protocol=clustering", "model=kmeans"]],
)
def test_a_file_that_changed_is_read_again_by_the_same_process(
    project, ending, protocol
):
    """Also where it takes the place of another one with its time, as a copy does."""
    file = project / f"a.{ending}"
    rng = np.random.default_rng(0)
    labels = np.arange(40) % 2
    selected = []
    for telling in ("wing", "tail", "wing"):
        columns = {
            name: rng.standard_normal(40) + 9 * labels * (name == telling)
            for name in ("wing", "bill", "tail")
        }
        if ending == "npz":
            np.savez(
                file,
                X=np.column_stack([*columns.values()]),
                y=labels,
                feature_names=[*columns],
            )
        else:
            table = pd.DataFrame({**columns, "y": np.where(labels, "a", "b")})
            table.to_csv(file, index=False) if ending == "csv" else table.to_excel(
                file, index=False
            )
        os.utime(file, ns=(10**18, 10**18))
        settings = [
            "dataset=file",
            f"dataset.path={file}",
            *(["dataset.target=y"] if ending != "npz" else []),
        ]
        methods = [
            "selector=rfe",
            "selector.n_features_to_select=1",
            "protocol.setting=unsupervised",
        ]
        cells = cells_of(compose_config([*settings, *protocol, *methods]))
        [record, *_] = run_task(make_tasks(cells)[0]).records
        selected.append(record["features"].tolist())
    assert selected == [[0], [2], [0]]


def test_sizes_follow_the_columns_of_a_table_and_what_must_fail_is_not_started(
    project, capsys
):
    rng = np.random.default_rng(0)
    labels = np.repeat(["a", "b"], 30)
    values = rng.standard_normal((60, 5)) + (labels == "b")[:, None]
    pd.DataFrame(values).add_prefix("c").assign(y=labels).to_csv(
        project / "own.csv", index=False
    )
    command = [
        "run",
        "-m",
        "dataset=file",
        "dataset.path=own.csv",
        "dataset.target=y",
        "executor=serial",
    ]
    command += [f"results={project / 'results'}", "protocol.n_splits=3"]
    assert main([*command, "selector=rfe,RRQR,mRMR,ReliefF"]) == 0
    said = capsys.readouterr()
    assert said.out.count(" 50 % ") == 4
    assert "12 trials: 0 were stored, 12 computed" in said.err
    assert (
        main(
            [*command, "selector=rfe,chi_squared", "selector.n_features_to_select=2,6"]
        )
        == 1
    )
    said = capsys.readouterr().err
    assert re.search(
        r"6 trials were not run: .*expected at most 5, the columns of own, got 6; lower it, or use a share",
        said,
    )
    # of chi-squared one
    assert re.search(r"12 trials: 0 were stored, 3 computed in .* 7 failed", said)
    # as keys of papers have it
    assert compose_config(["selector=rrqr"])["selector"]["n_features_to_select"] == 300
