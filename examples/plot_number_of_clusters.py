"""How many clusters? Ask the statements
=====================================

Rows alone cannot say whether this is four clusters or eight. Statements can: with too few clusters,
rows that people keep apart end up together; with too many, rows that belong together end up apart.
"""

# %%
# Four pairs of clusters, and 150 statements of somebody for whom there are eight sorts.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from conclust import COPKMeans, sample_constraints
from conclust.model_selection import choose_n_clusters
from conclust.plotting import plot_constraints

corners = np.array([(0, 0), (20, 0), (0, 20), (20, 20)])
centers = np.vstack([corners, corners + np.array([5, 1])])
X, sort = make_blobs(400, centers=centers, cluster_std=1.3, random_state=0)
told = sample_constraints(sort, 150, random_state=0)

# %%
# Clusters are found without the statements, so that each statement is a test. At the right number
# both kinds of error are equally rare.

curve = choose_n_clusters(X, told, n_clusters_range=(2, 16), random_state=0)
table = curve.frame()
print(curve.reason)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
k = table["n_clusters"]
left.plot(k, table["cannot_together"], "o-", color="#d55e00", label="apart, but in one cluster")
left.plot(k, table["must_apart"], "s--", color="#222222", label="together, but in two clusters")
left.axvline(curve.chosen, color="#777777", ls=":")
left.set(xlabel="number of clusters", ylabel="share of statements broken")
left.set_title(f"Both errors are smallest at {curve.chosen}")
left.legend()
labels = COPKMeans(curve.chosen, random_state=0).fit(X, constraints=told).labels_
plot_constraints(X, labels, told, n=40, ax=right)
plt.show()
