"""Small pictures as SVG inside the page: no script draws them, and the style sheet colours them in light and dark."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

LETTER = 6.1  # mean width of a letter, in the unit of the pictures


@dataclass(frozen=True)
class Scale:
    """From numbers to places."""

    low: float
    high: float
    begin: float
    end: float
    center: float = 0.0
    unit: float | None = None  # stretched around the center: equal near it, like a logarithm far away

    def __call__(self, value: float) -> float:
        """The place of a value, between begin and end."""
        low, high, at = self._flat(self.low), self._flat(self.high), self._flat(value)
        share = 0.5 if high == low else (at - low) / (high - low)
        return self.begin + (self.end - self.begin) * min(1.0, max(0.0, share))

    def _flat(self, value: float) -> float:
        return value if self.unit is None else math.asinh((value - self.center) / self.unit)


def ticks(low: float, high: float, most: int = 4) -> list[float]:
    """Round numbers between two others.

    Examples
    --------
    >>> from frugalboost.page.svg import ticks
    >>> ticks(0.12, 0.91)
    [0.2, 0.4, 0.6, 0.8]
    """
    if not high > low:
        return [low]
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= raw * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


def picture(width: float, height: float, label: str, parts: Iterable[str], kind: str = "") -> str:
    """A picture that is as wide as its place allows; ``label`` says what it shows."""
    classes = f"small marks {kind}".strip()
    head = f'<svg class="{classes}" viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(label)}">'
    return head + "".join(parts) + "</svg>"


def line(x: float, y: float, x2: float, y2: float, kind: str) -> str:
    """A straight line."""
    return f'<line class="{kind}" x1="{x:.1f}" y1="{y:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def curve(points: Sequence[tuple[float, float]], kind: str) -> str:
    """A line through points."""
    return f'<polyline class="{kind}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'


def area(points: Sequence[tuple[float, float]], kind: str) -> str:
    """A filled shape."""
    return f'<polygon class="{kind}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'


def dot(x: float, y: float, kind: str, tip: str = "", radius: float = 3) -> str:
    """A point with words that appear over it."""
    said = f"<title>{escape(tip)}</title>" if tip else ""
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}">{said}</circle>'


def box(x: float, y: float, width: float, height: float, kind: str, tip: str = "") -> str:
    """A rectangle; with a negative width it goes to the left."""
    x, width = min(x, x + width), abs(width)
    said = f"<title>{escape(tip)}</title>" if tip else ""
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}">{said}</rect>'


def words(x: float, y: float, text: str, kind: str = "", whole: str = "") -> str:
    """A text; ``whole`` is the one that it is short for."""
    said = f"<title>{escape(whole)}</title>" if whole and whole != text else ""
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(text)}{said}</text>'


def cropped(text: str, most: int) -> str:
    """A text shortened in the middle.

    Examples
    --------
    >>> from frugalboost.page.svg import cropped
    >>> cropped("a long name of a level", 11)
    'a lon…level'
    """
    return text if len(text) <= most else f"{text[: most // 2]}…{text[len(text) - (most - most // 2 - 1) :]}"


def axes(across: Scale, up: Scale, x_ticks: Sequence[tuple[float, str]], y_ticks: Sequence[tuple[float, str]]) -> str:
    """Lines and numbers of both axes."""
    parts = []
    for value, text in y_ticks:
        y = up(value)
        parts += [line(across.begin, y, across.end, y, "grid"), words(across.begin - 5, y + 3.5, text, "end")]
    for value, text in x_ticks:
        x = across(value)
        parts += [line(x, up.begin, x, up.begin + 3, "axis"), words(x, up.begin + 15, text, "middle")]
    return "".join(parts) + line(across.begin, up.begin, across.end, up.begin, "axis")
