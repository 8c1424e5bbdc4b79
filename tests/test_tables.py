"""Numbers and tables from stored trials: text is escaped, numbers know their origin, files are whole and repeat."""

import itertools
import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from omegaconf import OmegaConf

from provlab.core.artefact import Artefact, Entry
from provlab.core.frames import (
    COLUMNS,
    FOLD,
    ORIGIN,
    TRIAL,
    artefact_frame,
    error_summary,
    fold_means,
    standard_error_scale,
)
from provlab.core.recipe import MAX_DATASETS_SHOWN, Rendering, render_table
from provlab.core.records import NUMBERS
from provlab.core.snapshot import StoreSnapshot
from provlab.core.store import TrialStore
from provlab.core.summaries import in_every_selection, most_frequent, selections_of
from provlab.core.tables import (
    Traced,
    cell_text,
    escape_latex,
    escape_markdown,
    like,
    whole,
    write_tables,
)
from provlab.project.papers import papers
from small_runs import BSS, FULL, UNIFORM, run_quietly, small_cell


@pytest.mark.parametrize(
    ("text", "markdown", "latex"),
    [
        ("<script>", "&lt;script&gt;", r"\textless{}script\textgreater{}"),
        (r"\input{x}", r"\\input{x}", r"\textbackslash{}input\{x\}"),
        (
            "50 % & $5_a #1 ~^",
            r"50 % &amp; $5\_a \#1 \~^",
            r"50 \% \& \$5\_a \#1 \textasciitilde{}\textasciicircum{}",
        ),
        ("1.5 ± 0.2", "1.5 ± 0.2", r"1.5 $\pm$ 0.2"),
        ("a\nb\t c", "a b c", "a b c"),
        (r"a \| b", r"a \\\| b", r"a \textbackslash{}| b"),
        ("[x](y) `c` *d*", r"\[x\](y) \`c\` \*d\*", "[x](y) `c` *d*"),
        ("&lt;", "&amp;lt;", r"\&lt;"),
        (3, "3", "3"),
    ],
)
def test_text_is_printed_as_it_is(text, markdown, latex):
    assert escape_markdown(text) == markdown
    assert escape_latex(text) == latex


@given(st.text())
@example("\\|")
@example("\\\\|<")
def test_no_cell_has_raw_markup(text):
    markdown = escape_markdown(text)
    latex = escape_latex(text)
    assert not {*"<>"} & {*markdown}
    # every special character is preceded by an odd run of backslashes
    assert all(
        len(special[1]) % 2 for special in re.finditer(r"(\\*)([`*_|\[\]~#])", markdown)
    )
    escapes = r"\\(textbackslash|textasciitilde|textasciicircum|textless|textgreater)\{\}|\\[&%$#_{}]|\$\\pm\$"
    assert not {*re.sub(escapes, "", latex)} & {*"\\&%$#_{}~^<>±"}
    assert max(len(markdown.splitlines()), len(latex.splitlines())) <= 1


@pytest.fixture(scope="module")
def stored_cells(tmp_path_factory):
    """A store with one of two repeats of a random and of a deterministic method, and nothing of a third."""
    store = TrialStore(tmp_path_factory.mktemp("reports") / "store")
    overlapping = {"n_relevant": 1}
    cells = [
        small_cell(UNIFORM, dataset=overlapping, draws=3),
        small_cell(FULL, dataset=overlapping),
    ]
    run_quietly(cells, store)
    return store, *cells, small_cell(BSS, dataset=overlapping)


def test_a_number_of_lists_that_are_not_stored_is_missing(stored_cells, tmp_path):
    """As of packed trials, which hold what verdicts need."""
    packed = stored_cells[0].read(
        ["cell", *NUMBERS, "error", "n_train", "n_test"], encoded=True
    )
    without_lists = StoreSnapshot(
        TrialStore(tmp_path), ["error", "n_train", "n_test"], beside=[packed]
    )

    def count(entry, trials):
        return [{"value": len(trials["features"].iloc[0])}]

    artefact = Artefact(
        "paper/table9",
        "A table",
        (Entry("a", "c", stored_cells[1]),),
        OmegaConf.create(),
    )
    for store, state in ((stored_cells[0], "complete"), (without_lists, "missing")):
        assert artefact_frame(artefact, store, count, columns=["features"])[
            "state"
        ].tolist() == [state]


def frame_of(store, *entries, printed=None):
    artefact = Artefact(
        "paper/table9",
        "A table",
        tuple(Entry(*entry) for entry in entries),
        OmegaConf.create(),
    )
    return artefact_frame(
        artefact, store, error_summary, columns=["error"], printed=printed
    )


