"""Rows set aside for early stopping: of each class its share."""

import numpy as np
import pytest

from frugalboost import GBFSClassifier
from frugalboost.training import fit as fits

SIZES = {"two classes": [180, 20], "three": [150, 40, 10], "one is rare": [95, 5]}


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("labels", ["numbers", "words"])
def test_each_class_has_its_share(name, labels, monkeypatch):
    """As the estimator is fitted: what it boosts with is looked at, for many seeds."""
    tasks = []
    boost = fits.boost

    def seen(task, *others, **more):
        tasks.append(task)
        return boost(task, *others, **more)

    monkeypatch.setattr(fits, "boost", seen)
    sizes = np.array(SIZES[name])
    rng = np.random.default_rng(3)
    codes = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    X = rng.normal(size=(len(codes), 3)) + 9 * codes[:, None]  # far apart, so that any seed buys
    y = codes if labels == "numbers" else np.array(["a", "b", "c"])[codes]
    drawn = set()
    for seed in range(12):
        model = GBFSClassifier(1e-3, max_iter=2, min_samples_leaf=3, random_state=seed)
        model.set_params(early_stopping=True, validation_fraction=0.2).fit(X, y)
        task = tasks.pop()
        assert np.bincount(task.validation.y.astype(int)).tolist() == (sizes // 5).tolist()
        assert np.bincount(task.train.y.astype(int)).tolist() == (sizes - sizes // 5).tolist()
        drawn.add(task.validation.y.tobytes())
    assert len(drawn) > 1  # a seed draws its own rows
