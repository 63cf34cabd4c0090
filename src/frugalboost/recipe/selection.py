"""The result of the recipe."""

from __future__ import annotations

import copy
import html
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from frugalboost.estimators.base import GBFSBase
from frugalboost.page.contents import Contents
from frugalboost.page.page import error_text, lead
from frugalboost.page.prices import price_name
from frugalboost.page.words import number_text
from frugalboost.recipe import folder as folders
from frugalboost.recipe.places import is_libsvm, origin_of
from frugalboost.recipe.predicting import libsvm_rows, rows_for
from frugalboost.report import Report

MOST_SHOWN = 20  # features in a short view


@dataclass(frozen=True)
class Source:
    """Where the table of a selection came from."""

    place: str | None  # of its file; None for a data frame
    column_names: Sequence[str]
    is_sparse: bool = False
    header: bool = True


class Candidate(NamedTuple):
    """A model of the path, its ``price`` (total cost) and errors, which are means over the splits.

    The chosen one has also the error to expect on new rows, without what the choice among many models flatters it by,
    and an interval of 95 % for it.

    Examples
    --------
    A list of them is a table:

    >>> import pandas as pd
    >>> from frugalboost.recipe.selection import Candidate
    >>> pd.DataFrame([Candidate(1, 1.0, 9.1, 0.4, None, 0.02, 50, 4, ("age",))])[["n_features", "error"]]
       n_features  error
    0           1    9.1
    """

    n_features: int
    price: float
    error: float | None
    standard_error: float | None
    test_error: float | None
    mu: float
    trees: int
    depth: int | None
    features: tuple[str, ...]  # the chosen model's in order of purchase, others' by gain
    expected_error: float | None = None
    interval: tuple[float, float] | None = None


