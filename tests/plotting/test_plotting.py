"""Figures show the numbers they are made of, name them, and survive odd cases."""

import sys

import numpy as np
import pandas as pd
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.colors import to_rgba  # noqa: E402
from sklearn.datasets import load_diabetes  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.linear_model import Ridge  # noqa: E402

from frugalboost import GBFSRegressor, GBFSRegressorCV, StabilitySelection, gbfs_path  # noqa: E402
from frugalboost.costs import Bags, Prices  # noqa: E402
from frugalboost.plotting import (  # noqa: E402
    BagDisplay,
    EntryDisplay,
    PurchaseDisplay,
    SelectionPathDisplay,
    StabilityPathDisplay,
)
from frugalboost.plotting.display import shown_names  # noqa: E402
from frugalboost.plotting.path import Line  # noqa: E402

X, y = load_diabetes(return_X_y=True, as_frame=True)
QUICK = {"max_iter": 15, "n_jobs": 1}
nothing_bought = pytest.mark.filterwarnings("ignore::frugalboost.NothingBoughtWarning", "ignore:Nothing was bought")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def fitted(mu=0.005, X=X, **settings):
    return GBFSRegressor(mu, **QUICK, **settings).fit(X, y)


def path_of(X=X, validation=True, costs=None, **settings):
    held_out = {"X_val": X[300:], "y_val": y[300:]} if validation else {}
    model = GBFSRegressor(max_iter=15, costs=costs)
    return gbfs_path(X[:300], y[:300], estimator=model, n_jobs=1, **held_out, **({"n_mus": 6} | settings))


def searched(**settings):
    settings = {"n_mus": 6, "rule": "1se"} | settings
    return GBFSRegressorCV(GBFSRegressor(max_iter=15), random_state=0, n_jobs=1, **settings).fit(X, y)


def stability_of(X=X, costs=None, **settings):
    settings = {"n_features": 3, "n_subsamples": 10, "n_mus": 6} | settings
    return StabilitySelection(GBFSRegressor(max_iter=10, costs=costs), random_state=0, n_jobs=1, **settings).fit(X, y)


def points(ax, place=0):
    """Data of one line."""
    return ax.get_lines()[place].get_xydata()


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def assert_apart(texts):
    """No two texts overlap, and all are in the picture."""
    texts = [text for text in texts if text.get_text()]
    figure = texts[0].figure
    figure.canvas.draw()
    boxes = [matplotlib.text.Text.get_window_extent(text) for text in texts]
    for i, box in enumerate(boxes):
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1
        assert not any(box.overlaps(other) for other in boxes[:i]), texts[i].get_text()


# ------------------------------------------------------------------------------------------ loss and score


def test_path_is_drawn_point_by_point():
    path = path_of()
    ax = SelectionPathDisplay.from_path(path).ax_
    np.testing.assert_array_equal(points(ax), np.column_stack([path.n_features, path.validation_score]))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("number of features", "R² (validation rows)")
    assert ax.get_legend() is None
    assert not ax.spines["top"].get_visible()
    np.testing.assert_array_equal(ax.get_xticks(), np.round(ax.get_xticks()))


@pytest.mark.parametrize("name", ["validation_loss", "train_score", "train_loss"])
def test_path_of_something_else(name):
    path = path_of()
    ax = path.plot(y=name).ax_
    np.testing.assert_array_equal(points(ax)[:, 1], getattr(path, name))
    rows = "training" if name.startswith("train") else "validation"
    assert ax.get_ylabel() == f"{'R²' if name.endswith('score') else 'loss'} ({rows} rows)"


def test_path_against_the_price_in_its_unit():
    path = path_of(costs=Prices(np.arange(1.0, 11.0), unit="euro"))
    ax = SelectionPathDisplay.from_path(path, x="price").ax_
    np.testing.assert_array_equal(points(ax)[:, 0], path.price)
    assert ax.get_xlabel() == "cost (euro)"


def test_without_validation_rows_the_training_score_is_drawn():
    path = path_of(validation=False)
    display = SelectionPathDisplay.from_path(path)
    np.testing.assert_array_equal(display.lines[0].y, path.train_score)
    assert display.y_label == "R² (training rows)"
    with pytest.raises(ValueError, match=r"There is no validation_score to draw.*Were validation rows given"):
        SelectionPathDisplay.from_path(path, y="validation_score")


