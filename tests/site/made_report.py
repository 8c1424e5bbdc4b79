"""Reports of synthetic data for tests of the pages: an ordinary one, a hostile one, an empty one, and a large one."""

import itertools
import math
import random

from provlab.site.links import trace_href
from provlab.site.model import (
    ArtefactPage,
    CertificateCount,
    Download,
    FigureFiles,
    FormattedTable,
    Number,
    PaperPage,
    Report,
    TableCell,
)
from provlab.site.model_claims import ClaimPage, ClaimPart
from provlab.site.model_environment import AuditSummary, EnvironmentPage
from provlab.site.model_readings import ClaimReadings, ReadPlace, UniverseLine
from provlab.site.notes import render_notes
from provlab.site.trace import Distribution, Trace, TracedCell, TracedTrial

VERSIONS = {
    "python": "3.11.2",
    "machine": "Linux x86_64",
    "blas": ["openblas 0.3.29"],
    "provsel": "0.1.0",
    "numpy": "2.2.1",
    "scipy": "1.15.0",
    "scikit-learn": "1.6.0",
    "liblinear-official": "2.47.0",
}
REVISION = "6578c01b2a4f0d9e8c7b6a5d4e3f2a1b0c9d8e7f"
DATASETS = tuple(
    f"TechTC {name}" for name in ("1092-135724", "1092-789236", "17899-278949", "17899-48446", "14630-18479")
)
ROWS, COLUMNS = ("BSS", "Leverage", "RFE", "Uniform"), ("r=300", "r=400", "r=500")
FIGURE1 = "paul2016/figure1"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="120"><path d="M10 110h280M10 110V10"/></svg>'


def made_distribution(values, name="error", unit="%", by="fold"):
    values = [float(value) for value in values]
    ordered = sorted(values)
    mean = sum(values) / len(values)
    sd = math.sqrt(sum((value - mean) ** 2 for value in values) / max(1, len(values) - 1))

    def quantile(q):
        return ordered[round(q * (len(ordered) - 1))]

    return Distribution(
        name,
        unit,
        by,
        tuple(values),
        len(values),
        mean,
        sd,
        ordered[0],
        quantile(0.25),
        quantile(0.5),
        quantile(0.75),
        ordered[-1],
    )


def made_cell(dataset, rng, n=100, trials=4, row="BSS", column="r=300"):
    identity = {
        "dataset": {"name": "techtc100", "set": dataset, "weighting": "counts"},
        "data": f"{rng.getrandbits(256):064x}",
        "selector": {
            "_target_": f"provsel.selectors.{row}Selector",
            "algorithm_version": 2,
            "n_features_to_select": column.split("=")[-1],
            "weights": "sqrt_t",
        },
        "model": {"_target_": "provsel.models.LibsvmSVM", "algorithm_version": 1, "C": 500.0},
        "protocol": {"split": "kfold", "n_splits": 10, "setting": "supervised", "seed": 0, "certify": True},
    }
    errors = [round(abs(rng.gauss(8, 3)), 2) for _ in range(n)]
    seconds = [abs(rng.gauss(0.4, 0.1)) for _ in range(n)]
    made = tuple(
        TracedTrial(
            f"{rng.getrandbits(256):064x}",
            k // 10,
            k % 10,
            0,
            rng.getrandbits(32),
            rng.getrandbits(32),
            {"error": errors[k], "seconds": seconds[k]},
            "{}",
            REVISION,
        )
        for k in range(min(trials, n))
    )
    return TracedCell(
        dataset=dataset,
        cell=f"{rng.getrandbits(256):064x}",
        identity=identity,
        data=identity["data"],
        n_found=n,
        n_planned=100,
        split_seeds=tuple((k, rng.getrandbits(32)) for k in range(3)),
        distributions=(made_distribution(errors), made_distribution(seconds, "select_cpu", "s")) if n else (),
        trials=made,
        command=f"provsel run 'dataset=techtc100' 'dataset.set={dataset}' selector=bss "
        "selector.n_features_to_select=300 protocol.repeats=10 --results again",
        audit_command=f"provsel audit --cell {rng.getrandbits(48):012x}",
        problems=("The records do not say their environment: an older schema.",) if n == 40 else (),
    )


