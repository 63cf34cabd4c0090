"""Options, and how messages name them: the command and Python spell them differently.

This module imports nothing slow, since the command loads it first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

LARGEST_SEED = 2**31 - 1


class TaskKind(StrEnum):
    """What kind of target it is."""

    AUTO = "auto"
    CLASSIFICATION = "classification"
    REGRESSION = "regression"
    COUNT = "count"


class Rule(StrEnum):
    """How the model is chosen from the path."""

    MIN = "min"
    ONE_STANDARD_ERROR = "1se"
    PAIRED = "paired"


class Device(StrEnum):
    """Where trees are grown."""

    CPU = "cpu"
    CUDA = "cuda"
    AUTO = "auto"


@dataclass(frozen=True)
class Option:
    """An option in a message. The code that shows the message spells it for its users: ``--k`` or ``k``.

    Parameters
    ----------
    name : str
        As Python spells it.
    value : object, default=None
        The value to give it; ``...`` if the user has to choose one.
    """

    name: str
    value: Any = None


Spelling = Callable[[Option], str]
PYTHON_NAMES = {"out": "folder"}  # of Selection.save


def python_spelling(option: Option) -> str:
    """Spell an option as an argument.

    Examples
    --------
    >>> from frugalboost.recipe.options import Option, python_spelling
    >>> python_spelling(Option("k")), python_spelling(Option("task", "regression"))
    ('k', "task='regression'")
    """
    name = PYTHON_NAMES.get(option.name, option.name)
    if option.value is None:
        return name
    return f"the argument {name}" if option.value is ... else f"{name}={option.value!r}"


@dataclass(frozen=True, init=False)
class Sentence:
    """A text in which options are named.

    Examples
    --------
    >>> from frugalboost.recipe.options import Option, Sentence
    >>> str(Sentence(Option("target"), " is missing."))
    'target is missing.'
    """

    parts: tuple[str | Option, ...]

    def __init__(self, *parts: str | Option) -> None:
        object.__setattr__(self, "parts", parts)

    def spelled(self, spelling: Spelling) -> str:
        """The text, with options in a given spelling."""
        return "".join(spelling(part) if isinstance(part, Option) else part for part in self.parts)

    def __str__(self) -> str:
        return self.spelled(python_spelling)


@dataclass(frozen=True)
class Messages:
    """How messages are shown, and how options are spelled in them."""

    show: Callable[[str], None]
    spelling: Spelling = python_spelling

    def spelled(self, words: str | Sentence) -> str:
        """The text for the user."""
        return words.spelled(self.spelling) if isinstance(words, Sentence) else words

    def say(self, words: str | Sentence) -> None:
        """Show a sentence."""
        self.show(self.spelled(words))


SILENT = Messages(lambda text: None)
