"""Files of claims: what is read, and one clear message for everything that can be wrong with them."""

from pathlib import Path

import pytest
import yaml

from provlab.verdicts.claims.evidence import Layout
from provlab.verdicts.claims.schema import TRIALS, load_claims, read_content
from small_runs import REPO

LAYOUT = Layout(("BSS", "Lvg"), ("r=30", "r=40"), {})
CLAIM = {
    "id": "made.one",
    "where": "Table 1",
    "claim": "BSS\n  is better.",
    "artefact": "made/table",
    "test": "better",
    "parameters": {
        "row": "BSS",
        "than": "Lvg",
        "columns": ["r=30"],
        "over": "datasets",
        "margin": "same",
    },
}
MARGINS = {"same": {"points": 1, "why": "Less would not\n  be seen."}}


def layout(name):
    if name != "made/table":
        raise ValueError(f"artefact: expected one of made/table, got {name!r}.")
    return LAYOUT


@pytest.fixture
def write(tmp_path):

    def written(content):
        path = tmp_path / "claims.yaml"
        if isinstance(content, dict):
            content = {"margins": MARGINS, **content}
        path.write_text(
            content if isinstance(content, str) else yaml.safe_dump(content)
        )
        return path

    return written


def changed(**entries):
    parameters = {**CLAIM["parameters"], **entries.pop("parameters", {})}
    claim = {**CLAIM, "parameters": parameters, **entries}
    return {key: value for key, value in claim.items() if value is not None}


def test_reading(write):
    ranking = {
        "artefact": "made/table",
        "rows": ["BSS", "Lvg"],
        "columns": ["r=30", "r=40"],
    }
    file = load_claims(
        write({"paper": "made", "claims": [CLAIM], "rankings": [ranking]}), layout
    )
    [claim] = file.claims
    assert claim.id == "made.one"
    assert claim.paper == "made"
    assert claim.text == "BSS is better."
    assert claim.rule.margin == 1.0
    assert claim.margin == "Less would not be seen."
    assert claim.rule.columns == ("r=30",)
    assert claim.rule.alpha == 0.05
    assert file.rankings[0].columns == ("r=30", "r=40")


def test_what_counts_in_the_headline(write):
    claims = [
        changed(),
        changed(id="made.other", origin="alternative", certain=True),
        changed(id="made.control", origin="control"),
        changed(id="made.certain", certain=True, repeats="made.one"),
        changed(id="made.again", repeats="made.one"),
    ]
    loaded = load_claims(write({"paper": "made", "claims": claims}), layout).claims
    assert [claim.kind for claim in loaded] == [
        "paper",
        "alternative",
        "control",
        "certain",
        "repeated",
    ]
    for wrong in ("made.again", "made.nothing"):
        claims[3] = changed(id="made.certain", repeats=wrong)
        path = write({"paper": "made", "claims": claims})
        with pytest.raises(
            ValueError,
            match=rf"made\.certain: expected repeats to name a claim .*got '{wrong}'",
        ):
            load_claims(path, layout)


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        (
            changed(origin="ours"),
            r"origin: expected one of paper, alternative, control, got 'ours'",
        ),
        (
            changed(certain="yes"),
            r"claims: made\.one: certain: expected true or false, got 'yes'",
        ),
        (
            changed(test="nicer"),
            r"made\.one: test: expected one of certificates, .*better_somewhere, .*got 'nicer'",
        ),
        (
            changed(artefact="made/nope"),
            r"made\.one: artefact: expected one of made/table, got 'made/nope'",
        ),
        (
            changed(parameters={"row": "Bss"}),
            r"expected a row of made/table \(BSS; Lvg\), got 'Bss'",
        ),
        (
            changed(parameters={"columns": ["r=50"]}),
            r"expected a column of made/table \(r=30; r=40\), got 'r=50'",
        ),
        (
            changed(parameters={"also": ["r=60"]}),
            r"expected a column of made/table \(r=30; r=40\), got 'r=60'",
        ),
        (changed(where=None), r"expected a mapping with id, where, .*got no where\."),
        (
            changed(origins="paper"),
            r"got the unknown 'origins'; did you mean 'origin'\?",
        ),
        (
            changed(id="other.one"),
            r"expected an id that starts with 'made\.', got 'other\.one'",
        ),
        (
            changed(parameters={"margins": 1}),
            r"parameters: expected .*the unknown 'margins'; did you mean 'margin'\?",
        ),
        (
            changed(parameters={"quantity": "r2"}),
            r"margin: expected a margin in units for r2, got 'same' in points "
            r"of err",
        ),
        (
            changed(test="zero_error"),
            r"parameters: expected .*got no at_most, .*the unknown 'margin'",
        ),
        (
            changed(parameters={"margin": "wide"}),
            r"margin: expected a margin that the file declares .*\(same\), got "
            r"'wide'",
        ),
        (
            changed(parameters={"row": 3}),
            r"parameters: row: expected a string, got 3; put it in quotes",
        ),
        (
            changed(parameters={"columns": "r=30"}),
            r"columns: expected a list, each a string, got 'r=30'",
        ),
        (
            changed(parameters={"columns": ["r=30", 40]}),
            r"columns: 2: expected a string, got 40",
        ),
        (
            changed(parameters={"columns": []}),
            r"columns: the list is empty; name one or more",
        ),
        (changed(parameters={"alpha": True}), r"alpha: expected a number, got True"),
        ({**CLAIM, "parameters": []}, r"parameters: expected a mapping, got \[\]"),
        (
            changed(parameters={"over": "sets"}),
            r"over: expected one of datasets, sources, domains, folds, draws, got 'sets'",
        ),
        ("text", r"claims: 1: expected a mapping with id, .*got 'text'"),
    ],
)
def test_messages(write, claim, message):
    with pytest.raises(ValueError, match=rf"claims\.yaml: .*{message}"):
        load_claims(write({"paper": "made", "claims": [claim]}), layout)


