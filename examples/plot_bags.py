"""Bags of one-hot columns
=======================

A category becomes many columns, but is asked for once. As a bag, its first column pays and the others are free,
so the model needs fewer raw features.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import OneHotEncoder

from frugalboost import GBFSRegressor
from frugalboost.costs import Bags

# %%
# Ten questions with twelve answers each, of which the first three matter, become 120 columns. The fitted transformer
# knows which column came from which question.

rng = np.random.default_rng(0)
n, levels = 4000, 12
table = pd.DataFrame({f"question {q}": rng.integers(0, levels, n).astype(str) for q in range(10)})
effects = rng.normal(size=(3, levels))
y = sum(effects[q][table[f"question {q}"].astype(int)] for q in range(3)) + rng.normal(size=n)

steps = make_column_transformer((OneHotEncoder(sparse_output=False), list(table.columns)))
X = steps.fit_transform(table)
bags = Bags.from_column_transformer(steps)
question = np.array(bags.groups)

# %%
# Once with a price for each column, once with a price for each question: how many questions must be asked for which
# error? The dotted line is the noise, below which no model can come.

train = np.arange(n) < n // 2
figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
for name, costs in (("one price per column", None), ("one price per question", bags)):
    asked, error = [], []
    for mu in np.geomspace(0.3, 3e-5, 12):
        model = GBFSRegressor(mu, costs=costs, max_iter=100, max_depth=3).fit(X[train], y[train])
        asked.append(len(set(question[model.selected_features_])))
        error.append(np.mean((model.predict(X[~train]) - y[~train]) ** 2))
    axes.plot(asked, error, "o-", label=name)
axes.axhline(1.0, color="grey", linewidth=0.8, linestyle=":")
axes.set(xlabel="questions asked", ylabel="mean squared test error", title="Ten questions, three that matter")
axes.legend()
plt.show()
