"""Scores as errors, so that lower is better for every scorer."""

from __future__ import annotations

from dataclasses import dataclass

from frugalboost.page.words import number_text
from frugalboost.selection.scoring import best_score

NAMED = {
    "accuracy": "error",
    "R²": "unexplained variance",
    "r2": "unexplained variance",
    "roc_auc": "1 - ROC AUC",
    "neg_root_mean_squared_error": "RMSE",
    "neg_mean_squared_error": "mean squared error",
    "neg_mean_absolute_error": "mean absolute error",
    "neg_log_loss": "log loss",
    "neg_mean_poisson_deviance": "Poisson deviance",
}


@dataclass(frozen=True)
class Measure:
    """How a scorer's scores are shown.

    Parameters
    ----------
    scoring : str
        Name of the score. One that begins with "neg_" is an error already. For scores whose best value is 1, the
        distance to 1 is shown, in percent; any other is shown with the opposite sign.

    Examples
    --------
    >>> from frugalboost.report.measure import Measure
    >>> Measure("accuracy").title, Measure("accuracy").shown(0.915)
    ('error', '8.5 %')
    >>> Measure("neg_root_mean_squared_error").title, Measure("neg_root_mean_squared_error").shown(-53.21)
    ('RMSE', '53.21')
    """

    scoring: str

    @property
    def is_share(self) -> bool:
        """Whether errors are shares of 1."""
        return best_score(self.scoring) == 1.0

    @property
    def title(self) -> str:
        """What the error is called."""
        if self.scoring in NAMED:
            return NAMED[self.scoring]
        if self.is_share:
            return f"1 - {self.scoring}"
        name = self.scoring.removeprefix("neg_").replace("_", " ")
        return name if self.scoring.startswith("neg_") else f"minus {name}"

    @property
    def unit(self) -> str:
        """The text after numbers."""
        return " %" if self.is_share else ""

    def error(self, score: float) -> float:
        """The error, in percent where it is a share."""
        return 100 * (1 - score) if self.is_share else -score

    def spread(self, spread: float) -> float:
        """A standard error of scores as one of errors."""
        return 100 * spread if self.is_share else spread

    def shown(self, score: float) -> str:
        """The error as text."""
        return self.text(self.error(score))

    def text(self, error: float | None) -> str:
        """An error as text."""
        if error is None or error != error:
            return "-"
        return f"{error:.1f} %" if self.is_share else number_text(error)