def test_a_file_without_declared_margins_states_numbers(write):
    claim = {**CLAIM, "parameters": {**CLAIM["parameters"], "margin": 2.0}}
    [loaded] = load_claims(
        write({"paper": "made", "claims": [claim], "margins": {}}), layout
    ).claims
    assert loaded.rule.margin == 2.0
    assert loaded.margin == ""


@pytest.mark.parametrize(
    ("margins", "message"),
    [
        ({}, r"margin: expected a margin that .*\(none yet\), got 'same'"),
        ([1.0], r"margins: expected a mapping, got \[1.0\]"),
        (
            {"same": {"points": 1.0}},
            r"margins: same: expected a mapping with why, points, units, got no why",
        ),
        (
            {"same": {"points": 1.0, "why": " "}},
            r"expected a reason, and points .* got points 1.0, units 0.0, ''",
        ),
        (
            {"same": {"points": "1", "why": "x"}},
            r"same: points: expected a number, got '1'",
        ),
        ({"same": {"points": 0, "why": "x"}}, r"same: expected a reason, .* above 0"),
        (
            {"same": {"points": 1, "units": 1, "why": "x"}},
            r"expected a reason, and points .* got points 1.0, units 1.0",
        ),
        (
            {"same": {"units": 0.1, "why": "x"}},
            r"margin: expected a margin in points for the error, got 'same' in "
            r"units",
        ),
    ],
)
def test_a_margin_is_declared_with_its_reason(write, margins, message):
    with pytest.raises(ValueError, match=message):
        load_claims(
            write({"paper": "made", "claims": [CLAIM], "margins": margins}), layout
        )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("claims: [", r"claims\.yaml: expected YAML, got"),
        (
            "paper: made",
            r"claims\.yaml: expected a mapping with paper, claims, .*, got no claims",
        ),
        (
            {"paper": "made", "claims": [CLAIM, CLAIM]},
            r"claims: made\.one: the id occurs twice",
        ),
        (
            {
                "paper": "made",
                "claims": [],
                "rankings": [{"artefact": "made/table", "rows": ["BSS"]}],
            },
            r"rankings: 1: expected a mapping with artefact, rows, columns, got no columns",
        ),
        (
            {
                "paper": "made",
                "claims": [],
                "rankings": [{"artefact": "made/table", "rows": ["X"], "columns": []}],
            },
            r"rankings: 1: expected a row of made/table \(BSS; Lvg\), got 'X'",
        ),
    ],
)
def test_messages_of_files(write, content, message):
    with pytest.raises(ValueError, match=message):
        load_claims(write(content), layout)


@pytest.mark.parametrize(
    "path",  # those on the benchmark: test_claims_statements.py
    [
        path
        for path in sorted((REPO / "experiments").glob("*/claims.yaml"))
        if read_content(path).evidence == TRIALS
    ],
    ids=lambda path: path.parent.name,
)
def test_the_claims_of_this_project(path: Path):
    file = load_claims(path)
    assert file.paper == path.parent.name
    assert len(file.claims) > 0
    for claim in file.claims:
        assert claim.where
        assert claim.text.endswith(".")
        assert "{" not in claim.rule.meaning
        if limit := getattr(claim.rule, "margin", getattr(claim.rule, "most", None)):
            unit = (
                "percentage points"
                if not getattr(claim.rule, "quantity", "")
                else f"in {claim.rule.quantity}"
            )
            assert f"{limit:g} {unit}" in claim.rule.meaning
        assert all(name in claim.rule.meaning for name in claim.rule.row_names[:1])
        # each with its reason
        assert bool(claim.margin) == hasattr(claim.rule, "margin")
