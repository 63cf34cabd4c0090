"""What drives each prediction?
============================

shap tells how much each feature that was bought moves a single prediction. Features that were not bought need not even
be in the table.
"""

import matplotlib.pyplot as plt
import numpy as np
import shap
from sklearn.datasets import load_diabetes

from frugalboost import GBFSRegressor

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = GBFSRegressor(mu=0.01, max_iter=100, max_depth=3).fit(X, y)
bought = X.loc[:, model.support_]

# %%
# The exported model reads only the bought columns. Shapley values and the base value add up to the prediction.

explained = shap.TreeExplainer(model.to_shap(features="selected"))(bought)
assert np.allclose(explained.values.sum(axis=1) + explained.base_values, model.predict(X))

# %%
# One point a patient: to the right where the feature raises the prediction, red where its value is high.

shap.plots.beeswarm(explained, show=False, plot_size=(7, 4))
plt.title(f"Diabetes a year later: {model.n_features_selected_} of {X.shape[1]} features bought")
plt.xlabel("what the value adds to the prediction")
plt.tight_layout()
plt.show()
