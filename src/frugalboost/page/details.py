"""The sections below the chosen features: what each does, and errors on held-out rows. They need no script."""

from __future__ import annotations

from typing import Any

from frugalboost.page.contents import Contents
from frugalboost.page.effects import cards_of, what_is_shown
from frugalboost.page.quality import parts_of
from frugalboost.page.words import number_text

NOT_EMBEDDED = ("effects", "quality")  # parts of the contents that no script on the page reads


def details_of(contents: Contents, environment: Any, static: Any, most: int) -> dict[str, str]:
    """Both sections as HTML; empty where there is nothing to show.

    ``environment`` makes templates that escape all text, ``static`` reads them.
    """
    cards, parts = cards_of(contents), parts_of(contents)
    made = {"effects": "", "quality": ""}
    if cards:
        shown = {card["feature"]["name"] for card in cards}
        rest = sorted((f for f in contents["chosen"]["features"] if f["name"] not in shown), key=lambda f: -f["gain"])
        template = environment.from_string(static("effects.html"))
        made["effects"] = template.render(
            c=contents,
            cards=cards,
            rest=rest,
            shown=what_is_shown(contents),
            bought=bought_text,
            number=number_text,
            most=most,
        )
    if parts:
        made["quality"] = environment.from_string(static("quality.html")).render(c=contents, parts=parts)
    return made


def bought_text(feature: dict[str, Any]) -> str:
    """In how many splits a feature was bought."""
    bought, splits = feature.get("splits") or (0, 0)
    return f"bought in {bought} of {splits} splits, " if splits else ""
