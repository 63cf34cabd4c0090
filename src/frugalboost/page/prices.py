"""What prices and costs are called: where rows pay, a cost is a mean over them."""

from __future__ import annotations

from frugalboost.page.contents import Contents
from frugalboost.page.words import number_text


def cost_name(contents: Contents) -> str:
    """What the cost of a model is called.

    Examples
    --------
    >>> from frugalboost.page.prices import cost_name
    >>> cost_name({"prices": {"by_row": True, "once": False}}), cost_name({"prices": {}})
    ('mean cost of a row', 'cost')
    """
    if not _by_row(contents):
        return "cost"
    return "cost, what is paid once and the mean of a row" if contents["prices"]["once"] else "mean cost of a row"


def price_name(contents: Contents) -> str:
    """What the price of a feature is called."""
    if not _by_row(contents):
        return "price"
    return "price, once and per row" if contents["prices"]["once"] else "price per row"


def in_unit(contents: Contents, name: str) -> str:
    """The title of an axis."""
    unit = contents["prices"]["unit"]
    return f"{name}, {unit}" if unit else name


def cost_text(contents: Contents) -> str:
    """What the chosen model costs, for the headline."""
    unit, chosen = contents["prices"]["unit"], contents["chosen"]
    of_unit = f" {unit}" if unit else ""
    if not _by_row(contents):
        return f" at a cost of {number_text(chosen['price'])}{of_unit}"
    of_a_row = f"{number_text(chosen['row_price'])}{of_unit}"
    if not contents["prices"]["once"]:
        return f" at a mean cost of {of_a_row} a row"
    return f" at a cost of {number_text(chosen['price'])}{of_unit}, of which a row pays {of_a_row} on average"


def note(contents: Contents) -> str | None:
    """Why the prices of the features do not add up to the cost; None where they do."""
    if not _by_row(contents):
        return None
    return "Prices per row are paid by the rows that look at a feature: the mean cost of a row is less than their sum."


def _by_row(contents: Contents) -> bool:
    return bool(contents["prices"].get("by_row"))  # runs of earlier versions lack it
