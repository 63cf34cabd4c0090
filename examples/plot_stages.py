"""Stages of an examination
========================

A blood sample is drawn once; then every assay on it costs only its own price. A scan is expensive, and may only
be ordered when one of the assays is known.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from frugalboost import GBFSClassifier
from frugalboost.costs import Stage, Stages

rng = np.random.default_rng(1)
n = 5000
health = rng.normal(size=n)
table = pd.DataFrame(
    {
        "age": rng.normal(size=n) - 0.3 * health,
        "iron": health + rng.normal(size=n),
        "sugar": health + rng.normal(size=n),
        "protein": health + 1.5 * rng.normal(size=n),
        "scan": health + 0.3 * rng.normal(size=n),
    }
)
ill = (health + 0.3 * rng.normal(size=n) < -0.5).astype(int)

costs = Stages(
    {
        "blood sample": Stage(20.0, opens=["iron", "sugar", "protein"]),
        "scanner": Stage(100.0, opens=["scan"], needs=["iron"]),
    },
    prices={"age": 1.0, "iron": 5.0, "sugar": 5.0, "protein": 5.0, "scan": 50.0},
    unit="euro",
)
train = np.arange(n) < n // 2
found = {}  # the best error for every set of examinations
for mu in np.geomspace(0.02, 1e-5, 25):
    model = GBFSClassifier(mu, costs=costs, max_iter=60, max_depth=3).fit(table[train], ill[train])
    error = 100 * (1 - model.score(table[~train], ill[~train]))
    found.setdefault(model.total_cost_, (error, model.get_feature_names_out()))
prices = sorted(found)
errors = [found[p][0] for p in prices]

figure, (axes, sets) = plt.subplots(1, 2, figsize=(8, 4), layout="constrained", sharey=False)
axes.plot(prices, errors, "o-")
for i, (p, e) in enumerate(zip(prices, errors, strict=True)):
    axes.annotate(str(i + 1), (p, e), textcoords="offset points", xytext=(4, 6))
axes.set(xlabel=f"price paid ({model.cost_unit_})", ylabel="test error (%)", title="What to order, for how much")
owned = np.array([np.isin(table.columns, found[p][1]) for p in prices])
sets.imshow(owned, cmap="Blues", vmin=0, vmax=1.5, aspect="auto")
sets.set_xticks(range(len(table.columns)), table.columns, rotation=30)
sets.set_yticks(range(len(prices)), [f"{i + 1}: {p:g} {model.cost_unit_}" for i, p in enumerate(prices)])
sets.set_title("Examinations")
plt.show()
