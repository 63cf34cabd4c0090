"""The page on small tables of survival is made of what is kept, and the guide quotes it."""

import json
import re

import pytest

pytest.importorskip("lifelines")
pytest.importorskip("sksurv")

from lab.output import DOCS, QUALITY
from lab.quality.survival_small import FOLDS, REPEATS, measured, methods, page, tables

QUOTED = {
    "default, 500 iterations": "with the defaults",
    "`max_depth=3, max_iter=100, mu=0.01`": "with those smaller trees",
    "`early_stopping=True`": "with early stopping",
    '`base="lines"`': "with lines",
    "Cox's model": "Cox's model has",
    "scikit-survival's gradient boosting": "scikit-survival's gradient boosting with its defaults",
}


def kept():
    return json.loads((QUALITY / "survival_small.json").read_text())["rows"]


def test_the_page_is_made_of_what_is_kept():
    rows = kept()
    assert page(rows) == (QUALITY / "survival_small.md").read_text()
    assert len(rows) == len(methods()) * len(tables()) * FOLDS * REPEATS
    assert {row["method"] for row in rows} == set(methods())


@pytest.mark.parametrize("method", QUOTED)
def test_the_guide_quotes_the_page(method):
    guide = " ".join((DOCS / "guide" / "survival.md").read_text().split())
    (line,) = [line for line in page(kept()).splitlines() if line.startswith(f"| {method} |")]
    first, second = re.findall(r"(\d\.\d{3}) \(", line)
    assert f"{QUOTED[method]} {first} and {second}" in guide


@pytest.mark.filterwarnings("ignore::frugalboost.NothingBoughtWarning")
def test_targets_have_signs_and_rows_are_measured():
    for name, (X, y) in tables().items():
        assert len(X) == len(y)
        assert (y > 0).sum() == {"gbsg2": 299, "rossi": 114}[name]
    name, (X, y) = list(tables().items())[1]
    rows = measured(name, X, y, 1)
    assert [row["method"] for row in rows] == list(methods())
    again = {row["method"]: row["score"] for row in kept() if row["table"] == name and row["fold"] == 0}
    assert {row["method"]: row["score"] for row in rows} == pytest.approx(again, abs=0.02)
