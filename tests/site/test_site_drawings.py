"""Small drawings and the words of the templates, against what they are made from."""

import dataclasses
import json
import math
import re
from itertools import pairwise

import pytest
from made_report import EVIL, hostile_report, made_claim

from provlab.claims import VERDICTS
from provlab.site.claim_plot import axis_range, claim_svg
from provlab.site.margin_curve import margin_svg, margins_of
from provlab.site.model_claims import ClaimPart
from provlab.site.svg import ICONS, KINDS, icon, nice_ticks, strip, tally_bar
from provlab.site.templating import environment, like, number, pattern, script_json, settings, size, step, when


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3.2, 17.9), (0.001, 0.0042), (-1e6, 5e7), (99.9, 100.1)])
def test_ticks_are_round_few_and_inside(low, high):
    ticks = nice_ticks(low, high)
    assert 2 <= len(ticks) <= 7
    assert all(low - 1e-9 <= tick <= high + 1e-9 for tick in ticks)
    steps = {round(b - a, 9) for a, b in pairwise(ticks)}
    assert len({f"{step:.6g}" for step in steps}) == 1
    assert re.fullmatch(r"[125]0*(\.0)?|0?\.?0*[125]0*|[125]e[-+]\d+", f"{steps.pop():g}")


def test_a_strip_has_a_tick_for_each_value_where_it_belongs():
    drawing = strip([0.0, 5.0, 10.0, 10.0, math.nan], 0.0, 10.0, 6.25, EVIL)
    assert re.search(r'class="ticks" d="([^"]*)"', drawing)[1] == "M5 2v11M80 2v11M155 2v11"
    assert re.search(r'class="mean" d="M([\d.]+) ', drawing)[1] == f"{5 + 150 * 0.625:.1f}"
    assert "<script" not in drawing
    assert strip([3.0, 3.0], 3.0, 3.0, 3.0, "").count("2v11") == 1
    assert "2v11" not in strip([], 0.0, 1.0, math.nan, "")


def test_pieces_of_a_bar_are_as_long_as_their_counts():
    drawing = tally_bar([("replicated", 3), ("contradicted", 0), ("not run", 1)], "Claims")
    widths = [float(width) for width in re.findall(r'width="([\d.]+)"', drawing)]
    assert widths == pytest.approx([150 - 1.5, 50 - 1.5])
    assert 'aria-label="Claims: 3 replicated, 1 not run"' in drawing
    assert "Claims: none" in tally_bar([], "Claims")


def test_verdicts_differ_in_shape_and_not_only_in_colour():
    verdicts = VERDICTS
    states = ("complete", "partial", "not run", "data missing", "broken")
    for group in (verdicts, states):
        assert len({icon(name) for name in group}) == len(group)
    assert len({KINDS.get(name, "mute") for name in states}) >= len(states) - 1
    # two of those that leave a claim open share a colour, and so do the two that say neither yes nor no
    assert len({KINDS.get(name, "mute") for name in verdicts}) == len(verdicts) - 2
    assert set(KINDS) <= set(ICONS)


def test_a_claim_is_drawn_to_scale():
    parts = made_claim().parts
    drawing = claim_svg(parts, "points")
    low, high = axis_range(parts)
    scale = (700 - 190) / (high - low)
    for part, x in zip(parts, re.findall(r'class="effect [^"]*" d="M([\d.]+)', drawing), strict=True):
        assert float(x) == pytest.approx(190 + (part.effect - low) * scale, abs=0.06)
    for part, ends in zip(
        parts, re.findall(r'class="interval [^"]*" d="M([\d.]+) [\d.]+H([\d.]+)', drawing), strict=True
    ):
        expected = [190 + (end - low) * scale for end in (part.low, part.high)]
        assert list(map(float, ends)) == pytest.approx(expected, abs=0.06)
    sample = [(name, value) for part in parts for name, value in part.sample]
    dots = re.findall(r'class="dot" cx="([\d.]+)"[^>]*><title>([^<]*)</title>', drawing)
    assert [text for _, text in dots] == [f"{name}: {value:.4g}" for name, value in sample]
    assert [float(x) for x, _ in dots] == pytest.approx([190 + (value - low) * scale for _, value in sample], abs=0.06)
    margins = [float(x) for x in re.findall(r'class="margin" d="M([\d.]+)', drawing)]
    assert margins == pytest.approx([190 + (end - low) * scale for part in parts for end in part.margins], abs=0.06)
    assert low < min(value for _, value in sample)
    assert high > 1


