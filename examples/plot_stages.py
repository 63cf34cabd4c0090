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

# %%
# Five measurements of patients; the scan is the best of them.

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

# %%
# The sample is paid with the first assay. The scanner is closed until iron is known.

costs = Stages(
    {
        "blood sample": Stage(20.0, opens=["iron", "sugar", "protein"]),
        "scanner": Stage(100.0, opens=["scan"], needs=["iron"]),
    },
    prices={"age": 1.0, "iron": 5.0, "sugar": 5.0, "protein": 5.0, "scan": 50.0},
    unit="euro",
)
# %%
# Models for falling mu, one for each price that comes up.

train = np.arange(n) < n // 2
found = {}
for mu in np.geomspace(0.02, 1e-5, 25):
    model = GBFSClassifier(mu, costs=costs, max_iter=60, max_depth=3).fit(table[train], ill[train])
    error = 100 * (1 - model.score(table[~train], ill[~train]))
    found.setdefault(model.total_cost_, (error, model.get_feature_names_out()))

# %%
# What to order for how much, and what it brings.

prices = sorted(found)
owned = np.array([np.isin(table.columns, found[p][1]) for p in prices])
figure, (sets, errors) = plt.subplots(1, 2, figsize=(8, 3.5), layout="constrained", sharey=True)
sets.imshow(owned, cmap="Blues", vmin=0, vmax=1.5, aspect="auto")
sets.set_xticks(range(len(table.columns)), table.columns)
sets.set_yticks(range(len(prices)), [f"{p:g} {model.cost_unit_}" for p in prices])
sets.set_title("Examinations")
bars = errors.barh(range(len(prices)), [found[p][0] for p in prices], color="tab:blue")
errors.bar_label(bars, fmt="%.1f", padding=3)
errors.set(xlabel="test error (%)", xlim=(0, 36), title="What they bring")
plt.show()
