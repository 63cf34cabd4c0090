"""The main chart of a report: the lowest error at each number of features, with the names of its lines beside them."""

from __future__ import annotations

import math
from typing import Any

from frugalboost.page.contents import Contents
from frugalboost.page.frontier import Across, Row, Upwards, chosen_of, models_of, spread_out, stairs
from frugalboost.page.prices import cost_name, in_unit
from frugalboost.page.stops import start_of, stops_of
from frugalboost.page.vega import LARGE, LARGEST, NUMBER, SMALL, axis_format, data, library
from frugalboost.page.words import number_text

HEIGHT, ABOVE, BELOW = 300, 10, 44  # of the chart, and room above and below the errors, in pixels
LETTER, LINE = 7.5, 14  # pixels of a letter, where fonts are wide, and of a line of text
ENDS = 14  # from the right edge to the names
# Colours of lines and words on white and on black paper, and how lines are dashed.
LOOKS = {
    "best": ("#2b6ca8", "#79b3e8", [1, 0]),
    "test": ("#1e7058", "#58c2a1", [5, 3]),
    "all": ("#5d5d66", "#b0b0b8", [6, 4]),
    "constant": ("#5d5d66", "#b0b0b8", [2, 3]),
    "chosen": ("#b4451a", "#f0925f", [1, 0]),
}


def by_features(contents: Contents) -> Any:
    """Error against number of features."""
    return made(contents, "n_features", "features")


def by_price(contents: Contents) -> Any:
    """Error against cost, if that is not simply the number of features."""
    if not contents["prices"]["differ"]:
        return None
    if contents["prices"].get("by_row") and len(stops_of(contents)) == 1:
        return None  # what a row pays on average is known for the chosen model alone
    return made(contents, "price", in_unit(contents, cost_name(contents)))


def made(contents: Contents, x: str, x_title: str) -> Any:
    """All layers of the chart."""
    rows = models_of(contents, x)
    if not rows:
        return None
    chosen, ends = chosen_of(contents, x), ends_of(contents, rows)
    across = Across([row["x"] for row in (*rows, chosen)], whole=x == "n_features")
    upwards = Upwards([*errors_of(rows), *(end["error"] for end in ends), chosen["low"], chosen["high"]], *SIZES)
    return Drawing(contents, across, upwards, x_title).chart(rows, chosen, ends)


SIZES = (HEIGHT, ABOVE, BELOW)


def errors_of(rows: list[Row]) -> list[float]:
    """All errors that are shown as points."""
    return [row[name] for row in rows for name in ("error", "test") if row[name] is not None]


def ends_of(contents: Contents, rows: list[Row]) -> list[Row]:
    """The lines that have names at the right edge, with their errors there."""
    constant, free = contents["constant_error"], contents.get("all_features")  # earlier runs lack the latter
    n, last = contents["facts"]["n_features"], stairs(contents, rows)[-1]
    found = [("best", "best so far", last["error"], "The lowest error of all models up to there")]
    if last["test"] is not None:
        found.append(("test", "on test rows", last["test"], "The model with the lowest error so far, on the test rows"))
    if free is not None and free["error"] is not None:
        tip = (
            f"Without prices: any feature may be used, and {free['mean_features']:.1f} are, on average over the splits"
        )
        found.append(("all", f"all {n:,} features" if n > 1 else "the feature", free["error"], tip))
    if constant is not None:
        found.append(("constant", "a constant", constant, "The same prediction for all rows"))
    return [{"line": line, "name": name, "error": error, "tip": tip} for line, name, error, tip in found]


def words_of(contents: Contents, error: float) -> str:
    """An error with its unit, as short as can be."""
    unit = contents["measure"]["unit"]
    if unit:
        return f"{error:.1f}{unit}"
    if not LARGE <= abs(error) < LARGEST:
        return number_text(error) if SMALL <= abs(error) < LARGE or error == 0 else f"{error:.2e}"
    power = math.floor(math.log10(abs(error)) / 3)
    return f"{error / 1000.0**power:.3g}{' kMGTP'[power]}"


def shade(line: str) -> Any:
    """The colour of a line on this paper."""
    light, dark, _ = LOOKS[line]
    return library().ExprRef(f"dark ? '{dark}' : '{light}'")


