"""The naive twins of the kernels against the oracle: kernels can then be held to the twins alone."""

from math import inf, ldexp

import numpy as np
import pytest
import reference
import twins
from hypothesis import event, given
from hypothesis import strategies as st


@st.composite
def nodes(draw):
    """Two columns (numbers, levels), a node of some rows, gradients on the grid, the least weight of a leaf."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.sampled_from([30, 12, 5, 60]))
    values = {"few": rng.integers(0, 5, n), "many": np.round(rng.normal(size=n), 1), "one": np.ones(n)}
    levels = rng.integers(0, draw(st.sampled_from([2, 6, 12])), n)
    X = np.column_stack([values[draw(st.sampled_from(sorted(values)))], levels]).astype(float)
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.2, 0.9]))] = np.nan
    weights = {"none": None, "integers": rng.integers(0, 4, n) + (np.arange(n) < 3), "reals": 0.1 + 3 * rng.random(n)}
    y = rng.integers(0, 3, n) if draw(st.booleans()) else rng.normal(size=n)  # gradients with and without ties
    kind = draw(st.sampled_from(sorted(weights)))
    data = reference.Data(X, y, weights[kind], draw(st.sampled_from([255, 4])), categorical=(1,))
    rows = rng.random(len(data.y)) < draw(st.sampled_from([1.0, 0.7]))
    return node_of(data, rows, draw(st.sampled_from([1, 2, 5])))


def node_of(data, rows, least):
    q, shift = reference.integers(data.y, reference.GRADIENT_BITS)
    factor = ldexp(0.5, -2 * shift - data.unit_shift) / float(max(int(data.weights @ rows), 1))
    return data, rows, q, ldexp(least, data.unit_shift), factor


def cells_of(data, f):
    """The cell of every row in a column, and how many cells there are."""
    column = data.X[:, f].tolist()
    if f in data.level_bins:
        count = int(max(data.level_bins[f].values(), default=-1)) + 1
        return [count if np.isnan(v) else int(v) for v in column], count + 1
    return [twins.bin_of(v, data.cuts[f]) for v in column], len(data.cuts[f]) + 2


def missing_goes_left(best, weight):
    """Where no missing value was seen, the heavier side; what the kernel found else."""
    if best.missing != "unseen":
        return best.missing == "left"
    left = sum(weight[c] for c in best.left)
    return left >= sum(weight) - left


@pytest.mark.parametrize("f", [0, 1], ids=["numbers", "levels"])
@given(node=nodes())
def test_scans_find_the_split_of_the_oracle(f, node):
    event("a split" if check_scan(f, node).gain > 0 else "no split")


@pytest.mark.parametrize(
    ("f", "values", "y", "least"),
    [
        pytest.param(0, [0, 0, 1, 1, np.nan, np.nan], [-1, -1, 1, 1, -1, 1], 1, id="missing on either side"),
        pytest.param(0, 1 + np.arange(3) * 2.0**-52, [0, 1, 2], 1, id="a threshold that is a value"),
        pytest.param(1, [0, 0, 1, 1, 2], [-1, -1, -1, -1, 3], 2, id="levels of equal means"),
    ],
)
def test_ties_fall_as_in_the_oracle(f, values, y, least):
    """What chance hardly draws."""
    data = reference.Data(np.column_stack([values, values]), y, None, 255, categorical=(1,))
    assert check_scan(f, node_of(data, np.ones(len(y), bool), least)).gain > 0


def check_scan(f, node):
    data, rows, q, min_weight, factor = node
    bins, cells = cells_of(data, f)
    inside = np.flatnonzero(rows).tolist()
    gradient, weight = twins.histogram(bins, inside, q, data.units, cells)
    best = (twins.scan, twins.scan_levels)[f](gradient, weight, min_weight, factor)
    oracle = (reference.best_split_of_column, reference.best_split_of_levels)[f]
    expected = oracle(data, q, factor, rows, f, min_weight)
    if expected is None:
        assert best == twins.Best()
        return best
    assert best.gain == expected.gain
    missing_left = missing_goes_left(best, weight)
    assert missing_left == expected.missing_left
    left, right = twins.partition(inside, bins, {*best.left, *([cells - 1] if missing_left else [])})
    assert left == np.flatnonzero(expected.left).tolist()
    assert right == np.flatnonzero(rows & ~expected.left).tolist()
    if f == 0:
        assert [*data.cuts[0], inf][best.left[-1]] == expected.threshold
    else:
        present = {float(c) for c in range(cells - 1) if weight[c] > 0}
        assert set(best.left) == expected.levels_left & present
    return best


@given(nodes())
def test_histograms_are_sums_over_masks(node):
    data, rows, q, _, _ = node
    for f in (0, 1):
        bins, cells = cells_of(data, f)
        inside = np.flatnonzero(rows).tolist()
        gradient, weight = twins.histogram(bins, inside, q, data.units, cells)
        for c in range(cells):
            here = rows & (np.array(bins) == c)
            assert (gradient[c], weight[c]) == reference.sums_of_sides(data, q, here, ~here)[:2]


@given(
    st.lists(st.floats(-1e300, 1e300, allow_nan=False), max_size=20),
    st.sampled_from([reference.GRADIENT_BITS, reference.LEAF_BITS]),
)
def test_numbers_on_the_grid(values, bits):
    ours, shift = twins.on_grid(values, bits)
    expected, expected_shift = reference.integers(np.array(values), bits)
    assert (ours, shift) == (expected, expected_shift)


@pytest.mark.parametrize("name", ["LogLoss", "SquaredError", "Poisson"])
@given(node=nodes(), leaf_values=st.sampled_from(["newton", "gradient"]))
def test_leaf_sums_give_the_values_of_the_oracle(name, node, leaf_values):
    data, rows, _, _, _ = node
    if not rows.any():
        return
    loss, raw = getattr(reference, name)(), np.linspace(-1, 1, len(data.y))[None]
    data.y = np.abs(np.rint(data.y)) % 2 if name == "LogLoss" else np.abs(data.y)
    (g,), (h,) = loss.derivatives(data.y, raw)
    leaf = reference.Node(rows)
    options = reference.Options(learning_rate=1.0, leaf_values=leaf_values)
    reference.set_leaf_values(data, leaf, g, h, raw[0], loss, options)
    (gi, g_shift), (hi, h_shift) = (twins.on_grid(v, reference.LEAF_BITS) for v in (g, h))
    top, curvature, weight = twins.leaf_sums(np.flatnonzero(rows), gi, hi, data.units)
    bottom = ldexp(float(curvature), -h_shift) if leaf_values == "newton" else float(weight)
    value = ldexp(float(top), -g_shift) / bottom
    assert leaf.value == min(max(value, -loss.step_limit), loss.step_limit)