def test_the_curve_of_margins_rises_by_one_at_each_claim():
    part = made_claim().headline
    claims = [made_claim(headline=part, smallest_margin=margin) for margin in (4.0, 1.0, 2.0, math.inf, math.nan)]
    claims.append(made_claim(headline=part, smallest_margin=3.0, kind="control"))
    claims.append(made_claim(headline=dataclasses.replace(part, unit="features"), smallest_margin=50.0))
    margins = margins_of(claims)
    assert margins == [1.0, 2.0, 4.0]
    steps = re.search(r'class="interval k-info" d="M60 180([^"]*)H700"', margin_svg(margins))[1]
    corners = [(float(x), float(y)) for x, y in re.findall(r"H([\d.]+)V([\d.]+)", steps)]
    assert [x for x, _ in corners] == pytest.approx([60 + 640 * m / 4.2 for m in margins], abs=0.06)
    assert [y for _, y in corners] == pytest.approx([180 - 168 * k / 3 for k in (1, 2, 3)], abs=0.06)
    assert margin_svg([1.0]) == ""


def test_foreign_names_are_text_in_the_drawing_of_a_claim():
    drawing = claim_svg(hostile_report().papers[0].claims[0].parts, EVIL)
    assert "<script" not in drawing
    assert "<img" not in drawing
    assert "{{ 7*7 }}" in drawing


def test_a_claim_without_sample_interval_and_margins_needs_no_drawing():
    assert claim_svg((ClaimPart("a", "replicated", 1.0),), "points") == ""
    assert claim_svg((ClaimPart("a", "not run"),), "points") == ""
    assert "<svg" in claim_svg((ClaimPart("a", "replicated", 1.0, margins=(2.0,)),), "points")
    open_ended = claim_svg((ClaimPart("a", "replicated", 1.0, -math.inf, 2.0),), "points")
    assert re.search(r'class="interval [^"]*" d="M190(\.0)? ', open_ended)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.0, ("near", "below 2")), (-1.99, ("near", "below 2")), (2.0, ("apart", "2 to 4")), (-4.0, ("apart", "2 to 4")),
     (4.01, ("far", "above 4")), (math.inf, ("far", "above 4")), (math.nan, ("", ""))],
)  # fmt: skip
def test_steps_of_standard_errors(value, expected):
    assert step(value) == expected


def test_numbers_are_written_as_people_write_them():
    assert [number(x) for x in (0.0, 1234.56, -0.5, math.nan, 1e-9, 123456.0, math.inf)] == [
        "0", "1235", "−0.5", "–", "1e-09", "123456", "inf",
    ]  # fmt: skip
    assert [like(1.23456, text) for text in ("7.95", "8", "1,000.5", "40, 39", "")] == [
        "1.23",
        "1",
        "1.2",
        "1.235",
        "1.235",
    ]
    assert like(-0.004, "0.00") == "0.00"
    assert like(-1.5, "0.0") == "−1.5"
    assert like(math.nan, "0.0") == "–"
    assert [pattern(0, x) for x in (0.05, 9.9, 76.47, 12345.0)] == ["0.00000", "0.000", "0.00", "0"]
    assert [size(n) for n in (12, 1_000, 48_211, 1_204_113)] == ["12 bytes", "1 kB", "48 kB", "1.2 MB"]
    assert when("2026-11-21T17:34:14+00:00") == "2026-11-21 17:34 UTC"
    assert when("yesterday") == "yesterday"


def test_configs_are_flat_pairs_in_their_order():
    config = {"b": 1, "a": {"x": None, "y": [1, "é"], "z": {}}, "c": "text", "d": True}
    assert settings(config) == [
        ("b", "1"), ("a.x", "null"), ("a.y", '[1, "é"]'), ("a.z", "{}"), ("c", "text"), ("d", "true"),
    ]  # fmt: skip
    assert settings({}) == []


def test_json_in_a_page_cannot_end_its_element_and_says_the_same():
    content = {"a": [EVIL, "\u2028</SCRIPT>", 1.5, -0.0], EVIL: None}
    text = script_json(content)
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == content
    assert json.loads(script_json({"a": (math.nan, math.inf, 1.0)})) == {"a": [None, None, 1.0]}


def test_templates_escape_and_refuse_unknown_names():
    assert environment().from_string("{{ x }}").render(x="<b>'\"&") == "&lt;b&gt;&#39;&#34;&amp;"
    with pytest.raises(Exception, match="'nothing' is undefined"):
        environment().from_string("{{ nothing }}").render()
    for name in environment().list_templates():
        source = environment().loader.get_source(environment(), name)[0]
        assert "safe" not in re.findall(r"\|\s*(\w+)", source)
        assert "autoescape" not in source
