"""Tables around the faults that once were there: the core against the oracle, screened and not, classes renamed."""

import warnings

import numpy as np
import pytest
from families import FAMILIES, table
from hypothesis import given
from hypothesis import strategies as st
from same_trees import assert_same, assert_same_bytes
from test_reference import fit_both

SEEDS = st.integers(0, 2**32 - 1)


def fit_again(model, X, y, weights, **changes):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return type(model)(**(model.get_params(deep=False) | changes)).fit(X, y, sample_weight=weights)


def assert_equal_models(found, expected, outputs=None):
    """The same bytes; ``outputs``: which output of the expected model each of the found one's is."""
    ours, theirs = found._model.ensemble, expected._model.ensemble
    count = len(theirs.start)
    order = np.arange(count) if outputs is None else np.asarray(outputs)
    assert ours.start.tobytes() == theirs.start[order].tobytes()
    trees = np.arange(len(theirs.tree_begin) - 1)
    others = trees - trees % count + order[trees % count]
    sizes = np.diff(theirs.tree_begin)
    np.testing.assert_array_equal(np.diff(ours.tree_begin), sizes[others])
    nodes = [np.arange(theirs.tree_begin[t], theirs.tree_begin[t + 1]) for t in others]
    same = np.concatenate(nodes) if nodes else np.zeros(0, dtype=int)
    for name in ("feature", "threshold", "missing_left", "gain", "value", "weight", "line", "slope"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name)[same], err_msg=name)
    assert_same_bytes(ours.scales, theirs.scales)
    assert found.history_["bought"] == expected.history_["bought"]
    assert found.mu_max_ == expected.mu_max_


def check(problem):
    X, y, weights, name, options = problem
    core, expected = fit_both(X, y, weights, name, options)
    assert_same(core, expected, X)
    for screening in ("off", "exact"):
        assert_equal_models(fit_again(core, X, y, weights, screening=screening), core)
    if name == "multinomial":
        new_name = np.random.default_rng(len(X)).permutation(int(y.max()) + 1)
        renamed = fit_again(core, X, new_name[y], weights)
        assert_equal_models(renamed, core, np.argsort(new_name))
        np.testing.assert_array_equal(renamed.predict_proba(X)[:, new_name], core.predict_proba(X))
    if name == "log_loss" and not options.categorical:  # levels are ordered by gradients: ties may fall the other way
        falling = [-trend for trend in options.monotonic] or None
        swapped = fit_again(core, X, 1 - y, weights, monotonic_cst=falling)
        np.testing.assert_array_equal(swapped.predict_proba(X)[:, ::-1], core.predict_proba(X))
        assert swapped.history_["bought"] == core.history_["bought"]


@pytest.mark.slow
@pytest.mark.parametrize("family", sorted(FAMILIES))
@given(seed=SEEDS)
def test_family(family, seed):
    check(table(family, seed))
