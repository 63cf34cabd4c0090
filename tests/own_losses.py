"""Losses as users write them."""

import numpy as np


class OwnSquare:
    """Squared error as a user would write it."""

    def start(self, y, sample_weight):
        return np.average(y, weights=sample_weight)

    def gradient(self, y, raw):
        return raw - y

    def curvature(self, y, raw):
        return np.ones(len(y))

    def inverse_link(self, raw):
        return raw

    def value(self, y, raw):
        return 0.5 * (y - raw) ** 2