def test_two_paths_in_one_figure():
    first = path_of().plot(name="by mu")
    second = path_of(n_features_to_select=[1, 2, 3]).plot(name="exactly k", ax=first.ax_)
    assert second.ax_ is first.ax_
    assert second.figure_ is first.figure_
    assert legend(first.ax_) == ["by mu", "exactly k"]
    colours = {to_rgba(line.get_color()) for line in first.ax_.get_lines()}
    assert len(colours) == 2


def test_path_with_gaps_and_with_one_point():
    line = Line(np.array([0.0, 1.0, 2.0]), np.array([0.5, np.nan, 0.7]))
    display = SelectionPathDisplay(lines=[line], x_label="x", y_label="y").plot(color="black", linestyle="--")
    assert display.ax_.get_lines()[0].get_linestyle() == "--"
    display.figure_.canvas.draw()
    assert len(points(path_of(mus=[0.1], n_mus=1).plot().ax_)) == 1


@pytest.mark.parametrize("x", ["n_features", "price"])
def test_search_with_bars_band_and_marks(x):
    search = searched()
    display = SelectionPathDisplay.from_estimator(search, x=x)
    results, ax = search.cv_results_, display.ax_
    np.testing.assert_array_equal(display.lines[0].error, results["se_test_score"])
    np.testing.assert_array_equal(points(ax), np.column_stack([results[f"mean_{x}"], results["mean_test_score"]]))
    best, chosen = int(np.argmax(results["mean_test_score"])), search.best_index_
    assert best != chosen, "the example is to show both"
    for mark, index, text in zip(display.marks, (best, chosen), ("best: ", "chosen by 1se: "), strict=True):
        assert (mark.x, mark.y) == (results[f"mean_{x}"][index], results["mean_test_score"][index])
        assert mark.text.startswith(text)
        assert mark.text in legend(ax)
    stars = [line for line in ax.get_lines() if line.get_marker() == "*"]
    np.testing.assert_array_equal(stars[0].get_xydata(), [[display.marks[1].x, display.marks[1].y]])
    top = results["mean_test_score"][best]
    assert display.band == (top - results["se_test_score"][best], top)
    assert "within one standard error of the best" in legend(ax)
    assert ax.get_xlabel().endswith("mean of 5 splits")


def test_search_by_the_best_score_has_one_mark_and_no_band():
    search = searched(rule="min")
    display = SelectionPathDisplay.from_estimator(search)
    assert [mark.x for mark in display.marks] == [search.cv_results_["mean_n_features"][search.best_index_]]
    assert display.band is None
    loss = SelectionPathDisplay.from_estimator(search, y="validation_loss")
    np.testing.assert_array_equal(points(loss.ax_)[:, 1], search.cv_results_["mean_test_loss"])
    assert loss.lines[0].error is None


@pytest.mark.slow
def test_a_line_for_each_depth_and_number_of_iterations():
    search = searched(max_depths=[1, None], max_iters=[5, 10])
    display = SelectionPathDisplay.from_estimator(search)
    names = [f"{depth}, {t} iterations" for depth in ("depth 1", "any depth") for t in (5, 10)]
    assert [line.name for line in display.lines] == names
    for line, (depth, t) in zip(display.lines, [(1, 5), (1, 10), (None, 5), (None, 10)], strict=True):
        mine = [i for i, c in enumerate(search.cv_results_["params"]) if (c["max_depth"], c["max_iter"]) == (depth, t)]
        np.testing.assert_array_equal(line.y, search.cv_results_["mean_test_score"][mine])
    assert set(names) < set(legend(display.ax_))


@pytest.mark.slow
def test_search_over_numbers_of_features():
    search = searched(n_features_to_select=[1, 3, 5])
    np.testing.assert_array_equal(points(SelectionPathDisplay.from_estimator(search).ax_)[:, 0], [1, 3, 5])
    assert len(points(SelectionPathDisplay.from_estimator(searched(n_features_to_select=2)).ax_)) == 1


