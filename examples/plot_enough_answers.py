"""Have I answered enough?
=======================

In the beginning answers change the clusters a lot, later hardly at all. A session says so, without
knowing the truth.
"""

# %%
# Somebody answers sixty questions about iris.

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

from conclust import BoostCluster
from conclust.active import Labels, ask
from conclust.plotting import plot_history

X, species = load_iris(return_X_y=True)
X = StandardScaler().fit_transform(X)
quick = BoostCluster(n_estimators=10)
session = ask(X, Labels(species), 60, 3, "random", random_state=0, estimator=quick)

# %%
# Left, what only we can see: how far the clusters are the species. Right, what the session sees:
# how many flowers the last answers have moved.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
plot_history(session, species, every=10, ax=left)
left.set_title("What nobody knows: agreement with the truth")
plot_history(session, every=10, ax=right)
right.set(title="What the session sees: flowers that still move", ylim=(0, None))
plt.show()

# %%
# The same in a sentence:

print(session.expected_change_)
