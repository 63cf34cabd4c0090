"""Features that are bought again and again
========================================

One fit on all rows does not tell how much of its choice is chance. Stability selection fits on many random halves of
the rows; what most of them buy is stable. Here 6 of 200 columns matter, and 3 more are noisy copies of the first.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from frugalboost import GBFSRegressor, StabilitySelection
from frugalboost.plotting import StabilityPathDisplay

# %%
# The causes fade: the sixth weighs a fifth of the first.

rng = np.random.default_rng(0)
n, p = 400, 200
X = pd.DataFrame(rng.normal(size=(n, p)), columns=[f"noise {j}" for j in range(p)])
X = X.rename(columns={f"noise {j}": f"cause {j + 1}" for j in range(6)})
for j in range(6, 9):
    X[f"noise {j}"] = X["cause 1"] + 0.5 * X[f"noise {j}"]
X = X.rename(columns={f"noise {j}": f"copy of 1, {'abc'[j - 6]}" for j in range(6, 9)})
weights = np.array([1.0, 1.0, 0.8, 0.6, 0.4, 0.2])
y = X.to_numpy()[:, :6] @ weights + rng.normal(size=n)

# %%
# On each half, features are bought until there are ten of them. At most one feature is then expected to reach the
# threshold by mistake.

model = GBFSRegressor(max_iter=15, max_depth=2)
stable = StabilitySelection(model, threshold=0.75, n_features=10, n_subsamples=40, n_mus=10, eps=0.02, random_state=0)
stable.fit(X, y)

# %%
# One line a feature: the share of halves that had bought it by the time mu had fallen so far.

display = StabilityPathDisplay.from_estimator(stable)
bound = f"at most {stable.error_bound_:.1f} of them expected by mistake"
display.ax_.set_title(f"{stable.support_.sum()} of {p} features are stable, {bound}", fontsize=11, pad=24)
plt.show()