@pytest.mark.parametrize(("x", "column"), [("n_features", "n_features"), ("price", "price_paid")])
def test_losses_of_one_fit(x, column):
    model = GBFSRegressor(0.001, early_stopping=True, random_state=0, max_iter=200, n_jobs=1).fit(X, y)
    display = SelectionPathDisplay.from_estimator(model, x=x)
    assert [line.name for line in display.lines] == ["training rows", "validation rows"]
    for line, name in zip(display.lines, ("train_loss", "validation_loss"), strict=True):
        np.testing.assert_array_equal(line.x, model.history_[column])
        np.testing.assert_array_equal(line.y, model.history_[name])
    best = model.best_iteration_
    assert best < model.n_iter_
    (mark,) = display.marks
    assert (mark.x, mark.y) == (model.history_[column][best], model.history_["validation_loss"][best])
    assert mark.text == f"the model: {best} iterations, {model.n_features_selected_} features"
    assert display.y_label == "mean loss (squared error)"


def test_losses_without_validation_rows():
    display = SelectionPathDisplay.from_estimator(fitted(), x="iteration", name="mine")
    assert [line.name for line in display.lines] == ["mine, training rows"]
    np.testing.assert_array_equal(display.lines[0].x, np.arange(16))
    with pytest.raises(ValueError, match="no validation_loss"):
        SelectionPathDisplay.from_estimator(fitted(), y="validation_loss")


def test_options_that_do_not_exist():
    with pytest.raises(ValueError, match="x must be one of 'n_features', 'price' here, not 'mu'"):
        SelectionPathDisplay.from_path(path_of(), x="mu")
    with pytest.raises(ValueError, match="y must be one of"):
        SelectionPathDisplay.from_path(path_of(), y="score")
    with pytest.raises(ValueError, match="x must be one of"):
        SelectionPathDisplay.from_estimator(searched(), x="iteration")
    with pytest.raises(ValueError, match="y must be one of 'train_loss'"):
        SelectionPathDisplay.from_estimator(fitted(), y="validation_score")


# ------------------------------------------------------------------------------------------ what enters where


def test_cells_are_the_supports():
    path = path_of()
    display = EntryDisplay.from_path(path)
    first = [np.flatnonzero(column)[0] for column in display.member]
    assert first == sorted(first)
    places = [list(X.columns).index(name) for name in display.features]
    np.testing.assert_array_equal(display.member, path.supports[:, places].T)
    assert display.member.sum() == path.n_features.sum()
    (mesh,) = [c for c in display.ax_.collections if hasattr(c, "get_coordinates")]
    np.testing.assert_array_equal(np.asarray(mesh.get_array()).reshape(display.member.shape), display.member)
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == display.features
    low, high = display.ax_.get_xlim()
    assert low > path.values[0] > path.values[-1] > high, "mu falls to the right"
    assert display.ax_.get_xscale() == "log"
    top, bottom = display.ax_.transData.transform([[path.values[0], 0], [path.values[0], 1]])[:, 1]
    assert top > bottom, "the first feature is at the top"


def test_features_of_one_model_are_in_order_of_purchase():
    path = path_of(mus=[1e-3], n_mus=1)
    assert EntryDisplay.from_path(path).features == path.features[0].tolist()


def test_entry_by_number_of_features():
    by_mu, by_number = path_of(), path_of(n_features_to_select=[0, 1, 2, 4])
    for path in (by_mu, by_number):
        ax = EntryDisplay.from_path(path, x="n_features").ax_
        assert [text.get_text() for text in ax.get_xticklabels()] == [str(n) for n in path.n_features]
    assert EntryDisplay.from_path(by_number).x_label == "number of features"
    with pytest.raises(ValueError, match="x='mu' needs a path by mu"):
        EntryDisplay.from_path(by_number, x="mu")


def test_entry_of_one_model_shows_the_iterations_of_purchase():
    model = fitted(0.001)
    display = EntryDisplay.from_estimator(model)
    assert display.features == X.columns[model.selected_features_].tolist()
    for name, owned in zip(display.features, display.member, strict=True):
        column = list(X.columns).index(name)
        bought = next(i for i, features in enumerate(model.history_["bought"]) if column in features)
        np.testing.assert_array_equal(owned, display.columns >= bought)
    search = searched()
    assert EntryDisplay.from_estimator(search).features == list(X.columns[search.selected_features_])


