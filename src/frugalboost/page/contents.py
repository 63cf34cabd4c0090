"""What the contents of a report are: plain lists, numbers and texts under names."""

from typing import Any

FORMAT = 1

Contents = dict[str, Any]
