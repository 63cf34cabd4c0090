"""Options two by two: both are obeyed, or an error names both and says what to drop."""

from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import frugalboost
from frugalboost.cli.messages import command_spelling
from frugalboost.recipe.request import Settings

# A value of each option that changes the result of the table below, also beside others.
GIVEN = {
    "k": 3,
    "fewer": True,
    "mu": 0.02,
    "rule": "min",
    "sell": False,
    "budget": 2.0,
    "trees": 5,
    "depth": 1,
    "learning_rate": 0.9,
    "leaf": 90,
    "splits": 2,
    "points": 4,
    "sample": 150,
    "thorough": True,
    "seed": 7,
}
REFUSED = {  # pairs of which one would be ignored, and what the error must name
    ("k", "mu"): ("--k", "--mu"),
    ("k", "sell"): ("--k", "--no-sell", "Drop --no-sell, or limit the total cost with --budget"),
    ("k", "rule"): ("--k", "--rule min", "Drop one of them"),
    ("mu", "rule"): ("--mu", "--rule min", "Drop one of them"),
    **{("fewer", name): ("--fewer needs --k",) for name in GIVEN if name not in ("k", "fewer")},
}
UNCHANGED = {  # (option, beside): what the option says holds there without it, as docs/command_line.md says
    ("sell", "mu"),  # a given mu sells nothing
    ("rule", "budget"),  # the budget leaves one good model
}


def refused(pair):
    return REFUSED.get(pair) or REFUSED.get(pair[::-1])


@cache
def result_of(*names):
    """What comes out with these options: the model's settings and trees, the path, its errors."""
    found = frugalboost.select(table(), "y", **{"trees": 40, "points": 5} | {n: GIVEN[n] for n in names})
    model = found.model
    params = {k: v for k, v in model.get_params(deep=False).items() if k not in ("n_jobs", "verbose")}
    path = [(p.n_features, p.error, p.mu, p.trees) for p in found.path]
    return repr((found.features, params, path, found.choice.error, found.report.contents["measure"]["split"]))


@cache
def table():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 14))  # some columns are noise, so that not every rule chooses all
    line = X[:, :6] @ [2, 1.5, 1.2, 1, 0.8, 0.6]
    y = np.where(line + X[:, 0] * X[:, 1] + 2 * rng.normal(size=300) > 0, "yes", "no")
    return pd.DataFrame(X, columns=[f"x{i}" for i in range(14)]).assign(y=y)


@pytest.mark.parametrize("pair", [*combinations(GIVEN, 2)], ids="-".join)
def test_a_pair_that_contradicts_itself_is_an_error_that_names_both(pair):
    settings, words = Settings(**{name: GIVEN[name] for name in pair}), refused(pair)
    if words is None:
        settings.check()
        return
    with pytest.raises(ValueError, match=r".") as caught:
        settings.check()
    said = caught.value.sentence.spelled(command_spelling)
    assert all(word in said for word in words)
    assert "--" not in str(caught.value)


@pytest.mark.parametrize("pair", [*combinations(("k", "mu", "rule", "sell", "budget"), 2)], ids="-".join)
@pytest.mark.slow
def test_of_a_pair_that_is_taken_neither_is_ignored(pair):
    if refused(pair):
        return
    for option, beside in (pair, pair[::-1]):
        changed = result_of(*sorted(pair)) != result_of(beside)
        assert changed != ((option, beside) in UNCHANGED)


@pytest.mark.parametrize("rule", ["min", "paired"])
@pytest.mark.parametrize("asked", [{"k": 2}, {"mu": 0.1}, {"k": 2, "fewer": True, "points": 5}])
def test_every_rule_that_would_be_ignored_is_refused(rule, asked):
    with pytest.raises(ValueError, match="can't be used together"):
        frugalboost.select(table(), "y", rule=rule, **asked)
    Settings(rule="1se", **asked).check()


def test_names_that_a_table_has_can_not_be_denied(tmp_path):
    frame = table()
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_feather(tmp_path / "t.feather")
    for place in (frame, tmp_path / "t.parquet", str(tmp_path / "t.feather")):
        with pytest.raises(ValueError, match=r"header=False is for CSV and Excel files; .* has names"):
            frugalboost.select(place, "y", header=False)
