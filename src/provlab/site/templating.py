"""Jinja2 as the report uses it: everything is escaped, and an unknown name is an error."""

from __future__ import annotations

import json
import math
import re
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from provlab.identity.keys import canonical_json
from provlab.messages import visible
from provlab.site import svg
from provlab.site.links import dataset_anchor, local_href

Context = dict[str, Any]
"""What a template gets, by the names that it has there."""

MISSING = "–"
"""Stands where there is no number."""


@cache
def environment() -> Environment:
    """Return the environment, with its templates compiled at first use and kept."""
    made = Environment(
        loader=PackageLoader("provlab.site"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters.update(
        num=number, count=count, size=size, local=local_href, script_json=script_json, canonical=canonical_json,
        anchor=dataset_anchor, settings=settings, value=value, step=step,
    )  # fmt: skip
    made.filters.update(like=like, pattern=lambda d: pattern(d.minimum, d.maximum), when=when)
    made.globals.update(icon=svg.icon, tally_bar=svg.tally_bar, MISSING=MISSING)
    return made


def number(x: float, digits: int = 4) -> str:
    """Return a number with `digits` significant digits, or a dash for NaN."""
    if math.isnan(x):
        return MISSING
    text = f"{x:.{digits}g}"
    if "e" in text and 1e-4 <= abs(x) < 1e9:
        text = f"{x:.0f}"
    return text.replace("-", "\N{MINUS SIGN}", 1) if text.startswith("-") else text


def like(x: float, text: str) -> str:
    """Return a number with as many decimals as `text` has, or with four digits where that is no number."""
    found = re.fullmatch(r"[-+\N{MINUS SIGN}]?[\d,]+(?:\.(\d+))?", text)
    if found is None or not math.isfinite(x):
        return number(x)
    digits = len(found[1] or "")
    shown = f"{round(x, digits) + 0.0:,.{digits}f}"  # adding 0 makes "-0.00" "0.00"
    return shown.replace("-", "\N{MINUS SIGN}", 1)


def pattern(low: float, high: float) -> str:
    """Return for `like` a number with the decimals that give the larger of two four digits."""
    size = max(abs(low), abs(high))
    if not (math.isfinite(size) and 1e-4 <= size < 1e7):
        return ""
    return f"{0:.{max(0, 3 - math.floor(math.log10(size)))}f}"


def value(x: float) -> Markup:
    """Return the attribute by which a script sorts a cell, or nothing for NaN: empty cells come last."""
    return Markup("") if math.isnan(x) else Markup(f' data-value="{x:.12g}"')


def count(n: int) -> str:
    """Return an integer with commas between thousands."""
    return f"{n:,}"


def size(n: int) -> str:
    """Return a file size in bytes, kB or MB."""
    if n < 1000:
        return f"{n} bytes"
    return f"{n / 1000:.0f} kB" if n < 1e6 else f"{n / 1e6:.1f} MB"


def step(standard_errors: float) -> tuple[str, str]:
    """Return in which of three steps a difference lies: a class of the style sheet, and words."""
    if math.isnan(standard_errors):
        return "", ""
    distance = abs(standard_errors)
    if distance < 2:
        return "near", "below 2"
    return ("apart", "2 to 4") if distance <= 4 else ("far", "above 4")


def when(text: str) -> str:
    """Return a time in UTC as people write it; other text as it is."""
    found = re.fullmatch(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d(\.\d+)?)?(Z|\+00:00)", text)
    return f"{found[1]} {found[2]} UTC" if found else text


def settings(config: Any, prefix: str = "") -> list[tuple[str, str]]:
    """Return a nested config as flat (dotted name, value) pairs, in the order in which they stand."""
    if isinstance(config, dict):
        pairs = [pair for name, inner in config.items() for pair in settings(inner, f"{prefix}{name}.")]
        return pairs or ([(prefix[:-1], "{}")] if prefix else [])
    if isinstance(config, str):
        return [(prefix[:-1], config)]
    return [(prefix[:-1], json.dumps(config, ensure_ascii=False, default=str))]


def script_json(content: Any) -> Markup:
    """Return JSON for a script element: nothing in it can end the element, and NaN is null."""
    try:
        text = _json(content)
    except ValueError:  # NaN or inf; looking for them first would take longer than all the rest
        text = _json(_finite(content))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(visible(text, backslash="\\\\"))  # a chart shows them as the text of a page does


def _json(content: Any) -> str:
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _finite(content: Any) -> Any:
    if isinstance(content, float):
        return content if math.isfinite(content) else None
    if isinstance(content, dict):
        return {str(name): _finite(inner) for name, inner in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(inner) for inner in content]
    return content