def test_only_the_first_rows_are_drawn():
    display = EntryDisplay.from_path(path_of(), max_features=2)
    assert display.features == EntryDisplay.from_path(path_of()).features[:2]
    assert display.ax_.get_ylabel() == f"the first 2 of {display.n_entered} features"
    few, many = (EntryDisplay.from_path(path_of(), max_features=k).figure_.get_figheight() for k in (5, 9))
    assert many > few


def test_zero_has_a_place_on_the_axis_of_mu():
    display = EntryDisplay.from_path(path_of(mus=[0.1, 0.01, 0.0]))
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == ["0.1", "0.01", "0"]
    EntryDisplay.from_path(path_of(mus=[0.0])).figure_.canvas.draw()


def test_columns_without_names():
    assert EntryDisplay.from_estimator(fitted(X=X.to_numpy())).features[0].startswith("x")


# ------------------------------------------------------------------------------------------ gains and prices


def test_purchases_lie_above_what_had_to_be_gained():
    prices = np.linspace(0.1, 5.0, 10)
    for unit in ("share", "absolute"):
        impurity = fitted()._model.impurity
        mu = 0.002 * (1 if unit == "share" else impurity)
        model = fitted(mu, costs=Prices(prices, unit="ms"), mu_unit=unit)
        display = PurchaseDisplay.from_estimator(model)
        bought = model.selected_features_
        np.testing.assert_allclose(display.price, prices[bought])
        gains = model._model.ensemble.feature_gains(10, model.best_iteration_)
        np.testing.assert_array_equal(display.total_gain, gains[bought])
        np.testing.assert_array_equal(display.first_gain, [g for gains in model.history_["raw_gain"] for g in gains])
        assert display.mu == pytest.approx(0.002 * impurity)
        assert (display.first_gain > display.mu * display.price).all()
        assert (display.total_gain >= display.first_gain).all()
        solid, hollow = (c.get_offsets() for c in display.ax_.collections if len(c.get_offsets()) > 1)
        np.testing.assert_allclose(solid, np.column_stack([display.price, display.total_gain]))
        np.testing.assert_allclose(hollow, np.column_stack([display.price, display.first_gain]))
        line = points(display.ax_)
        np.testing.assert_allclose(line[:, 1], display.mu * line[:, 0])
        assert display.ax_.get_xlabel() == "price paid (ms)"
        assert display.ax_.get_yscale() == "log"


def test_equal_prices_are_drawn_in_order_of_purchase():
    model = fitted(0.001)
    display = PurchaseDisplay.from_estimator(model)
    ax = display.ax_
    assert ax.get_xlabel() == "order of purchase (each price 1)"
    assert [text.get_text() for text in ax.get_xticklabels()] == X.columns[model.selected_features_].tolist()
    np.testing.assert_allclose(points(ax)[:, 1], display.mu)
    assert PurchaseDisplay.from_estimator(model, x="price").ax_.get_xlabel() == "price paid"


@pytest.mark.parametrize("settings", [{"n_features_to_select": 3}, {"refit": True}, {"stop": "never"}])
def test_no_line_where_prices_did_not_have_to_be_gained(settings):
    model = fitted(**settings)
    if model.selling_ is not None:
        model.refit_scores_["kept"] = "forward"  # also where no refit was better, mu was zero
    display = PurchaseDisplay.from_estimator(model)
    assert display.mu is None
    assert legend(display.ax_) == ["all its splits", "the split that bought it"]


def test_names_beside_points_do_not_overlap():
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.normal(size=(len(y), 40)), columns=[f"measurement {j}" for j in range(40)])
    model = fitted(0.0, X=wide, costs=rng.integers(1, 6, 40).astype(float))
    display = PurchaseDisplay.from_estimator(model)
    assert len(display.ax_.texts) >= 3
    assert_apart(display.ax_.texts)
    biggest = display.features[int(np.argmax(display.total_gain))]
    assert biggest in [text.get_text() for text in display.ax_.texts]


@pytest.mark.slow
@pytest.mark.parametrize("costs", [np.zeros(10), [0, 0, 0, 1, 2, 3, 4, 5, 6, 7], 10.0 ** np.arange(-5, 5)])
def test_free_and_very_different_prices(costs):
    PurchaseDisplay.from_estimator(fitted(1e-5, costs=costs), x="price").figure_.canvas.draw()
    PurchaseDisplay.from_estimator(fitted(1e-5, costs=costs), x="order").figure_.canvas.draw()


