"""The charts of a report, in Vega-Lite through altair. Colours of text and lines are left to the page's theme."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from frugalboost.page.contents import Contents
from frugalboost.page.stops import start_of, stops_of

Spec = dict[str, Any]
BLUE, ORANGE, GREEN = "#3b7cb8", "#d5642a", "#2a9273"  # readable on white and on black, and to the colour-blind
MOST_BARS = 25
ROW = 20  # height of a bar
NUMBER = ",.4~r"  # four digits, separators between thousands, no exponent


def library() -> Any:
    """altair, or an error that says how to install it."""
    try:
        import altair
    except ImportError:
        raise ImportError("Reports need altair and vl-convert-python: pip install 'frugalboost[report]'.") from None
    return altair


def charts_of(contents: Contents) -> dict[str, Spec]:
    """All charts for which there is data, by name."""
    makers: dict[str, Callable[[Contents], Any]] = {
        "tradeoff": tradeoff,
        "price": tradeoff_by_price,
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


def data(rows: list[dict[str, Any]]) -> Any:
    """Data embedded in the chart. Lists would be copied at every step of making it."""
    return library().Data(values=tuple(rows))


def tradeoff(contents: Contents) -> Any:
    """Error against number of features."""
    return curve(contents, "n_features", "features")


def tradeoff_by_price(contents: Contents) -> Any:
    """Error against cost, if that is not simply the number of features."""
    if not contents["prices"]["differ"]:
        return None
    unit = contents["prices"]["unit"]
    return curve(contents, "price", f"cost, {unit}" if unit else "cost")


def curve(contents: Contents, x: str, x_title: str) -> Any:
    """The path with a band of one standard error; the chosen model, and the model of the slider."""
    alt = library()
    measure = contents["measure"]
    title = f"{measure['title']}{',' if measure['unit'] else ''}{measure['unit']}"
    shown = curve_rows(contents, x)
    rows = [row for row in shown if row["on_path"]]
    if not rows:
        return None
    tested = rows[0]["test"] is not None
    most = max(row["x"] for row in shown)
    scale = alt.Scale(type="symlog", constant=1) if most > 30 else alt.Scale(zero=False, nice=True)
    every = max(1, round(most / 15))
    marks = {"values": list(range(0, int(most) + 1, every))} if most <= 30 else {}
    whole = alt.Axis(format="d", **marks) if x == "n_features" else alt.Axis()
    across = alt.X("x:Q", title=x_title, scale=scale, axis=whole)
    height = alt.Scale(type="log", nice=False) if spans_much(rows) else alt.Scale(zero=False)
    up = alt.Y("error:Q", title=title, scale=height)
    tips = [
        alt.Tooltip("value:Q", title="mu" if contents["parameter"] == "mu" else "features wanted", format=".3~r"),
        alt.Tooltip("features:Q", title="features"),
        alt.Tooltip("price:Q", title="cost", format=NUMBER),
        alt.Tooltip("error:Q", title=measure["title"], format=NUMBER),
        *([alt.Tooltip("test:Q", title="on the test rows", format=NUMBER)] if tested else []),
    ]
    base = alt.Chart(data(rows))
    at = alt.param(name="at", value=start_of(stops_of(contents)))
    layers = [
        base.mark_area(opacity=0.18, color=BLUE).encode(
            x=across, y=alt.Y("low:Q", title=title, scale=height), y2="high:Q"
        ),
        base.mark_line(color=BLUE).encode(x=across, y=up, order="i:Q"),
    ]
    if tested:
        dashed = base.mark_line(color=GREEN, strokeDash=[4, 3])
        layers.append(dashed.encode(x=across, y=alt.Y("test:Q", title=title, scale=height), order="i:Q"))
    layers += [
        base.mark_point(color=BLUE, filled=True, size=60).encode(x=across, y=up, tooltip=tips),
        alt.Chart(data([chosen_row(contents, x, shown)]))
        .mark_point(color=ORANGE, filled=True, size=170, shape="diamond", tooltip={"content": "data"})
        .encode(x=across, y=up, tooltip=[alt.Tooltip("error:Q", title="chosen", format=NUMBER)]),
        alt.Chart(data(shown))
        .mark_point(color=ORANGE, size=260, strokeWidth=2.5, filled=False)
        .encode(x=across, y=up, tooltip=tips)
        .transform_filter("datum.i == at"),
    ]
    words = f"{measure['title']} against {x_title}: {len(rows)} models, the chosen one marked"
    return alt.layer(*layers).add_params(at).properties(width="container", height=300, description=words)


def curve_rows(contents: Contents, x: str) -> list[dict[str, Any]]:
    """The models of the slider that have an error, each with its band; if there is one, those with its features."""
    stops = stops_of(contents)
    if len(stops) == 1:
        return first_features(contents, x)
    return [
        {
            "i": i,
            "on_path": p["on_path"],
            "x": p[x],
            "error": p["error"],
            "low": lowest(p["error"], p["spread"] or 0.0),
            "high": p["error"] + (p["spread"] or 0.0),
            "test": p["test_error"],
            "value": p["value"],
            "features": p["n_features"],
            "price": p["price"],
        }
        for i, p in enumerate(stops)
        if p["error"] is not None
    ]


def chosen_row(contents: Contents, x: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The chosen model in a chart; a click on it moves the slider there."""
    chosen, at = contents["chosen"], start_of(stops_of(contents))
    place = {"x": chosen[x], "error": chosen["error"]}
    return place | ({"i": at} if any(row["i"] == at for row in rows) else {})


