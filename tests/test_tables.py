"""Numbers, tables and figures from stored trials."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from omegaconf import OmegaConf

from provlab.figures.curves import draw_curves, draw_error_bars
from provlab.figures.style import TWO_COLUMNS, legend_below, save_figure, style
from provlab.frames import COLUMNS, ORIGIN, artefact_frame, error_summary, printed_numbers, standard_error_scale
from provlab.plan import Artefact, Entry
from provlab.store import TrialStore
from provlab.summaries import in_every_selection, mean_over_datasets, most_frequent, selections_of, share_relevant
from provlab.tables import (
    Traced,
    cell_text,
    escape_latex,
    escape_markdown,
    latex_table,
    like,
    markdown_table,
    whole,
    write_frame,
    write_tables,
    write_text,
)
from small_runs import BSS, FULL, UNIFORM, run_quietly, small_cell

HOSTILE = [
    "<script>alert(1)</script>",
    r"\input{/etc/passwd}",
    "a | b",
    "line\nbreak\r\n",
    "[x](javascript:y)",
    "$\\|`*_~#%&^{}",
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<script>", r"\textless{}script\textgreater{}"),
        (r"\input{x}", r"\textbackslash{}input\{x\}"),
        ("50 % & $5_a #1 ~^", r"50 \% \& \$5\_a \#1 \textasciitilde{}\textasciicircum{}"),
        ("1.5 ± 0.2", r"1.5 $\pm$ 0.2"),
        ("a\nb\t c", "a b c"),
        (3, "3"),
    ],
)
def test_latex_prints_text_as_it_is(text, expected):
    assert escape_latex(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<script>", "&lt;script&gt;"),
        ("a | b", r"a \| b"),
        (r"\|", r"\\\|"),
        ("a\n\nb", "a b"),
        ("[x](y) `c` *d* _e_", r"\[x\](y) \`c\` \*d\* \_e\_"),
        ("&lt;", "&amp;lt;"),
    ],
)
def test_markdown_prints_text_as_it_is(text, expected):
    assert escape_markdown(text) == expected


@given(st.text())
@example("\\|")
@example("\\\\|<")
def test_markdown_cell_has_no_raw_markup(text):
    escaped = escape_markdown(text)
    assert "<" not in escaped
    assert ">" not in escaped
    assert len(escaped.splitlines()) <= 1
    # every special character is preceded by an odd run of backslashes
    for found in re.finditer(r"(\\*)([`*_|\[\]~#])", escaped):
        assert len(found[1]) % 2 == 1


@given(st.text())
def test_latex_cell_has_no_raw_markup(text):
    escaped = escape_latex(text)
    known = r"\\(textbackslash|textasciitilde|textasciicircum|textless|textgreater)\{\}|\\[&%$#_{}]|\$\\pm\$"
    rest = re.sub(known, "", escaped)
    assert not set(rest) & set("\\&%$#_{}~^<>±")
    assert len(escaped.splitlines()) <= 1


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_keeps_the_shape_of_a_table(text):
    markdown = markdown_table([text, "b"], [[1, text], [text, 2]], caption=text, note=text)
    table = [line for line in markdown.splitlines() if line.startswith("|")]
    assert len(table) == 4
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table if "---" not in line} == {3}
    assert "<script>" not in markdown
    latex = latex_table([text, "b"], [[1, text], [text, 2]], caption=text, note=text, label="tab:x")
    assert latex.count(r" \\") == 3
    assert r"\input" not in latex
    assert latex.startswith("\\begin{table}\n")
    assert latex.endswith("\\end{table}\n")


def artefact(*entries):
    return Artefact("paper/table9", "A table", tuple(Entry(*entry) for entry in entries), OmegaConf.create())


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A store with one of two repeats of a random and of a deterministic method, and nothing of a third."""
    store = TrialStore(tmp_path_factory.mktemp("reports") / "store")
    overlapping = {"n_relevant": 1}
    cells = [small_cell(UNIFORM, dataset=overlapping, draws=3), small_cell(FULL, dataset=overlapping)]
    run_quietly(cells, store)
    return store, *cells, small_cell(BSS, dataset=overlapping)


