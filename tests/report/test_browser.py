"""The report in a real browser: it loads without a network and without a complaint, and its parts work.

Needs playwright and Chromium (Debian: apt-get install chromium). Without them these tests are skipped, unless
FRUGALBOOST_BROWSER=required. FRUGALBOOST_SCREENSHOTS names a folder to keep pictures in.
"""

import json
import os
import shutil
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import train_test_split

import frugalboost
from frugalboost import GBFSClassifier, GBFSClassifierCV, GBFSRegressor, GBFSRegressorCV
from frugalboost.costs import Bags
from frugalboost.page.stops import stops_of
from frugalboost.report import Report

NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next((found for name in NAMES if (found := shutil.which(name))), None)
NASTY = "<img src=x onerror=document.title='owned'>"
READY = "html[data-ready=yes]"


def missing():
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "playwright is not installed"
    return None if BROWSER else "Chromium is not installed"


if os.environ.get("FRUGALBOOST_BROWSER") == "required":
    assert missing() is None, missing()
pytestmark = [
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
    pytest.mark.slow,
    pytest.mark.xdist_group("browser"),  # one browser, and one set of reports, for all of them
]


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.rename(columns={"worst perimeter": NASTY})
    X["always 1"] = 1
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    quick = GBFSClassifier(max_iter=60, min_samples_leaf=5, costs={"worst concave points": 2.0})
    search = GBFSClassifierCV(quick, max_iters=[20, 60], rule="1se", random_state=0).fit(X_train, y_train)
    place = tmp_path_factory.mktemp("report") / "classes.html"
    search.report(X_train, y_train, X_test=X_test, y_test=y_test, title="Breast cancer").save(place)
    return place


