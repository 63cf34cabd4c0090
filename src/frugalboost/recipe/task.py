"""The kind of target and the scorer, guessed if the user does not give them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalboost.recipe.forms import Numbers
from frugalboost.recipe.guessing import guessed_form, nearly_numbers
from frugalboost.recipe.options import Option, Sentence, TaskKind
from frugalboost.recipe.problems import Problem

MOST_CLASSES = 20  # different whole numbers that are read as classes
MOST_TEXTS = 100  # different texts
FIRST_COUNT = 1  # where whole numbers begin at most here, they look like counts
AMOUNTS, COUNTS = (Option("task", kind.value) for kind in (TaskKind.REGRESSION, TaskKind.COUNT))
RARE_CLASS = 0.2  # share of the rarer of two classes below which accuracy says little


@dataclass(frozen=True)
class Task:
    """Classes, numbers or counts, and the scorer."""

    kind: TaskKind  # not AUTO
    scoring: str | None
    remarks: tuple[str | Sentence, ...] = ()  # what was guessed

    @property
    def is_classification(self) -> bool:
        """Whether the target is one of several classes."""
        return self.kind is TaskKind.CLASSIFICATION

    @property
    def loss(self) -> str | None:
        """The loss of a regression; None: the estimator's own."""
        return "poisson" if self.kind is TaskKind.COUNT else None


def task_of(y: NDArray[Any], target: str, asked: str = TaskKind.AUTO, scoring: str | None = None) -> Task:
    """Find the kind of target.

    Parameters
    ----------
    y : ndarray
        The target.
    target : str
        Its name.
    asked : {"auto", "classification", "regression", "count"}, default="auto"
        The user's choice.
    scoring : str or None, default=None
        The user's choice of scorer.

    Returns
    -------
    Task
        With a sentence for each guess.

    Examples
    --------
    >>> import numpy as np
    >>> from frugalboost.recipe.task import task_of
    >>> [str(remark) for remark in task_of(np.array(["yes", "no"] * 5), "bought").remarks]
    ["'bought' has 2 different texts: classification."]
    """
    found = np.unique(y)
    asked = TaskKind(asked)
    if len(found) < 2:
        raise Problem(f"The target {target!r} is {found[0]!s} in every row: there is nothing to predict.")
    kind, why = (asked, Sentence()) if asked is not TaskKind.AUTO else guessed(y, found)
    if kind is TaskKind.CLASSIFICATION and len(found) > len(y) / 2:
        raise Problem(f"The target {target!r} has {len(found):,} classes in {len(y):,} rows. Is it an id?")
    if kind is not TaskKind.CLASSIFICATION and y.dtype.kind not in "biuf":
        text = next((v for v in y.tolist() if isinstance(v, str)), "")
        raise Problem(f"The target {target!r} holds texts such as {text!r}, so it can't be predicted as a number.")
    if kind is TaskKind.COUNT and not are_counts(found):
        wrong = next(v for v in found.tolist() if not are_counts(np.array([v])))
        raise Problem(f"The target {target!r} has a value {wrong:g}; counts are 0, 1, 2 and so on.")
    remarks: list[str | Sentence] = [Sentence(f"{target!r} ", *why.parts)] if why.parts else []
    if scoring is None:
        scoring, said = default_scoring(y, kind)
        remarks += [said] if said is not None else []
    return Task(kind, scoring, tuple(remarks))


def guessed(y: NDArray[Any], found: NDArray[Any]) -> tuple[TaskKind, Sentence]:
    """The kind of target, and why."""
    n = len(found)
    if y.dtype.kind == "b":
        return TaskKind.CLASSIFICATION, Sentence("is true or false: classification.")
    if y.dtype.kind not in "iuf":
        if n > MOST_TEXTS:
            why = nearly_numbers(Counter(str(v) for v in y.tolist() if v is not None))
            hint_of = f" If it holds numbers: {why}" if why else " Is it another column?"
            raise Problem(f"The target has {n:,} different texts, too many for classes.{hint_of}")
        hint = (" (", AMOUNTS, " if they are amounts.)") if are_amounts(y) else ()
        return TaskKind.CLASSIFICATION, Sentence(f"has {n} different texts: classification.", *hint)
    counts = are_counts(found)
    whole = counts or bool((found == np.round(found)).all())
    if whole and n <= MOST_CLASSES and n <= len(y) / 2:
        also = (", ", COUNTS, " if they are counts") if counts and n > 2 else ()
        words = (f"has {n} different whole numbers: classification. (", AMOUNTS, " if they are amounts")
        return TaskKind.CLASSIFICATION, Sentence(*words, *also, ".)")
    hint = (" (", COUNTS, " if they are counts.)") if counts and found[0] <= FIRST_COUNT else ()
    return TaskKind.REGRESSION, Sentence(f"has {n:,} different numbers: regression.", *hint)


def are_amounts(y: NDArray[Any]) -> bool:
    """Whether texts are numbers as people write them."""
    guess = guessed_form(Counter(y.tolist()))
    return guess is not None and isinstance(guess.form, Numbers)


def are_counts(found: NDArray[Any]) -> bool:
    """Whether numbers are whole and not negative."""
    return bool((found >= 0).all() and (found == np.round(found)).all())


def default_scoring(y: NDArray[Any], kind: TaskKind) -> tuple[str, Sentence | None]:
    """Accuracy, RMSE or Poisson deviance; the area under the ROC curve where one of two classes is rare."""
    if kind is TaskKind.COUNT:
        return "neg_mean_poisson_deviance", None
    if kind is TaskKind.REGRESSION:
        return "neg_root_mean_squared_error", None
    found, counts = np.unique(y, return_counts=True)
    share = counts.min() / len(y)
    if len(found) == 2 and share < RARE_CLASS:
        rare = found[int(counts.argmin())]
        words = f"Only {share:.1%} of the rows are {rare!s}, so models are judged by ROC AUC ("
        return "roc_auc", Sentence(words, Option("scoring"), ").")
    return "accuracy", None
