"""Which statements were hard to keep?
===================================

Boosting learns priorities: statements that round after round are broken come first in the next
one. What ends on top was hardest to keep.
"""

# %%
# Two hundred true statements about iris.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from conclust import BoostedConstrainedKMeans, sample_constraints
from conclust.plotting import plot_constraints, plot_priorities

X, species = load_iris(return_X_y=True)
told = sample_constraints(species, 200, random_state=2)
model = BoostedConstrainedKMeans(3, n_estimators=50, random_state=0).fit(X, constraints=told)

# %%
# Left the learned priorities, right where the ten hardest statements lie.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
plot_priorities(model, n=10, ax=left)
hardest = told[model.priorities(10)["statement"].to_numpy()]
plot_constraints(X, model.labels_, hardest, ax=right)
right.set_title("The ten hardest statements")
plt.show()

# %%
# High priority does not mean wrong: here all are true. For wrong ones, see
# :func:`~conclust.plotting.plot_doubt`.

print(f"{np.mean(told.satisfied(species)):.0%} of the statements are true")
