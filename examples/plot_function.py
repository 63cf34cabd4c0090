"""A price rule of your own
========================

Any function of what is owned can set the prices. Here sensors sit in a row, and a cable must be laid to each:
the price of a sensor is its distance to the nearest one that is connected already.
"""

import matplotlib.pyplot as plt
import numpy as np

from frugalboost import GBFSRegressor
from frugalboost.costs import Function

# %%
# Sixty sensors in a row; three of them tell what is to be predicted, two of which are close to each other.

rng = np.random.default_rng(0)
sensors, n = 60, 3000
place = np.arange(sensors)
X = rng.normal(size=(n, sensors))
y = X[:, 10] + X[:, 14] + X[:, 48] + 0.5 * rng.normal(size=n)

# %%
# The rule: it is called after each purchase and returns a price for every sensor. The first cable starts at the wall.


def cable(owned, last, prices):
    return np.abs(place[:, None] - place[owned]).min(axis=1)


costs = Function(cable, prices=1.0 + place, unit="metres")
model = GBFSRegressor(0.001, costs=costs, max_iter=100, max_depth=3).fit(X, y)
bought = model.selected_features_
print(bought, model.total_cost_, model.cost_unit_)

# %%
# In order of purchase, with the metres that each of them took.

price = [1 + bought[0], *(np.abs(place[bought[:i]] - bought[i]).min() for i in range(1, len(bought)))]

figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
axes.scatter(place, np.zeros(sensors), s=15, color="lightgrey")
axes.scatter(bought, np.zeros(len(bought)), s=60, color="tab:orange", zorder=3)
for order, (f, p) in enumerate(zip(bought, price, strict=True), start=1):
    height = 12 + 16 * (order % 2)
    axes.annotate(f"{order}: {p:g} m", (f, 0), textcoords="offset points", xytext=(0, height), ha="center", fontsize=9)
axes.set(
    xlabel="place (m)",
    yticks=[],
    title=f"Sensors in order of purchase; {model.total_cost_:g} {model.cost_unit_} in all",
)
axes.set_ylim(-0.5, 1)
plt.show()
