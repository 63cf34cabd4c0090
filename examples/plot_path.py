"""How many features?
==================

A path holds one model for each mu, from nothing to almost everything; cross-validation picks one of them; and where the
number of features is given from outside, exactly so many are bought.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from frugalboost import GBFSClassifier, GBFSClassifierCV, gbfs_path
from frugalboost.plotting import EntryDisplay, SelectionPathDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
model = GBFSClassifier(max_iter=60, max_depth=3)

# %%
# The best mean score may need many features. The rule "1se" takes the cheapest model that is not clearly worse: within
# one standard error of the best.

search = GBFSClassifierCV(model, n_mus=15, rule="1se", random_state=0).fit(X_train, y_train)
print(search.n_features_selected_, "features:", ", ".join(search.get_feature_names_out()))

# %%
# Two ways to few features, on rows that the models have not seen: a large mu, or buying many and selling the weakest
# back down to a number that is given.

settings = {"estimator": model, "X_val": X_test, "y_val": y_test, "scoring": "neg_log_loss"}
by_mu = gbfs_path(X_train, y_train, n_mus=15, **settings)
by_number = gbfs_path(X_train, y_train, n_features_to_select=[1, 2, 3, 4, 6, 8, 12], **settings)

# %%
# Above, the choice by cross-validation and the two ways on new rows. Below, which features are behind it: as mu falls
# they come, and sometimes go when others can take their place.

figure, ((left, right), (below, last)) = plt.subplots(2, 2, figsize=(11, 8.5), layout="constrained")
SelectionPathDisplay.from_estimator(search, ax=left)
left.set_title("Chosen by cross-validation")
by_mu.plot(ax=right, name="falling mu")
by_number.plot(ax=right, name="exactly so many")
right.set_title("On new rows")
EntryDisplay.from_path(by_mu, max_features=15, ax=below)
below.set_title("Bought as mu falls")
EntryDisplay.from_path(by_number, max_features=15, ax=last)
last.set_title("Kept when exactly so many are wanted")
plt.show()
