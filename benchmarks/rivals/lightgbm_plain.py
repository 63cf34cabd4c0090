"""LightGBM as most people run it: no prices, all features."""

from benchmarks.rivals.lightgbm_cegb import bin, train

NAME = "LightGBM plain"

__all__ = ["NAME", "bin", "train"]
