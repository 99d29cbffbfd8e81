"""What statements do
==================

A clusterer that is told nothing looks at distances alone. Thirty statements about pairs of
rows, "these two belong together" and "these two do not", can change its mind about what a cluster
is.
"""

# %%
# Three species of iris, of which two overlap. K-means cuts the cloud on the right into round
# pieces.

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from conclust import AutoCluster, sample_constraints
from conclust.plotting import plot_change, plot_constraints

X, species = load_iris(return_X_y=True)
alone = KMeans(3, n_init=10, random_state=0).fit_predict(X)

# %%
# A botanist is shown thirty pairs of flowers. Here the true species answer for her. K-means breaks
# some of what she says: dashed lines.

told = sample_constraints(species, 30, random_state=3)
ax = plot_constraints(X, alone, told)
ax.set_title(f"K-means alone: {told.satisfied(alone).sum()} of 30 statements kept")

# %%
# :class:`~conclust.AutoCluster` listens. Rows with a ring have changed their cluster, most of them
# rows that nobody spoke of.

model = AutoCluster(3, random_state=0).fit(X, constraints=told)
index = [adjusted_rand_score(species, labels) for labels in (alone, model.labels_)]
titles = (f"alone (index {index[0]:.2f})", f"told 30 pairs (index {index[1]:.2f})")
plot_change(X, alone, model.labels_, told, titles=titles)
plt.show()

# %%
# What was found, as a notebook shows it:

model