def made_numbers(artefact, rows, columns, datasets, rng, printed=True):
    numbers = []
    for row in rows:
        for column in columns:
            for dataset in datasets:
                value, sd = abs(rng.gauss(8, 3)), abs(rng.gauss(2, 0.3))
                shown = round(value + rng.gauss(0, 1.2), 2) if printed else None
                errors = (value - shown) / 0.4 if printed else math.nan
                numbers.append(
                    Number(
                        row,
                        column,
                        dataset,
                        f"{value:.2f}",
                        value,
                        sd,
                        100,
                        printed="" if shown is None else f"{shown:.2f}",
                        printed_sd=1.9 if printed else math.nan,
                        difference=value - shown if printed else math.nan,
                        standard_errors=errors,
                        trace=trace_href(artefact, row, column, dataset),
                    )
                )
    return tuple(numbers)


def made_traces(artefact, rows, columns, datasets, rng, n=100):
    return tuple(
        Trace(
            artefact,
            row,
            column,
            tuple((column, dataset, "7.95", "2.1", "8.2") for dataset in datasets),
            tuple(made_cell(dataset, rng, n, row=row, column=column) for dataset in datasets),
            ((VERSIONS, 400), ({**VERSIONS, "numpy": "2.1.0"}, 90), ({}, 10)),
            ((REVISION, 450), (REVISION + "+", 40), ("", 10)),
        )
        for row in rows
        for column in columns
    )


def made_claim(key="bss-better", verdict="replicated", artefact=FIGURE1, rng=None, **changed):
    rng = rng or random.Random(1)
    sample = tuple((f"TechTC {k}", rng.gauss(-1.4, 1.2)) for k in range(49))
    parts = tuple(
        ClaimPart(
            column,
            verdict,
            -1.4 + 0.2 * k,
            -1.9 + 0.2 * k,
            -0.9 + 0.2 * k,
            0.0004 * (k + 1),
            49,
            "Wilcoxon signed-rank, Holm over 6 comparisons, 95 % interval",
            "percentage points",
            "smaller than the margin of equivalence" if k == 1 else "",
            sample=sample,
            margins=(-1.0, 1.0),
        )
        for k, column in enumerate(COLUMNS)
    )
    paper = artefact.split("/")[0]
    fields = {
        "id": f"{paper}.figure1.{key}",
        "paper": paper,
        "where": "Section 6.3.2, Figure 1",
        "text": "With the same number of features BSS has a lower test error than RRQR.",
        "artefact": artefact,
        "rule": "Replicated where the difference is significantly below zero in every column; contradicted where it is "
        "significantly above zero, or shown to lie within the margin.",
        "margin": "What 49 sets resolve.",
        "parameters": (("row", "BSS"), ("than", "RRQR"), ("columns", "r=300, r=400, r=500"), ("margin", "1 point")),
        "verdict": verdict,
        "headline": parts[2],
        "parts": parts,
        "state": "complete",
    }
    return ClaimPage(**{**fields, **changed})


def made_readings(text="counts, or their logarithms", n_sets=40):
    """Return the readings of a claim on many data sets, whose settings have no place for a break."""
    rng = random.Random(2)
    options = {"weights": ("counts", text), "C": ("1", "0.01", "100"), "which-rows-are-meant": ("all", "of the fold")}
    universes = []
    for chosen in itertools.product(*options.values()):
        effect = rng.gauss(-1.0, 2.0)
        verdict = "replicated" if effect < -1 else "inconclusive"
        universes.append(UniverseLine(chosen, verdict, "r=300", effect, effect - 1, effect + 1, not universes))
    shares = tuple(
        (name, sum(line.verdict == name for line in universes) / 12) for name in ("replicated", "inconclusive")
    )
    return ClaimReadings(
        places=tuple(
            ReadPlace(name, text, "Section 6.3", values, 0.2, 0.0 if name == "C" else 0.4)
            for name, values in options.items()
        ),
        universes=tuple(sorted(universes, key=lambda line: line.effect)),
        n_universes=12,
        n_run=12,
        default=universes[0].verdict,
        same=dict(shares)[universes[0].verdict],
        shares=shares,
        flips=((f"weights={text}", "inconclusive"),),
        unit="percentage points",
        margins=(-1.0, 1.0),
        printed=-0.7,
        part=f"{text}.",
        settings=f"dataset.set=[{','.join(f'Exp_{k}_10755' for k in range(10341, 10341 + n_sets))}]",
    )


