"""CatBoost's select_features, in a cascade: each number of features starts from the set chosen for the one before."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from catboost import CatBoost, EFeaturesSelectionAlgorithm, EShapCalcType, Pool

from lab.quality.splits import Split
from lab.rivals.selectors.common import DEPTH, LEARNING_RATE, PATIENCE, TREES, Answer, as_label, late, taken

NAME = "CatBoost, select_features"
STEPS = 3
WIDE = 200  # columns beyond which Shapley values take minutes, and the change of prediction values ranks instead


def run(split: Split, ks: Sequence[int], deadline: float) -> dict[int, Answer]:
    """Eliminate by Shapley values and by the change of prediction values; at each k the better on validation rows."""
    best: dict[int, tuple[float, Answer]] = {}
    for shapley in (True, False):
        columns = np.arange(split.X_train.shape[1])
        for k in sorted(ks, reverse=True):
            if late(deadline):
                break
            columns = columns[selected(split, columns, k, shapley)]
            loss, answer = final(split, columns)
            if k not in best or loss < best[k][0]:
                best[k] = loss, answer
    return {k: answer for k, (_, answer) in best.items()}


def model(split: Split) -> CatBoost:
    return CatBoost(
        {
            "loss_function": "Logloss" if split.task == "classification" else "RMSE",
            "iterations": TREES,
            "depth": DEPTH,
            "learning_rate": LEARNING_RATE,
            "early_stopping_rounds": PATIENCE,
            "thread_count": 1,
            "random_seed": 0,
            "allow_writing_files": False,
            "logging_level": "Silent",
        }
    )


def pools(split: Split, columns: np.ndarray) -> tuple[Pool, Pool]:
    return (
        Pool(taken(split.X_train, columns), split.y_train),
        Pool(taken(split.X_valid, columns), split.y_valid),
    )


def selected(split: Split, columns: np.ndarray, k: int, shapley: bool) -> list[int]:
    """Positions within `columns` that CatBoost keeps."""
    train, valid = pools(split, columns)
    kinds = EFeaturesSelectionAlgorithm
    shapley = shapley and len(columns) <= WIDE
    summary = model(split).select_features(
        train,
        eval_set=valid,
        features_for_select=list(range(len(columns))),
        num_features_to_select=k,
        steps=STEPS,
        algorithm=kinds.RecursiveByShapValues if shapley else kinds.RecursiveByPredictionValuesChange,
        shap_calc_type=EShapCalcType.Approximate,
        train_final_model=False,
        logging_level="Silent",
    )
    return sorted(summary["selected_features"])


def final(split: Split, columns: np.ndarray) -> tuple[float, Answer]:
    """Loss on the validation rows, and the answer."""
    train, valid = pools(split, columns)
    fitted = model(split).fit(train, eval_set=valid, use_best_model=True)
    kind = "Probability" if split.task == "classification" else "RawFormulaVal"
    score = fitted.predict(taken(split.X_test, columns), prediction_type=kind)
    score = score[:, 1] if split.task == "classification" else score
    answer = Answer(columns[np.flatnonzero(fitted.get_feature_importance())], as_label(score, split.task))
    return fitted.get_best_score()["validation"][fitted.get_params()["loss_function"]], answer
