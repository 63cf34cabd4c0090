"""Reports on estimators that were fitted in Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier

from frugalboost.estimators import GBFSSurvival
from frugalboost.estimators.base import GBFSBase
from frugalboost.estimators.cross_validation import GBFSClassifierCV, GBFSCVBase, GBFSRegressorCV
from frugalboost.page.report import Report
from frugalboost.report.contents import contents_of
from frugalboost.report.findings import Choice, examine
from frugalboost.selection.path import mu_grid
from frugalboost.tables.checking import check_X
from frugalboost.tables.sample import Checksums, Sample

N_MUS, EPS = 20, 1e-3


def report_on(
    estimator: Any,
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
    """Make a report on a fitted estimator and the table it was fitted on."""
    X, X_test = as_table(X), as_table(X_test)
    if (X_test is None) != (y_test is None):
        raise ValueError("X_test and y_test belong together: give both, or give neither.")
    model = estimator.estimator_ if isinstance(estimator, GBFSCVBase) else estimator
    if isinstance(model, GBFSSurvival):
        raise ValueError("There are no reports on survival yet: look at the model's history_, lines_ and path.")
    if getattr(model, "n_outputs_", 1) > 1:
        raise ValueError(
            f"A report is about one target, and this model has {model.n_outputs_}. Fit one of them by itself for a "
            "report on it."
        )
    checked = check_table(model, X, y, sample_weight)
    # All fits below use the checked table; targets stay the user's own, for splitters and scorers.
    rows = Sample(checked.X, y, sample_weight, groups)
    test = None
    if X_test is not None:
        test = Sample(check_X(model._like(), X_test, reset=False, what="X_test"), y_test, sample_weight_test)
    if isinstance(estimator, GBFSCVBase):
        if isinstance(estimator.cv, Iterator):
            raise ValueError("cv is a generator, which can be used only once: fit with a list of splits instead.")
        search, choice = estimator, None
    else:
        search, choice = search_around(estimator, rows, verbose)
    findings = examine(search, rows, test, choice)
    contents = contents_of(
        findings,
        checked,
        title=title or "What the model bought",
        settings={"python": repr_of(estimator)},
    )
    return Report(contents)


def as_table(X: Any) -> Any:
    """X in a form that can be indexed by rows and columns."""
    if sparse.issparse(X):
        return X if X.format in ("csr", "csc") else X.tocsr()
    return np.asarray(X) if isinstance(X, list | tuple) else X


def check_table(model: GBFSBase, X: Any, y: Any, sample_weight: Any) -> Sample:
    """Check that this is the table of the fit; on another one the report would contradict itself."""
    check_columns(model, X)
    again = model._like()
    checked, _ = again._checked(X, y, sample_weight)
    known: Checksums | None = getattr(model, "_fitted_on", None)
    found = checked.checksums()
    if known is None:
        return checked
    other = [n for n, now, then in zip(("X", "y", "weights"), found[1:], known[1:], strict=True) if now != then]
    if "y" not in other and not same_classes(model, again):
        other.append("y")
    if not other and found[0] == known[0]:
        return checked
    said = f"{' and '.join(other)}: not those of the fit, or in another order."
    if found[0] != known[0]:
        said = f"X has {found[0]:,} rows, but the estimator was fitted on {known[0]:,}."
    raise ValueError(
        f"{said} A report is about the fit: pass X, y and sample_weight of the fit, and other rows as X_test and "
        "y_test."
    )


def same_classes(model: Any, again: Any) -> bool:
    """Whether the labels are those of the fit, where there are any."""
    return np.array_equal(getattr(model, "classes_", ()), getattr(again, "classes_", ()))


def check_columns(model: GBFSBase, X: Any) -> None:
    """Raise ValueError if these are not the columns of the fit."""
    names, known = getattr(X, "columns", getattr(X, "column_names", None)), model._names()
    same = X.shape[1] == model.n_features_in_
    if same and names is not None and known is not None:
        same = [str(n) for n in getattr(X, "column_names", names)] == list(known)
    if not same:
        raise ValueError(
            f"X must have the columns of the table of the fit, {model.n_features_in_} of them, in the same order."
        )


def search_around(model: GBFSBase, rows: Sample, verbose: int) -> tuple[GBFSCVBase, Choice]:
    """A search around the settings of one estimator, and that estimator as the choice."""
    kind = GBFSClassifierCV if is_classifier(model) else GBFSRegressorCV
    template = clone(model).set_params(n_features_to_select=None, warm_start=False, verbose=0)
    around: dict[str, Any] = {"random_state": 0, "n_jobs": model.n_jobs, "verbose": verbose}
    grid = np.union1d(mu_grid(model.mu_max_, N_MUS, EPS), [model.mu])
    search = kind(template, mus=grid, **around).fit(rows.X, rows.y, rows.weights, groups=rows.groups)
    if model.n_features_to_select is None:
        at = [p["mu"] for p in search.cv_results_["params"]].index(float(model.mu))
        tried, index, why = search, at, f"It was asked for, with mu = {model.mu:g}."
    else:
        wanted = int(model.n_features_to_select)
        own = kind(template, n_features_to_select=wanted, **around).fit(
            rows.X, rows.y, rows.weights, groups=rows.groups
        )
        tried, at, index, why = own, 0, None, f"It was asked for, with {wanted} features."
    results = tried.cv_results_
    score, spread = float(results["mean_test_score"][at]), float(results["se_test_score"][at])
    return search, Choice(model, score, spread, tried._estimate_of(at), index, why)


def repr_of(estimator: Any) -> str:
    """The call that makes the estimator."""
    text: str = estimator.__repr__(N_CHAR_MAX=4000)
    return text
