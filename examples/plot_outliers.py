"""Rows that belong nowhere
========================

Three clusters, some rows from everywhere, and three very far ones. K-means gives each row a
cluster; the far ones take a centre for themselves, and two true clusters become one.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from conclust import PCKMeans
from conclust.plotting import plot_constraints

X, _ = make_blobs(240, centers=[(-5, -4), (5, -4), (0, 5)], random_state=0)
noise = np.random.RandomState(0).uniform(-14, 14, (24, 2))
X = np.vstack([X, noise, [[36, 30], [37, 31], [35, 31]]])

# %%
# ``outliers="auto"`` sets rows aside that lie where their cluster hardly reaches: crosses, label
# -1. They count in no mean.

figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for ax, outliers in zip(axes, (None, "auto"), strict=True):
    model = PCKMeans(3, outliers=outliers, random_state=0).fit(X)
    plot_constraints(X, model.labels_, ax=ax)
    ax.set_title(f"outliers={outliers!r}")
plt.show()

# %%
# Statements are heeded: must-linked rows are set aside together or not at all, and a cannot-link
# with a row set aside holds.

print(f"{model.outlier_share_:.1%} of the rows were set aside")
