"""Have I answered enough?
=======================

While answers still move many rows, more of them are worth asking for. A session can see that
without knowing the truth; what it cannot see is whether the clusters are right.
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
# Few flowers move after the first ten answers, yet the clusters stay short of the species: settled
# is not right. Nor does it always settle: where the method does not suit the rows, answers go on
# moving them. The session's own sentence:

print(session.expected_change_)