def not_run_claim(key="lpsvm-size", artefact="paul2016/table4"):
    nothing = ClaimPart("all", "not run")
    return made_claim(
        key,
        "not run",
        artefact,
        headline=nothing,
        parts=(),
        state="not run",
        id=f"paul2016.table4.{key}",
        where="Table 4",
        text="LPSVM chooses close to 300 features.",
        reason="no trial of paul2016/table4 is stored",
    )


def ordinary_report():
    rng = random.Random(0)
    certificates = (
        CertificateCount("spectral bound (Theorem 1)", (("held", 5880), ("vacuous", 120))),
        CertificateCount(
            "margin (Theorem 4)", (("held", 812), ("violated", 3), ("not separable", 4185), ("no bound", 880))
        ),
    )
    claims = (
        made_claim("bss-better", "replicated", rng=rng, readings=made_readings()),
        made_claim("rfe-comparable", "contradicted", rng=rng, text="RFE and BSS have about the same test error."),
        made_claim(
            "leverage-close",
            "inconclusive",
            rng=rng,
            text="Leverage-score sampling is close to BSS.",
            state="partial (90 of 100)",
        ),
    )
    numbers = made_numbers(FIGURE1, ROWS, COLUMNS, DATASETS, rng)
    header = tuple(map(TableCell, ("Method", *COLUMNS)))
    rows = tuple(
        (
            TableCell(row),
            *(TableCell(f"{rng.gauss(8, 1):.2f} (1.9)", trace_href(FIGURE1, row, column)) for column in COLUMNS),
        )
        for row in ROWS
    )
    figure1 = ArtefactPage(
        FIGURE1,
        "Figure 1: test error on TechTC-100 with 300, 400 and 500 features",
        "complete",
        6000,
        6000,
        tables=(
            FormattedTable(
                "Mean test error (%) over the data sets, with the mean sd.", "Means of 49 data sets.", header, rows
            ),
        ),
        figures=(
            FigureFiles(
                "Test error by data set, BSS and its peers at three sizes",
                "files/figure1/figure1.svg",
                "files/figure1/figure1.pdf",
            ),
        ),
        downloads=(
            Download("CSV, all numbers", "files/figure1/figure1.csv", 48_211),
            Download("PDF, figure", "files/figure1/figure1.pdf", 1_204_113),
        ),
        numbers=numbers,
        n_numbers=len(numbers),
        certificates=certificates,
        claims=claims,
        x_is_number=True,
        unit="test error (%)",
        traces=made_traces(FIGURE1, ROWS, COLUMNS, DATASETS, rng),
    )
    table1 = made_table1(rng)
    table4 = ArtefactPage(
        "paul2016/table4",
        "Table 4: CCAT of RCV1",
        "data missing",
        0,
        0,
        "make reproduce-table4",
        "provsel fetch rcv1_ccat",
        claims=(not_run_claim(),),
    )
    table2 = ArtefactPage(
        "paul2016/table2", "Table 2: features of TechTC by name", "not run", 0, 4900, "make reproduce-table2"
    )
    broken = ArtefactPage(
        "paul2016/table3",
        "Table 3: running times",
        "broken",
        10,
        100,
        "make reproduce-table3",
        problem="The renderer failed: KeyError: 'select_cpu'.",
    )
    artefacts = (table1, figure1, table2, broken, table4)
    paper = PaperPage(
        "paul2016",
        "Feature selection for linear SVM with provable guarantees",
        render_notes(NOTES),
        artefacts,
        (*claims, not_run_claim()),
        certificates,
    )
    other = PaperPage("wang2018", "Provable subset selection", "", (), (), ())
    audit = AuditSummary(
        "2026-11-20 14:03",
        0.01,
        12_000,
        120,
        100,
        17,
        1,
        (("data missing", 2),),
        (("paul2016/figure1 BSS r=300 TechTC 1092-135724 repeat 3 fold 2", "error 7.1 stored, 7.3 computed"),),
        "X86_V2, X86_V3",
    )
    environment = EnvironmentPage(
        ((VERSIONS, 11_000), ({**VERSIONS, "numpy": "2.1.0"}, 1000)),
        ((REVISION, 11_900), ("", 100)),
        (("processor", "x86_64, 2 cores"), ("memory", "8 GB"), ("BLAS", "openblas 0.3.29, one thread")),
        (("trials", "12,000"), ("files", "320"), ("size", "41 MB"), ("newest", "2026-11-21 12:00")),
        ("store/part-17.parquet: expected a Parquet file, got 12 bytes; it was left out.",),
        (audit,),
    )
    return Report((paper, other), environment, "2026-11-21 17:00 UTC", "0.1.0", (), 12_000)


