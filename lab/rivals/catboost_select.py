"""CatBoost's select_features, in a cascade: each number of features starts from the set chosen for the one before."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lab.rivals.optional import needed
from lab.rivals.rows import Places
from lab.rivals.sized import DEPTH, LEARNING_RATE, PATIENCE, TREES, Candidate, Model, Sized, Work

STEPS = 3
WIDE = 200  # columns beyond which Shapley values take minutes, and the change of prediction values ranks instead


class CatBoostSelect(Sized):
    """CatBoost eliminates by Shapley values and by the change of prediction values; at each k the better one is taken.

    The better one has the lower validation loss. Parameters and attributes are those of ``lab.rivals.sized.Sized``.

    Examples
    --------
    >>> from lab.rivals import CatBoostSelect
    >>> CatBoostSelect(ks=(2, 5)).title
    'CatBoost, select_features'
    """

    title: ClassVar[str] = "CatBoost, select_features"

    def _sized(self, work: Work) -> dict[int, Model]:
        best: dict[int, Candidate] = {}
        for shapley in (True, False):
            columns: Places = np.arange(work.n_columns)
            for k in sorted((k for k in work.ks if k < work.n_columns), reverse=True):
                if work.late:
                    break
                columns = columns[self._selected(work, columns, k, shapley)]
                found = self._final(work, columns)
                if k not in best or found.loss < best[k].loss:
                    best[k] = found
        return {k: found.model for k, found in best.items()}

    def _booster(self) -> Any:
        catboost = needed("catboost", "catboost", "CatBoostSelect")
        return catboost.CatBoost(
            {
                "loss_function": "RMSE" if self._regresses else "Logloss",
                "iterations": TREES,
                "depth": DEPTH,
                "learning_rate": LEARNING_RATE,
                "early_stopping_rounds": PATIENCE,
                "thread_count": 1,
                "random_seed": self.seed,
                "allow_writing_files": False,
                "logging_level": "Silent",
            }
        )

    def _pools(self, work: Work, columns: Places) -> list[Any]:
        catboost = needed("catboost", "catboost", "CatBoostSelect")
        parts = (work.train.columns(columns), work.valid.columns(columns))
        return [catboost.Pool(part.X, part.labels) for part in parts]

    def _selected(self, work: Work, columns: Places, k: int, shapley: bool) -> list[int]:
        """Positions within `columns` that CatBoost keeps."""
        catboost = needed("catboost", "catboost", "CatBoostSelect")
        train, valid = self._pools(work, columns)
        kinds = catboost.EFeaturesSelectionAlgorithm
        by_shapley = shapley and len(columns) <= WIDE
        summary = self._booster().select_features(
            train,
            eval_set=valid,
            features_for_select=list(range(len(columns))),
            num_features_to_select=k,
            steps=min(STEPS, len(columns) - k),
            algorithm=kinds.RecursiveByShapValues if by_shapley else kinds.RecursiveByPredictionValuesChange,
            shap_calc_type=catboost.EShapCalcType.Approximate,
            train_final_model=False,
            logging_level="Silent",
        )
        return sorted(summary["selected_features"])

    def _final(self, work: Work, columns: Places) -> Candidate:
        """Train on what is left."""
        train, valid = self._pools(work, columns)
        fitted = self._booster().fit(train, eval_set=valid, use_best_model=True)
        importance = fitted.get_feature_importance()
        order = np.argsort(-importance, kind="stable")[: np.count_nonzero(importance)]

        def predict(X: Any) -> Any:
            part = np.ascontiguousarray(X[:, columns])
            if self._regresses:
                return fitted.predict(part, prediction_type="RawFormulaVal")
            return (fitted.predict(part, prediction_type="Probability")[:, 1] > 0.5).astype(np.int64)

        loss = fitted.get_best_score()["validation"][fitted.get_params()["loss_function"]]
        return Candidate(Model(columns[order], predict), loss)
