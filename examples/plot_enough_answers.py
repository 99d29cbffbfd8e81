"""Have I answered enough?
=======================

In the beginning every answer changes the clusters, later hardly one does. A session says so, without
knowing the truth.
"""

# %%
# Three long clusters, and somebody who answers forty questions about them.

import matplotlib.pyplot as plt
import numpy as np

from conclust import ConstrainedGaussianMixture
from conclust.active import Labels, ask
from conclust.plotting import plot_history

rng = np.random.RandomState(0)
truth = np.repeat([0, 1, 2], 80)
X = rng.normal(size=(240, 2)) * [5, 0.8] + np.column_stack([np.zeros(240), 2.4 * truth])
mixture = ConstrainedGaussianMixture(flip_rate=0.05, covariance_type="tied")
session = ask(X, Labels(truth), 60, 3, "random", random_state=0, estimator=mixture)

# %%
# Left, what only we can see: how far the clusters are the true ones. Right, what the session sees:
# how many rows the last answers have moved.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
plot_history(session, truth, every=6, ax=left)
left.set_title("What nobody knows: agreement with the truth")
plot_history(session, every=6, ax=right)
right.set_title("What the session sees: rows that still move")
plt.show()

# %%
# The same in a sentence:

print(session.expected_change_)