def test_frame_has_sd_over_folds_with_draws_averaged(stored_cells):
    store, uniform, full, _ = stored_cells
    frame = frame_of(store, ("U", "c", uniform), ("F", "c", full))
    assert list(frame.columns) == [*COLUMNS, *ORIGIN]
    assert frame[["state", "n_trials"]].values.tolist() == [
        ["complete", 9],
        ["complete", 3],
    ]
    for line, cell in zip(frame.itertuples(), (uniform, full), strict=True):
        trials = store.query([cell.id], ["fold", "error"]).to_pandas()
        folds = 100 * trials.groupby("fold")["error"].mean()
        assert [line.value, line.sd] == pytest.approx(
            [folds.mean(), folds.std(ddof=1)], rel=1e-12
        )
    assert frame["sd"].min() > 0


def test_frame_has_the_planned_trials_only_and_says_what_is_missing(stored_cells):
    store, uniform, full, bss = stored_cells
    more, fewer = (
        small_cell(UNIFORM, dataset={"n_relevant": 1}, **n)
        for n in ({"draws": 3, "repeats": 2}, {"draws": 1})
    )
    assert more.id == fewer.id == uniform.id
    frame = frame_of(
        store, ("U", "c", more), ("B", "c", bss), ("F", "c", full), ("1", "c", fewer)
    )
    assert list(frame["state"]) == [
        "partial (9 of 18)",
        "missing",
        "complete",
        "complete",
    ]
    assert list(frame["n_trials"]) == [9, 0, 3, 3]
    assert frame["value"].isna().tolist() == [False, True, False, False]
    first = [
        t["error"]
        for t in store.query([uniform.id], ["draw", "error"]).to_pylist()
        if t["draw"] == 0
    ]
    assert frame["value"].iloc[3] == pytest.approx(100 * np.mean(first))


def test_numbers_in_tables_know_their_origin(tmp_path):
    values = {
        "row": ["a", "b", "c", "d"],
        "column": ["x"] * 4,
        "value": [1.005, np.nan, None, "5 of 5"],
    }
    origin = {"of_row": "A", "of_column": "X", "dataset": "D", "printed_value": "7"}
    lines = pd.DataFrame(values).assign(**origin).set_index(["row", "column"])
    assert [cell_text(lines, row, "x") for row in "abcde"] == [
        "1.00",
        "",
        "",
        "5 of 5",
        "",
    ]
    assert cell_text(lines, "a", "x").place == ("A", "X", "D")
    assert cell_text(
        lines.reset_index().set_index(["dataset", "row"]), "D", "a"
    ).place == ("A", "X", "D")
    assert not hasattr(cell_text(lines, "a", "x", "printed_value"), "place")
    number = Traced("3.00", "row", "column", "data")
    text = write_tables(
        tmp_path / "p/t",
        ["", "c"],
        [["m", whole(number)], ["n", like("4", "4 (1)")]],
        caption="C",
        note="N",
    )
    assert json.loads((tmp_path / "p/t.json").read_text()) == {
        "caption": "C", "note": "N", "header": [{"text": ""}, {"text": "c"}],
        "rows": [[{"text": "m"}, {"text": "3", "row": "row", "column": "column", "dataset": "data"}],
                 [{"text": "n"}, {"text": "4 (1)"}]],
    }  # fmt: skip
    assert (tmp_path / "p/t.md").read_text() == text
    assert r"\label{tab:t}" in (tmp_path / "p/t.tex").read_text()