# ------------------------------------------------------------------------------------------------------ bags


GROUPS = {"person": ["age", "sex", "bmi"], "blood": ["s1", "s2", "s3", "s4", "s5"]}  # bp and s6 stand alone


def test_bags_in_order_of_purchase_with_their_prices():
    model = fitted(0.001, costs=Bags(GROUPS, prices={"blood": 3.0}, unit="euro") + Prices(np.full(10, 0.25)))
    display = BagDisplay.from_estimator(model)
    assert set(display.bags) == {"person", "blood", "bp", "s6"}
    assert display.n_bags == 4
    assert np.nansum(display.price) == pytest.approx(model.total_cost_)
    blood = display.bags.index("blood")
    total = model._model.ensemble.feature_gains(10, model.best_iteration_)
    gains = [total[list(X.columns).index(name)] for name in GROUPS["blood"]]
    np.testing.assert_array_equal(np.nan_to_num(display.gains[blood]), gains)
    bought = int(np.isfinite(display.gains[blood]).sum())
    assert display.price[blood] == pytest.approx(3.0 + 0.25 * bought)
    shown = [text.get_text() for text in display.ax_.texts]
    assert f"{display.price[blood]:.4g}" in shown
    assert "price (euro)" in shown
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == display.bags


def test_bags_that_overlap_are_paid_once():
    bags = Bags({"a": ["bmi", "s5", "bp"], "b": ["s5", "s3"], "c": ["s3", "s1"]}, prices={"b": 0.5})
    model = fitted(0.001, costs=bags)
    display = BagDisplay.from_estimator(model)
    assert np.nansum(display.price) == pytest.approx(model.total_cost_)
    owned = dict(zip(display.bags, display.price, strict=True))
    assert owned["b"] == 0.5, "s5 is bought through the cheaper of its bags"


@nothing_bought
def test_bags_not_owned_are_pale_and_many_bags_are_cut():
    model = fitted(5.0, costs=Bags(GROUPS))
    display = BagDisplay.from_estimator(model)
    assert display.n_owned == 0
    assert np.isnan(display.price).all()
    assert display.ax_.get_xlabel() == "0 of 4 bags owned"
    display = BagDisplay.from_estimator(fitted(0.02, costs=Bags([0, 0, 1, 1, 2, 2, 3, 3, 4, 4])), max_bags=3)
    owned = np.isfinite(display.price)
    assert owned.tolist() == sorted(owned, reverse=True), "those owned come first"
    assert display.ax_.get_xlabel() == f"{display.n_owned} of 5 bags owned, 3 shown"
    assert all(name.startswith("bag ") for name in display.bags)


def test_bags_with_more_features_than_there_is_room_for():
    wide = np.tile(X.to_numpy(), 10)
    display = BagDisplay.from_estimator(fitted(X=wide, costs=Bags([0] * 90 + [1] * 10)))
    assert "+50" in [text.get_text() for text in display.ax_.texts]
    assert_apart(display.ax_.texts)


def test_without_bags_there_is_nothing_to_draw():
    with pytest.raises(ValueError, match="There are no bags to draw"):
        BagDisplay.from_estimator(fitted())
    with pytest.raises(ValueError, match="There are no bags to draw"):
        StabilityPathDisplay.from_estimator(stability_of(), bags=True)


# ------------------------------------------------------------------------------------------------- stability