@pytest.fixture(scope="module")
def bags(tmp_path_factory):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    groups = {"person": ["age", "sex", "bmi", "bp"], "blood": ["s1", "s2", "s3", "s4", "s5", "s6"]}
    costs = Bags(groups, prices={"blood": 3.0}, unit="euro")
    search = GBFSRegressorCV(GBFSRegressor(max_iter=40, costs=costs), n_mus=12, random_state=0).fit(X, y)
    place = tmp_path_factory.mktemp("report") / "bags.html"
    search.report(X, y, title="Diabetes").save(place)
    return place


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """Reports on models with lines: alone, beside trees, and of three classes."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 12)), columns=[f"column {i}" for i in range(12)])
    score = (X["column 0"] - X["column 1"] + 2 * X["column 2"].abs()).to_numpy() + 0.5 * rng.normal(size=200)
    places = {}
    for name, base, y in (
        ("lines", "lines", score),
        ("both", "both", score),
        ("three", "lines", np.array(["low", "middle", NASTY])[np.digitize(score, [0.5, 2.0])]),
    ):
        kind, search = (GBFSClassifier, GBFSClassifierCV) if name == "three" else (GBFSRegressor, GBFSRegressorCV)
        found = search(kind(base=base, max_iter=30), n_mus=5, cv=2, random_state=0).fit(X, y)
        places[name] = tmp_path_factory.mktemp("report") / f"{name}.html"
        found.report(X, y, title=name).save(places[name])
    return places


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        own = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}  # a sanitizer's runtime is not for the browser
        opened = play.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"], env=own)
        yield opened
        opened.close()


@pytest.fixture
def page(browser):
    """A function that opens a file; what the page complains of or asks the network for fails the test."""
    contexts, faults = [], []

    def opened(place: Path, **settings):
        context = browser.new_context(offline=True, **settings)
        contexts.append(context)
        made = context.new_page()
        made.on("console", lambda m: faults.append(m.text) if m.type in ("error", "warning") else None)
        made.on("pageerror", lambda e: faults.append(str(e)))
        made.on("request", lambda r: None if r.url.startswith(("file:", "data:", "blob:")) else faults.append(r.url))
        made.goto(place.as_uri())
        made.wait_for_selector(READY, timeout=30_000)
        return made

    yield opened
    for context in contexts:
        context.close()
    assert faults == []


def keep(page, name):
    folder = os.environ.get("FRUGALBOOST_SCREENSHOTS")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def listed(page):
    return page.locator("#listed tbody th").all_text_contents()


def drawn_words(page, name, chart="tradeoff"):
    """The lines of a text in the chart."""
    return page.locator(f"#chart-{chart} .{name}_marks tspan").all_text_contents()


def charts(page):
    return page.locator(".chart svg.marks").count()


@pytest.mark.parametrize("width", [1100, 390])
@pytest.mark.parametrize(("name", "number"), [("lines", 5), ("both", 6), ("three", 5)])
def test_models_with_lines(page, lines, name, number, width):
    shown = page(lines[name], viewport={"width": width, "height": 900})
    assert charts(shown) == number  # error, gains, slopes, correlations, target; and a tree, if there is one
    assert shown.locator("#chart-slopes svg.marks").count() == 1
    assert shown.locator("#chart-tree").count() == (name == "both")
    assert shown.locator("th:text-is('slope')").count() == 1
    assert shown.title() == name
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    keep(shown, f"{name}-{width}")


def test_it_loads_without_a_network_and_draws(page, classes):
    shown = page(classes, viewport={"width": 1100, "height": 900})
    assert charts(shown) == 7  # error by features and by price, gains, gains by price, tree, correlations, target
    assert shown.title() == "Breast cancer"
    assert shown.locator("h2").count() == 9
    keep(shown, "report")


def test_the_slider_changes_the_list(page, classes):
    shown = page(classes)
    slider = shown.locator("#at")
    last = int(slider.get_attribute("max"))
    slider.fill("0")
    assert listed(shown) == []
    assert "0 features" in shown.locator("#said").text_content()
    few = []
    for i in range(last + 1):
        slider.fill(str(i))
        few.append(len(listed(shown)))
        assert f"{few[-1]} feature" in slider.get_attribute("aria-valuetext")
    assert few[-1] > few[len(few) // 2] > 0
    assert few == sorted(few) or max(few) == few[-1]


def test_the_slider_obeys_the_keyboard(page, classes):
    shown = page(classes)
    shown.locator("#at").focus()
    shown.keyboard.press("Home")
    assert "0 features" in shown.locator("#said").text_content()
    shown.keyboard.press("End")
    many = len(listed(shown))
    shown.keyboard.press("ArrowLeft")
    assert 0 < len(listed(shown)) <= many


def test_the_ring_of_the_chart_follows_the_slider(page, classes):
    shown = page(classes)

    def rings():
        thick = "p => p.getAttribute('stroke-width') === '2.5'"
        paths = f"[...document.querySelectorAll('#chart-tradeoff path')].filter({thick})"
        return shown.evaluate(f"{paths}.map(p => p.getAttribute('transform'))")

    shown.locator("#at").fill("0")
    shown.wait_for_timeout(200)
    first = rings()
    shown.locator("#at").press("End")
    shown.wait_for_timeout(200)
    assert len(first) == len(rings()) == 1
    assert first != rings()


@pytest.mark.parametrize("asked", [{}, {"k": 2}, {"mu": 0.02}])
def test_slider_ring_and_headline_show_the_chosen_model(page, tmp_path, asked):
    """Also where it is not on the path: sold back, or asked for."""
    table = load_breast_cancer(as_frame=True).frame.rename(columns={"worst perimeter": NASTY})
    found = frugalboost.select(table, "target", trees=30, points=6, splits=3, depth=2, **asked)
    assert found.report.contents["chosen"]["index"] is None
    found.report.save(tmp_path / "chosen.html")
    shown = page(tmp_path / "chosen.html", viewport={"width": 1100, "height": 900})
    said = shown.locator("#said").text_content()
    assert said.endswith("(the chosen one)")
    assert said.startswith(f"{found.choice.n_features} feature")
    assert f"error {found.choice.error:.1f} % ± {found.choice.standard_error:.1f} %" in said
    low, high = found.choice.interval
    lead = shown.locator(".lead").inner_text()
    assert lead.startswith(f"{found.choice.n_features} of 30 features: error on new rows about")
    assert f"about {found.choice.expected_error:.1f} % (95 % interval {low:.1f} to {high:.1f} %;" in lead
    assert set(listed(shown)) == set(found.features)
    assert {f"{n} features" for n in (found.choice.n_features,)} == set(drawn_words(shown, "label_chosen")[1:])
    assert shown.locator("tr.here").count() == 1
    marks = (
        "[...document.querySelectorAll('#chart-tradeoff path')].filter(p => p.getAttribute('stroke-width') === '2.5')"
    )
    rings = shown.evaluate(f"{marks}.map(p => p.getAttribute('transform'))")
    diamonds = shown.locator("#chart-tradeoff .chosen_marks path").all()
    assert [d.get_attribute("transform") for d in diamonds] == rings
    keep(shown, f"chosen_{'_'.join(asked)}")
    shown.locator("#at").press("Home")
    assert "0 features" in shown.locator("#said").text_content()
    shown.locator("#at").fill(str(int(shown.locator("#at").get_attribute("max"))))
    assert "(the chosen one)" not in shown.locator("#said").text_content()


def test_names_are_text(page, classes):
    shown = page(classes)
    shown.locator("#at").press("End")
    assert NASTY in shown.locator("body").inner_text()
    assert shown.locator("main img").count() == 0
    assert shown.title() == "Breast cancer"


def test_points_have_tips_with_names_as_text(page, classes):
    shown = page(classes)
    shown.locator("#chart-gains path[aria-label]").first.hover(force=True)
    tip = shown.locator("#vg-tooltip-element.visible")
    tip.wait_for(timeout=5000)
    assert "gain" in tip.inner_text()
    assert tip.locator("img").count() == 0


@pytest.mark.parametrize("look", ["light", "dark"])
def test_it_is_readable_on_a_phone(page, classes, bags, look):
    for place in (classes, bags):
        shown = page(place, viewport={"width": 390, "height": 800}, color_scheme=look)
        assert shown.evaluate("document.documentElement.scrollWidth") <= 390
        keep(shown, f"report_phone_{look}_{place.stem}")


def test_colours_have_enough_contrast(page, classes):
    for look in ("light", "dark"):
        shown = page(classes, color_scheme=look)
        for where in ("body", ".notices li", "figcaption", ".note", "thead th", "footer p"):
            style = "e => [getComputedStyle(e).color, getComputedStyle(document.body).backgroundColor]"
            ink, paper = shown.locator(where).first.evaluate(style)
            assert contrast(ink, paper) >= 4.5, (look, where)


def contrast(one: str, other: str) -> float:
    """Of two colours as browsers write them: rgb(1, 2, 3)."""

    def light(colour):
        parts = np.array([float(v) for v in colour[colour.index("(") + 1 : -1].split(",")[:3]]) / 255
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    dark, bright = sorted((light(one), light(other)))
    return (bright + 0.05) / (dark + 0.05)


def test_screen_readers_find_their_way(page, bags):
    shown = page(bags)
    assert shown.locator("html").get_attribute("lang") == "en"
    assert shown.locator("h1").count() == shown.locator("main").count() == 1
    for figure in shown.locator("figure").all():
        assert figure.locator("figcaption").inner_text()
        assert figure.locator("svg.marks").first.get_attribute("aria-label") or figure.locator("[aria-label]").count()
    assert shown.locator("th:not([scope])").count() == 0
    assert shown.locator("#said").get_attribute("aria-live") == "polite"
    shown.keyboard.press("Tab")
    assert "Skip" in shown.evaluate("document.activeElement.textContent")


def test_bags_and_prices_are_shown(page, bags):
    shown = page(bags, viewport={"width": 1100, "height": 900})
    assert shown.locator("#chart-bags svg.marks").count() == 1
    assert shown.locator("#chart-price svg.marks").count() == 1
    assert "euro" in shown.locator(".lead").inner_text()
    keep(shown, "report_bags")


def test_it_prints(page, classes):
    shown = page(classes, color_scheme="dark", viewport={"width": 1200, "height": 900})
    shown.emulate_media(media="print", color_scheme="dark")
    shown.set_viewport_size({"width": 680, "height": 900})  # paper is narrower than the window was
    shown.wait_for_selector(READY)
    shown.wait_for_timeout(500)
    assert not shown.locator("#at").is_visible()
    assert shown.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    ends = shown.evaluate("[...document.querySelectorAll('svg.marks')].map(s => s.getBoundingClientRect().right)")
    assert max(ends) <= 680
    assert len(shown.pdf(format="A4")) > 20_000
    if os.environ.get("FRUGALBOOST_SCREENSHOTS"):
        shown.pdf(format="A4", path=Path(os.environ["FRUGALBOOST_SCREENSHOTS"]) / "report.pdf")


def test_a_report_on_nothing_loads(page, tmp_path):
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc")), rng.permutation([0, 1] * 30)
    search = GBFSClassifierCV(GBFSClassifier(max_iter=5), mus=[10.0, 20.0], random_state=0)
    with pytest.warns(UserWarning, match="constant"):
        search.fit(X, y)
    search.report(X, y).save(tmp_path / "nothing.html")
    shown = page(tmp_path / "nothing.html")
    assert "no feature is worth its price" in shown.locator("main").inner_text()


# -------------------------------------------------------------------- what does not fit, and what would touch

LONG = "the result of test {} as the laboratory of the clinic wrote it down in its register for {} patients"


def varied(contents, how):
    """Contents as other tables would give them."""
    c = json.loads(json.dumps(contents))
    stops = [*c["points"], c["chosen"]]
    errors = [*stops, c["all_features"]]
    first = min((p for p in c["points"] if p["n_features"]), key=lambda p: p["n_features"])
    if how == "long names":
        whole = {name: LONG.format(i, 7 * i) for i, name in enumerate(c["names"])}
        c["names"] = list(whole.values())
        c["relations"]["names"] = [whole[name] for name in c["relations"]["names"]]
        for stood in c["relations"]["stands_for"]:
            stood["name"] = whole.get(stood["name"], stood["name"])
            stood["others"] = [other | {"name": LONG.format(other["name"], 3)} for other in stood["others"]]
        for target in c["facts"]["target"]:
            target["value"] = (
                f"class {target['value']} of tumours_as_the_pathologist_wrote_it_down_without_a_single_space"
            )
    elif how in ("large errors", "tiny errors", "equal errors"):
        size = {"large errors": 4.7e9, "tiny errors": 3e-9, "equal errors": 0.0}[how]
        c["measure"] |= {"unit": "", "title": "RMSE", "scoring": "neg_root_mean_squared_error"}
        for own in errors:
            for name in ("error", "test_error", "spread"):
                if own.get(name) is not None:
                    own[name] = 12.5 * (name != "spread") if how == "equal errors" else own[name] * size
        c["constant_error"] = 12.5 if how == "equal errors" else c["constant_error"] * size
    elif how == "no errors":
        for own in errors:
            own["error"] = 0.0
    elif how == "many features":
        c["facts"]["n_features"] = 1_234_567
        for own in stops:
            own["n_features"] = int(own["n_features"] ** 2.6) * 3
            own["price"] = float(own["n_features"] * 1000)
    elif how == "the first is chosen":
        c["chosen"] |= {"index": c["points"].index(first), **{k: first[k] for k in ("n_features", "error", "spread")}}
    elif how == "the last is chosen":
        last = c["points"][-1]
        c["chosen"] |= {
            "index": len(c["points"]) - 1,
            **{k: last[k] for k in ("n_features", "error", "spread", "price")},
        }
    elif how == "a wide standard error":
        c["chosen"]["spread"] = 0.9 * c["constant_error"]
    elif how == "one of the path":
        c["points"], c["chosen"]["index"] = c["points"][-1:], 0
    return c


HOW = [
    "as it is",
    "long names",
    "large errors",
    "tiny errors",
    "equal errors",
    "no errors",
    "many features",
    "the first is chosen",
    "the last is chosen",
    "a wide standard error",
    "one of the path",
]


@pytest.fixture(scope="module")
def contents():
    table = load_breast_cancer(as_frame=True).frame
    train, test = train_test_split(table, random_state=0)
    costs = {"worst concave points": 3.5}
    return frugalboost.select(
        train, "target", costs=costs, test=test, trees=40, points=9, splits=3, depth=2
    ).report.contents


WORDS = """(name) => {
    const place = document.querySelector("#chart-" + name), svg = place.querySelector("svg.marks");
    const shown = (t) => t.textContent && getComputedStyle(t).opacity > 0 && !t.closest(".halo_marks");
    const boxes = [...svg.querySelectorAll("text")].filter(shown).map((t) => {
        const b = t.getBoundingClientRect();
        return [t.textContent, b.left, b.top, b.right, b.bottom];
    });
    const s = svg.getBoundingClientRect();
    return [boxes, [s.left, s.top, s.right, s.bottom]];
}"""


@pytest.mark.parametrize("how", HOW)
def test_words_of_the_main_chart_do_not_touch(page, contents, tmp_path, how):
    """At any width; a pixel is allowed, since boxes are those of lines, not of letters."""
    place = tmp_path / "varied.html"
    Report(varied(contents, how)).save(place)
    for width in (320, 390, 560, 800, 1100, 1500):
        shown = page(place, viewport={"width": width, "height": 900})
        keep(shown, f"varied_{how.replace(' ', '_')}_{width}")
        for name in ("tradeoff", "price"):
            boxes, (left, top, right, bottom) = shown.evaluate(WORDS, name)
            assert len(boxes) > 8
            for word, x, y, x2, y2 in boxes:
                assert left - 1 <= x < x2 <= right + 1, (how, width, name, word)
                assert top - 1 <= y < y2 <= bottom + 1, (how, width, name, word)
            for (one, x, y, x2, y2), (other, u, v, u2, v2) in combinations(boxes, 2):
                apart = min(x2, u2) - max(x, u) <= 1 or min(y2, v2) - max(y, v) <= 1
                assert apart, (how, width, name, one, other)


@pytest.mark.parametrize("look", ["light", "dark"])
@pytest.mark.parametrize("how", HOW)
def test_nothing_is_wider_than_a_phone(page, contents, tmp_path, how, look):
    place = tmp_path / "varied.html"
    Report(varied(contents, how)).save(place)
    shown = page(place, viewport={"width": 390, "height": 800}, color_scheme=look)
    assert shown.evaluate("document.documentElement.scrollWidth") <= 390
    shown.evaluate("document.querySelectorAll('section > details').forEach(d => { d.open = true; })")
    shown.wait_for_timeout(100)
    assert shown.evaluate("document.documentElement.scrollWidth") <= 390
    hints = shown.evaluate(
        "[...document.querySelectorAll('.scroll')].map(b => "
        "[b.scrollWidth > b.clientWidth + 2, b.previousElementSibling.checkVisibility(), b.tabIndex === 0, "
        "b.firstElementChild.id || b.innerText.slice(0, 80)])"
    )
    assert len(hints) >= 8
    assert any(wide for wide, *_ in hints)  # the tree at least
    for wide, hinted, can_be_reached, what in hints:
        assert hinted == wide, what
        assert can_be_reached or not wide, what


def test_a_hint_goes_with_what_it_hints_at(page, tmp_path):
    table = load_breast_cancer(as_frame=True).frame
    found = frugalboost.select(table, "target", trees=10, points=4, splits=2, depth=3, sell=False)
    found.report.save(tmp_path / "hints.html")  # has a tree, which is wide
    shown = page(tmp_path / "hints.html", viewport={"width": 390, "height": 800})
    fading = "document.querySelector('#chart-tree').parentElement.classList.contains('right')"
    assert shown.evaluate(fading)
    shown.evaluate("(() => { const b = document.querySelector('#chart-tree').parentElement; b.scrollLeft = 9999; })()")
    shown.wait_for_timeout(100)
    assert not shown.evaluate(fading)
    shown.set_viewport_size({"width": 1500, "height": 800})
    shown.wait_for_timeout(300)
    assert shown.locator(".hint:visible").count() == 0


def test_long_names_are_cut_and_have_a_tip(page, contents, tmp_path):
    own = varied(contents, "long names")
    Report(own).save(tmp_path / "names.html")
    for width in (390, 1100):
        shown = page(tmp_path / "names.html", viewport={"width": width, "height": 900})
        names = shown.evaluate(
            "[...document.querySelectorAll('.name')].filter(n => n.checkVisibility()).map(n => "
            "[n.title, n.textContent, n.firstChild.scrollWidth > n.firstChild.clientWidth, n.offsetHeight])"
        )
        assert {title for title, *_ in names} >= {own["names"][f["name"]] for f in own["chosen"]["features"]}
        for title, text, cut, height in names:
            assert text == title  # nothing is lost for those who search, copy or listen
            assert cut
            assert height < 40  # on one line
        assert set(listed(shown)) <= set(own["names"])
        for chart in ("gains", "correlation", "target"):
            labels = shown.locator(f"#chart-{chart} .role-axis-label text:has(title)")
            assert labels.count() >= 2
            tips = labels.locator("title").all_text_contents()
            assert all(len(tip) > 60 for tip in tips)
            whole = labels.all_text_contents()
            short = [text.removesuffix(tip) for text, tip in zip(whole, tips, strict=True)]
            assert len(set(short)) == len(set(tips))
            assert all(len(text) <= 24 for text in short)
        first = shown.locator("#listed .name").first
        first.click()
        assert first.evaluate(
            "n => n.firstChild.scrollWidth <= n.firstChild.clientWidth || n.classList.contains('open')"
        )
        assert first.bounding_box()["height"] > 40 or width > 1000
        assert shown.evaluate("document.documentElement.scrollWidth") <= width


def test_at_every_stop_slider_ring_list_and_words_are_one_model(page, contents, tmp_path):
    Report(contents).save(tmp_path / "stops.html")
    shown = page(tmp_path / "stops.html", viewport={"width": 1100, "height": 900})
    stops = stops_of(contents)
    for i, stop in enumerate(stops):
        shown.locator("#at").fill(str(i))
        shown.wait_for_timeout(60)
        said = shown.locator("#said").text_content()
        assert f"{stop['n_features']} feature" in said
        assert f"error {stop['error']:.1f} % ± {stop['spread']:.1f} %" in said
        assert f"on the test rows {stop['test_error']:.1f} %" in said
        assert said.endswith("(the chosen one)") == stop["chosen"]
        assert listed(shown) == [contents["names"][f] for f in stop["features"]]
        for chart in ("tradeoff", "price"):
            rings = shown.locator(f"#chart-{chart} .ring_marks path").all()
            assert len(rings) == 1
            at = rings[0].get_attribute("transform")
            points = shown.locator(f"#chart-{chart} .others_marks path, #chart-{chart} .best_marks path").all()
            assert at in {point.get_attribute("transform") for point in points}
            diamond = shown.locator(f"#chart-{chart} .chosen_marks path").get_attribute("transform")
            assert (at == diamond) or not stop["chosen"]


def test_a_click_on_any_point_moves_the_slider(page, contents, tmp_path):
    Report(contents).save(tmp_path / "click.html")
    shown = page(tmp_path / "click.html", viewport={"width": 1100, "height": 900})
    shown.locator("#at").fill("0")
    places = set()
    for name in ("others", "best"):
        for point in shown.locator(f"#chart-tradeoff .{name}_marks path").all():
            point.dispatch_event("click")
            places.add(int(shown.locator("#at").input_value()))
    assert len(places) > len(stops_of(contents)) // 2  # what lies under another point is reached by the slider
