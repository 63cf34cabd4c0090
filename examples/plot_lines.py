"""Lines beside trees
==================

A line learns one number, a tree several. The answer here rises evenly with one feature and jumps with another. Lines
miss the jump, trees need many steps for the slope, and a model that may take either has both.
"""

import matplotlib.pyplot as plt
import numpy as np

from frugalboost import GBFSRegressor

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, size=(150, 30))
truth = {"even": lambda v: 1.5 * v, "jump": lambda v: 3.0 * (v > 0.5)}
y = truth["even"](X[:, 0]) + truth["jump"](X[:, 1]) + rng.normal(scale=0.7, size=150)
new = rng.uniform(-2, 2, size=(4000, 30))
answers = truth["even"](new[:, 0]) + truth["jump"](new[:, 1])

# %%
# The same prices, iterations and steps, with each kind of base learner; and with two features to select, where folds of
# the training rows choose.

settings = {"mu": 0.02, "max_depth": 1, "max_iter": 100, "min_samples_leaf": 10}
models = {base: GBFSRegressor(base=base, **settings).fit(X, y) for base in ("lines", "trees", "both")}
for base, model in models.items():
    error = np.sqrt(np.mean((model.predict(new) - answers) ** 2))
    print(f"{base}: {model.n_features_selected_} features, error {error:.2f}")
chosen = GBFSRegressor(n_features_to_select=2, min_samples_leaf=10).fit(X, y)
error = np.sqrt(np.mean((chosen.predict(new) - answers) ** 2))
print(f"two features, chosen by held-out rows: made of {chosen.base_}, error {error:.2f}")

# %%
# What each model has made of the two features: the prediction along one of them, less its mean; the others are zero.

grid = np.linspace(-2, 2, 400)
figure, panels = plt.subplots(2, 3, figsize=(10, 5.4), layout="constrained", sharex=True, sharey="row")
for (base, model), column in zip(models.items(), panels.T):
    for place, (name, panel) in enumerate(zip(truth, column)):
        rows = np.zeros((len(grid), 30))
        rows[:, place] = grid
        found, true = model.predict(rows), truth[name](grid)
        panel.plot(grid, true - true.mean(), color="0.7", linewidth=4, label="truth")
        panel.plot(grid, found - found.mean(), color="C0", label="model")
        panel.set_xlabel(f'the feature "{name}"')
    column[0].set_title(base)
panels[0, 0].legend()
panels[0, 0].set_ylabel("contribution")
panels[1, 0].set_ylabel("contribution")
plt.show()
