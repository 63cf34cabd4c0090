"""Lets a program show the progress of long work in its own way: ``counted_by``."""

from frugalboost._support.progress import Maker, Stage, Tally, Work, counted_by

__all__ = ["Maker", "Stage", "Tally", "Work", "counted_by"]
