"""What the tests of tables share."""

import warnings

import numpy as np
import pandas as pd

from frugalboost import GBFSClassifier, NothingBoughtWarning


def bytes_of(model, tmp):
    path = tmp / "model"
    model.save(path)
    return path.read_bytes()


def fitted(settings, X, y=None, weights=None, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingBoughtWarning)
        warnings.simplefilter("ignore", UserWarning)
        return GBFSClassifier(**settings, **more).fit(X, y, sample_weight=weights)


def cut_into(rng, n):
    ends = np.sort(rng.integers(1, n + 1, 3))
    return [slice(a, b) for a, b in zip([0, *ends], [*ends, n]) if b > a]


def saved(model, tmp):
    model.save(tmp / "saved")
    return tmp / "saved"


def trees_and_noise(n=600, seed=0):
    rng = np.random.default_rng(seed)
    kind = rng.choice(["oak", "ash", "elm", "fir", "yew"], n)
    frame = pd.DataFrame({"tree": pd.Categorical(kind), "noise": rng.normal(size=n), "height": rng.normal(size=n)})
    y = np.isin(kind, ["oak", "fir"]) * 2.0 + 0.5 * frame["height"].to_numpy() + 0.1 * rng.normal(size=n)
    return frame, y


def labelled(n=100):
    frame, y = trees_and_noise(n)
    return frame.assign(y=y)
