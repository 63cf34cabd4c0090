"""A fitted estimator held to the oracle, number by number; and all arrays of a model."""

from dataclasses import fields, is_dataclass

import numpy as np
import pytest
import reference


def _set_of(trees, node):
    """Bins that go left, or None where a threshold decides."""
    if trees.level_set[node] < 0:
        return None
    bits = np.unpackbits(trees.sets[32 * trees.level_set[node] :][:32], bitorder="little")
    return set(np.flatnonzero(bits).tolist())


def _columns_of_lines(trees, own):
    return [-1 if line < 0 else int(trees.scales.feature[line]) for line in trees.line[own]]


def _assert_same_scales(trees, expected):
    for s, feature in enumerate(trees.scales.feature):
        scale = expected.scales[feature]
        np.testing.assert_array_equal(trees.scales.cuts_of(s), scale.cuts)
        np.testing.assert_array_equal(trees.scales.scores_of(s), np.array(scale.steps) / 1024)


def assert_same(core, expected, X):
    trees = core._model.ensemble
    roots = [root for iteration in expected.trees for root in iteration]
    assert len(trees.tree_begin) - 1 == len(roots)
    np.testing.assert_array_equal(trees.start, expected.start)
    for t, root in enumerate(roots):
        nodes = reference.breadth_first(root)
        own = slice(trees.tree_begin[t], trees.tree_begin[t + 1])
        np.testing.assert_array_equal(trees.feature[own], [n.feature for n in nodes])
        assert _columns_of_lines(trees, own) == [n.line for n in nodes]
        np.testing.assert_array_equal(trees.slope[own], [n.slope for n in nodes])
        split = trees.feature[own] >= 0
        ours = [_set_of(trees, i) for i in range(own.start, own.stop)]
        assert ours == [None if n.levels_left is None else set(n.levels_left) for n in nodes]
        for name in ("threshold", "missing_left", "gain", "value"):
            ours = getattr(trees, name)[own]
            np.testing.assert_array_equal(ours[split], [getattr(n, name) for n in nodes if n.children])
            np.testing.assert_array_equal(ours[~split], [getattr(n, name) for n in nodes if not n.children])
    _assert_same_scales(trees, expected)
    bought = core.history_["bought"][1:]
    assert bought == [[f for f, _ in p] for p in expected.purchases]
    assert core.history_["raw_gain"][1:] == [[g for _, g in p] for p in expected.purchases]
    assert list(core.selected_features_) == list(expected.owned)
    assert core.history_["price_paid"] == expected.cost
    assert core.stop_reason_ == ("converged" if expected.converged else "max_iter")
    np.testing.assert_allclose(core.history_["train_loss"], expected.train_loss, rtol=1e-9, atol=1e-12)
    assert core.mu_max_ == pytest.approx(expected.mu_max, rel=1e-12)
    raw = np.atleast_2d(core._raw(X).T)
    np.testing.assert_array_equal(raw, reference.predict_raw(expected, X))


def arrays_of(record, prefix=""):
    """All arrays of a record and of the records in it, by name."""
    found = {}
    for f in fields(record):
        value = getattr(record, f.name)
        found |= arrays_of(value, f"{prefix}{f.name}.") if is_dataclass(value) else {prefix + f.name: value}
    return found


def assert_same_bytes(found, expected):
    """Two ensembles, or other records of arrays."""
    ours = arrays_of(found)
    for name, theirs in arrays_of(expected).items():
        assert np.asarray(ours[name]).tobytes() == np.asarray(theirs).tobytes(), (name, ours[name], theirs)
