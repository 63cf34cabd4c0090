"""The command line."""

from frugalboost.cli.entry import main

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from frugalboost.cli.demo import demo_report

__all__ = ["demo_report", "main"]


def __getattr__(name: str) -> "Any":
    if name == "demo_report":  # it needs numpy
        from frugalboost.cli.demo import demo_report

        return demo_report
    raise AttributeError(f"module 'frugalboost.cli' has no attribute {name!r}")
