"""docs/paper.md: what the paper claims, our number, and whether it holds; written from the kept results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Claim:
    """One thing that the paper says, and what was found here."""

    said: str
    found: str
    holds: bool | None  # None: can't be judged here
    counts: bool = True  # a comparison; not the shape of a table, say


@dataclass(frozen=True)
class Section:
    """One result of the paper."""

    title: str
    how: str
    claims: Sequence[Claim]
    figures: Sequence[str] = ()
    more: Sequence[str] = field(default_factory=list)  # tables, in Markdown


def percent(share: float) -> str:
    return f"{100 * share:.4g} %"


def markdown(section: Section, images: str = "images") -> list[str]:
    """One section of the page."""
    verdict = {True: "yes", False: "**no**", None: "not to be judged"}
    lines = [f"## {section.title}", "", section.how, "", "| the paper says | here | holds |", "|---|---|---|"]
    lines += [f"| {c.said} | {c.found} | {verdict[c.holds]} |" for c in section.claims]
    lines += ["", *section.more]
    if section.more:
        lines.append("")
    for name in section.figures:
        lines += [f"![{section.title}]({images}/{name})", ""]
    return lines


def tally(sections: Sequence[Section]) -> str:
    """How much of it holds, by form; the forms that are ours say so."""
    judged = [c for section in sections for c in section.claims if c.holds is not None and c.counts]
    newton = [bool(c.holds) for c in judged if "newton" in c.said]
    lines = [bool(c.holds) for c in judged if "lines or trees" in c.said]
    paper = [bool(c.holds) for c in judged if "newton" not in c.said and "lines or trees" not in c.said]
    return (
        f"Of the claims that can be judged here, {sum(paper)} of {len(paper)} hold for GBFS as in the paper, "
        f"{sum(newton)} of {len(newton)} for newton leaves and selling back, and {sum(lines)} of {len(lines)} for "
        "lines or trees chosen by held-out rows, on the two experiments with more columns than rows. The last two are "
        "not in the paper."
    )


def write(path: Path, introduction: str, sections: Sequence[Section]) -> None:
    """The whole page."""
    lines = [introduction.strip(), "", tally(sections), ""]
    for section in sections:
        lines += markdown(section)
    path.write_text("\n".join(lines).rstrip() + "\n")