def test_frame_has_sd_over_folds_with_draws_averaged(made):
    store, uniform, full, _ = made
    frame = artefact_frame(artefact(("U", "c", uniform), ("F", "c", full)), store, error_summary, columns=["error"])
    assert list(frame.columns) == [*COLUMNS, *ORIGIN]
    assert list(frame["state"]) == ["complete", "complete"]
    assert list(frame["n_trials"]) == [9, 3]
    for line, cell in zip(frame.itertuples(), (uniform, full), strict=True):
        trials = store.query([cell.id], ["fold", "error"]).to_pylist()
        folds = [100 * np.mean([t["error"] for t in trials if t["fold"] == fold]) for fold in range(3)]
        assert line.value == pytest.approx(np.mean(folds), rel=1e-12)
        assert line.sd == pytest.approx(np.std(folds, ddof=1), rel=1e-12)
    assert frame["sd"].min() > 0


def test_frame_says_what_is_missing(made):
    store, _, full, bss = made
    more = small_cell(UNIFORM, dataset={"n_relevant": 1}, draws=3, repeats=2)
    entries = artefact(("U", "c", more), ("B", "c", bss), ("F", "c", full))
    frame = artefact_frame(entries, store, error_summary, columns=["error"])
    assert list(frame["state"]) == ["partial (9 of 18)", "missing", "complete"]
    assert list(frame["n_trials"]) == [9, 0, 3]
    assert frame["value"].isna().tolist() == [False, True, False]


def test_frame_takes_the_trials_of_the_protocol_only(made):
    store, uniform, *_ = made
    fewer = small_cell(UNIFORM, dataset={"n_relevant": 1}, draws=1)
    assert fewer.id == uniform.id
    frame = artefact_frame(artefact(("U", "c", fewer)), store, error_summary, columns=["error"])
    assert frame["n_trials"].item() == 3
    assert frame["state"].item() == "complete"
    first = [t["error"] for t in store.query([uniform.id], ["draw", "error"]).to_pylist() if t["draw"] == 0]
    assert frame["value"].item() == pytest.approx(100 * np.mean(first))


def test_printed_numbers_are_merged(made, tmp_path):
    store, uniform, full, _ = made
    entries = artefact(("U", "c", uniform), ("F", "c", full))
    published = tmp_path / "published.csv"
    header = "artefact,row,column,dataset,printed_value,printed_sd\n"
    published.write_text(header + "table9,U,c,,12.50,0.5\ntable8,F,c,,1,1\n")
    frame = artefact_frame(
        entries, store, error_summary, columns=["error"], printed=printed_numbers(published, "table9")
    )
    assert frame["printed_value"].fillna("").tolist() == ["12.50", ""]  # as printed, zeros and all
    assert frame["printed_sd"].fillna(0).tolist() == [0.5, 0]
    frame = artefact_frame(
        entries, store, error_summary, columns=["error"], printed=printed_numbers(published, "table8")
    )
    assert frame["printed_value"].fillna("").tolist() == ["", "1"]
    published.write_text(header + "table9,U,c,synthetic,3,\ntable9,F,c,other,4,\n")
    frame = artefact_frame(
        entries, store, error_summary, columns=["error"], printed=printed_numbers(published, "table9")
    )
    assert frame["printed_value"].fillna("").tolist() == ["3", ""]
    missing = tmp_path / "nowhere.csv"
    frame = artefact_frame(entries, store, error_summary, columns=["error"], printed=printed_numbers(missing, "table9"))
    assert frame["printed_value"].isna().all()


def test_text_of_a_number():
    values = {"row": ["a", "b", "c", "d"], "column": ["x"] * 4, "value": [1.005, np.nan, None, "5 of 5"]}
    origin = {"of_row": "A", "of_column": "X", "dataset": "D", "printed_value": "7"}
    lines = pd.DataFrame(values).assign(**origin).set_index(["row", "column"])
    assert [cell_text(lines, row, "x") for row in "abcd"] == ["1.00", "", "", "5 of 5"]
    assert cell_text(lines, "e", "x") == ""
    assert cell_text(lines, "a", "x").place == ("A", "X", "D")
    assert cell_text(lines.reset_index().set_index(["dataset", "row"]), "D", "a").place == ("A", "X", "D")
    assert not hasattr(cell_text(lines, "a", "x", "printed_value"), "place")


