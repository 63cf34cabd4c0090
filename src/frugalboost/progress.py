"""How a program shows the progress of long work its own way: ``counted_by``."""

from frugalboost._support.progress import Maker, Stage, Tally, Work, counted_by

__all__ = ["Maker", "Stage", "Tally", "Work", "counted_by"]
