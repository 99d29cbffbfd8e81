"""Learn what "near" means, then use any clusterer
===============================================

Wines have thirteen measurements in thirteen units, and one of them, proline, runs into the
thousands. Plain k-means sees nothing else. Statements teach a distance in which wines of one grower
are near each other.
"""

# %%
# Raw measurements, and 60 statements about pairs of wines.

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score

from conclust import ITML, match_labels, sample_constraints
from conclust.plotting import plot_constraints

X, grower = load_wine(return_X_y=True)
told = sample_constraints(grower, 60, random_state=0)

# %%
# :class:`~conclust.ITML` is a transformer. After it, ordinary distances are the learned ones, so
# scikit-learn's KMeans, which knows nothing of statements, can follow.

metric = ITML(prior="covariance").fit(X, constraints=told)

figure, axes = plt.subplots(1, 2, figsize=(10, 5.2), layout="constrained")
for ax, rows, name in ((axes[0], X, "as measured"), (axes[1], metric.transform(X), "learned")):
    labels = match_labels(KMeans(3, n_init=10, random_state=0).fit_predict(rows), grower)
    index = adjusted_rand_score(grower, labels)
    plot_constraints(rows, labels, told, n=30, ax=ax)
    ax.set_title(f"K-means, distance {name}: index {index:.2f}")
plt.show()

# %%
# New wines are measured the same way: ``metric.transform(X_new)``.
