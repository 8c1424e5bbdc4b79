"""Colour, marker and line of each method, by its name: the same in all figures of a project, on paper and on pages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from provlab.project.project import current_project

COLOURS = {
    "blue": "#0072B2", "vermilion": "#D55E00", "green": "#009E73", "purple": "#CC79A7", "orange": "#E69F00",
    "sky": "#56B4E9", "black": "#000000",
}  # fmt: skip
"""Okabe and Ito: distinct for colour-blind readers; markers are distinct in grey print."""

PALETTE = list(COLOURS.values())

GREY = "#737373"
"""Beside the palette, for what is declared to have it: what methods are compared with."""

MARKERS = {
    "circle": "o", "square": "s", "triangle-up": "^", "diamond": "D", "triangle-down": "v", "cross": "P", "x": "X",
    "star": "*", "pentagon": "p", "triangle-right": ">", "triangle-left": "<", "hexagon": "h",
}  # fmt: skip
"""Plotly's name of a symbol, and Matplotlib's."""

LINES = {"solid": "-", "dashed": "--", "dotted": ":"}


@dataclass(frozen=True)
class Look:
    """How a method is drawn: a colour such as "#0072B2", a symbol of `MARKERS`, a line of `LINES`."""

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
# the first seven differ in both; no two of the 84 are alike
_CYCLE = [
    Look(colour, _SYMBOLS[(k + turn) % len(_SYMBOLS)])
    for turn in range(len(_SYMBOLS))
    for k, colour in enumerate(PALETTE)
]


def looks(methods: Iterable[str]) -> dict[str, Look]:
    """Return how each method of a figure is drawn.

    As `methods` of the project's file says; a method without an entry takes, in its order, a colour that no method of
    the figure has. It never takes a look that the file gives to another.

    Raises
    ------
    ValueError
        For an entry that is not a colour, a marker and perhaps a line.
    """
    methods = list(dict.fromkeys(methods))
    declared = {method: _look(method, text) for method, text in current_project().methods.items()}
    reserved = {(look.colour, look.symbol) for look in declared.values()}
    cycle = [look for look in _CYCLE if (look.colour, look.symbol) not in reserved] or _CYCLE
    chosen = {method: declared[method] for method in methods if method in declared}
    free: list[Look] = []
    for method in methods:
        if method not in chosen:
            free = free or list(cycle)
            colours = {look.colour for look in chosen.values()}
            chosen[method] = next((look for look in free if look.colour not in colours), free[0])
            free.remove(chosen[method])
    return {method: chosen[method] for method in methods}


def _look(method: str, text: str) -> Look:
    """Return the look that a project's file states, such as "black x dotted"; errors as `looks`."""
    colours = COLOURS | {"grey": GREY}
    words = text.split()
    if 2 <= len(words) <= 3 and words[0] in colours and words[1] in MARKERS and {*words[2:]} <= {*LINES}:
        return Look(colours[words[0]], *words[1:])
    raise ValueError(
        f"project: methods: {method!r:.80}: expected a colour ({', '.join(colours)}), a marker ({', '.join(MARKERS)}) "
        f"and perhaps a line ({', '.join(LINES)}), such as 'blue circle dashed', got {text!r:.80}; correct it in the "
        f"project's file."
    )


KINDS = {
    "replicated": "good", "complete": "good", "held": "good",
    "contradicted": "bad", "broken": "bad", "violated": "bad",
    "inconclusive": "open", "not contradicted": "open", "partial": "open", "vacuous": "open", "rank undecided": "open",
    "better": "good", "worse": "bad", "same": "info",
    "data missing": "info", "no difference": "info", "depends on r": "info", "depends on the reading": "info",
    "one reading": "info", "inconclusive under most readings": "open",
}  # fmt: skip
"""Class of colours of each verdict and state, in the style sheet and in drawings; the others are "mute"."""


def kind_of(name: str) -> str:
    """Return the class of colours of a verdict or a state."""
    return KINDS.get(name, "mute")
