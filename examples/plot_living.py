"""A clustering that goes on
=========================

The clusters were looked at, named and reported. Now new rows come. Fitted again, everything would
have other numbers; ``update`` leaves what nobody questions as it is.
"""

# %%
# Three groups of customers, last month.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from conclust import Constraints, COPKMeans
from conclust.plotting import plot_change

X, _ = make_blobs(240, centers=[(0, 0), (6, 0), (3, 6)], cluster_std=1.2, random_state=3)
model = COPKMeans(3, random_state=0).fit(X)
last_month = model.labels_.copy()

# %%
# This month sixty more come, of a new sort. They are put where they are nearest; nobody else
# moves. The left picture has the old rows; in the right one new ones have a dotted ring.

new, _ = make_blobs(60, centers=[(9, 6)], cluster_std=0.8, random_state=4)
model.update(new)
everybody = np.vstack([X, new])
this_month = model.labels_.copy()
plot_change(everybody, last_month, this_month, titles=("last month", "update(new)"))

# %%
# "These are not like the others of their cluster," says somebody, and splits them off. That makes
# some statements; with one cluster more, it opens where they were made.

newcomers = np.arange(240, 300)
split = Constraints().split(this_month[-1], this_month, everybody, rows=newcomers)
model.update(constraints_new=split, n_clusters=4)
titles = ("update(new)", "update(split)")
plot_change(everybody, this_month, model.labels_, split, titles=titles, n=12)
plt.show()

# %%
# Who moved, and why:

print(model.changes_["why"].value_counts().to_string())