def made_table1(rng):
    name, rows, columns = "paul2016/table1", ("BSS", "Lvg"), ("r=30, k=40", "r=40, k=40")
    lists = {("BSS", columns[0]): "40, 39, 34, 36, 37", ("Lvg", columns[0]): "40, 39, 37, 34, 36"}
    numbers = (
        *(
            Number(
                row,
                column,
                "",
                text,
                printed="40, 39, 34, 36, 37",
                n_trials=5,
                state="complete",
                trace=trace_href(name, row, column),
            )
            for (row, column), text in lists.items()
        ),
        Number(
            "BSS",
            columns[1],
            "",
            "0.00",
            0.0,
            0.0,
            3,
            "0.00",
            state="partial (3 of 5)",
            difference=0.0,
            trace=trace_href(name, "BSS", columns[1]),
        ),
        Number("Lvg", columns[1], "", "", state="missing", trace=trace_href(name, "Lvg", columns[1])),
    )
    return ArtefactPage(
        name,
        "Table 1: features selected most often in synthetic data",
        "partial",
        13,
        20,
        "provsel reproduce table1",
        numbers=numbers,
        n_numbers=4,
        traces=made_traces(name, rows, columns, ("",), rng, 40),
    )


def empty_report():
    nothing = ArtefactPage("paul2016/table1", "Table 1", "not run", 0, 20, "provsel reproduce table1")
    return Report((PaperPage("paul2016", "A paper", "", (nothing,), (), ()),))


EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>&amp;{{ 7*7 }}</script><!-- ]]> ünï ✓ 数 "
LONG = "long name " * 60


