"""The command line."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

import frugalboost


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, default=None
        Without the program's name; None takes them from the command line.

    Returns
    -------
    int
        0 where all went well, 2 for a wrong call.

    Examples
    --------
    >>> from frugalboost.cli import main
    >>> main(["demo", "--mu", "0.05"])  # doctest: +ELLIPSIS
    Wisconsin breast cancer: 569 patients, 30 features...
    0
    """
    parser = argparse.ArgumentParser(
        prog="frugalboost", description="Boosted trees that buy the few features they need."
    )
    parser.add_argument("--version", action="version", version=f"frugalboost {frugalboost.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command")
    demo = commands.add_parser("demo", help="choose features on a data set bundled with scikit-learn")
    demo.add_argument("--mu", type=_share, default=0.003, help="price of a feature (default: 0.003)")
    demo.add_argument("--seed", type=int, default=0, help="which patients are held out (default: 0)")
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help(sys.stderr)
        return 2
    try:
        print(demo_report(options.mu, options.seed), flush=True)
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value < np.inf:
        raise argparse.ArgumentTypeError("mu must be zero or positive")
    return value


def demo_report(mu: float, seed: int) -> str:
    """Fit on breast-cancer data and tell what was bought and what it brought.

    Parameters
    ----------
    mu : float
        Price of a feature, as a share of the impurity before the first tree.
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
    gains = model.feature_importances_
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
            f"{100 * gains[feature] / gains.sum():>13.1f} %{error(fitted(costs=only_these)):>31.1f} %"
        )
    if model.n_features_selected_ == 0:
        lines.append(f"    nothing: from mu = {model.mu_max_:.3f} on no feature is worth its price")
    lines += [
        "",
        f"{model.n_features_selected_} of {X.shape[1]} features: test error {error(model):.1f} %. "
        f"Without prices: {everything.n_features_selected_} features, {error(everything):.1f} %.",
    ]
    return "\n".join(lines)
