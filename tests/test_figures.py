"""What figures show: a look a method, legends of what is drawn, differences with their intervals; the same bytes."""

import re
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from scipy import stats

from provlab.core.artefact import artefact_part
from provlab.project.papers import papers
from provlab.project.project import current_project
from provlab.report.figures.curves import draw_curves
from provlab.report.figures.looks import PALETTE, looks
from provlab.report.figures.specification import by_effect, specification_curve
from provlab.report.figures.style import FORMATS, only_formats, save_figure

many = papers()["paul2016"].module("many_datasets")

DRAWN = [
    "paul2016/figure1", "paul2016/figure2", "paul2016/certificates", "wang2018/ofs-figure1",
    "giesen2013/compression-gap", "giesen2013/feature-selective", "giesen2013/feature-selective-peers",
    "giesen2013/theorem5", "giesen2013/theorem7",
]  # fmt: skip


@pytest.fixture
def figures(monkeypatch):
    """Return the list of all figures that are saved from now on."""
    drawn = []
    savefig = Figure.savefig

    def kept(figure, *arguments, **options):
        drawn.append(figure)
        return savefig(figure, *arguments, **options)

    monkeypatch.setattr(Figure, "savefig", kept)
    with only_formats("svg"):
        yield drawn


def legend_texts(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def made_frame(values, columns=("10", "20")):
    lines = [
        (row, column, "data", value + k, 1.0)
        for row, value in values.items()
        for k, column in enumerate(columns)
    ]
    return pd.DataFrame(lines, columns=["row", "column", "dataset", "value", "sd"])


def test_no_two_methods_of_the_project_are_alike_and_those_of_a_figure_differ_in_colour():
    declared = looks(current_project().methods)
    assert len({(look.colour, look.symbol) for look in declared.values()}) == len(
        declared
    )
    for name in DRAWN:
        of_figure = [declared[str(row)] for row in artefact_part(name)["rows"]]
        assert (
            len({look.colour for look in of_figure})
            == len({look.symbol for look in of_figure})
            == len(of_figure)
        ), name


def test_a_method_without_an_entry_takes_what_is_left(monkeypatch, tmp_path):
    (tmp_path / "provsel.toml").write_text('[methods]\nb = "sky circle dotted"\n')
    monkeypatch.setenv("PROVSEL_PROJECT", str(tmp_path))
    by_name = looks(["a", "b", "c"])
    assert list(by_name) == ["a", "b", "c"]
    assert by_name["b"].colour == "#56B4E9"
    assert by_name["b"].marker == "o"
    assert by_name["b"].linestyle == ":"
    assert len({look.colour for look in by_name.values()}) == 3
    all_looks = looks(str(k) for k in range(80))
    assert len({(look.colour, look.symbol) for look in all_looks.values()}) == 80
    assert [look.colour for look in list(all_looks.values())[:7]] == PALETTE


@pytest.mark.parametrize(
    "text",
    [
        "blue",
        "pink circle",
        "blue ring",
        "blue circle wavy",
        "blue circle solid solid",
        "",
    ],
)
def test_bad_looks_are_one_clear_error(text, monkeypatch, tmp_path):
    (tmp_path / "provsel.toml").write_text(f"[methods]\nBSS = '{text}'\n")
    monkeypatch.setenv("PROVSEL_PROJECT", str(tmp_path))
    with pytest.raises(
        ValueError,
        match=r"methods: 'BSS': expected a colour \(blue.*such as 'blue circle dashed', got",
    ):
        looks(["BSS"])


def test_a_method_looks_the_same_in_both_kinds_of_figures_and_legends_have_no_orphans(
    figures, tmp_path
):
    frame = made_frame({"Random": 50.0, "empty": np.nan, "OFS": 40.0, "k-means": 60.0})
    draw_curves(
        frame,
        tmp_path / "curves",
        "T",
        ylabel="accuracy",
        flat="k-means",
        log="x",
        from_zero=True,
    )
    many.draw_error_bars(frame, tmp_path / "bars", "<b>partial</b>", baseline="k-means")
    curves, bars = figures
    assert legend_texts(curves) == ["Random", "OFS", "k-means"]
    expected = {
        name: look.colour for name, look in looks(["OFS", "Random", "k-means"]).items()
    }
    line_of = {
        line.get_label(): line
        for figure in figures
        for panel in figure.axes
        for line in panel.get_lines()
    }
    assert {name: line_of[name].get_color() for name in expected} == expected
    named = {panel.get_ylabel(): panel for panel in bars.axes if panel.get_ylabel()}
    assert [*named] == ["Random", "empty", "OFS", "k-means"]
    for panel in (curves.axes[0], named["OFS"]):
        assert panel.get_ylim()[0] == 0
        drawn = {line.get_label(): line for line in panel.get_lines()}
        assert list(drawn["OFS"].get_ydata()) in ([40, 41], [40])
    assert [text.get_text() for text in curves.axes[0].get_xticklabels()] == [
        "10",
        "20",
    ]
    assert "<b>" not in (tmp_path / "bars.svg").read_text()


def test_data_sets_stand_by_the_error_of_the_baseline_which_is_a_line_in_each_panel(
    figures, tmp_path
):
    errors = {"Full": [30.0, 10.0, 20.0], "BSS": [31.0, 12.0, 19.0]}
    lines = [
        (row, "r=3", f"set {k}", value, 1.0)
        for row, values in errors.items()
        for k, value in enumerate(values)
    ]
    frame = pd.DataFrame(lines, columns=["row", "column", "dataset", "value", "sd"])
    many.draw_error_bars(frame, tmp_path / "bars", "T", baseline="Full")
    [panel] = [panel for panel in figures[0].axes if panel.get_ylabel() == "BSS"]
    drawn = {line.get_label(): line for line in panel.get_lines()}
    assert sorted(
        zip(drawn["BSS"].get_xdata(), drawn["BSS"].get_ydata(), strict=True)
    ) == [(1, 12), (2, 19), (3, 31)]
    assert [10, 20, 30] in [list(line.get_ydata()) for line in panel.get_lines()]
    many.draw_error_bars(
        frame[frame["row"] == "BSS"], tmp_path / "alone", "T", baseline="Full"
    )
    assert "mean of all methods" in (tmp_path / "alone.svg").read_text()


@pytest.mark.filterwarnings("error:constrained_layout not applied")
@pytest.mark.parametrize("n_methods", [7, 24, 40])
def test_a_legend_stands_below_the_panels_however_long_it_is(
    figures, tmp_path, n_methods
):
    frame = made_frame(
        {f"method number {k} (forest)": 50.0 + k for k in range(n_methods)}
    )
    draw_curves(frame, tmp_path / "curves", "", ylabel="accuracy")
    [figure] = figures
    [legend] = figure.legends
    [panel] = figure.axes
    assert len(legend_texts(figure)) == n_methods
    assert legend.get_window_extent().y1 < panel.get_tightbbox().y0
    assert panel.get_window_extent().height > 1.2 * figure.dpi


def test_a_point_stands_at_the_number_of_features_kept(figures, tmp_path):
    frame = made_frame(
        {"OFS": 40.0, "LapS": 50.0, "k-means": 60.0}, ("20", "100", "180")
    )
    lines = [
        ("OFS", "20", 19.3, 1.7),
        ("OFS", "100", 150.0, 40.0),
        ("LapS", "20", 20.0, 0.0),
        ("k-means", "20", 999.0, 0.0),
    ]
    kept = pd.DataFrame(lines, columns=["row", "column", "value", "sd"]).assign(
        dataset="data"
    )
    kept["column"] += ", features"
    draw_curves(
        pd.concat([frame, kept]),
        tmp_path / "curves",
        "T",
        ylabel="accuracy",
        flat="k-means",
    )
    [panel] = figures[0].axes
    drawn = {line.get_label(): line for line in panel.get_lines()}
    # nothing is said of the last
    assert list(drawn["OFS"].get_xdata()) == [19.3, 150, 180]
    assert list(drawn["OFS"].get_ydata()) == [40, 41, 42]
    assert list(drawn["LapS"].get_xdata()) == [20, 100, 180]
    assert [text.get_text() for text in panel.get_xticklabels()] == ["20", "100", "180"]
    assert panel.get_xlim()[1] < 250  # all features are no point
    bars = [
        np.array(line.get_xdata())
        for line in panel.get_lines()
        if np.isnan(line.get_xdata()).any()
    ]
    spreads = [
        spread for x in bars for spread in np.ptp(x.reshape(-1, 3)[:, :2], axis=1)
    ]
    assert sorted(spreads)[-2:] == pytest.approx([3.4, 80])


def test_the_same_figure_has_the_same_bytes_in_each_format(tmp_path):
    frame = made_frame({"a <b> & c": 20.0, "d": np.nan})
    first, again = (
        draw_curves(frame, tmp_path / name / "figure1", "T", ylabel="y")
        for name in ("one", "two")
    )
    assert (
        [path.name for path in first]
        == [f"figure1.{kind}" for kind in FORMATS]
        == [path.name for path in again]
    )
    for a, b in zip(first, again, strict=True):
        assert a.read_bytes() == b.read_bytes()
        assert a.stat().st_size > 500
    assert b"CreationDate" not in first[0].read_bytes()
    assert b"<dc:date>" not in first[2].read_bytes()


def made_trials(shift, n_sets=5):
    rng = np.random.default_rng(0)
    lines = []
    for dataset in range(n_sets):
        for repeat, fold in np.ndindex(2, 5):
            base = rng.random()
            place = ("r=3", f"set {dataset}", repeat, fold)
            lines.append(("Full", *place, 0, base, 80, 20))
            lines += [
                (
                    "BSS",
                    *place,
                    draw,
                    base + shift + 0.01 * rng.standard_normal(),
                    80,
                    20,
                )
                for draw in range(3)
            ]
    names = [
        "row",
        "column",
        "dataset",
        "repeat",
        "fold",
        "draw",
        "error",
        "n_train",
        "n_test",
    ]
    return pd.DataFrame(lines, columns=names)


def test_paired_differences_are_those_of_the_same_folds():
    trials = made_trials(-0.05)
    differences = many.paired_differences(trials, "Full").set_index("dataset")
    pivot = trials.pivot_table(
        index=["dataset", "repeat", "fold"],
        columns="row",
        values="error",
        aggfunc="mean",
    )
    gaps = 100 * (pivot["BSS"] - pivot["Full"])
    for name in [f"set {k}" for k in range(5)]:
        own = gaps[name]
        line = differences.loc[name]
        half = stats.t.ppf(0.975, 9) * own.std(ddof=1) * np.sqrt(1 / 10 + 20 / 80)
        assert [line["low"], line["high"]] == pytest.approx(
            [own.mean() - half, own.mean() + half]
        )
    means = gaps.groupby("dataset").mean()
    low, high = stats.t.interval(0.95, 4, means.mean(), stats.sem(means))
    expected = [means.mean(), low, high, 5]
    assert differences.loc[
        many.OVERALL, ["difference", "low", "high", "n"]
    ].tolist() == pytest.approx(expected)
    assert many.paired_differences(trials[trials["row"] == "BSS"], "Full").empty
    of_one_fold = many.paired_differences(
        trials.query("repeat == 0 and fold == 0 and dataset == 'set 0'"), "Full"
    )
    assert of_one_fold["difference"].notna().all()
    assert of_one_fold["low"].isna().all()


def test_forest_names_the_data_sets_by_difference_and_fills_what_is_clear(
    figures, tmp_path
):
    lines = [
        ("worst", 3.0, 1.0, 5.0),
        ("best", -2.0, -5.0, 1.0),
        ("middle", 0.0, np.nan, np.nan),
        (many.OVERALL, 1.0, 0.5, 1.5),
    ]
    differences = pd.DataFrame(
        lines, columns=["dataset", "difference", "low", "high"]
    ).assign(row="BSS", column="r=3", n=3)
    [path] = many.draw_forest(differences, tmp_path / "figure", "T", xlabel="points")
    assert path.name == "figure-differences-r3.svg"
    [panel] = figures[0].axes
    assert [text.get_text() for text in panel.get_yticklabels()] == [
        "best",
        "middle",
        "worst",
        many.OVERALL,
    ]
    assert panel.get_title() == "BSS"
    filled, hollow = (
        set(line.get_xdata()) for line in panel.get_lines() if line.get_marker() == "o"
    )
    assert filled == {3.0, 1.0}
    assert hollow == {-2.0, 0.0}
    assert (
        many.draw_forest(differences.iloc[:0], tmp_path / "none", "T", xlabel="points")
        == []
    )
    compared = [
        row for row in artefact_part("paul2016/figure1")["rows"] if row != "Full"
    ]
    many.draw_forest(
        pd.concat(differences.assign(row=row) for row in compared),
        tmp_path / "many",
        "T",
        xlabel="points",
    )
    renderer = FigureCanvasAgg(figures[-1]).get_renderer()
    titles = [panel.title.get_window_extent(renderer) for panel in figures[-1].axes]
    assert all(
        figures[-1].bbox.x0 <= title.x0 < title.x1 <= figures[-1].bbox.x1
        for title in titles
    )


PLACES = {"method": ["a", "b"], "C": ["1", "2"]}


def made_universes():
    """Two places of two options: the effect falls with the second option of the first."""
    lines = [("a", "1", "replicated", 2.0), ("a", "2", "replicated", 3.0), ("b", "1", "no difference", 0.0),
             ("b", "2", "inconclusive", 1.0)]  # fmt: skip
    universes = pd.DataFrame(lines, columns=["method", "C", "verdict", "effect"])
    return universes.assign(low=universes["effect"] - 1, high=universes["effect"] + 1)


def test_each_universe_is_one_group_of_the_specification_curve():
    """A filter of the table of the same lines hides row k, and with it the group of that number."""
    universes = by_effect(made_universes())
    assert universes["effect"].tolist() == [0, 1, 2, 3]
    assert universes["is_default"].tolist() == [False, False, True, False]
    drawn = specification_curve(
        universes, PLACES, unit="<points>", margins=(0.5,), printed=1.5
    )
    assert dict(re.findall(r'<g data-row="(\d+)"><title>(.*?)</title>', drawn)) == {
        "0": "no difference, 0; b, 1", "1": "inconclusive, 1; b, 2", "2": "replicated, 2; a, 1; the defaults",
        "3": "replicated, 3; a, 2",
    }  # fmt: skip
    assert re.findall(r'class="legend"[^>]*>([^<]*)<', drawn) == [
        "replicated 2",
        "no difference 1",
        "inconclusive 1",
    ]
    heights = [
        float(y)
        for y in re.findall(r'class="effect k-\w+" d="M[\d.]+ ([\d.]+)', drawn)[3:]
    ]
    assert heights == sorted(heights, reverse=True)
    assert drawn.count('class="default"') == 1
    assert drawn.count('class="margin"') == 1
    assert drawn.count('class="printed"') == 1
    assert "4 universes, sorted by effect<" in drawn
    assert "<points>" not in drawn
    ElementTree.fromstring(specification_curve(universes, PLACES, alone=True))


def test_a_specification_curve_says_which_universes_it_cannot_show():
    """A bound that says nothing has no effect, and would be missed without a word."""
    universes = made_universes()
    universes.loc[0, ["verdict", "effect"]] = "vacuous", np.nan
    universes.loc[3, "verdict"] = "not run"
    drawn = specification_curve(by_effect(universes), PLACES)
    assert (
        "2 of 3 universes, sorted by effect; the others have none (1 vacuous)<" in drawn
    )
    assert re.findall(r'<g data-row="(\d+)"', drawn) == ["0", "1"]
    assert specification_curve(by_effect(universes.assign(effect=np.nan)), PLACES) == ""


def test_a_specification_curve_leaves_out_places_that_came_after_it():
    universes = by_effect(made_universes().assign(later=""))
    assert specification_curve(
        universes, {**PLACES, "later": ["x"]}
    ) == specification_curve(universes, PLACES)
    universes.loc[3, "C"] = ""
    assert '<g data-row="3"><title>replicated, 3; a<' in specification_curve(
        universes, PLACES
    )


def test_kinds_of_verdicts_differ_without_colours():
    marks = set()
    for verdict in ("replicated", "contradicted", "inconclusive", "no difference"):
        drawn = specification_curve(
            by_effect(made_universes().assign(verdict=verdict)), PLACES
        )
        marks.add(
            re.sub(
                r"[\d. -]+",
                "",
                re.findall(r'class="effect k-\w+" d="([^"]*)"', drawn)[-1],
            )
        )
    assert len(marks) == 4


@pytest.mark.parametrize("n_points", [500, 1000, 2000])
def test_a_full_disk_is_said_and_leaves_no_part_of_a_figure(tmp_path, n_points):
    """Matplotlib's writer of PDF raises an error of zlib while it handles that of the disk."""
    resource = pytest.importorskip(
        "resource", reason="files have no limit of size on this system"
    )
    figure = Figure()
    figure.subplots().plot(np.random.default_rng(0).standard_normal(n_points))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            save_figure(figure, tmp_path / "large")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not [*tmp_path.iterdir()]