def test_tables_keep_the_origin_of_numbers(tmp_path):
    number = Traced("3.00", "row", "column", "data")
    write_tables(tmp_path / "t", ["", "c"], [["m", whole(number)], ["n", like("4", "4 (1)")]], caption="C", note="N")
    layout = json.loads((tmp_path / "t.json").read_text())
    assert layout["rows"][0] == [{"text": "m"}, {"text": "3", "row": "row", "column": "column", "dataset": "data"}]
    assert layout["rows"][1] == [{"text": "n"}, {"text": "4 (1)"}]
    assert (layout["caption"], layout["note"], layout["header"]) == ("C", "N", [{"text": ""}, {"text": "c"}])


def test_scale_of_standard_errors():
    def trials(repeats, folds, draws, n_train, n_test):
        places = [(r, f) for r in range(repeats) for f in range(folds) for _ in range(draws)]
        return pd.DataFrame(places, columns=["repeat", "fold"]).assign(n_train=n_train, n_test=n_test)

    assert standard_error_scale(trials(2, 10, 5, 90, 10)) == pytest.approx(np.sqrt(1 / 20 + 1 / 9))
    assert standard_error_scale(trials(1, 10, 1, 10, 90)) == pytest.approx(np.sqrt(1 / 10))  # inverse: disjoint
    assert standard_error_scale(trials(7, 1, 1, 90, 0)) == pytest.approx(1 / np.sqrt(7))  # seeds
    assert standard_error_scale(trials(1, 1, 4, 90, 10)) == pytest.approx(1 / 2)  # draws on one fold


def test_most_frequent_features_and_ties():
    selections = [np.array(s, dtype=np.int32) for s in ([7, 3, 1], [3, 7, 2], [5, 9, 8])]
    assert most_frequent(selections, 4) == [7, 3, 9, 8]
    assert most_frequent(selections, 100) == [7, 3, 9, 8, 5, 2, 1]
    # 7 and 3: twice, on average at the same place, so the lower first; 5 once at place 0; 9 at 1; 1, 2, 8 at 2
    earlier = {"ties": "earlier_place"}
    assert most_frequent(selections, 4, **earlier) == [3, 7, 5, 9]
    assert most_frequent(selections, 100, **earlier) == [3, 7, 5, 9, 1, 2, 8]
    assert most_frequent(selections[::-1], 100, **earlier) == most_frequent(selections, 100, **earlier)
    assert most_frequent([], 5) == most_frequent([], 5, **earlier) == []
    # counted more often wins over selected earlier, and over a higher index
    assert most_frequent([np.array([0, 4]), np.array([1, 4])], 1, **earlier) == [4]
    assert most_frequent([np.array([0, 4]), np.array([0, 5])], 1) == [0]
    with pytest.raises(ValueError, match=r"most frequent features: expected ties in .*, got 'lower'; set artefact"):
        most_frequent(selections, 4, ties="lower")


def test_draws_of_a_fold_count_each_or_together():
    trials = pd.DataFrame(
        [(0, 0, [1, 2]), (0, 0, [3, 1]), (0, 1, [4]), (0, 1, [2]), (1, 0, [2, 5]), (1, 0, [2])],
        columns=["repeat", "fold", "features"],
    )
    trials["features"] = trials["features"].map(lambda each: np.array(each, np.int32))
    assert [found.tolist() for found in selections_of(trials)] == [[1, 2], [3, 1], [4], [2], [2, 5], [2]]
    assert [found.tolist() for found in selections_of(trials, draws="union")] == [[1, 2, 3], [4, 2], [2, 5]]
    assert in_every_selection(selections_of(trials)) == []
    assert in_every_selection(selections_of(trials, draws="union")) == [2]
    with pytest.raises(ValueError, match=r"selections: expected draws in .*, got 'mean'; set artefact.summary.draws"):
        selections_of(trials, draws="mean")


def test_share_of_relevant_features():
    assert share_relevant([0, 39, 40], 40) == "2 of 3"
    assert share_relevant([], 40) == "0 of 0"


def draw():
    with style():
        figure = Figure(figsize=(2, 2))
        panel = figure.subplots()
        panel.errorbar([1, 2], [3, 4], yerr=[0.1, 0.2], label="a <b> & c")
        panel.legend()
        return figure


