"""Colour, marker and line of each method, which are the same in all figures and pages of a project."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from provlab.project.project import current_project

COLOURS = {
    "blue": "#0072B2", "vermilion": "#D55E00", "green": "#009E73", "purple": "#CC79A7", "orange": "#E69F00",
    "sky": "#56B4E9", "black": "#000000",
}  # fmt: skip
"""Palette of Okabe and Ito, distinct for colour-blind readers; markers are distinct without colour."""

PALETTE = list(COLOURS.values())

GREY = "#737373"
"""Colour outside the palette, only for methods that are declared with it, such as baselines."""

MARKERS = {
    "circle": "o", "square": "s", "triangle-up": "^", "diamond": "D", "triangle-down": "v", "cross": "P", "x": "X",
    "star": "*", "pentagon": "p", "triangle-right": ">", "triangle-left": "<", "hexagon": "h",
}  # fmt: skip
"""Matplotlib's markers by Plotly's names."""

LINES = {"solid": "-", "dashed": "--", "dotted": ":"}


@dataclass(frozen=True)
class Look:
    """Appearance of a method: a colour such as "#0072B2", a symbol of `MARKERS` and a line of `LINES`."""

    colour: str
    symbol: str
    line: str = "solid"

    @property
    def marker(self) -> str:
        """Matplotlib's marker."""
        return MARKERS[self.symbol]

    @property
    def linestyle(self) -> str:
        """Matplotlib's line style."""
        return LINES[self.line]


_SYMBOLS = list(MARKERS)
# the first seven differ in both colour and symbol; all 84 are distinct
_CYCLE = [
    Look(colour, _SYMBOLS[(k + turn) % len(_SYMBOLS)])
    for turn in range(len(_SYMBOLS))
    for k, colour in enumerate(PALETTE)
]


def looks(methods: Iterable[str]) -> dict[str, Look]:
    """Return the appearance of each method of a figure.

    The entries of `methods` in the project's file come first. Each other method takes
    the next colour that no method of the figure has. It never takes an appearance that
    the file gives to another method.

    Raises
    ------
    ValueError
        If an entry is not a colour, a marker and optionally a line.
    """
    methods = list(dict.fromkeys(methods))
    declared = {
        method: _look(method, text)
        for method, text in current_project().methods.items()
    }
    reserved = {(look.colour, look.symbol) for look in declared.values()}
    cycle = [
        look for look in _CYCLE if (look.colour, look.symbol) not in reserved
    ] or _CYCLE
    chosen = {method: declared[method] for method in methods if method in declared}
    free: list[Look] = []
    for method in methods:
        if method not in chosen:
            free = free or list(cycle)
            colours = {look.colour for look in chosen.values()}
            chosen[method] = next(
                (look for look in free if look.colour not in colours), free[0]
            )
            free.remove(chosen[method])
    return {method: chosen[method] for method in methods}


def _look(method: str, text: str) -> Look:
    """Parse an appearance of the project's file, such as "black x dotted"; raises as `looks`."""
    colours = COLOURS | {"grey": GREY}
    words = text.split()
    if (
        2 <= len(words) <= 3
        and words[0] in colours
        and words[1] in MARKERS
        and {*words[2:]} <= {*LINES}
    ):
        return Look(colours[words[0]], *words[1:])
    raise ValueError(
        f"project: methods: {method!r:.80}: expected a colour ({', '.join(colours)}), a marker ({', '.join(MARKERS)}) "
        f"and optionally a line ({', '.join(LINES)}), such as 'blue circle dashed', got {text!r:.80}; correct it in "
        f"the project's file."
    )


KINDS = {
    "replicated": "good", "complete": "good", "held": "good",
    "contradicted": "bad", "broken": "bad", "violated": "bad",
    "inconclusive": "open", "not contradicted": "open", "partial": "open", "vacuous": "open", "rank undecided": "open",
    "better": "good", "worse": "bad", "same": "info",
    "data missing": "info", "no difference": "info", "depends on r": "info", "depends on the reading": "info",
    "one reading": "info", "inconclusive under most readings": "open",
}  # fmt: skip
"""Colour class of each verdict and state, in the style sheet and in drawings; all others are "mute"."""


def kind_of(name: str) -> str:
    """Return the colour class of a verdict or a state."""
    return KINDS.get(name, "mute")
