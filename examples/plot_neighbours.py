"""Neighbouring pixels
===================

Buying a pixel makes those around it cheaper, so the chosen pixels form few regions instead of many scattered
dots.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import ndimage
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from frugalboost import GBFSClassifier
from frugalboost.costs import Neighbours

# %%
# Odd digits against even ones, on images of 8 x 8 pixels. The two values of mu are such that both models have about the
# same number of pixels.

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y % 2, random_state=0)

figure, panels = plt.subplots(1, 2, figsize=(7, 4), layout="constrained")
for panel, (name, mu, costs) in zip(
    panels,
    [("each pixel alone", 0.006, None), ("neighbours at half price", 0.009, Neighbours((8, 8), 0.5))],
    strict=True,
):
    model = GBFSClassifier(mu, costs=costs, max_iter=150).fit(X_train, y_train)
    chosen = model.support_.reshape(8, 8)
    regions = ndimage.label(chosen)[1]
    error = 100 * (1 - model.score(X_test, y_test))
    panel.imshow(X.mean(axis=0).reshape(8, 8), cmap="Greys", alpha=0.4)
    panel.imshow(np.where(chosen, 1.0, np.nan), cmap="autumn", alpha=0.8)
    panel.set_title(f"{name}\n{chosen.sum()} pixels in {regions} regions, error {error:.1f} %", fontsize=10)
    panel.set_axis_off()
plt.show()
