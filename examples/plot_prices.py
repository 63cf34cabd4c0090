"""Prices in milliseconds
======================

Some measurements are slow. With their times as prices, the model buys what is worth waiting for;
``prediction_cost_`` is what a prediction takes on average when a measurement is made only once a tree asks for
it; with few, shallow trees many rows never need the slow ones.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from frugalboost import GBFSClassifier
from frugalboost.costs import Prices

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

# %%
# Let "worst" values need every cell of the image to be measured, and "error" values two passes over it.

times = Prices(
    {name: 40.0 if name.startswith("worst") else 15.0 if name.endswith("error") else 5.0 for name in X.columns},
    unit="ms",
)
# %%
# Models for falling mu: what all of their features cost, what one prediction costs on average, and the test error.

rows = []
for mu in np.geomspace(0.2, 2e-5, 15):
    model = GBFSClassifier(mu, costs=times, max_iter=6, max_depth=3, learning_rate=0.8).fit(X_train, y_train)
    rows.append((model.total_cost_, model.prediction_cost_, 1 - model.score(X_test, y_test)))
total, prediction, error = np.array(rows).T

# %%
figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
axes.plot(total, 100 * error, "o-", label="all features of the model")
axes.plot(prediction, 100 * error, "s--", label="one prediction, on average")
axes.set(xlabel=f"price ({model.cost_unit_})", ylabel="test error (%)", title="What accuracy costs")
axes.set_ylim(bottom=0)
axes.legend()
plt.show()
