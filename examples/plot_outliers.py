"""Rows that belong nowhere
========================

Three clusters and some rows from everywhere. K-means gives each row a cluster, and a few far ones
take a centre for themselves.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from conclust import PCKMeans, sample_constraints
from conclust.plotting import plot_constraints

X, truth = make_blobs(240, centers=[(-5, -4), (5, -4), (0, 5)], random_state=0)
noise = np.random.RandomState(0).uniform(-14, 14, (24, 2))
far = [[30, 26], [31, 27], [29, 27]]
X = np.vstack([X, noise, far])
told = sample_constraints(truth, 20, random_state=0).extended(len(X))

# %%
# ``outliers="auto"`` sets rows aside that lie where their cluster hardly reaches: crosses, label
# -1. They count in no mean, and the statements about the others can be kept.

figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for ax, outliers in zip(axes, (None, "auto"), strict=True):
    model = PCKMeans(3, outliers=outliers, penalty=1.0, random_state=0).fit(X, constraints=told)
    plot_constraints(X, model.labels_, told, ax=ax)
    kept = told.satisfied(model.labels_).sum()
    ax.set_title(f"outliers={outliers!r}: {kept} of 20 statements kept")
plt.show()
