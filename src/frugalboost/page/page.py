"""From contents to one HTML file that needs nothing else."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from frugalboost.page.charts import Spec, charts_of, classes_of
from frugalboost.page.contents import Contents
from frugalboost.page.details import NOT_EMBEDDED, details_of
from frugalboost.page.names import cut_names, ends_of_name
from frugalboost.page.prices import cost_name, cost_text, note, price_name
from frugalboost.page.stops import start_of, stops_of
from frugalboost.page.words import number_text, slope_text

MOST_ROWS = 200  # of a table on the page; selected.csv has all


def page_of(contents: Contents) -> str:
    """Return the page.

    Parameters
    ----------
    contents : dict
        Of a report.

    Returns
    -------
    str
        HTML. Everything that came from data is escaped.
    """
    charts, stops = charts_of(contents), stops_of(contents)
    from jinja2 import Environment
    from markupsafe import Markup

    def figure(name: str, caption: str) -> Markup:
        if name not in charts:
            return Markup("")
        frame = '<div class="scroll"><div class="chart" id="chart-{}"></div></div><figcaption>{}</figcaption>'
        return Markup(f"<figure>{frame}</figure>").format(name, caption)

    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    page: str = environment.from_string(static("page.html")).render(
        c=contents,
        charts=charts,
        stops=stops,
        start=start_of(stops),
        figure=figure,
        error=lambda value: error_text(contents, value),
        number=number_text,
        cost_name=cost_name(contents),
        price_name=price_name(contents),
        about_prices=note(contents),
        ends=ends_of_name,
        slope=lambda feature: slope_text(feature.get("slope"), classes_of(contents)),
        made_of=made_of_text(contents),
        last_step=last_step_text(contents),
        lead=lead(contents),
        correction=correction(contents),
        about=about(contents),
        most=MOST_ROWS,
        details={name: Markup(text) for name, text in details_of(contents, environment, static, MOST_ROWS).items()},
        style=Markup(static("style.css") + static("details.css")),
        script=Markup(static("page.js")),
        bundle=Markup(bundle()),
        embedded=Markup(embedded(contents, charts)),
    )
    return page


def static(name: str) -> str:
    """A file that lies beside this module."""
    return files("frugalboost.page").joinpath("static", name).read_text(encoding="utf-8")


@cache
def bundle() -> str:
    """Vega, Vega-Lite and what puts them into a page, as one script."""
    try:
        import vl_convert as drawing
    except ImportError:
        raise ImportError("Reports need altair and vl-convert-python: pip install 'frugalboost[report]'.") from None
    maker: Any = drawing
    script: str = maker.javascript_bundle()
    return "(() => {" + script.replace("</script", "<\\/script") + "})();"


def embedded(contents: Contents, charts: dict[str, Spec]) -> str:
    """Contents and charts as JSON in which nothing can end the script or begin a tag."""
    rest = {name: value for name, value in contents.items() if name not in NOT_EMBEDDED}
    stops = [stop | {"said": said_of(contents, stop)} for stop in stops_of(contents)]
    shown = {**rest, "charts": charts, "stops": stops, "cut": cut_names(contents)}
    text = json.dumps(shown, ensure_ascii=True, allow_nan=False, default=float)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def error_text(contents: Contents, value: float | None) -> str:
    """An error with its unit."""
    if value is None:
        return "-"
    return f"{value:.1f}{contents['measure']['unit']}" if contents["measure"]["unit"] else number_text(value)


def lead(contents: Contents) -> str:
    """The result in one sentence."""
    chosen, facts, measure = contents["chosen"], contents["facts"], contents["measure"]
    price = cost_text(contents) if contents["prices"]["differ"] else ""
    constant = contents["constant_error"]
    beside = [] if constant is None else [f"a constant: {error_text(contents, constant)}"]
    if chosen.get("expected_error") is None:  # runs of earlier versions lack it
        error = f"{error_text(contents, chosen['error'])} ± {error_text(contents, chosen['spread'])}"
    else:
        error = f"on new rows about {error_text(contents, chosen['expected_error'])}"
        beside = [f"95 % interval {interval_text(contents)}", *beside]
    around = f" ({'; '.join(beside)})" if beside else ""
    plural = "" if facts["n_features"] == 1 else "s"
    return (
        f"{chosen['n_features']} of {facts['n_features']:,} feature{plural}{price}: {measure['title']} {error}{around}."
    )


def interval_text(contents: Contents) -> str:
    """The ends of the interval of the chosen model's error."""
    chosen, unit = contents["chosen"], contents["measure"]["unit"]
    low, high = (error_text(contents, chosen[name]) for name in ("expected_low", "expected_high"))
    return f"{low.removesuffix(unit) if unit else low} to {high}"


