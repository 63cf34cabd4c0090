"""The charts of a report, in Vega-Lite through altair. Colours of text and lines are left to the page's theme."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from frugalboost.page.contents import Contents
from frugalboost.page.frontier import Across
from frugalboost.page.names import cropped, shortened
from frugalboost.page.prices import in_unit, price_name
from frugalboost.page.tradeoff import by_features, by_price
from frugalboost.page.vega import BLUE, GREEN, NUMBER, ORANGE, axis_format, data, library

Spec = dict[str, Any]
MOST_BARS = 25
ROW = 20  # height of a bar


def charts_of(contents: Contents) -> dict[str, Spec]:
    """All charts for which there is data, by name."""
    makers: dict[str, Callable[[Contents], Any]] = {
        "tradeoff": by_features,
        "price": by_price,
        "gains": gains,
        "slopes": slopes,
        "gain_price": gains_against_prices,
        "bags": bags,
        "tree": tree,
        "correlation": correlation,
        "target": target,
    }
    with library().utils.schemapi.debug_mode(False):  # altair would compare every part with its schema: half the time
        made = {name: maker(contents) for name, maker in makers.items()}
        return {name: chart.to_dict(validate=False) for name, chart in made.items() if chart is not None}


def few_ticks(largest: float = 100.0) -> Any:
    """An axis whose numbers have room; ``largest``: of them."""
    alt = library()
    return alt.Axis(tickCount=alt.ExprRef("ceil(width / 70)"), format=axis_format(largest))


def by_gain(contents: Contents) -> list[dict[str, Any]]:
    """The chosen features with their names, the largest gain first."""
    names, short = contents["names"], shortened(contents)
    rows = [
        {"feature": name, "short": short[name], "gain": f["gain"], "price": f["price"]}
        for f in contents["chosen"]["features"]
        for name in (names[f["name"]],)
    ]
    return sorted(rows, key=lambda row: -row["gain"])


def gains(contents: Contents) -> Any:
    """What share of all gains each chosen feature has."""
    alt = library()
    rows = by_gain(contents)[:MOST_BARS]
    if not rows:
        return None
    return (
        alt.Chart(data(rows))
        .mark_bar(color=BLUE)
        .encode(
            x=alt.X("gain:Q", title="share of all gains, %", axis=few_ticks()),
            y=alt.Y("short:N", title=None, sort=None, axis=alt.Axis(labelLimit=170)),
            tooltip=[
                alt.Tooltip("feature:N"),
                alt.Tooltip("gain:Q", format=".3~r"),
                alt.Tooltip("price:Q", format=NUMBER),
            ],
        )
        .properties(width="container", height=ROW * len(rows), description="Share of all gains of each chosen feature")
    )


def classes_of(contents: Contents) -> list[str]:
    """Names of the classes; none for numbers."""
    return [str(t["value"]) for t in contents["facts"]["target"] if "value" in t]


def slope_rows(contents: Contents) -> list[dict[str, Any]]:
    """A row for each feature that has lines, the steepest first; with more than two classes, one for each class."""
    classes, short = classes_of(contents), shortened(contents)
    found = []
    for f in contents["chosen"]["features"]:
        slope = f.get("slope")  # runs of earlier versions have none
        if slope is not None:
            several = isinstance(slope, list)
            own = zip(classes, slope, strict=True) if several else [("", slope)]
            name = contents["names"][f["name"]]
            own_rows = [{"class": c, "short class": short.get(c, c), "slope": s or 0.0} for c, s in own]
            found.append([{"feature": name, "short": short[name]} | row for row in own_rows])
    found.sort(key=lambda rows: -max(abs(row["slope"]) for row in rows))
    return [row for rows in found[:MOST_BARS] for row in rows]


def slopes(contents: Contents) -> Any:
    """The slope of each feature that has lines; of several classes as colours."""
    alt = library()
    rows = slope_rows(contents)
    if not rows:
        return None
    base = alt.Chart(data(rows)).encode(y=alt.Y("short:N", title=None, sort=None, axis=alt.Axis(labelLimit=170)))
    tips = [alt.Tooltip("feature:N"), alt.Tooltip("slope:Q", format="+,.3~r")]
    height = ROW * len({row["feature"] for row in rows})
    if rows[0]["class"]:
        height = max(3 * ROW, height)  # room for the legend
        most = max(abs(row["slope"]) for row in rows)
        colour = alt.Color("slope:Q", scale=alt.Scale(scheme="blueorange", domain=[-most, most]))
        across = alt.X("short class:N", title=None, sort=None, axis=alt.Axis(labelLimit=170, labelAngle=-50))
        made = base.mark_rect().encode(x=across, color=colour, tooltip=[*tips, alt.Tooltip("class:N")])
    else:
        falls = alt.condition("datum.slope < 0", alt.value(ORANGE), alt.value(BLUE))
        made = base.mark_bar().encode(
            x=alt.X("slope:Q", title="slope", axis=few_ticks(max(abs(row["slope"]) for row in rows))),
            color=falls,
            tooltip=tips,
        )
    return made.properties(width="container", height=height, description="The slope of each feature's lines")


def gains_against_prices(contents: Contents) -> Any:
    """Whether expensive features contribute more than cheap ones."""
    alt = library()
    rows = by_gain(contents)
    if len({row["price"] for row in rows}) < 2:
        return None
    paid = price_name(contents) if contents["prices"].get("by_row") else "price paid"
    across = Across([row["price"] for row in rows], whole=False)
    rows = named_where_free(rows, across)
    bend: dict[str, Any] = {"type": "symlog", "constant": across.unit} if across.bent else {"type": "linear"}
    base = alt.Chart(data(rows)).encode(
        x=alt.X(
            "price:Q",
            title=in_unit(contents, paid),
            scale=alt.Scale(domain=[0, across.most], range=[10, alt.ExprRef(f"width - {NAMED_WIDTH}")], **bend),
            axis=alt.Axis(
                values=across.ticks(), format=axis_format(across.most), labelOverlap="greedy", labelSeparation=5
            ),
        ),
        y=alt.Y(
            "gain:Q",
            title="share of all gains, %",
            scale=alt.Scale(type="symlog", domain=[0, 1.1 * rows[0]["gain"]]),
            axis=alt.Axis(values=[0, 1, 2, 5, 10, 20, 50, 100], labelOverlap="greedy"),
        ),
        tooltip=[alt.Tooltip("feature:N"), alt.Tooltip("gain:Q", format=".3~r"), alt.Tooltip("price:Q", format=NUMBER)],
    )
    points = base.mark_circle(color=BLUE, size=70)
    words = base.mark_text(align="left", dx=7, fontSize=11).encode(text="named:N")
    return alt.layer(points, words.transform_filter("datum.named !== ''")).properties(
        width="container", height=PRICES, description="Share of gains against the price paid, for each chosen feature"
    )


PRICES, NARROW, NAMED_WIDTH = 280, 150, 160  # height, least width of the points, and room for names, in pixels


def named_where_free(rows: list[dict[str, Any]], across: Across) -> list[dict[str, Any]]:
    """The rows with "named", which is empty where a name would touch one of a larger gain on a phone."""
    top, taken, found = math.log1p(1.1 * rows[0]["gain"]) or 1.0, list[tuple[float, float]](), []
    for row in rows:
        x, y = NARROW * across.share(row["price"]), PRICES * math.log1p(row["gain"]) / top
        free = all(abs(y - v) >= 15 or abs(x - u) > NAMED_WIDTH for u, v in taken)
        taken += [(x, y)] if free else []
        found.append(row | {"named": row["short"] if free else ""})
    return found


def bags(contents: Contents) -> Any:
    """What each owned bag contributes."""
    alt = library()
    short = shortened(contents)
    rows = [
        {**bag, "short": short[bag["name"]], "used": f"{bag['n_bought']} of {bag['n_features']}"}
        for bag in contents["bags"][: 2 * MOST_BARS]
    ]
    if not rows:
        return None
    return (
        alt.Chart(data(rows))
        .mark_bar(color=GREEN)
        .encode(
            x=alt.X("gain:Q", title="share of all gains, %", axis=few_ticks()),
            y=alt.Y("short:N", title=None, sort=None, axis=alt.Axis(labelLimit=170)),
            tooltip=[
                alt.Tooltip("name:N", title="bag"),
                alt.Tooltip("used:N", title="features used"),
                alt.Tooltip("price:Q", title="price", format=NUMBER),
                alt.Tooltip("gain:Q", format=".3~r"),
            ],
        )
        .properties(width="container", height=ROW * len(rows), description="Share of all gains of each owned bag")
    )


def tree(contents: Contents) -> Any:
    """The first tree, from left to right."""
    alt = library()
    nodes = {n["id"]: n for n in contents["tree"]}
    if not nodes:
        return None
    rows = [
        {
            "x": n["depth"],
            "y": n["y"],
            "label": n["text"] if n["leaf"] else f"{cropped(n['feature'])} {cropped(n['text'])}",
            "whole": n["text"] if n["leaf"] else f"{n['feature']} {n['text']}",
            "share": n["share"],
            "leaf": n["leaf"],
        }
        for n in nodes.values()
    ]
    edges = [edge for n in nodes.values() if n["parent"] is not None for edge in bent(nodes[n["parent"]], n)]
    deepest, leaves = max(row["x"] for row in rows), sum(row["leaf"] for row in rows)
    across = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-0.05, deepest + 0.55]))
    down = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[leaves - 0.4, -0.6]))
    lines = alt.Chart(data(edges)).encode(
        x=across,
        y=down,
        x2="x2:Q",
        y2="y2:Q",
        strokeDash=alt.StrokeDash("side:N", scale=alt.Scale(domain=["yes", "no"], range=[[1, 0], [4, 3]]), legend=None),
    )
    tips = [
        alt.Tooltip("whole:N", title="node"),
        alt.Tooltip("share:Q", title="share of rows", format=".1%"),
    ]
    dots = alt.Chart(data(rows)).encode(
        x=across,
        y=down,
        size=alt.Size("share:Q", scale=alt.Scale(domain=[0, 1], range=[20, 220]), legend=None),
        color=alt.Color("leaf:N", scale=alt.Scale(domain=[False, True], range=[BLUE, GREEN]), legend=None),
        tooltip=tips,
    )
    words = (
        alt.Chart(data(rows)).mark_text(align="left", dx=8, dy=-9, fontSize=11).encode(x=across, y=down, text="label:N")
    )
    return alt.layer(lines.mark_rule(color="#888888"), dots.mark_circle(opacity=1), words).properties(
        width=190 * (deepest + 1), height=max(120, 40 * leaves), description="The first tree of the model"
    )


def bent(parent: dict[str, Any], child: dict[str, Any]) -> list[dict[str, Any]]:
    """An edge in two pieces, up or down and then across, which leaves room for words."""
    x, x2, side = parent["depth"], child["depth"], child["side"]
    return [
        {"x": x, "y": parent["y"], "x2": x, "y2": child["y"], "side": side},
        {"x": x, "y": child["y"], "x2": x2, "y2": child["y"], "side": side},
    ]


def correlation(contents: Contents) -> Any:
    """Rank correlations among chosen features."""
    alt = library()
    names, matrix = contents["relations"]["names"], contents["relations"]["correlation"]
    if len(names) < 2:
        return None
    short = shortened(contents)
    rows = [
        {"a": a, "b": b, "short a": short[a], "short b": short[b], "r": matrix[i][j]}
        for i, a in enumerate(names)
        for j, b in enumerate(names)
    ]
    labels = alt.Axis(labelLimit=170, title=None)
    base = alt.Chart(data(rows)).encode(
        x=alt.X("short b:N", sort=None, axis=alt.Axis(labelLimit=170, title=None, labelAngle=-50)),
        y=alt.Y("short a:N", sort=None, axis=labels),
        tooltip=[alt.Tooltip("a:N", title=" "), alt.Tooltip("b:N", title="  "), alt.Tooltip("r:Q", format=".2f")],
    )
    legend = alt.Legend(orient="top", direction="horizontal", gradientLength=120, values=[-1, 0, 1])
    scale = alt.Scale(scheme="blueorange", domain=[-1, 1])
    colour = alt.Color("r:Q", title="rank correlation", scale=scale, legend=legend)
    layers = [base.mark_rect().encode(color=colour)]
    if len(names) <= 12:
        dark = alt.condition("abs(datum.r) > 0.6", alt.value("white"), alt.value("#222222"))
        layers.append(base.mark_text(fontSize=10).encode(text=alt.Text("r:Q", format=".2f"), color=dark))
    side = 34 if len(names) <= 12 else 22
    return alt.layer(*layers).properties(
        width=side * len(names), height=side * len(names), description="Rank correlations among the chosen features"
    )


def target(contents: Contents) -> Any:
    """How the target is distributed."""
    alt = library()
    rows = contents["facts"]["target"]
    if not rows:
        return None
    about = "How many rows have which target"
    if "value" in rows[0]:
        short = shortened(contents)
        shown = [
            row | {"short": short[str(row["value"])]} for row in sorted(rows, key=lambda r: -r["rows"])[:MOST_BARS]
        ]
        bars = (
            alt.Chart(data(shown))
            .mark_bar(color=BLUE)
            .encode(
                x=alt.X("rows:Q", title="rows", axis=few_ticks()),
                y=alt.Y("short:N", title=None, sort=None, axis=alt.Axis(labelLimit=170)),
                tooltip=["value:N", "rows:Q"],
            )
        )
        return bars.properties(width="container", height=ROW * len(shown), description=about)
    bars = (
        alt.Chart(data(rows))
        .mark_bar(color=BLUE)
        .encode(
            x=alt.X("from:Q", bin=alt.Bin(binned=True), title=contents["about"].get("target", "target")),
            x2="to:Q",
            y=alt.Y("rows:Q", title="rows"),
            tooltip=[alt.Tooltip("from:Q", format=NUMBER), alt.Tooltip("to:Q", format=NUMBER), "rows:Q"],
        )
    )
    return bars.properties(width="container", height=160, description=about)
