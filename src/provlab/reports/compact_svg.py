"""An SVG as Matplotlib writes it, in half of its bytes: the same picture, and as readable."""

from __future__ import annotations

import re
from collections import Counter

STYLE = re.compile(r' style="([^"]*)"')
PLACES = re.compile(r' (?:d|x|y)="[^"]*"|rotate\([^)]*\)')
NUMBER = re.compile(r"-?\d+\.\d{3,}")
FONTS = re.compile(r"font-family: 'DejaVu Sans', [^;\"]*sans-serif")
"""Nine names, in each text; they are those of the default style, which `style` sets."""

RULES = "</style>"


def compact_svg(svg: str) -> str:
    """Return an SVG with classes for the styles that it repeats, and places in hundredths of a point."""
    if svg.count(RULES) != 1:
        return svg
    svg = FONTS.sub("font-family: 'DejaVu Sans', sans-serif", svg)
    svg = PLACES.sub(lambda found: NUMBER.sub(_rounded, found[0].replace("\n", "")), svg)
    repeated = [text for text, n in Counter(STYLE.findall(svg)).most_common() if n > 1]
    names = {text: f"s{k}" for k, text in enumerate(repeated)}
    svg = STYLE.sub(lambda found: f' class="{names[found[1]]}"' if found[1] in names else found[0], svg)
    rules = "".join(f".{name}{{{text}}}\n" for text, name in names.items())
    return svg.replace(RULES, f"\n{rules}{RULES}") if rules else svg


def _rounded(found: re.Match[str]) -> str:
    return f"{float(found[0]):.2f}".rstrip("0").rstrip(".")