def hostile_report():
    """Foreign text everywhere: tags, quotes, ends of scripts, templates, paths, and very long names."""
    rng = random.Random(3)
    name = "evil/evil"
    rows, columns, datasets = (
        (EVIL, "../../etc/passwd", LONG),
        (EVIL, "a/b\\c.html#x?y=1"),
        (EVIL, "..", "a", "A", " a "),
    )
    numbers = made_numbers(name, rows, columns, datasets, rng)
    strange = Number(EVIL, EVIL, EVIL, EVIL, math.inf, math.nan, 1, EVIL, state=EVIL, trace="javascript:alert(1)")
    part = ClaimPart(
        EVIL,
        "replicated",
        1.0,
        -math.inf,
        math.inf,
        math.nan,
        3,
        EVIL,
        EVIL,
        EVIL,
        decides=False,
        sample=((EVIL, 1.0), ("b", math.nan)),
        margins=(math.nan, 1.0),
    )
    claim = made_claim(
        id="evil.claim-1",
        paper="evil",
        where=EVIL,
        text=EVIL,
        artefact="evil/absent",
        rule=EVIL,
        parameters=((EVIL, EVIL),),
        readings=made_readings(EVIL),
        headline=part,
        parts=(part,),
        state=EVIL,
        reason=EVIL,
    )
    page = ArtefactPage(
        name,
        EVIL,
        "broken",
        1,
        7,
        EVIL,
        EVIL,
        EVIL,
        tables=(
            FormattedTable(
                EVIL,
                EVIL,
                (TableCell(EVIL), TableCell(EVIL)),
                ((TableCell(EVIL), TableCell(EVIL, "javascript:alert(1)")),),
            ),
        ),
        figures=(FigureFiles(EVIL, "files/evil/a b<>'\".svg"),),
        downloads=(Download(EVIL, "files/evil/100% #1 ?.csv".replace("#", ""), 12),),
        numbers=(*numbers, strange),
        n_numbers=9000,
        certificates=(CertificateCount(EVIL, ((EVIL, 3), ("held", 2))),),
        claims=(claim,),
        unit=EVIL,
        traces=made_traces(name, rows, columns, datasets, rng, 12),
    )
    identity = {
        EVIL: {EVIL: [EVIL, None, {"a": EVIL}]},
        "selector": {"_target_": EVIL, EVIL: EVIL},
        "model": None,
        "dataset": EVIL,
    }
    cell = TracedCell(EVIL, EVIL, identity, EVIL, 0, 3, ((0, 1),), (), (), EVIL, EVIL, (EVIL,))
    trial = TracedTrial(EVIL, 0, 0, 0, 1, 2, {EVIL: math.nan}, EVIL, EVIL)
    full = made_distribution([1, 2, math.pi], EVIL, EVIL, EVIL)
    other = TracedCell("b", "", {}, "", 3, 3, (), (full, Distribution("none", "", "fold", (), 0)), (trial,))
    odd = Trace(
        name,
        "odd",
        "",
        ((EVIL, EVIL, EVIL, EVIL, EVIL),),
        (cell, other),
        (({EVIL: EVIL, "blas": [EVIL]}, 1),),
        ((EVIL, 2),),
        (EVIL,),
    )
    page = ArtefactPage(**{**vars(page), "traces": (*page.traces, odd)})
    audit = AuditSummary(EVIL, 0.5, 2, 1, 0, 0, 1, ((EVIL, 1),), ((EVIL, EVIL),), EVIL)
    environment = EnvironmentPage(
        (({EVIL: EVIL}, 1), ({}, 2)), ((EVIL, 1),), ((EVIL, EVIL),), ((EVIL, EVIL),), (EVIL,), (audit,)
    )
    notes = render_notes(
        f"# T\n\n{EVIL}\n\n[x](javascript:alert(1)) [y](../../up.md) [z](https://example.org/a?b=1&c=2)\n\n"
        f"| a |\n|---|\n| {EVIL} |\n"
    )
    paper = PaperPage("evil", EVIL, notes, (page,), (claim,), page.certificates)
    return Report((paper,), environment, EVIL, EVIL, (EVIL,), 5)


def large_report():
    """The caps of the model: 4,000 numbers on a page, and a trace with 80 data sets of 200 values each."""
    rng = random.Random(4)
    name = "big/big"
    rows, columns, datasets = (
        [f"method number {k}" for k in range(5)],
        [f"r={k}00" for k in range(10)],
        [f"TechTC {k}-{k * 7919}" for k in range(80)],
    )
    numbers = made_numbers(name, rows, columns, datasets, rng)
    trace = made_traces(name, rows[:1], columns[:1], datasets, rng, 200)
    page = ArtefactPage(
        name,
        "Large",
        "complete",
        10**6,
        10**6,
        numbers=numbers,
        n_numbers=10**5,
        x_is_number=True,
        unit="test error (%)",
        traces=trace,
    )
    return Report((PaperPage("big", "Large", "", (page,), (), ()),), n_trials=10**6)


NOTES = """# Notes on the paper

*Feature selection*, what we read into it. See [Interpretations](#interpretations), [its page](https://example.org/paper)
and [the script](../figure1.py).

## Interpretations

| place | what is open | our choice |
|---|---|---|
| Algorithm 1, step 3 | D = 1/sqrt(t) is printed | D = sqrt(t) (`weights="sqrt_t"`) |
| Figure 1 | what the error bars spread over | standard deviation over the 100 test folds |

## Errata

Equation 12 needs ||w||^2 = sum of alpha, which holds for the hard margin only.
"""
