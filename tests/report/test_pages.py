"""The pages of a small project: structure, links, escaping, numbers, claims, traces; and a project with evil names."""

import json
import math
import re
import shlex
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest
from pages_reader import broken_links, read_pages
from seen_paper import EVIL, seen_report

from made_paper import enter
from provlab.core.store import TrialStore
from provlab.custody.site import build_report
from provlab.report.templating import (
    card,
    check_names,
    environment,
    like,
    number,
    pattern,
    step,
    trace_href,
)
from provsel.stability import stability
from small_runs import PROVSEL, run_python


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        yield seen_report(tmp_path_factory.mktemp("seen"), patch)


@pytest.fixture(scope="module")
def evil(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        yield seen_report(tmp_path_factory.mktemp("evil"), patch, evil=True)


@pytest.fixture(scope="module", params=["seen", "evil"])
def written(request):
    folder = request.getfixturevalue(request.param)
    return folder, read_pages(folder)


@pytest.fixture
def frame(seen):
    return pd.read_csv(seen.parent / "tables" / "seen2020" / "figure.csv").set_index(
        ["row", "column", "dataset"]
    )


def text_of(folder, name):
    [path] = folder.glob(name)
    return read_pages(path.parent)[path].text


def test_every_page_is_well_formed_and_every_link_leads_somewhere_below_the_folder(
    written,
):
    folder, pages = written
    assert {path.parent.name for path in pages} == {
        "report",
        "papers",
        "artefacts",
        "claims",
        "figure",
    }
    for path, page in pages.items():
        assert page.problems == [], path
        assert len(page.ids) == len(set(page.ids)), path
    assert sum(len(page.links) for page in pages.values()) > 200
    assert broken_links(folder, pages) == []


def test_the_reader_finds_broken_pages(tmp_path):
    (tmp_path / "a.html").write_text(
        '<p id="x"><b></p><a href="b.html"></a><a href="a.html#y"></a><i id="x"></i>'
    )
    pages = read_pages(tmp_path)
    (page,) = pages.values()
    assert page.problems
    assert page.ids == ["x", "x"]
    assert {link for _, link in broken_links(tmp_path, pages)} == {"b.html", "a.html#y"}


def test_no_page_loads_or_runs_anything_but_files_of_the_report(written):
    for page in written[1].values():
        for tag, name, value in page.attributes:
            assert not name.startswith("on"), (tag, name)
            assert name != "style", (tag, value)
            if name == "src" or (name == "href" and tag == "link"):
                assert re.fullmatch(r"(\.\./)*(assets|files)/[\w./%-]+", value), value
            if name == "href" and tag == "a":
                assert re.match(r"(\.\./)*[\w#]", value), value
        policies = [
            value
            for _, name, value in page.attributes
            if name == "content" and "default-src" in value
        ]
        assert len(policies) == 1
        assert "default-src 'none'" in policies[0]
        assert "connect-src 'none'" in policies[0]
        assert "unsafe" not in policies[0]


def test_pages_have_what_readers_without_sight_need(written):
    for path, page in written[1].items():
        assert page.tags.count("h1") == page.tags.count("main") == 1, path
        assert ("html", "lang", "en") in page.attributes
        assert ("a", "href", "#main") in page.attributes
        assert page.tags.count("caption") == page.tags.count("table"), path
        assert sum(
            name == "scope" for _, name, _ in page.attributes
        ) == page.tags.count("th"), path
        assert sum(
            name == "alt" and bool(value) for _, name, value in page.attributes
        ) == page.tags.count("img")
        named = sum(
            tag == "svg" and name in ("aria-label", "aria-hidden")
            for tag, name, _ in page.attributes
        )
        assert named == page.tags.count("svg")
        levels = [int(tag[1]) for tag in page.tags if re.fullmatch("h[1-6]", tag)]
        assert all(b - a <= 1 for a, b in pairwise(levels)), (path, levels)


def test_foreign_text_is_shown_as_it_is_and_never_runs(evil):
    shown = 0
    for path, page in read_pages(evil).items():
        raw = path.read_text(encoding="utf-8")
        assert "<script>alert" not in raw, path
        assert "<img src=x" not in raw, path
        assert "49 }}" not in page.text
        shown += page.text.count(" ".join(EVIL.split()))
        for text in filter(str.strip, page.data):
            json.loads(text)
            assert not set("<>&") & set(text)
    assert shown > 50
    names = [str(path.relative_to(evil)) for path in evil.rglob("*") if path.is_file()]
    assert all(re.fullmatch(r"[a-z0-9./_-]+", name) for name in names), names


def test_the_same_store_gives_the_same_pages_in_any_number_of_processes(
    seen, monkeypatch
):
    enter(seen.parents[1], monkeypatch)

    def contents():
        return {
            path.relative_to(seen): re.sub(rb"Made \S+ \S+ UTC", b"", path.read_bytes())
            # of the machine now
            for path in seen.rglob("*") if path.is_file() and path.name != "environment.html"
        }  # fmt: skip

    before = contents()
    build_report(Path("results"), n_jobs=2)
    after = contents()
    assert [name for name in before if after.get(name) != before[name]] == []
    assert len(before) > 20


def test_numbers_stand_beside_the_printed_ones_and_lead_to_their_traces(seen, frame):
    raw = (seen / "artefacts" / "figure.html").read_text(encoding="utf-8")
    assert (
        'Why it differs from the printed values: The print rounds. <a href="../papers/seen2020.html#notes">'
        in raw
    )
    [_, numbers] = raw.split('id="number-table"')
    rows = re.findall(r"<tr><th scope=\"row\">.*?</tr>", numbers, re.S)
    # those first that are printed
    texts = [re.sub(r"<[^>]*>", "|", row) for row in rows]
    ours = frame.loc["Lvg", 10, "set 1"]
    full = frame.loc["Full", 10, "set 2"]
    scale = (1 / 3 + 20 / 40) ** 0.5  # three folds of 20 test and 40 training rows
    errors = (ours["value"] - 12.5) / (scale * math.hypot(ours["sd"], 1.5))
    assert f"|{ours['value']:.2f}|" in texts[0]
    assert f"|{like(ours['value'] - 12.5, '0.00')}|" in texts[0]
    assert f"|{like(errors, '0.0')}|" in texts[0]
    assert step(errors)[1] in texts[0]
    assert "not said" in texts[1]
    assert f"|{like(full['value'] - 99, '0.00')}|" in texts[2]
    assert "above 4" in texts[2]
    hrefs = re.findall(
        r'<td class="n"[^>]*><a class="traced" href="\.\./(trace/[^"]+)"', numbers
    )
    assert len(hrefs) == 3 * 2 * 8
    assert set(hrefs) == {
        trace_href("seen2020/figure", row, f"{column}", name)
        for row, column, name in frame.index
    }


def test_states_say_what_to_run(seen):
    index = text_of(seen, "index.html")
    complete = "Tables and figures complete 1 of 2"
    for words in (
        complete,
        "Claims replicated 0 of 3",
        "Stored trials 216",
        "Never audited",
    ):
        assert words in index
    assert "data missing 1 not run – provsel fetch techtc" in index
    paper = text_of(seen, "papers/seen2020.html")
    for words in (
        "1 depends on the reading",
        "1 one reading",
        "1 not run",
        "48 vacuous",
        "What we read into it: alpha",
    ):
        assert words in paper
    absent = text_of(seen, "artefacts/absent.html")
    assert absent.index("provsel fetch techtc") < absent.index(
        "provsel reproduce absent"
    )
    assert "all 120 planned trials are stored" in text_of(seen, "artefacts/figure.html")


def test_a_claim_shows_verdict_rule_evidence_and_readings(seen):
    raw = next(seen.glob("claims/seen2020.lvg.html")).read_text(encoding="utf-8")
    text = text_of(seen, "claims/seen2020.lvg.html")
    for words in ("Leverage-score sampling beats", "replicated", "Figure 1", "Why this margin: Nobody would see less.",
                  "row Lvg", "set 8"):  # fmt: skip
        assert words in text
    assert "decisions" not in text
    assert "`" not in text
    part = raw.split('aria-label="Parts of the claim"')[1]
    strip = part[part.index('<svg class="strip"') :].split("</svg>")[0]
    assert strip.count('class="interval') == strip.count('class="mean') == 1
    assert strip.count('class="margin"') >= 1
    for words in (
        "Would it hold under another reading?",
        "of 4 universes",
        "method=a coin",
        "What is Lvg?",
    ):
        assert words in text
    assert len(re.findall(r'<g data-row="\d+">', raw)) == 4
    contradicted = text_of(seen, "claims/seen2020.random.html")
    assert "contradicted" in contradicted
    assert "Would it hold" not in contradicted
    assert "Nothing was tested: data missing: provsel fetch techtc" in text_of(
        seen, "claims/seen2020.absent.html"
    )
    listed = text_of(seen, "claims/index.html")
    assert listed.index("seen2020.random") < listed.index("seen2020.absent")


def test_a_trace_leads_to_the_trials_and_its_command_computes_them_again(
    seen, frame, monkeypatch
):
    enter(seen.parents[1], monkeypatch)
    [path] = seen.glob("trace/figure/random-10-*.html")
    text = text_of(seen, f"trace/figure/{path.name}")
    for words in ("UniformSelector", "n_features_to_select 10", "SeedSequence", "3 of 3 trials", "seeds of the folds",
                  "numpy", "scikit-learn", "set 8"):  # fmt: skip
        assert words in text
    assert f"{frame.loc['Random', 10, 'set 1']['value']:.2f}" in text
    raw = path.read_text(encoding="utf-8")
    section = (
        raw.split("<summary><h3>set 1</h3>")[1]
        .split("</section>")[0]
        .split("<summary><h3>set 2")[0]
    )
    keys = set(re.findall(r'<code title="([0-9a-f]{64})"', section))
    command = re.search(r"provsel run ([^<]*)", section)[1].replace("&#39;", "'")
    stored = {
        line["key"]: line
        for line in TrialStore(seen.parent / "store").query().to_pylist()
    }
    assert len(keys) == 3
    assert all(str(stored[key]["seed"]) in section for key in keys)
    assert all((stored[key]["git_revision"] or "unknown") in text for key in keys)
    done = run_python(
        [*PROVSEL, "run", *shlex.split(command), "executor=serial"], seen.parents[1]
    )
    assert done.returncode == 0, done.stderr
    again = (
        TrialStore("results/again/store").query(columns=["key", "error"]).to_pylist()
    )
    assert {line["key"]: line["error"] for line in again} == {
        key: stored[key]["error"] for key in keys
    }


def test_data_sets_without_a_trial_have_a_line_and_no_section(
    seen, tmp_path, monkeypatch
):
    enter(seen.parents[1], monkeypatch)
    folder = build_report(tmp_path).parent
    pages = read_pages(folder)
    assert broken_links(folder, pages) == []
    [path] = folder.glob("trace/figure/random-10-*.html")
    assert path.read_text(encoding="utf-8").count('<details class="cell"') == 1
    # each in the table, and twice the section of the first
    assert pages[path].text.count("0 of 3") == 8 + 2


def test_pages_say_which_features_are_selected(seen):
    records = (
        TrialStore(seen.parent / "store")
        .query(columns=["config", "features"])
        .to_pylist()
    )
    selections = []
    for config, features in (
        (json.loads(record["config"]), record["features"]) for record in records
    ):
        selector = config["selector"]
        model = config["model"]["arguments"]
        if (
            "Leverage" in selector["name"]
            and model["C"] == 1
            and config["dataset"]["seed"] == 2
        ):
            selections += (
                [features]
                if selector["arguments"]["n_features_to_select"] == 30
                else []
            )
    times = Counter(feature for record in selections for feature in record)
    assert len(selections) == 3

    lines = pd.read_csv(
        seen / "files" / "figure" / "which-features.csv", dtype={"feature": str}
    )
    assert set(lines["method"]) == {"Lvg", "Random"}
    own = lines[
        (lines["method"] == "Lvg")
        & (lines["column"] == 30)
        & (lines["dataset"] == "set 2")
    ]
    assert dict(zip(own["index"], own["times"], strict=True)) == times
    assert own["feature"].tolist() == [str(k + 1) for k in own["index"]]

    text = text_of(seen, "artefacts/figure.html")
    raw = (seen / "artefacts" / "figure.html").read_text(encoding="utf-8")
    for words in (
        "Full: all features are selected",
        "set 1, 10",
        "Tables of 6 of 16 data sets and columns are shown",
    ):
        assert words in text
    tables = re.findall(r'<table data-sort="" class="features">.*?</table>', raw, re.S)
    assert len(tables) == 6
    head, *rows = re.findall(r"<tr>.*?</tr>", tables[3], re.S)  # set 2, 30
    assert re.findall(r"<th[^>]*>([^<]*)", head) == ["Feature", "Lvg", "Random"]
    shares = {
        re.search(r'row">([^<]*)', row)[1]: float(
            re.search(r'data-value="([^"]*)', row)[1]
        )
        for row in rows
    }
    assert len(shares) == 30
    assert shares == {feature: times[int(feature) - 1] / 3 for feature in shares}

    [path] = seen.glob("trace/figure/lvg-30-*.html")
    index = stability(selections, 600).index
    assert f"of 600 features. Stability {index:.2f}, 95 % interval" in text_of(
        seen, f"trace/figure/{path.name}"
    )


@pytest.mark.parametrize(
    "name", ["../../up", "a..b", "a b", "a/b", ".hidden", "", "a" * 151, "é", "a\nb"]
)
def test_names_that_are_no_file_names_are_refused(name):
    for names, kind in (
        (((), (), [name]), "claim"),
        (([name], (), ()), "paper"),
        (((), [f"p/{name}"], ()), "artefact"),
    ):
        with pytest.raises(
            ValueError, match=rf"^{kind} .*: expected a name of letters.*rename it"
        ):
            check_names(*names)


def test_traces_have_different_pages_for_different_names():
    names = [
        "BSS",
        "bss",
        "B S S",
        "B-S-S",
        "",
        "B\nS",
        "ß",
        "б",
        "a" * 300,
        "a" * 301,
        EVIL,
    ]
    hrefs = {trace_href("p/a", row, column, row) for row in names for column in names}
    assert len(hrefs) == len(names) ** 2
    assert all(
        re.fullmatch(r"trace/a/[a-z0-9-]{1,120}\.html(#d-[a-z0-9-]+)?", href)
        for href in hrefs
    )
    assert len({href.partition("#")[2] for href in hrefs}) == len(names)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ([number(x) for x in (0.0, 1234.56, -0.5, math.nan, 1e-9, 123456.0, math.inf)],
         ["0", "1235", "−0.5", "–", "1e-09", "123456", "inf"]),
        ([like(1.23456, text) for text in ("7.95", "8", "1,000.5", "40, 39", "")],
         ["1.23", "1", "1.2", "1.235", "1.235"]),
        ([like(x, "0.0") for x in (-0.04, -1.5, math.nan)], ["0.0", "−1.5", "–"]),
        ([pattern((0, x)) for x in (0.05, 9.9, 76.47, 12345.0, 0.0)], ["0.00000", "0.000", "0.00", "0", ""]),
        ([step(x)[1] for x in (0.0, -1.99, 2.0, -4.0, 4.01, math.nan)],
         ["below 2", "below 2", "2 to 4", "2 to 4", "above 4", ""]),
        (card({"name": "a.b.C", "algorithm_version": 1, "arguments": {"x": None, "y": [1, "é"], "z": "text"}}),
         ("C", [("x", "null"), ("y", '[1, "é"]'), ("z", "text"), ("algorithm_version", "1")])),
        (card(None), ("none", [])),
    ],
)  # fmt: skip
def test_values_are_written_as_people_write_them(written, expected):
    assert written == expected


def test_templates_escape_and_refuse_unknown_names():
    assert (
        environment().from_string("{{ x }}").render(x="<b>'\"&")
        == "&lt;b&gt;&#39;&#34;&amp;"
    )
    with pytest.raises(Exception, match="'nothing' is undefined"):
        environment().from_string("{{ nothing }}").render()
    for name in environment().list_templates():
        source = environment().loader.get_source(environment(), name)[0]
        assert "safe" not in re.findall(r"\|\s*(\w+)", source)
        # of the shapes of icons, which stand beside
        assert source.count("| markup") == (name == "macros.html")
        assert "autoescape" not in source