def first_features(contents: Contents, x: str) -> list[dict[str, Any]]:
    """Models with the first of the chosen features, as far as their errors are known, and the chosen one itself."""
    chosen, rows, paid = contents["chosen"], [], 0.0
    for k, feature in enumerate(chosen["features"], start=1):
        paid += feature["price"]
        if feature["error"] is not None:
            rows.append({"features": k, "price": paid, "error": feature["error"], "test": feature["test_error"]})
    if not rows and chosen["error"] is not None:
        own = {"features": chosen["n_features"], "price": chosen["price"]}
        rows.append(own | {"error": chosen["error"], "test": chosen["test_error"]})
    place = "features" if x == "n_features" else "price"
    return [
        row | {"i": i, "on_path": True, "x": row[place], "low": row["error"], "high": row["error"], "value": None}
        for i, row in enumerate(rows, start=1)  # the slider is at 0, which is none of them
    ]


def lowest(error: float, spread: float) -> float:
    """The lower end of a band; positive if the error is, for a logarithmic axis."""
    return max(error - spread, 0.1 * error) if error > 0 else error - spread


def spans_much(rows: list[dict[str, Any]]) -> bool:
    """Whether errors differ so much that a logarithmic axis is better; it can't show zero."""
    errors = [row[name] for row in rows for name in ("error", "test") if row[name] is not None]
    return bool(errors) and min(errors) > 0 and max(errors) > 3 * min(errors)


