"""What notebooks show of fitted estimators and paths, and how an estimator is reported on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from sklearn.utils.validation import check_is_fitted

from frugalboost._support.slots import report_on
from frugalboost.costs.resolve import has_row_prices
from frugalboost.estimators.made_of import made_of
from frugalboost.page.report import Report
from frugalboost.page.words import slope_text
from frugalboost.tables.names import feature_names

MOST_ROWS = 20


class NotebookMixin:
    """Estimators that show what they bought, and can be reported on."""

    def report(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        X_test: Any = None,
        y_test: Any = None,
        sample_weight_test: Any = None,
        title: str | None = None,
        verbose: int = 0,
    ) -> Report:
        """Make a report: the trade-off curve, the choice and its reason, what each feature contributes, oddities.

        The path is followed on all rows, and models with the first feature, the first two and so on are
        cross-validated; a plain estimator is cross-validated first. Needs the extra "report".

        Parameters
        ----------
        X, y : array-like or data frame, array-like
            What the estimator was fitted on, in memory.
        sample_weight, groups : array-like or None, default=None
            As in fit.
        X_test, y_test, sample_weight_test : default=None
            Rows that took no part in the fit, for one more curve.
        title : str or None, default=None
            Of the page.
        verbose : int, default=0
            1 shows progress.

        Returns
        -------
        Report
            A notebook shows it; ``save("report.html")`` writes it.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import GBFSRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> GBFSRegressor(n_features_to_select=3, max_iter=20).fit(X, y).report(X, y)
        <Report: 3 of 10 features>
        """
        check_is_fitted(self)
        test = {"X_test": X_test, "y_test": y_test, "sample_weight_test": sample_weight_test}
        report: Report = report_on(self, X, y, sample_weight, groups=groups, title=title, verbose=verbose, **test)
        return report

    def _repr_html_inner(self) -> str:
        """scikit-learn's diagram, and below it what was bought."""
        diagram: str = super()._repr_html_inner()  # type: ignore[misc]
        return diagram + bought(self)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle


def bought(estimator: Any) -> str:
    """A table of the features that a fitted estimator bought; nothing where it is not fitted."""
    if not hasattr(estimator, "selected_features_"):
        return ""
    names = feature_names(estimator)
    shares, chosen = 100 * estimator.feature_importances_, estimator.selected_features_.tolist()
    rows = [[names[c], f"{shares[c]:.1f}"] for c in chosen]
    heads = ["feature", "share of gains, %"]
    said = f"{len(chosen)} of {estimator.n_features_in_} features bought, cost {estimator.total_cost_:g}"
    model = getattr(estimator, "estimator_", estimator)  # of a search
    if has_row_prices(model.costs):
        said += f", of which a row pays {model.prediction_cost_:g} on average"
    slopes = {line["feature"]: line["slope"] for line in model.lines_}
    if slopes:
        classes = [str(c) for c in getattr(model, "classes_", ())] or [f"target {k}" for k in range(model._outputs)]
        heads.append("slope")
        for row, column in zip(rows, chosen, strict=True):
            row.append(slope_text(slopes.get(column), classes))
        trees, lines = model._counts()
        said += f"; {made_of(trees, lines, len(slopes))}"
    return html_table(said, heads, rows)


def html_table(caption: str, heads: Sequence[str], rows: Sequence[Iterable[str]]) -> str:
    """A small table in which everything is text."""
    more = f", {MOST_ROWS} shown" if len(rows) > MOST_ROWS else ""
    head = "".join(f"<th>{escape(h)}</th>" for h in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows[:MOST_ROWS])
    return (
        f"<table><caption>{escape(caption + more)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