class Selection:
    """Features chosen from a table, made by :func:`frugalboost.select`.

    Attributes
    ----------
    features : list of str
        The chosen features in order of purchase.
    choice : Candidate
        The chosen model: ``n_features``, ``price``, ``error`` and ``standard_error`` in cross-validation,
        ``expected_error`` on new rows with its ``interval`` of 95 %, ``test_error``, ``mu``, ``trees``, ``depth``,
        ``features``.
    why : str
        Why it was chosen.
    path : list of Candidate
        The whole trade-off, from no features to many. ``pandas.DataFrame(selection.path)`` is a table of it.
    measure : str
        The measure of errors, such as "error %" or "RMSE".
    notices : list of str
        What to look at before the model is used: columns left out, suspected leaks.
    model : GBFSClassifier or GBFSRegressor
        The chosen model, fitted on all rows.
    report : Report
        The whole report; a notebook shows it.

    See Also
    --------
    frugalboost.select : Makes them.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> import frugalboost
    >>> table = load_diabetes(as_frame=True).frame
    >>> found = frugalboost.select(table, "target", k=2, trees=20, points=5, splits=2)
    >>> found
    <Selection: 2 of 10 features: RMSE on new rows about 57.57 (95 % interval 51.07 to 64.07; a constant: 77.94).
      s5, bmi>
    >>> [point.n_features for point in found.path]
    [0, 2, 4, 10, 10]
    """

    def __init__(self, contents: Contents, model: GBFSBase, source: Source) -> None:
        self.report = Report(contents)
        self.model = model
        self._source = source

    @property
    def features(self) -> list[str]:
        """The chosen features in order of purchase."""
        return list(self.choice.features)

    @property
    def choice(self) -> Candidate:
        """The chosen model."""
        contents, chosen = self.report.contents, self.report.contents["chosen"]
        names = tuple(contents["names"][f["name"]] for f in chosen["features"])
        return _candidate(chosen, chosen["mu"], names)

    @property
    def why(self) -> str:
        """Why it was chosen."""
        return str(self.report.contents["chosen"]["why"])

    @property
    def path(self) -> list[Candidate]:
        """The whole trade-off, from no features to many."""
        names = self.report.contents["names"]
        return [
            _candidate(point, point["value"], tuple(names[f] for f in point["features"]))
            for point in self.report.contents["points"]
        ]

    @property
    def measure(self) -> str:
        """What errors are."""
        measure = self.report.contents["measure"]
        return f"{measure['title']}{measure['unit']}"

    @property
    def notices(self) -> list[str]:
        """What to look at before the model is used."""
        return [notice["text"] for notice in self.report.contents["notices"]]

    def predict(self, table: Any, *, sheet: str | None = None) -> NDArray[Any]:
        """Predict for a table of the same kind; only the chosen columns are needed.

        Parameters
        ----------
        table : data frame, str or path
            As :func:`frugalboost.select` takes it. Texts are converted as they were then. Levels that were not seen
            before count as missing; so do values that can't be converted, with a warning.
        sheet : str or None, default=None
            The sheet of an Excel file. None: the first.

        Returns
        -------
        ndarray
            Classes or numbers.

        Examples
        --------
        See :func:`frugalboost.select`.
        """
        predicted: NDArray[Any] = self.model.predict(self._rows(table, sheet))
        return predicted

    def predict_proba(self, table: Any, *, sheet: str | None = None) -> NDArray[np.float64]:
        """Predict the probability of every class.

        Parameters
        ----------
        table : data frame, str or path
            As :meth:`predict` takes it.
        sheet : str or None, default=None
            The sheet of an Excel file. None: the first.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            In the order of ``model.classes_``.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> import frugalboost
        >>> table = load_iris(as_frame=True).frame
        >>> found = frugalboost.select(table, "target", k=1, trees=10, points=3, splits=2)
        >>> found.predict_proba(table).shape
        (150, 3)
        """
        if not hasattr(self.model, "predict_proba"):
            raise AttributeError("The model predicts numbers, so there are no probabilities. Use predict.")
        probabilities: NDArray[np.float64] = self.model.predict_proba(self._rows(table, sheet))
        return probabilities

    def _rows(self, table: Any, sheet: str | None) -> Any:
        if self._source.is_sparse and is_libsvm(table):
            return libsvm_rows(table, self._source.column_names)
        X, _, told = rows_for(self.model, table, (), header=self._source.header, sheet=sheet)
        for sentence in told:
            warnings.warn(sentence, DataConversionWarning, stacklevel=3)
        return X

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the folder that the command ``frugalboost select`` writes.

        Parameters
        ----------
        folder : str or path
            A new or an empty one, or that of an earlier run, which is replaced when the new one is complete. It will
            hold selected.csv, path.csv, model.frugal, report.html and run.json.

        Examples
        --------
        >>> import os, tempfile
        >>> from sklearn.datasets import load_diabetes
        >>> import frugalboost
        >>> table = load_diabetes(as_frame=True).frame
        >>> folder = os.path.join(tempfile.mkdtemp(), "run")
        >>> frugalboost.select(table, "target", trees=10, points=3, splits=2).save(folder)
        >>> sorted(os.listdir(folder))
        ['model.frugal', 'path.csv', 'report.html', 'run.json', 'selected.csv']
        """
        self._write(folders.check_folder(folder))

    def _write(self, folder: Path) -> None:
        """Write into a folder that was checked before."""
        folders.write(folder, self._contents_in(folder), self._named_model())

    def _contents_in(self, folder: Path) -> Contents:
        """The report's contents with the path of the table, relative to the folder."""
        contents = self.report.contents
        place = self._source.place
        if place is None:
            return contents
        # After the call and before the results, so that run.json keeps its order.
        call = {key: contents["settings"][key] for key in ("command", "python") if key in contents["settings"]}
        settings = call | {"table": origin_of(place, folder)} | contents["settings"]
        return contents | {"settings": settings}

    def _named_model(self) -> GBFSBase:
        """The model with the column numbers of a LIBSVM file as names, so that predictions find them."""
        if not self._source.is_sparse:
            return self.model
        named = copy.copy(self.model)
        named.feature_names_in_ = np.array(self._source.column_names, dtype=object)
        return named

    def __repr__(self) -> str:
        shown = ", ".join(self.features[:MOST_SHOWN])
        more = f" and {len(self.features) - MOST_SHOWN} more" if len(self.features) > MOST_SHOWN else ""
        return f"<Selection: {lead(self.report.contents)}" + (f"\n  {shown}{more}>" if self.features else ">")

    def _repr_html_(self) -> str:
        """In a notebook: the choice and its features; ``report`` has everything."""
        contents = self.report.contents
        heads = ["", "feature", price_name(contents), "gain %", f"{contents['measure']['title']} so far"]
        rows = []
        for i, feature in enumerate(contents["chosen"]["features"][:MOST_SHOWN], start=1):
            name, error = contents["names"][feature["name"]], error_text(contents, feature["error"])
            rows.append([str(i), name, number_text(feature["price"]), f"{feature['gain']:.1f}", error])
        table = "".join(f"<tr>{_cells(row, 'td')}</tr>" for row in rows)
        more = len(self.features) - MOST_SHOWN
        notices = "".join(f"<li>{html.escape(text)}</li>" for text in self.notices)
        return (
            f"<p><b>{html.escape(lead(contents))}</b><br>{html.escape(self.why)}</p>"
            + (f"<table><thead><tr>{_cells(heads, 'th')}</tr></thead><tbody>{table}</tbody></table>" if rows else "")
            + (f"<p>{more} more.</p>" if more > 0 else "")
            + (f"<ul>{notices}</ul>" if notices else "")
        )


def _candidate(found: dict[str, Any], mu: float, features: tuple[str, ...]) -> Candidate:
    return Candidate(
        n_features=found["n_features"],
        price=found["price"],
        error=found["error"],
        standard_error=found["spread"],
        test_error=found["test_error"],
        mu=mu,
        trees=found["trees"],
        depth=found["depth"],
        features=features,
        expected_error=found.get("expected_error"),
        interval=(found["expected_low"], found["expected_high"]) if "expected_low" in found else None,
    )


def _cells(texts: Sequence[str], tag: str) -> str:
    return "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in texts)
