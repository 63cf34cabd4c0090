"""The report on a model: a page to look at, and the numbers behind it."""

from __future__ import annotations

import html
import json
import os
from typing import Self

from frugalboost.files import atomic_file
from frugalboost.page.contents import FORMAT, Contents
from frugalboost.page.page import page_of


class Report:
    """A report on a table and the features chosen from it; a notebook shows it.

    Made by the method ``report`` of the estimators, or by the command ``frugalboost select``.

    Parameters
    ----------
    contents : dict
        Everything that it shows.

    Attributes
    ----------
    contents : dict
        As given: plain lists, numbers and texts.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from frugalboost import GBFSRegressor, GBFSRegressorCV
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> search = GBFSRegressorCV(GBFSRegressor(max_iter=20), n_mus=4, rule="1se", random_state=0).fit(X, y)
    >>> report = search.report(X, y)
    >>> report
    <Report: 8 of 10 features>
    >>> "<!doctype html>" in report.html()
    True
    """

    def __init__(self, contents: Contents) -> None:
        if not isinstance(contents, dict) or contents.get("format") != FORMAT or not contents.get("points"):
            raise ValueError(f"These are not the contents of a report of format {FORMAT}.")
        self.contents = contents

    def __repr__(self) -> str:
        chosen, facts = self.contents["chosen"], self.contents["facts"]
        return f"<Report: {chosen['n_features']} of {facts['n_features']} features>"

    def html(self) -> str:
        """Return the page: one file that needs no network.

        Returns
        -------
        str
            HTML, some 1 MB, nearly all of it the library that draws.

        Examples
        --------
        See :class:`Report`.
        """
        return page_of(self.contents)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file.

        Parameters
        ----------
        path : str or path
            An existing file is replaced when the new one is complete.

        Examples
        --------
        >>> import os, tempfile
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import GBFSRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = GBFSRegressor(mu=0.05, max_iter=20).fit(X, y)
        >>> path = os.path.join(tempfile.mkdtemp(), "report.html")
        >>> model.report(X, y).save(path)
        >>> os.path.getsize(path) < 3_000_000
        True
        """
        atomic_file.write(path, self.html().encode())

    def to_json(self) -> str:
        """Return the contents as JSON.

        Returns
        -------
        str
            What :meth:`from_json` reads.

        Examples
        --------
        See :class:`Report`.
        """
        return json.dumps(self.contents, ensure_ascii=False, allow_nan=False, default=float)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Make a report from its contents. Nothing in them is run.

        Parameters
        ----------
        text : str
            As :meth:`to_json` returns it.

        Returns
        -------
        Report
            The same.

        Examples
        --------
        >>> from frugalboost.report import Report
        >>> Report.from_json('{"format": 99}')
        Traceback (most recent call last):
        ...
        ValueError: These are not the contents of a report of format 1.
        """
        return cls(json.loads(text))

    def _repr_html_(self) -> str:
        """In a notebook: the page in a frame of its own, in which scripts can't reach the notebook."""
        page = html.escape(self.html(), quote=True)
        look = "width:100%;height:46rem;border:1px solid #8884"
        return f'<iframe title="frugalboost report" sandbox="allow-scripts" style="{look}" srcdoc="{page}"></iframe>'