def test_stability_paths():
    stable = stability_of()
    display = StabilityPathDisplay.from_estimator(stable)
    ax, chosen = display.ax_, np.flatnonzero(stable.support_)
    assert len(chosen)
    drawn = [line.get_ydata() for line in ax.get_lines() if len(line.get_xdata()) == len(stable.mus_)]
    expected = sorted(stable.frequencies_[:, chosen].T.tolist())
    np.testing.assert_array_equal(sorted(np.array(drawn).tolist()), expected)
    grey = ax.collections[0].get_segments()
    others = ~stable.support_ & (stable.frequency_ > 0)
    assert len(grey) == others.sum()
    named = [text.get_text() for text in ax.texts if text.get_text() != "any mu"]
    assert sorted(named) == sorted(X.columns[chosen])
    assert [0.75, 0.75] in [list(line.get_ydata()) for line in ax.get_lines()]
    assert "threshold 0.75" in legend(ax)
    low, high = ax.get_xlim()
    assert low > high, "mu falls to the right"
    dots = {
        tuple(line.get_xydata()[0]) for line in ax.get_lines() if line.get_marker() == "o" and line.get_xydata().size
    }
    links = [tuple(line.get_xydata()[1]) for line in ax.get_lines() if len(line.get_xdata()) == 2]
    for text, j in ((t, list(X.columns).index(t.get_text())) for t in ax.texts if t.get_text() != "any mu"):
        assert text.xy[1] == stable.frequency_[j]
        assert tuple(text.xy) in dots
        assert tuple(text.xy) in links


@pytest.mark.slow
def test_stable_names_are_moved_apart():
    count = 12
    display = StabilityPathDisplay(
        features=[f"feature {j}" for j in range(count)],
        mus=[0.1, 0.01],
        frequencies=np.tile(np.repeat([0.9, 1.0], 6), (2, 1)),
        frequency=np.repeat([0.9, 1.0], 6),
        stable=np.ones(count, dtype=bool),
        threshold=0.8,
    ).plot()
    assert len(display.ax_.texts) == count + 1
    assert_apart(display.ax_.texts)
    heights = {text.get_text(): text.get_window_extent().y0 for text in display.ax_.texts}
    assert heights["feature 11"] > heights["feature 0"]


@pytest.mark.slow
def test_more_stable_names_than_there_is_room_for():
    count = 200
    frequency = np.linspace(0.8, 1.0, count)
    display = StabilityPathDisplay(
        features=[f"feature {j}" for j in range(count)],
        mus=[0.1, 0.01],
        frequencies=[frequency, frequency],
        frequency=frequency,
        stable=np.ones(count, dtype=bool),
        threshold=0.8,
    ).plot()
    shown = [text.get_text() for text in display.ax_.texts if text.get_text().startswith("feature")]
    assert "feature 199" in shown, "the most frequent are named"
    assert f"and {count - len(shown)} more" in [text.get_text() for text in display.ax_.texts]
    assert_apart(display.ax_.texts)


@pytest.mark.slow
def test_stability_of_bags():
    stable = stability_of(costs=Bags(GROUPS), n_features=2)
    display = StabilityPathDisplay.from_estimator(stable, bags=True)
    assert display.features == ["person", "blood", "bp", "s6"]
    np.testing.assert_array_equal(display.frequencies, stable.bag_frequencies_)
    np.testing.assert_array_equal(display.stable, stable.bag_support_)
    assert len(StabilityPathDisplay.from_estimator(stable).features) == 10


@pytest.mark.slow
@nothing_bought
def test_odd_stability_paths():
    StabilityPathDisplay.from_estimator(stability_of(mus=[0.1, 0.0])).figure_.canvas.draw()
    StabilityPathDisplay.from_estimator(stability_of(mus=[0.01])).figure_.canvas.draw()
    with pytest.warns(UserWarning, match="Nothing was bought"):
        stable = stability_of(mus=[9.0])
    display = StabilityPathDisplay.from_estimator(stable)
    assert "nothing was bought" in [text.get_text() for text in display.ax_.texts]


# ---------------------------------------------------------------------------------------------- all of them


@nothing_bought
@pytest.mark.parametrize("kind", [SelectionPathDisplay, EntryDisplay, PurchaseDisplay])
def test_a_model_without_features(kind):
    display = kind.from_estimator(fitted(5.0))
    display.figure_.canvas.draw()
    if kind is not SelectionPathDisplay:
        assert [text.get_text() for text in display.ax_.texts] == ["nothing was bought"]


@nothing_bought
def test_a_path_without_features():
    path = path_of(mus=[9.0, 8.0])
    assert EntryDisplay.from_path(path).n_entered == 0
    path.plot().figure_.canvas.draw()


