"""The written pages: structure, links, escaping, missing values, sizes."""

import dataclasses
import json
import re
from itertools import pairwise

import pytest
from made_report import (
    EVIL,
    FIGURE1,
    SVG,
    empty_report,
    hostile_report,
    large_report,
    made_claim,
    ordinary_report,
)
from pages_reader import broken_links, read_pages

from provlab.site.contexts import numbers_text
from provlab.site.links import local_href
from provlab.site.model import ArtefactPage, Number, PaperPage, Report
from provlab.site.model_claims import ClaimPart
from provlab.site.model_environment import EnvironmentPage
from provlab.site.pages import trace_href, write_report

REPORTS = {"ordinary": ordinary_report, "hostile": hostile_report, "empty": empty_report}


def put_files(report, folder):
    """Write what downloads and figures point to, as the caller of `write_report` does."""
    for page in (page for paper in report.papers for page in paper.artefacts):
        figures = [href for figure in page.figures for href in (figure.svg, figure.pdf) if href]
        for href in [*(each.href for each in page.downloads), *figures]:
            (folder / href).parent.mkdir(parents=True, exist_ok=True)
            (folder / href).write_text(SVG)


@pytest.fixture(scope="module", params=REPORTS)
def written(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    report = REPORTS[request.param]()
    paths = write_report(report, folder)
    put_files(report, folder)
    return request.param, report, folder, paths, read_pages(folder)


@pytest.fixture(scope="module")
def ordinary(tmp_path_factory):
    folder = tmp_path_factory.mktemp("read")
    report = ordinary_report()
    write_report(report, folder)
    return report, folder, read_pages(folder)


def test_every_page_is_well_formed_and_has_unique_ids(written):
    _, _, folder, paths, pages = written
    assert {path for path in paths if path.suffix == ".html"} == set(pages)
    for path, page in pages.items():
        assert page.problems == [], path.relative_to(folder)
        assert len(page.ids) == len(set(page.ids)), path.relative_to(folder)


def test_every_link_and_anchor_leads_somewhere_below_the_folder(written):
    _, _, folder, _, pages = written
    assert sum(len(page.links) for page in pages.values()) > 20
    assert broken_links(folder, pages) == []


def test_the_reader_finds_broken_pages(tmp_path):
    (tmp_path / "a.html").write_text('<p id="x"><b></p><a href="b.html"></a><a href="a.html#y"></a><i id="x"></i>')
    pages = read_pages(tmp_path)
    (page,) = pages.values()
    assert page.problems
    assert page.ids == ["x", "x"]
    assert {link for _, link in broken_links(tmp_path, pages)} == {"b.html", "a.html#y"}


def test_no_page_loads_or_runs_anything_but_files_of_the_report(written):
    _, _, _, _, pages = written
    for page in pages.values():
        for tag, name, value in page.attributes:
            assert not name.startswith("on"), (tag, name)
            assert name != "style", (tag, value)
            if name == "src" or (name == "href" and tag == "link"):
                assert re.fullmatch(r"(\.\./)*(assets|files)/[\w./%-]+", value), value
            if name == "href" and tag == "a":
                assert re.match(r"(\.\./)*[\w#]", value), value
        scripts = [attributes for tag, *attributes in page.attributes if tag == "script"]
        assert all(name in ("src", "defer", "type", "id") for name, _ in scripts)
        policies = [value for _, name, value in page.attributes if name == "content" and "default-src" in value]
        assert len(policies) == 1
        assert "default-src 'none'" in policies[0]
        assert "connect-src 'none'" in policies[0]
        assert "unsafe" not in policies[0]


def test_pages_have_what_readers_without_sight_need(written):
    _, _, _, _, pages = written
    for path, page in pages.items():
        assert page.tags.count("h1") == 1, path
        assert page.tags.count("main") == 1
        assert ("html", "lang", "en") in page.attributes
        assert ("a", "href", "#main") in page.attributes
        assert page.tags.count("caption") == page.tags.count("table"), path
        assert sum(name == "scope" for _, name, _ in page.attributes) == page.tags.count("th"), path
        assert sum(name == "alt" and bool(value) for _, name, value in page.attributes) == page.tags.count("img")
        drawings = sum(tag == "svg" for tag in page.tags)
        named = sum(tag == "svg" and name in ("aria-label", "aria-hidden") for tag, name, _ in page.attributes)
        assert named == drawings
        levels = [int(tag[1]) for tag in page.tags if re.fullmatch("h[1-6]", tag)]
        assert all(b - a <= 1 for a, b in pairwise(levels)), (path, levels)


def test_foreign_text_is_shown_as_it_is_and_never_runs(tmp_path):
    write_report(hostile_report(), tmp_path)
    pages = read_pages(tmp_path)
    shown = 0
    for path, page in pages.items():
        raw = path.read_text(encoding="utf-8")
        assert "<script>alert" not in raw, path
        assert "<img src=x" not in raw, path
        assert "49 }}" not in page.text
        assert 'href="javascript:' not in raw, path
        shown += page.text.count(" ".join(EVIL.split()))
        for text in page.data:
            if text.strip():
                json.loads(text)
                assert not set("<>&") & set(text)
    assert shown > 100
    written = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    assert all(re.fullmatch(r"[a-z0-9./_-]+", str(path)) for path in written), written


def test_control_characters_are_shown_on_every_page_and_in_every_chart(tmp_path):
    strange = "a\x1b[31m\x9b\u202eb"
    report = ordinary_report()
    [first, *others] = report.papers
    report = dataclasses.replace(
        report, settings=(strange,), papers=(dataclasses.replace(first, title=strange), *others)
    )
    write_report(report, tmp_path)
    for path, page in read_pages(tmp_path).items():
        assert r"a\x1b[31m\x9b\u202eb" in page.text, path
        assert not set("\x1b\x9b\u202e") & set(path.read_text(encoding="utf-8")), path


@pytest.mark.parametrize("name", ["../../up", "a..b", "a b", "a/b", ".hidden", "", "a" * 151, "é", "a\nb"])
def test_names_that_are_no_file_names_are_refused_before_anything_is_written(tmp_path, name):
    claims = Report((PaperPage("p", "", "", (), (made_claim(id=name),), ()),))
    papers = Report((PaperPage(name, "", "", (), (), ()),))
    artefacts = Report((PaperPage("p", "", "", (ArtefactPage(f"p/{name}", "", "not run"),), (), ()),))
    for report, message in (
        (claims, "^claim .*: expected a name of letters, digits.*rename it"),
        (papers, "^paper .*: expected a name of letters, digits.*rename it"),
        (artefacts, "^artefact .*: expected (a name of letters|paper/artefact with one '/').*rename it"),
    ):
        with pytest.raises(ValueError, match=message):
            write_report(report, tmp_path / "report")
    assert not list(tmp_path.rglob("*"))


def test_two_things_with_the_same_page_are_refused(tmp_path):
    pages = (ArtefactPage("a/same", "", "not run"), ArtefactPage("b/Same", "", "not run"))
    same = Report(tuple(PaperPage(page.paper, "", "", (page,), (), ()) for page in pages))
    with pytest.raises(ValueError, match=r"artefact 'Same': expected each page once, got artefacts/Same\.html twice"):
        write_report(same, tmp_path / "report")
    index = Report((PaperPage("p", "", "", (), (made_claim(id="index"),), ()),))
    with pytest.raises(ValueError, match=r"claim 'index': expected each page once, got claims/index\.html twice"):
        write_report(index, tmp_path / "report")
    assert not list(tmp_path.rglob("*"))


def test_a_download_outside_the_report_is_refused(tmp_path):
    for href in ("../x.csv", "/etc/passwd", "https://example.org/x", "javascript:alert(1)", "", "a\\b"):
        with pytest.raises(ValueError, match=r"link .*: expected a relative path below the report's folder"):
            local_href(href)
    assert local_href("files/a b/1%.csv#x y") == "files/a%20b/1%25.csv#x%20y"


def test_traces_have_different_pages_for_different_names(ordinary):
    names = ["BSS", "bss", "B S S", "B-S-S", "", "B\nS", "ß", "б", "a" * 300, "a" * 301, EVIL]
    hrefs = {trace_href("p/a", row, column) for row in names for column in names}
    assert len(hrefs) == len(names) ** 2
    anchors = {trace_href("p/a", "r", "c", dataset).partition("#")[2] for dataset in names if dataset}
    assert len(anchors) == len(names) - 1
    assert all(re.fullmatch(r"trace/a/[a-z0-9-]{1,120}\.html", href) for href in hrefs)
    assert trace_href("p/a", "r", "c") == trace_href("p/a", "r", "c", "")


def test_every_number_of_an_artefact_leads_to_its_data_set_in_the_trace(ordinary):
    report, folder, pages = ordinary
    page = pages[folder / "artefacts/figure1.html"]
    figure1 = next(page for page in report.papers[0].artefacts if page.name == FIGURE1)
    for number in figure1.numbers:
        assert page.links.count(f"../{number.trace}") == 2  # beside the printed values, and among all numbers
        trace = pages[folder / number.trace.partition("#")[0]]
        assert number.trace.partition("#")[2] in trace.ids
        assert number.row in trace.text
        assert number.dataset in trace.text
    unknown = dataclasses.replace(figure1.numbers[0], trace="trace/figure1/not-there.html")
    changed = dataclasses.replace(figure1, numbers=(unknown,), traces=figure1.traces[:1])
    write_report(Report((PaperPage("paul2016", "", "", (changed,), (), ()),)), folder / "again")
    again = read_pages(folder / "again")
    assert unknown.text in again[folder / "again/artefacts/figure1.html"].text
    assert "not-there" not in (folder / "again/artefacts/figure1.html").read_text()


def test_differences_have_their_step_in_words(ordinary):
    report, folder, pages = ordinary
    figure1 = next(page for page in report.papers[0].artefacts if page.name == FIGURE1)
    rows = re.findall(r"<tr>.*?</tr>", (folder / "artefacts/figure1.html").read_text().split('id="numbers"')[0], re.S)
    by_text = {}
    for row in rows:
        if "step" in row:
            by_text[re.search(r'<a class="traced" href="\.\./([^"]+)"', row)[1]] = row
    assert len(by_text) == len(figure1.numbers)
    for number in figure1.numbers:
        distance = abs(number.standard_errors)
        expected = "below 2" if distance < 2 else "2 to 4" if distance <= 4 else "above 4"
        assert f">{expected}</span>" in by_text[number.trace]
    text = pages[folder / "artefacts/table1.html"].text
    assert "the same" in text
    assert "not the same" in text


def test_states_say_what_to_run(ordinary):
    _, folder, pages = ordinary
    text = {name: pages[folder / f"artefacts/{name}.html"].text for name in ("table1", "table2", "table3", "table4")}
    assert "partial, 65 %" in text["table1"]
    assert "13 of 20 trials are stored" in text["table1"]
    assert "None of 4,900 trials is stored. make reproduce-table2" in text["table2"]
    assert "It could not be shown. The renderer failed: KeyError" in text["table3"]
    assert "data missing" in text["table4"]
    assert text["table4"].index("provsel fetch rcv1_ccat") < text["table4"].index("make reproduce-table4")
    index = pages[folder / "index.html"].text
    for words in (
        "Artefacts complete 1 of 5",
        "Claims replicated 1 of 4",
        "Certificates held 6,692 of 6,695",
        "1 different",
    ):
        assert words in index


def test_only_numbers_without_trials_are_counted_as_waiting():
    numbers = (
        Number("BSS", "r=1", "", "0.5"),
        Number("BSS", "r=2", "", ""),
        Number("BSS", "r=3", "", "", state="missing"),
    )
    page = ArtefactPage("made2000/table", "", "partial", numbers=numbers, n_numbers=3)
    assert numbers_text(page) == "2 of 3"
    assert numbers_text(dataclasses.replace(page, numbers=numbers[:2], n_numbers=2)) == "2"


def test_nearly_complete_is_not_shown_as_all(tmp_path):
    page = ArtefactPage("p/a", "A", "partial", 999, 1000)
    write_report(Report((PaperPage("p", "P", "", (page,), (), ()),), n_trials=5), tmp_path)
    assert "partial, 99 %" in read_pages(tmp_path)[tmp_path / "index.html"].text


def test_a_claim_shows_verdict_evidence_and_where_it_is_tested(ordinary):
    report, folder, pages = ordinary
    claim = report.papers[0].claims[0]
    page = pages[folder / claim.href]
    for words in (
        claim.text,
        claim.rule,
        "replicated",
        claim.where,
        "−1.9 to −0.9",
        "Wilcoxon signed-rank",
        "TechTC 48",
        "Why this margin: What 49 sets resolve.",
    ):
        assert words in page.text
    assert "../artefacts/figure1.html" in page.links
    raw = (folder / claim.href).read_text()
    drawing = raw[raw.index('<svg class="claim-plot"') :].split("</svg>")[0]
    assert drawing.count('class="dot"') == sum(len(part.sample) for part in claim.parts)
    assert drawing.count('class="effect') == drawing.count('class="interval') == len(claim.parts)
    assert drawing.count('class="margin"') == sum(len(part.margins) for part in claim.parts)
    assert drawing.count('class="zero"') == 1
    other = pages[folder / "claims/paul2016.table4.lpsvm-size.html"].text
    assert "Nothing was tested: no trial of paul2016/table4 is stored." in other


def test_a_claim_says_what_would_decide_it_and_what_does_not_count(tmp_path):
    part = ClaimPart("r=300", "inconclusive", -0.4, -1.0, 0.2, 0.2, 49, "t", "percentage points", needed=137.0,
                     detectable=0.83, smallest_margin=0.91)  # fmt: skip
    own = made_claim(headline=part, parts=(part,), verdict="inconclusive", needed=137.0, smallest_margin=0.91)
    other = made_claim("control", "no difference", kind="control")
    write_report(Report((PaperPage("paul2016", "P", "", (), (own, other), ()),)), tmp_path)
    pages = read_pages(tmp_path)
    text = pages[tmp_path / own.href].text
    for words in (
        "n needed (power 0.9 at the effect observed) 137",
        "Smallest margin 0.91",
        "n=49 can show 0.83 percentage points",
    ):
        assert words in text
    beside = pages[tmp_path / other.href].text
    assert "control, not in the headline counts" in beside
    assert "would decide" not in beside
    overview = pages[tmp_path / "index.html"].text
    assert "1 inconclusive" in overview
    assert "no difference" not in overview
    assert "no difference" in pages[tmp_path / "claims/index.html"].text


def test_a_trace_shows_what_was_run_and_how_to_run_it_again(ordinary):
    report, folder, pages = ordinary
    figure1 = next(page for page in report.papers[0].artefacts if page.name == FIGURE1)
    trace = figure1.traces[0]
    text = pages[folder / trace_href(FIGURE1, trace.row, trace.column)].text
    for words in (
        "BSSSelector",
        "n_features_to_select 300",
        "LibsvmSVM",
        "split kfold",
        "SeedSequence",
        "files differed",
    ):
        assert words in text
    for cell in trace.cells:
        for words in (cell.cell, cell.data, cell.command, cell.audit_command, str(cell.split_seeds[0][1])):
            assert words in text
        found = json.loads(re.search(r"\{.*?\}\}(?= Compute)", text[text.index(cell.cell) :])[0])
        assert found == cell.identity
        assert cell.trials[0].key[:12] in text


def test_many_data_sets_are_folded_and_links_lead_to_each(tmp_path):
    write_report(large_report(), tmp_path)
    (path,) = (tmp_path / "trace").rglob("*.html")
    page = read_pages(path.parent)[path]
    assert page.tags.count("summary") == 80 * 3  # each data set, its trials, its configuration
    anchors = {link[1:] for link in page.links if link.startswith("#d-")}
    assert len(anchors) == 80
    assert anchors <= set(page.ids)
    assert {tag for tag, name, value in page.attributes if name == "id" and value in anchors} == {"details"}


def test_missing_things_are_said(tmp_path):
    write_report(empty_report(), tmp_path)
    pages = read_pages(tmp_path)
    index, environment = pages[tmp_path / "index.html"].text, pages[tmp_path / "environment.html"].text
    assert "Nothing is stored yet" in index
    assert "provsel reproduce table1" in index
    assert "Never audited" in index
    assert "provsel audit --fraction 0.01" in index
    assert "No claims." in index
    for words in (
        "Never audited",
        "Nothing is known of the store",
        "Nothing is known of this machine",
        "No stored trial says",
    ):
        assert words in environment
    artefact = pages[tmp_path / "artefacts/table1.html"].text
    for words in ("prints no number", "No number is stored", "No claim is tested on it", "No file was written"):
        assert words in artefact
    assert "nan" not in re.findall(r"\w+", " ".join(page.text.lower() for page in pages.values()))


def test_a_report_without_papers_is_written(tmp_path):
    paths = write_report(Report((), EnvironmentPage()), tmp_path)
    assert {path.name for path in paths} >= {
        "index.html",
        "environment.html",
        "report.css",
        "report.js",
        "plotly.min.js",
    }
    assert "No paper was found" in read_pages(tmp_path)[tmp_path / "index.html"].text


def test_settings_of_the_user_are_said_on_every_page(tmp_path):
    write_report(dataclasses.replace(empty_report(), settings=("protocol.repeats=1",)), tmp_path)
    for page in read_pages(tmp_path).values():
        assert "With the settings protocol.repeats=1" in page.text


def test_only_pages_with_a_plot_load_plotly(ordinary):
    _, _, pages = ordinary
    with_plotly = {path.stem for path, page in pages.items() if any("plotly" in link for link in page.links)}
    assert "figure1" in with_plotly
    assert not with_plotly & {"index", "environment", "paul2016", "table2", "table4"}
    for page in pages.values():
        assert ("plotly.min.js" in str(page.links)) == bool(
            [name for _, name, _ in page.attributes if name == "data-plot"]
        )


def test_pages_at_the_caps_stay_small_and_say_what_is_left_out(tmp_path):
    write_report(large_report(), tmp_path)
    pages = read_pages(tmp_path)
    assert max(path.stat().st_size for path in pages) < 3e6
    text = pages[tmp_path / "artefacts/big.html"].text
    assert "4,000 of 100,000 numbers are shown" in text
    assert "1,500 numbers that the paper prints, of 4,000; the CSV file has all" in text
    assert broken_links(tmp_path, pages) == []


def test_writing_again_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        write_report(ordinary_report(), tmp_path / name)
    for path in (tmp_path / "a").rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes()