def save(stem):
    with style():
        return save_figure(draw(), stem)


def test_same_figure_same_bytes(tmp_path):
    first, second = save(tmp_path / "one" / "figure1"), save(tmp_path / "two" / "figure1")
    assert [path.name for path in first] == ["figure1.pdf", "figure1.png", "figure1.svg"]
    for a, b in zip(first, second, strict=True):
        assert a.read_bytes() == b.read_bytes()
        assert a.stat().st_size > 500
    assert b"CreationDate" not in first[0].read_bytes()
    assert b"<dc:date>" not in first[2].read_bytes()


def test_text_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "deep" / "table.md"
    write_text(path, "± é\n")
    assert path.read_bytes() == "± é\n".encode()
    with pytest.raises(UnicodeEncodeError, match="surrogates not allowed"):
        write_text(path, "x" * 10000 + "\udc80")
    assert path.read_bytes() == "± é\n".encode()
    assert [p.name for p in path.parent.iterdir()] == ["table.md"]


def test_frames_and_tables_are_plain_files(tmp_path):
    write_frame(pd.DataFrame({"a": [0.1 + 0.2, None], "b": ["x, y", "z"]}), tmp_path / "f.csv")
    assert (tmp_path / "f.csv").read_bytes() == b'a,b\n0.30000000000000004,"x, y"\n,z\n'
    text = write_tables(tmp_path / "paul2016" / "table1", ["a"], [["<b>"]], caption="C", note="N")
    assert (tmp_path / "paul2016" / "table1.md").read_text() == text
    assert r"\label{tab:table1}" in (tmp_path / "paul2016" / "table1.tex").read_text()


def test_error_bars_of_a_partial_frame_are_drawn_and_repeat(tmp_path):
    frame = pd.DataFrame(
        {
            "row": ["BSS", "BSS", "Full", "Full"],
            "column": "r=3",
            "dataset": ["b", "a", "b", "a"],
            "value": [20.0, 10.0, 30.0, None],
            "sd": [1.0, 2.0, 3.0, np.nan],
        }
    )
    first = draw_error_bars(frame, tmp_path / "one", title="<b>partial</b>")
    again = draw_error_bars(frame, tmp_path / "two", title="<b>partial</b>")
    assert [path.suffix for path in first] == [".pdf", ".png", ".svg"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]
    assert "<b>" not in (tmp_path / "one.svg").read_text()
    assert mean_over_datasets(frame, baseline="Full") == [
        ["BSS", "15.00 (1.50)"],
        ["Full", "30.00 (3.00)"],
        ["BSS: sets better than Full", "1 of 1"],
    ]
    assert mean_over_datasets(frame[frame["row"] == "BSS"], baseline="Full") == [["BSS", "15.00 (1.50)"]]


def test_a_wide_legend_takes_more_lines_and_stays_inside(monkeypatch, tmp_path):
    boxes = []
    savefig = Figure.savefig

    def measured(figure, *arguments, **options):
        box = figure.get_tightbbox()
        boxes.append((box.x0, figure.get_figwidth() - box.x1, box.y0, figure.get_figheight() - box.y1))
        return savefig(figure, *arguments, **options)

    monkeypatch.setattr(Figure, "savefig", measured)
    names = [f"a method with a long name, {k}" for k in range(7)]
    lines = [(name, "10", "data", 20.0 + k, 1.0) for k, name in enumerate(names)]
    frame = pd.DataFrame(lines, columns=["row", "column", "dataset", "value", "sd"])
    draw_error_bars(frame, tmp_path / "bars", "Title")
    draw_curves(frame, tmp_path / "curves", "Title " * 40, ylabel="error")
    assert len(boxes) == 6
    for box in boxes:
        assert min(box) > -0.02, box  # inches: a line of text is 0.1 high
    with style():
        figure = Figure(figsize=(TWO_COLUMNS, 2), layout="constrained")
        handles = figure.subplots().plot(np.zeros((1, 7)))
        legend_below(figure, handles, names)
        [legend] = figure.legends
        assert legend._ncols < 7
        legend_below(figure, handles, list("abcdefg"))
        assert figure.legends[1]._ncols == 7
