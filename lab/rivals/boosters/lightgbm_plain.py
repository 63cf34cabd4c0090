"""LightGBM as most people run it: no prices, all features."""

from lab.rivals.boosters.lightgbm_cegb import BINS_APART, bin, train

NAME = "LightGBM plain"

__all__ = ["BINS_APART", "NAME", "bin", "train"]
