"""What frugalboost does, on a data set bundled with scikit-learn."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import frugalboost


def demo_report(mu: float, seed: int) -> str:
    """Fit on breast-cancer data and show what was bought and what it contributed.

    Parameters
    ----------
    mu : float
        What a price of 1 weighs, as a share of the impurity before the first tree.
    seed : int
        Decides which patients are held out.

    Returns
    -------
    str
        A readable table.

    Examples
    --------
    >>> from frugalboost.cli import demo_report
    >>> print(demo_report(0.05, 0).splitlines()[0])
    Wisconsin breast cancer: 569 patients, 30 features; 143 patients held out.
    """
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import train_test_split

    data = load_breast_cancer()
    X, X_test, y, y_test = train_test_split(data.data, data.target, stratify=data.target, random_state=seed)

    def fitted(**settings: Any) -> frugalboost.GBFSClassifier:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", frugalboost.NothingBoughtWarning)
            model: frugalboost.GBFSClassifier = frugalboost.GBFSClassifier(max_iter=200, **settings).fit(X, y)
            return model

    def error(model: frugalboost.GBFSClassifier) -> float:
        return 100 * (1 - float(model.score(X_test, y_test)))

    model, everything = fitted(mu=mu), fitted(mu=0.0)
    owned = model.history_["n_features"]
    shares = 100 * model.feature_importances_
    lines = [
        f"Wisconsin breast cancer: {len(data.target)} patients, {X.shape[1]} features; "
        f"{len(y_test)} patients held out.",
        "",
        f"    {'bought':<24}{'in tree':>8}{'share of gain':>15}{'test error with features so far':>33}",
    ]
    for k, feature in enumerate(model.selected_features_, start=1):
        only_these = np.full(X.shape[1], np.inf)
        only_these[model.selected_features_[:k]] = 0.0
        lines.append(
            f"{k:>3} {data.feature_names[feature]:<24}{next(i for i, n in enumerate(owned) if n >= k):>8}"
            f"{shares[feature]:>13.1f} %{error(fitted(costs=only_these)):>31.1f} %"
        )
    if model.n_features_selected_ == 0:
        lines.append(f"    nothing: from mu = {model.mu_max_:.3f} on, no feature is worth its price")
    lines += [
        "",
        f"{model.n_features_selected_} of {X.shape[1]} features: test error {error(model):.1f} %. "
        f"Without prices: {everything.n_features_selected_} features, {error(everything):.1f} %.",
    ]
    return "\n".join(lines)
