"""The selectors of the quality benchmark, and how each is set up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lab.rivals import (
    MRMR,
    CatBoostSelect,
    Frugalboost,
    FrugalboostForward,
    FrugalboostPlain,
    L1Logistic,
    Lasso,
    LassoNet,
    LightGBMCEGB,
    LightGBMElimination,
    LightGBMGain,
    RandomForestSelection,
    Selector,
)
from lab.rivals.selector import REGRESSION

TREES = 200  # of a forest


def l1(ks: Sequence[int], task: str, seconds: float) -> Selector:
    if task == REGRESSION:
        return Lasso(count=max(ks))
    return L1Logistic(count=max(ks), judged_by="loss", fine=False)


def mrmr(ks: Sequence[int], task: str, seconds: float) -> Selector:
    return MRMR(count=max(ks), final="lightgbm", task=task)


def forest(ks: Sequence[int], task: str, seconds: float) -> Selector:
    return RandomForestSelection(trees=TREES, tuning_trees=TREES, task=task)


def plain(ks: Sequence[int], task: str, seconds: float) -> Selector:
    return FrugalboostPlain(tuple(ks), task=task)


def sized(kind: type[Selector]) -> Callable[[Sequence[int], str, float], Selector]:
    return lambda ks, task, seconds: kind(tuple(ks), task=task, seconds=seconds)


# name in results: how to make it for some sizes, a task and a time limit; in the order in which they are run
METHODS: dict[str, Callable[[Sequence[int], str, float], Selector]] = {
    "lightgbm_gain": sized(LightGBMGain),
    "lightgbm_rfe": sized(LightGBMElimination),
    "lightgbm_cegb": sized(LightGBMCEGB),
    "catboost_select": sized(CatBoostSelect),
    "frugalboost": sized(Frugalboost),
    "frugalboost_forward": sized(FrugalboostForward),
    "frugalboost_plain": plain,
    "l1_logistic": l1,
    "lassonet": sized(LassoNet),
    "mrmr": mrmr,
    "random_forest": forest,
}

# what tables call them, where what is said of the class is not enough
TITLES = {"l1_logistic": "L1 linear model", "mrmr": "mRMR, then LightGBM"}