class Drawing:
    """Layers that share their axes."""

    def __init__(self, contents: Contents, across: Across, upwards: Upwards, x_title: str) -> None:
        alt = library()
        self.contents, self.across, self.upwards, self.x_title = contents, across, upwards, x_title
        measure = contents["measure"]
        self.title = f"{measure['title']}{',' if measure['unit'] else ''}{measure['unit']}"
        bend: dict[str, Any] = {"type": "symlog", "constant": across.unit} if across.bent else {"type": "linear"}
        numbers = ("d" if across.most < 1000 else ",d") if across.whole else axis_format(across.most)
        self.x = alt.X(
            "x:Q",
            title=x_title,
            scale=alt.Scale(domain=[0, across.most], nice=False, zero=False, padding=0, **bend),
            axis=alt.Axis(values=across.ticks(), format=numbers, labelOverlap="greedy", labelSeparation=5, grid=False),
        )
        kind: dict[str, Any] = {"type": "log"} if upwards.bent else {"type": "linear", "zero": False}
        self.y_scale = alt.Scale(domain=upwards.domain, nice=False, **kind)
        self.y_axis = alt.Axis(
            values=upwards.ticks(), format=axis_format(max(map(abs, upwards.domain))), labelOverlap=False
        )
        unit = ",.1f" if measure["unit"] else NUMBER
        self.tips = [
            alt.Tooltip("value:Q", title="mu" if contents["parameter"] == "mu" else "features wanted", format=".3~r"),
            alt.Tooltip("features:Q", title="features"),
            alt.Tooltip("mean:Q", title="in the splits, mean", format=".3~r"),
            alt.Tooltip("price:Q", title=cost_name(contents), format=NUMBER),
            alt.Tooltip("error:Q", title=self.title, format=unit),
        ]
        if contents["chosen"]["test_error"] is not None:
            self.tips.append(alt.Tooltip("test:Q", title="on the test rows", format=unit))

    def chart(self, rows: list[Row], chosen: Row, ends: list[Row]) -> Any:
        """The whole chart."""
        alt = library()
        at = alt.param(name="at", value=start_of(stops_of(self.contents)))
        dark = alt.param(name="dark", value=False)  # the page says on which paper it is
        layers = [
            *(self.level(end) for end in ends if end["line"] in ("all", "constant")),
            self.points([row for row in rows if not row["best"]], "others", size=30, opacity=0.35),
            *self.lines(rows),
            self.points([row for row in rows if row["best"]], "best", size=50, opacity=1),
            *self.of_chosen(chosen),
            self.ring(rows),
            *self.names(ends),
        ]
        about = f"{self.title} against {self.x_title}: {len(rows)} models, the chosen one marked"
        title = alt.TitleParams(self.title, anchor="start", frame="bounds", fontSize=12, fontWeight=500, offset=8)
        return (
            alt.layer(*layers)
            .add_params(at, dark)
            .properties(
                width="container",
                height=HEIGHT,
                title=title,
                description=about,
                padding={"left": 2, "top": 5, "bottom": 5, "right": 4},
            )
        )

    def up(self, field: str = "error") -> Any:
        """The vertical position by a field."""
        return library().Y(f"{field}:Q", title=None, scale=self.y_scale, axis=self.y_axis)

    def level(self, end: Row) -> Any:
        """A line across at one error."""
        base = library().Chart(data([end]), name=end["line"])
        return base.mark_rule(color=shade(end["line"]), strokeDash=LOOKS[end["line"]][2]).encode(y=self.up())

    def points(self, rows: list[Row], name: str, **look: Any) -> Any:
        """Some of the models."""
        base = library().Chart(data(rows), name=name)
        return base.mark_point(color=shade("best"), filled=True, **look).encode(
            x=self.x, y=self.up(), tooltip=self.tips
        )

    def lines(self, rows: list[Row]) -> list[Any]:
        """The lowest error so far, and that of the same models on the test rows."""
        corners = stairs(self.contents, rows)
        tested = [corner for corner in corners if corner["test"] is not None]
        found = []
        for name, own, field in (("test", tested, "test"), ("best", corners, "error")):
            look = {"color": shade(name), "strokeDash": LOOKS[name][2], "strokeWidth": 2 if name == "best" else 1.5}
            base = library().Chart(data(own), name=f"line_{name}")
            marks = base.mark_line(interpolate="step-after", **look)
            found.append(marks.encode(x=self.x, y=self.up(field), order="x:Q"))
        return found if tested else found[1:]

    def of_chosen(self, chosen: Row) -> list[Any]:
        """The chosen model: its standard error, a mark, and what it is, where there is room."""
        alt, own = library(), data([chosen])
        words = [f"chosen: {words_of(self.contents, chosen['error'])}"]
        words.append(f"{chosen['features']:,} feature{'' if chosen['features'] == 1 else 's'}")
        room, share = LETTER * max(map(len, words)) + 12, self.across.share(chosen["x"])
        # Below and left of a lowest error there are no models. Near the left edge the words stand above and right of
        # it, and where neither side has room, below its standard error.
        left, right = f"{share:.4f} * width > {room:.0f}", f"{1 - share:.4f} * width > {room:.0f}"
        side = f"({left} && ({share:.4f} > 0.5 || !({right})) ? 'left' : {right} ? 'right' : 'below')"
        place = self.upwards.place(chosen["error"])
        inside = f"clamp({share:.4f} * width, {room / 2:.0f}, width - {room / 2:.0f}) - {share:.4f} * width"
        below = self.upwards.place(chosen["low"]) - place + 6
        above = -7 - LINE if place > 2.5 * LINE else 4  # beside it where there is no room above
        look: dict[str, Any] = {
            "lineBreak": "\n",
            "lineHeight": LINE,
            "fontSize": 12,
            "fontWeight": 600,
            "baseline": "top",
            "align": alt.ExprRef(f"{{left: 'right', right: 'left', below: 'center'}}[{side}]"),
            "dx": alt.ExprRef(f"{{left: -11, right: 11, below: {inside}}}[{side}]"),
            "dy": alt.ExprRef(f"{{left: 7, right: {above - LINE}, below: {below:.1f}}}[{side}]"),
        }
        where = {"x": self.x, "y": self.up(), "text": alt.value("\n".join(words))}
        paper = alt.ExprRef("dark ? '#16161a' : '#ffffff'")
        tip = [alt.Tooltip("error:Q", title="chosen", format=NUMBER)]
        return [
            alt.Chart(own, name="whisker")
            .mark_rule(color=shade("chosen"), strokeWidth=2.5, strokeCap="round")
            .encode(x=self.x, y=self.up("low"), y2="high:Q"),
            alt.Chart(own, name="chosen")
            .mark_point(color=shade("chosen"), filled=True, size=170, shape="diamond", opacity=1)
            .encode(x=self.x, y=self.up(), tooltip=tip),
            alt.Chart(own, name="halo")
            .mark_text(stroke=paper, strokeWidth=4, strokeJoin="round", color=paper, **look)
            .encode(**where),
            alt.Chart(own, name="label_chosen").mark_text(color=shade("chosen"), **look).encode(**where),
        ]

    def ring(self, rows: list[Row]) -> Any:
        """Around the model of the slider."""
        base = library().Chart(data(rows), name="ring")
        marks = base.mark_point(color=shade("chosen"), size=300, strokeWidth=2.5, filled=False, opacity=1)
        return marks.encode(x=self.x, y=self.up(), tooltip=self.tips).transform_filter("datum.i === at")

    def names(self, ends: list[Row]) -> list[Any]:
        """Names of the lines, at their right ends, moved apart where they would touch."""
        alt, found = library(), []
        ends = sorted(ends, key=lambda end: self.upwards.place(end["error"]))
        places = [self.upwards.place(end["error"]) for end in ends]
        gap = 2 * LINE + 4
        apart = spread_out(places, gap, LINE, HEIGHT - LINE)
        for end, place, moved in zip(ends, places, apart, strict=True):
            line = end["line"]
            look = {"color": shade(line), "tooltip": end["tip"]}
            base = alt.Chart(data([{}]))
            found.append(
                base.properties(name=f"leader_{line}")
                .mark_rule(color=shade(line), opacity=0.6)
                .encode(
                    x=alt.value(alt.ExprRef("width")),
                    x2=alt.value(alt.ExprRef(f"width + {ENDS - 4}")),
                    y=alt.value(place),
                    y2=alt.value(moved),
                )
            )
            words = f"{end['name']}\n{words_of(self.contents, end['error'])}"
            text = base.properties(name=f"label_{line}").mark_text(
                align="left", baseline="middle", dy=-LINE / 2, lineBreak="\n", lineHeight=LINE, fontSize=12, **look
            )
            found.append(
                text.encode(x=alt.value(alt.ExprRef(f"width + {ENDS - 2}")), y=alt.value(moved), text=alt.value(words))
            )
        return found