def correction(contents: Contents) -> str:
    """How the error in the lead was found."""
    chosen = contents["chosen"]
    if chosen.get("expected_error") is None:
        return ""
    own, corrected = error_text(contents, chosen["error"]), error_text(contents, chosen["expected_error"])
    holds = "About 95 of 100 such intervals hold the error on new rows."
    if chosen["candidates"] == 1:
        return f"{own} is its mean over the splits. {holds}"
    return (
        f"Its mean over the splits is {own}, but the best of {chosen['candidates']:,} models owes part of that to "
        f"chance: when the choice is repeated on drawn rows and judged on the others, it is {corrected}. {holds}"
    )


def last_step_text(contents: Contents) -> str:
    """Why the errors with all features differ from those of the chosen model; nothing where they do not."""
    chosen = contents["chosen"]
    if not chosen["features"]:
        return ""
    last = chosen["features"][-1]
    pairs = ((last["error"], chosen["error"]), (last["test_error"], chosen["test_error"]))
    if all(error_text(contents, step) == error_text(contents, own) for step, own in pairs):
        return ""
    title = contents["measure"]["title"]
    why = "these models are fitted anew on the features alone, at no price, without selling back"
    return f"The last {title} so far need not be that of the chosen model: {why}."


def made_of_text(contents: Contents) -> str:
    """What the chosen model adds up, where it has lines."""
    parts = contents.get("made_of")  # runs of earlier versions lack it
    if not parts or not parts["lines"]:
        return ""
    classes = classes_of(contents)
    whose = "" if not classes else f" of class {classes[1]}" if len(classes) == 2 else " of a class, here the steepest,"
    return (
        f"The model adds up {parts['words']}. Slope: by how much the raw prediction{whose} rises with the score of the "
        "feature, which has mean 0 and standard deviation 1; below zero it falls."
    )


def about(contents: Contents) -> list[tuple[str, Any]]:
    """What is said about the data, in pairs."""
    facts = contents["facts"]
    categories = f", {facts['n_categorical']:,} of them categories" if facts["n_categorical"] else ""
    rest = {k: v for k, v in contents["about"].items() if v not in (None, "", [])}
    return [
        *((k.replace("_", " "), ", ".join(map(str, v)) if isinstance(v, list) else v) for k, v in rest.items()),
        ("rows", f"{facts['n_rows']:,}"),
        ("features", f"{facts['n_features']:,}{categories}"),
        ("missing", f"{facts['missing']:.2%} of all cells" if facts["missing"] else "nothing"),
    ]


def said_of(contents: Contents, stop: dict[str, Any]) -> str:
    """A model of the slider in words, with the numbers of the headline."""
    n, unit, measure = stop["n_features"], contents["prices"]["unit"], contents["measure"]
    mu = f"mu = {number_text(stop['value'], 3)}: " if contents["parameter"] == "mu" and stop["on_path"] else ""
    price = f", {cost_name(contents)} {number_text(stop['price'])}{f' {unit}' if unit else ''}"
    price = price if contents["prices"]["differ"] else ""
    error = f"{measure['title']} {error_text(contents, stop['error'])} ± {error_text(contents, stop['spread'])}"
    test = stop["test_error"]
    tested = "" if test is None else f", on the test rows {error_text(contents, test)}"
    here = " (the chosen one)" if stop["chosen"] else ""
    return f"{mu}{n:,} feature{'' if n == 1 else 's'}{price}, {error}{tested}{here}"
