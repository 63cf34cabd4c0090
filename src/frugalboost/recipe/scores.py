"""Names of scores, so that a wrong one is found before scikit-learn is loaded, which takes more than a second."""

from __future__ import annotations

import re
from importlib.metadata import version

from frugalboost.recipe.problems import Problem, unknown

# All names of scikit-learn up to this version. A later one may have more; it is asked once it is loaded.
KNOWN_UNTIL = (1, 9)
AVERAGED = ("f1", "jaccard", "precision", "recall")
SINGLE = [
    "accuracy",
    "adjusted_mutual_info_score",
    "adjusted_rand_score",
    "average_precision",
    "balanced_accuracy",
    "completeness_score",
    "d2_absolute_error_score",
    "d2_brier_score",
    "d2_log_loss_score",
    "explained_variance",
    "fowlkes_mallows_score",
    "homogeneity_score",
    "matthews_corrcoef",
    "mutual_info_score",
    "neg_brier_score",
    "neg_log_loss",
    "neg_max_error",
    "neg_mean_absolute_error",
    "neg_mean_absolute_percentage_error",
    "neg_mean_gamma_deviance",
    "neg_mean_poisson_deviance",
    "neg_mean_squared_error",
    "neg_mean_squared_log_error",
    "neg_median_absolute_error",
    "neg_negative_likelihood_ratio",
    "neg_root_mean_squared_error",
    "neg_root_mean_squared_log_error",
    "normalized_mutual_info_score",
    "positive_likelihood_ratio",
    "r2",
    "rand_score",
    "roc_auc",
    "roc_auc_ovo",
    "roc_auc_ovo_weighted",
    "roc_auc_ovr",
    "roc_auc_ovr_weighted",
    "top_k_accuracy",
    "v_measure_score",
]
AVERAGES = ("macro", "micro", "samples", "weighted")
KNOWN = sorted([*SINGLE, *AVERAGED, *(f"{score}_{average}" for score in AVERAGED for average in AVERAGES)])


def check_score(name: str | None) -> None:
    """Raise Problem for a score that the installed scikit-learn surely does not have.

    Examples
    --------
    >>> from frugalboost.recipe.scores import check_score, unknown_score
    >>> check_score("accuracy")
    >>> str(unknown_score("acuracy", ["accuracy", "jaccard"]))
    "There is no score 'acuracy' in scikit-learn. Did you mean 'accuracy'?"
    """
    if name is None or name in KNOWN:
        return
    installed = re.match(r"(\d+)\.(\d+)", version("scikit-learn"))
    if installed and tuple(map(int, installed.groups())) <= KNOWN_UNTIL:
        raise unknown_score(name, KNOWN)


def unknown_score(name: str, known: list[str]) -> Problem:
    """The error for a score that does not exist."""
    return unknown("score", name, known, "scikit-learn")