@pytest.mark.parametrize("kind", [SelectionPathDisplay, EntryDisplay, PurchaseDisplay, BagDisplay])
def test_unfitted_and_wrong_objects(kind):
    with pytest.raises(NotFittedError):
        kind.from_estimator(GBFSRegressor())
    with pytest.raises(NotFittedError):
        kind.from_estimator(GBFSRegressorCV())
    with pytest.raises(TypeError, match=f"{kind.__name__} draws a GBFSClassifier or GBFSRegressor.* not a Ridge"):
        kind.from_estimator(Ridge())
    if hasattr(kind, "from_path"):
        with pytest.raises(TypeError, match="needs a path made by gbfs_path, not a Ridge"):
            kind.from_path(Ridge())


def test_unfitted_and_wrong_stability():
    with pytest.raises(NotFittedError):
        StabilityPathDisplay.from_estimator(StabilitySelection())
    with pytest.raises(TypeError, match="draws a StabilitySelection, not a GBFSRegressor"):
        StabilityPathDisplay.from_estimator(fitted())


@pytest.mark.slow
def test_axes_that_are_given():
    figure, panels = plt.subplots(2, 3, layout="constrained")
    bagged = fitted(costs=Bags(GROUPS))
    drawn = [
        SelectionPathDisplay.from_path(path_of(), ax=panels[0, 0]),
        EntryDisplay.from_path(path_of(), ax=panels[0, 1]),
        PurchaseDisplay.from_estimator(bagged, ax=panels[0, 2]),
        BagDisplay.from_estimator(bagged, ax=panels[1, 0]),
        StabilityPathDisplay.from_estimator(stability_of(), ax=panels[1, 1]),
        EntryDisplay.from_estimator(bagged, ax=panels[1, 2]),
    ]
    for display, ax in zip(drawn, panels.ravel(), strict=True):
        assert display.ax_ is ax
        assert display.figure_ is figure
        assert display.plot().ax_ is not ax
    figure.canvas.draw()


@pytest.mark.slow
def test_a_model_from_a_file(tmp_path):
    for settings in ({}, {"n_features_to_select": 3}):
        model = fitted(costs=Bags(GROUPS), **settings)
        model.save(tmp_path / "model.frugal")
        again = GBFSRegressor.load(tmp_path / "model.frugal")
        for kind in (SelectionPathDisplay, EntryDisplay, PurchaseDisplay):
            kind.from_estimator(again).figure_.canvas.draw()
        assert PurchaseDisplay.from_estimator(again).mu == PurchaseDisplay.from_estimator(model).mu
        with pytest.raises(ValueError, match="or was loaded from a file, which keeps prices but not bags"):
            BagDisplay.from_estimator(again)


def test_names_fit_to_be_drawn():
    assert shown_names(["age", "two\nlines"]) == ["age", "two lines"]
    assert shown_names(["a $price$"]) == [r"a \$price\$"]
    (long,) = shown_names(["temperature of the water, in degrees"])
    assert len(long) == 26
    assert long.startswith("temperature")
    assert long.endswith("degrees")
    alike = shown_names([f"temperature of the water, sensor {j}, in degrees" for j in range(12)])
    assert len(set(alike)) == 12
    assert max(map(len, alike)) <= 26


@pytest.mark.slow
def test_odd_names_are_drawn():
    odd = X.rename(columns=dict(zip(X.columns, ["$a$ ^_", "_b", "", *(f"{'long ' * 20}{j}" for j in range(7))])))
    for kind in (EntryDisplay, PurchaseDisplay):
        kind.from_estimator(fitted(0.001, X=odd)).figure_.canvas.draw()
    StabilityPathDisplay.from_estimator(stability_of(X=odd)).figure_.canvas.draw()


def test_without_matplotlib_a_sentence_says_what_to_install(monkeypatch):
    model, path, stable = fitted(costs=Bags(GROUPS)), path_of(), stability_of()
    for name in [n for n in sys.modules if n == "matplotlib" or n.startswith("matplotlib.")]:
        monkeypatch.setitem(sys.modules, name, None)
    for draw in (
        lambda: SelectionPathDisplay.from_path(path),
        lambda: EntryDisplay.from_estimator(model),
        lambda: PurchaseDisplay.from_estimator(model),
        lambda: BagDisplay.from_estimator(model),
        lambda: StabilityPathDisplay.from_estimator(stable),
    ):
        with pytest.raises(ImportError, match=r"^Figures need matplotlib: pip install frugalboost\[plot\]$"):
            draw()