def by_gain(contents: Contents) -> list[dict[str, Any]]:
    """The chosen features with their names, the largest gain first."""
    names = contents["names"]
    rows = [
        {"feature": names[f["name"]], "gain": f["gain"], "price": f["price"]} for f in contents["chosen"]["features"]
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
            x=alt.X("gain:Q", title="share of all gains, %"),
            y=alt.Y("feature:N", title=None, sort=None, axis=alt.Axis(labelLimit=170)),
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
    classes = classes_of(contents)
    found = []
    for f in contents["chosen"]["features"]:
        slope = f.get("slope")  # runs of earlier versions have none
        if slope is not None:
            several = isinstance(slope, list)
            own = zip(classes, slope, strict=True) if several else [("", slope)]
            found.append([{"feature": contents["names"][f["name"]], "class": c, "slope": s or 0.0} for c, s in own])
    found.sort(key=lambda rows: -max(abs(row["slope"]) for row in rows))
    return [row for rows in found[:MOST_BARS] for row in rows]


def slopes(contents: Contents) -> Any:
    """The slope of each feature that has lines; of several classes as colours."""
    alt = library()
    rows = slope_rows(contents)
    if not rows:
        return None
    base = alt.Chart(data(rows)).encode(y=alt.Y("feature:N", title=None, sort=None, axis=alt.Axis(labelLimit=170)))
    tips = [alt.Tooltip("feature:N"), alt.Tooltip("slope:Q", format="+,.3~r")]
    height = ROW * len({row["feature"] for row in rows})
    if rows[0]["class"]:
        height = max(3 * ROW, height)  # room for the legend
        most = max(abs(row["slope"]) for row in rows)
        colour = alt.Color("slope:Q", scale=alt.Scale(scheme="blueorange", domain=[-most, most]))
        across = alt.X("class:N", title=None, sort=None, axis=alt.Axis(labelLimit=90, labelAngle=-50))
        made = base.mark_rect().encode(x=across, color=colour, tooltip=[*tips, alt.Tooltip("class:N")])
    else:
        falls = alt.condition("datum.slope < 0", alt.value(ORANGE), alt.value(BLUE))
        made = base.mark_bar().encode(x=alt.X("slope:Q", title="slope"), color=falls, tooltip=tips)
    return made.properties(width="container", height=height, description="The slope of each feature's lines")


def gains_against_prices(contents: Contents) -> Any:
    """Whether expensive features contribute more than cheap ones."""
    alt = library()
    rows = by_gain(contents)
    if len({row["price"] for row in rows}) < 2:
        return None
    unit = contents["prices"]["unit"]
    base = alt.Chart(data(rows)).encode(
        x=alt.X(
            "price:Q", title=f"price paid, {unit}" if unit else "price paid", scale=alt.Scale(type="symlog", padding=40)
        ),
        y=alt.Y("gain:Q", title="share of all gains, %", scale=alt.Scale(type="symlog")),
        tooltip=[alt.Tooltip("feature:N"), alt.Tooltip("gain:Q", format=".3~r"), alt.Tooltip("price:Q", format=NUMBER)],
    )
    points = base.mark_circle(color=BLUE, size=70)
    words = base.mark_text(align="left", dx=7, fontSize=11, limit=140).encode(text="feature:N")
    named = words.transform_window(rank="rank()", sort=[alt.SortField("gain", order="descending")])
    named = named.transform_filter("datum.rank <= 12")
    return alt.layer(points, named).properties(
        width="container", height=280, description="Share of gains against the price paid, for each chosen feature"
    )


def bags(contents: Contents) -> Any:
    """What each owned bag contributes."""
    alt = library()
    rows = [{**bag, "used": f"{bag['n_bought']} of {bag['n_features']}"} for bag in contents["bags"][: 2 * MOST_BARS]]
    if not rows:
        return None
    return (
        alt.Chart(data(rows))
        .mark_bar(color=GREEN)
        .encode(
            x=alt.X("gain:Q", title="share of all gains, %"),
            y=alt.Y("name:N", title=None, sort=None, axis=alt.Axis(labelLimit=170)),
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
        strokeDash=alt.StrokeDash(
            "side:N", scale=alt.Scale(domain=["yes", "no"], range=[[1, 0], [4, 3]]), legend=alt.Legend(title=None)
        ),
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


def cropped(text: str, most: int = 20) -> str:
    """A name shortened in the middle."""
    return text if len(text) <= most else f"{text[: most // 2]}…{text[-(most // 2 - 1) :]}"


def correlation(contents: Contents) -> Any:
    """Rank correlations among chosen features."""
    alt = library()
    names, matrix = contents["relations"]["names"], contents["relations"]["correlation"]
    if len(names) < 2:
        return None
    rows = [{"a": a, "b": b, "r": matrix[i][j]} for i, a in enumerate(names) for j, b in enumerate(names)]
    labels = alt.Axis(labelLimit=130, title=None)
    base = alt.Chart(data(rows)).encode(
        x=alt.X("b:N", sort=None, axis=alt.Axis(labelLimit=130, title=None, labelAngle=-50)),
        y=alt.Y("a:N", sort=None, axis=labels),
        tooltip=[alt.Tooltip("a:N", title=" "), alt.Tooltip("b:N", title="  "), alt.Tooltip("r:Q", format=".2f")],
    )
    colour = alt.Color("r:Q", title="rank correlation", scale=alt.Scale(scheme="blueorange", domain=[-1, 1]))
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
        shown = sorted(rows, key=lambda r: -r["rows"])[:MOST_BARS]
        bars = (
            alt.Chart(data(shown))
            .mark_bar(color=BLUE)
            .encode(
                x=alt.X("rows:Q", title="rows"),
                y=alt.Y("value:N", title=None, sort=None, axis=alt.Axis(labelLimit=170)),
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
