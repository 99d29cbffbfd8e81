"""Some labels are known, some classes are not
===========================================

An archive has been sorted in part: a few flowers are named "setosa" or "versicolor", most are not
named, and nobody has heard of a third species yet.
"""

# %%
# One flower in ten of two species has its name; all others are -1.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from conclust import AutoCluster
from conclust.plotting import plot_constraints

X, species = load_iris(return_X_y=True)
rng = np.random.RandomState(0)
known = np.where((rng.uniform(size=150) < 0.1) & (species < 2), species, -1)

# %%
# ``fit(X, y)`` takes them as they are. Clusters get the numbers of the classes, and ``classes_``
# says which cluster is none of those known.

model = AutoCluster(3, random_state=0).fit(X, known)
print("classes:", model.classes_.tolist())

figure, axes = plt.subplots(1, 2, figsize=(10, 4.8), layout="constrained")
for ax, labels in zip(axes, (known, model.labels_), strict=True):
    plot_constraints(X, labels, ax=ax)
right = (model.labels_ == species).mean()
axes[0].set_title(f"Known: {(known >= 0).sum()} flowers of two species")
axes[1].set_title(f"fit(X, y) finds the third species, 2; {right:.0%} are right")
plt.show()
