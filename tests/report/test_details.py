"""The sections on features and on errors: text is escaped, nothing is missing, and pages of earlier runs still work."""

import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frugalboost import GBFSClassifier, GBFSClassifierCV, GBFSRegressor, NothingBoughtWarning
from frugalboost.costs import Bags
from frugalboost.page.details import NOT_EMBEDDED
from frugalboost.page.effects import cards_of
from frugalboost.page.svg import Scale, cropped, ticks
from frugalboost.report import Report
from frugalboost.report.contents import bags_of, gain_shares

NASTY = '</script><script>document.title="owned"</script>'
LONG = "a name of eighty characters, which is as long as people make them, 0123456789 ab"


def report_on(classes, features=6, n=300):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, features)), columns=[f"column {i}" for i in range(features)])
    X = X.rename(columns={"column 0": NASTY, "column 1": LONG})
    X["kind"] = pd.Categorical(rng.choice(["oak", NASTY, "elm"], n))
    X.iloc[::7, 0] = np.nan
    score = X.iloc[:, 1:features].sum(axis=1) + (X["kind"] == "oak") + X.iloc[:, 0].fillna(0)
    y = np.digitize(score, np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1]))
    names = np.array([NASTY, *(f"class {i}" for i in range(1, classes))])
    search = GBFSClassifierCV(GBFSClassifier(max_iter=10, min_samples_leaf=5), mus=[0.0], cv=2)
    return search.fit(X, names[y]).report(X, names[y])


@pytest.mark.parametrize("classes", [2, 7, 26])
def test_text_is_escaped_and_nothing_is_missing(classes):
    report = report_on(classes)
    c, page = report.contents, report.html()
    assert page.count("</script>") == 3
    assert NASTY not in page
    assert not re.search(r"\bnan\b|\binf\b|None", re.sub(r"<script.*?</script>", "", page, flags=re.S))
    assert page.count('<figure class="card">') == len(c["effects"]) == len(cards_of(c))
    assert LONG in page
    assert ('class="confusion many"' in page) == (classes > 12)
    assert page.count('<td class="right"') == classes
    assert json.loads(report.to_json())["quality"] == c["quality"]
    assert Report.from_json(report.to_json()).html() == page
    embedded = json.loads(re.search(r'id="contents">(.*?)</script>', page, re.S)[1])
    assert not set(NOT_EMBEDDED) & set(embedded)


def test_runs_of_earlier_versions_have_a_page_without_them():
    contents = report_on(2).contents
    old = {name: value for name, value in contents.items() if name not in NOT_EMBEDDED}
    for feature in old["chosen"]["features"]:
        del feature["splits"]
    page = Report(old).html()
    assert 'id="h-effects"' not in page
    assert 'id="h-quality"' not in page


def test_many_features_have_pictures_of_the_first_and_a_table_of_the_rest():
    report = report_on(2, features=60, n=400)
    c, page = report.contents, report.html()
    number = len(c["chosen"]["features"])
    assert number > 35
    assert page.count('<figure class="card">') == len(c["effects"]) == 30
    assert f"The other {number - 30} features" in page
    gains = {f["name"]: f["gain"] for f in c["chosen"]["features"]}
    shown = [gains[own["name"]] for own in c["effects"]]
    assert shown == sorted(gains.values(), reverse=True)[:30]
    assert len(report.to_json()) < 100_000
    assert len(page) < 1_200_000


def test_ticks_and_scales():
    assert ticks(0.0, 1.0) == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert ticks(3.0, 3.0) == [3.0]
    assert cropped("short", 9) == "short"
    stretched = Scale(0.0, 1000.0, 0.0, 100.0, center=1.0, unit=1.0)
    assert stretched(0.0) == 0.0
    assert stretched(1000.0) == 100.0
    assert stretched(3.0) > 20
    assert Scale(2.0, 2.0, 0.0, 100.0)(2.0) == 50.0


@given(st.floats(-1e9, 1e9), st.floats(1e-9, 1e9))
def test_ticks_are_between_the_ends(low, wide):
    high = low + wide
    if not high > low:
        return
    found = ticks(low, high)
    assert len(found) <= 6
    assert all(low - 1e-6 * wide - 1e-9 * abs(low) <= t <= high + 1e-6 * wide + 1e-9 * abs(high) for t in found)


# ---------------------------------------------------------------------------------------------------------------- bags

groups = st.lists(st.sets(st.integers(0, 5), min_size=1), min_size=1, max_size=5)


@given(groups, st.lists(st.integers(1, 4), min_size=5, max_size=5), st.sampled_from([0.0, 0.02, 0.2]))
def test_shares_of_overlapping_bags_add_up(members, prices, mu):
    """A feature of several bags counted for each of them: shares added up to more than 100 %."""
    X, y = MADE
    named = {f"bag {i}": sorted(own) for i, own in enumerate(members)}
    bags = Bags(named, prices={f"bag {i}": float(p) for i, p in enumerate(prices[: len(members)])})
    model = GBFSRegressor(mu=mu, costs=bags, max_iter=5, max_depth=2, min_samples_leaf=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingBoughtWarning)
        model.fit(X, y)
    found = bags_of(model, [f"x{i}" for i in range(6)])
    total = gain_shares(model).sum()
    assert sum(bag["gain"] for bag in found) == pytest.approx(total)
    assert sum(bag["n_bought"] for bag in found) == model.n_features_selected_
    assert all(bag["n_bought"] >= 1 and bag["gain"] <= total + 1e-9 for bag in found)


def test_the_map_of_overlapping_bags_has_each_feature_once():
    pytest.importorskip("matplotlib")
    from frugalboost.plotting import BagDisplay
    from frugalboost.plotting.display import total_gains

    X, y = MADE
    bags = Bags({"one": [0, 1, 2], "two": [2, 3, 4, 5], "three": [0, 5]})
    model = GBFSRegressor(mu=0.0, costs=bags, max_iter=5, max_depth=2, min_samples_leaf=5).fit(X, y)
    display = BagDisplay.from_estimator(model)
    shown = np.concatenate(display.gains)
    assert np.nansum(shown) == pytest.approx(total_gains(model).sum())
    assert (~np.isnan(shown)).sum() == model.n_features_selected_


def made():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    return X, X @ np.array([3.0, 2.0, 2.0, 1.0, 1.0, 0.5]) + 0.3 * rng.normal(size=80)


MADE = made()
