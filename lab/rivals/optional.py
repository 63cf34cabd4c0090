"""Libraries that are imported only when they are used."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any


def needed(module: str, package: str, what: str, get: str = '"frugalboost[lab]"') -> Any:
    """Return a module, or say how to get it; warnings are shown afterwards as before, which mrmr would switch off."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return import_module(module)
    except ImportError as error:
        raise ImportError(f"{what} needs {package}: pip install {get}") from error