@pytest.mark.parametrize(
    ("repeats", "folds", "draws", "sizes", "expected"),
    [
        (2, 10, 5, (90, 10), np.sqrt(1 / 20 + 1 / 9)),
        (1, 10, 1, (10, 90), np.sqrt(1 / 10)),  # inverse: disjoint
        (7, 1, 1, (90, 0), 1 / np.sqrt(7)),  # seeds
        (1, 1, 4, (90, 10), 1 / 2),  # draws on one fold
    ],
)
def test_scale_of_standard_errors(repeats, folds, draws, sizes, expected):
    places = [
        (r, f, *sizes)
        for r in range(repeats)
        for f in range(folds)
        for _ in range(draws)
    ]
    trials = pd.DataFrame(places, columns=["repeat", "fold", "n_train", "n_test"])
    second_group = trials.assign(group="b", n_train=1000)
    scales = standard_error_scale(
        pd.concat([trials.assign(group="a"), second_group]), ["group"]
    )
    assert scales["a"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("selections", "ties", "expected"),
    [
        ([[7, 3, 1], [3, 7, 2], [5, 9, 8]], "higher_index", [7, 3, 9, 8, 5, 2, 1]),
        # 7 and 3: twice, on average at the same place, so the lower first; 5 once at
        # place 0; 9 at 1; 1, 2, 8 at 2
        ([[7, 3, 1], [3, 7, 2], [5, 9, 8]], "earlier_place", [3, 7, 5, 9, 1, 2, 8]),
        ([], "higher_index", []),
        ([], "earlier_place", []),
        # counted more often wins over selected earlier, and over a higher index
        ([[0, 4], [1, 4]], "earlier_place", [4, 0, 1]),
        ([[0, 4], [0, 5]], "higher_index", [0, 5, 4]),
    ],
)
def test_most_frequent_features_and_ties(selections, ties, expected):
    for order in (selections, selections[::-1]):
        frequent = most_frequent(
            [np.array(features, np.int32) for features in order], 100, ties=ties
        )
        assert frequent == expected
    assert (
        most_frequent(
            [np.array(features, np.int32) for features in selections], 1, ties=ties
        )
        == expected[:1]
    )


def test_draws_of_a_fold_count_each_or_together():
    lines = [
        (0, 0, [1, 2]),
        (0, 0, [3, 1]),
        (0, 1, [4]),
        (0, 1, [2]),
        (1, 0, [2, 5]),
        (1, 0, [2]),
    ]
    trials = pd.DataFrame(lines, columns=["repeat", "fold", "features"])
    trials["features"] = trials["features"].map(
        lambda features: np.array(features, np.int32)
    )
    for draws, expected, shared in (
        ("each", [features for *_, features in lines], []),
        ("union", [[1, 2, 3], [4, 2], [2, 5]], [2]),
    ):
        selections = selections_of(trials, draws=draws)
        assert [features.tolist() for features in selections] == expected
        assert in_every_selection(selections) == shared
    with pytest.raises(
        ValueError,
        match=r"selections: expected draws to be one of .*, got 'mean'; set "
        r"artefact.summary.draws",
    ):
        selections_of(trials, draws="mean")
    with pytest.raises(
        ValueError,
        match=r"most frequent features: expected ties to be one of .*, got 'lower'; set "
        r"artefact",
    ):
        most_frequent([], 4, ties="lower")


def test_means_over_data_sets_and_how_often_a_row_beats_the_baseline():
    lines = [
        ("BSS", "b", 20.0, 1.0),
        ("BSS", "a", 10.0, 2.0),
        ("Full", "b", 30.0, 3.0),
        ("Full", "a", None, np.nan),
    ]
    frame = pd.DataFrame(lines, columns=["row", "dataset", "value", "sd"]).assign(
        column="r=3"
    )
    rows = [
        ["BSS", "15.00 (1.50)"],
        ["Full", "30.00 (3.00)"],
        ["BSS: sets better than Full", "1 of 1"],
    ]
    mean_over_datasets = papers()["paul2016"].module("many_datasets").mean_over_datasets
    assert mean_over_datasets(frame, baseline="Full") == rows
    assert mean_over_datasets(frame[frame["row"] == "BSS"], baseline="Full") == rows[:1]


@pytest.mark.parametrize(
    ("columns", "line", "message"),
    [
        (
            ["eror"],
            {},
            r"paper/table9: expected columns of records, got 'eror'; did you mean 'error'\?",
        ),
        (
            ["error"],
            {"sds": 1.0},
            r"paper/table9: expected a summary with row, column, value, sd, got the field 'sds'",
        ),
    ],
)
def test_columns_of_a_frame_are_declared(stored_cells, columns, line, message):
    """A slip would be an empty column of a table."""
    artefact = Artefact(
        "paper/table9", "A table", (Entry("a", "c", stored_cells[1]),), {}
    )
    with pytest.raises(ValueError, match=message):
        artefact_frame(
            artefact,
            stored_cells[0],
            lambda entry, trials: [{"value": 1.0, **line}],
            columns=columns,
        )


