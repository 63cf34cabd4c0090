"""The report in a real browser: it loads without a network and without a complaint, and its parts work.

Needs playwright and Chromium (Debian: apt-get install chromium). Without them these tests are skipped, unless
FRUGALBOOST_BROWSER=required. FRUGALBOOST_SCREENSHOTS names a folder to keep pictures in.
"""

import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import train_test_split

import frugalboost
from frugalboost import GBFSClassifier, GBFSClassifierCV, GBFSRegressor, GBFSRegressorCV
from frugalboost.costs import Bags

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
    assert (
        f"error {found.choice.error:.1f} % ± {found.choice.standard_error:.1f} %" in shown.locator(".lead").inner_text()
    )
    assert set(listed(shown)) == set(found.features)
    assert shown.locator("tr.here").count() == 1
    marks = (
        "[...document.querySelectorAll('#chart-tradeoff path')].filter(p => p.getAttribute('stroke-width') === '2.5')"
    )
    rings = shown.evaluate(f"{marks}.map(p => p.getAttribute('transform'))")
    diamonds = shown.locator("#chart-tradeoff .layer_3_marks path").all()
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
