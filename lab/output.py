"""Where results, pictures and pages go, and in what form: numbers rounded, pictures with few colours."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "lab" / "results"
PAPER, QUALITY, SPEED = RESULTS / "paper", RESULTS / "quality", RESULTS / "speed"
DOCS = ROOT / "docs"
IMAGES = DOCS / "images"

DIGITS = 7  # significant ones: pages show four, and means of rounded numbers must not show others
HALF = 128  # of the 256 colours that a palette can have
UNSEEN = 3  # of 255 in each channel
DPI = 110


def rounded(value: Any, digits: int = DIGITS) -> Any:
    """Return a result with its floats rounded to a few significant digits, in lists and mappings of any depth."""
    if isinstance(value, dict):
        return {key: rounded(inner, digits) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(inner, digits) for inner in value]
    if isinstance(value, Integral):
        return value if isinstance(value, bool) else int(value)  # numpy's whole numbers, too
    return float(f"{value:.{digits}g}") if isinstance(value, Real) else value


def lines(results: Iterable[Any]) -> str:
    """A JSON list with a line for each result, which is how a version control system likes them."""
    return "[\n" + ",\n".join(json.dumps(rounded(r), separators=(",", ":")) for r in results) + "\n]"


def write_json(path: Path, result: Any) -> None:
    """Write a result as JSON, rounded; a file of that name is whole at every moment."""
    write_atomically(path, json.dumps(rounded(result), indent=0, separators=(",", ":")) + "\n")


def write_atomically(path: Path, text: str) -> None:
    """Write a file beside its target and rename it, so that no reader sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(f".part{os.getpid()}")
    beside.write_text(text)
    os.replace(beside, path)


def save_figure(figure: Figure, path: Path, dpi: int = DPI) -> None:
    """Write a figure as a PNG file with a palette, a third as large as matplotlib's own."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=dpi)
    compress(Image.open(drawn), path)


def compress(picture: Image.Image, path: Path) -> None:
    """Write a picture with a palette: half of it the commonest colours as they are, half what fits the others best.

    Without the first half, flat areas are slightly off and take more room; without the second, thin lines lose their
    colours. What nobody can tell from a commoner colour becomes that one, which compresses well. Places are looked up
    here, since Pillow's own search takes white for grey.
    """
    pixels = np.asarray(picture.convert("RGB"))
    colours, place, counts = np.unique(pixels.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    palette = colours[order[:HALF]]
    rest = order[HALF:]
    if len(rest):
        others = Image.fromarray(np.repeat(colours[rest], counts[rest], axis=0)[None])
        fitting = others.quantize(HALF, dither=Image.Dither.NONE).getpalette()
        palette = np.vstack([palette, np.array(fitting, dtype=np.uint8).reshape(-1, 3)])
    apart = np.abs(colours[:, None].astype(np.int32) - palette[None].astype(np.int32))
    alike = apart.max(axis=2) <= UNSEEN
    best = np.where(alike.any(axis=1), alike.argmax(axis=1), (apart**2).sum(axis=2).argmin(axis=1))
    indices = best.astype(np.uint8)[place.reshape(pixels.shape[:2])]
    few = Image.fromarray(indices, mode="P")
    few.putpalette(palette.tobytes())
    few.save(path, format="PNG", optimize=True)