def drawn_table(stored_cells, folder, datasets, **layout):
    """Return the lines of a table of two rows and two columns on some data sets; the first number is printed."""
    lines = []
    for place, dataset in enumerate(datasets):
        for k, (row, column) in enumerate(itertools.product("ab", ["c=1", "c=2"])):
            lines.append((row, column, dataset, 10.0 * k + place, 1.0))
    frame = pd.DataFrame(lines, columns=["row", "column", "dataset", "value", "sd"])
    frame = frame.assign(state="complete", printed_value=None, printed_sd=None)
    frame.loc[::4, "sd"] = np.nan
    frame.loc[0, "printed_value"] = "12.5"
    frame = frame.assign(of_row=frame["row"], of_column=frame["column"])
    parts = {"artefact": layout}
    artefact = Artefact(
        "paper/table9", "A table", (Entry("a", "c", stored_cells[1]),), parts
    )
    text = render_table(
        Rendering(
            artefact, frame, folder / "table9", folder / "figure", stored_cells[0]
        )
    )
    lines = [line.strip("|").split("|") for line in text.splitlines() if line]
    return [[*map(str.strip, cells)] for cells in lines]


def test_a_table_without_a_script_is_rows_and_columns_beside_the_print(
    stored_cells, tmp_path
):
    [caption], header, _, *rows, [note] = drawn_table(stored_cells, tmp_path, ["one"])
    assert caption == "**A table: test error in %.**"
    assert header == ["", "c=1", "c=2"]
    assert rows == [
        ["a", "0.00", "10.00 (1.00)"],
        ["as printed", "12.5", ""],
        ["b", "20.00 (1.00)", "30.00 (1.00)"],
    ]
    assert note == "In parentheses: the standard deviation over folds."
    (_, first, _), (_, printed, _), _ = json.loads(
        (tmp_path / "table9.json").read_text()
    )["rows"]
    assert first == {"text": "0.00", "row": "a", "column": "c=1", "dataset": "one"}
    assert printed == {"text": "12.5"}  # nothing of ours explains it
    # several data sets have their columns, many their mean, beside which no number of a
    # single one stands
    _, header, _, *rows, _ = drawn_table(stored_cells, tmp_path, ["one", "two"])
    assert header == ["", "one, c=1", "one, c=2", "two, c=1", "two, c=2"]
    assert rows[0] == ["a", "0.00", "10.00 (1.00)", "1.00", "11.00 (1.00)"]
    many = [str(k) for k in range(MAX_DATASETS_SHOWN + 1)]
    [caption], header, _, *rows, [note] = drawn_table(stored_cells, tmp_path, many)
    assert caption == f"**A table: test error in %, mean over {len(many)} data sets.**"
    assert header == ["", "c=1", "c=2"]
    assert rows == [
        ["a", "6.00", "16.00 (1.00)"],
        ["b", "26.00 (1.00)", "36.00 (1.00)"],
    ]
    assert (
        note
        == "In parentheses: the mean of the data sets' standard deviations over folds."
    )
    # what the file says stands in the place of the usual words, and counts have no
    # decimals
    layout = {
        "measure": "n_selected",
        "caption": "Numbers.",
        "note": "Of features.",
        "corner": "method",
    }
    [caption], header, _, *rows, [note] = drawn_table(
        stored_cells, tmp_path, ["one"], **layout
    )
    assert caption == "**Numbers.**"
    assert header[0] == "method"
    assert rows[0] == ["a", "0", "10.00 (1.00)"]
    assert note == "Of features."


def test_means_of_folds_are_of_draws_that_have_a_value():
    """In the order of the plan, however the lines are mixed; also of a cell that stands at two places."""
    lines = [
        (1, "b", 0, 0, 0, 0.5), (0, "b", 1, 0, 1, 0.3), (0, "b", 1, 0, 0, 0.1), (0, "b", 0, 2, 0, np.nan),
        (0, "b", 0, 1, 1, np.nan), (0, "b", 0, 1, 0, 0.25),
    ]  # fmt: skip
    trials = pd.DataFrame(lines, columns=[*TRIAL, "error"])
    means = fold_means(trials, ["error"], factor=100.0)
    assert means[[*FOLD]].values.tolist() == [
        [0, "b", 0, 1],
        [0, "b", 0, 2],
        [0, "b", 1, 0],
        [1, "b", 0, 0],
    ]
    np.testing.assert_array_equal(means["error"], [25.0, np.nan, 20.0, 50.0])
    by_cell = fold_means(trials.drop(columns="place"), ["error", "draw"])
    assert by_cell.drop(columns=["error", "draw"]).values.tolist() == [
        ["b", 0, 0],
        ["b", 0, 1],
        ["b", 0, 2],
        ["b", 1, 0],
    ]
    assert by_cell["draw"].tolist() == [0.0, 0.5, 0.0, 0.5]
    assert fold_means(trials[:0], ["error"]).columns.tolist() == [*FOLD, "error"]
