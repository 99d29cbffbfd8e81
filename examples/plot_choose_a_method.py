"""Choose a method without labels
==============================

Which method, which setting? There are no true labels to compare with, but there are statements.
Hide some, cluster with the others, and see which of the hidden ones hold.
"""

# %%
# Long clusters, and eighty statements about their rows.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from conclust import (
    ConstrainedGaussianMixture,
    ConstraintKFold,
    COPKMeans,
    MPCKMeans,
    PCKMeans,
    sample_constraints,
)

rng = np.random.RandomState(0)
truth = np.repeat([0, 1, 2], 100)
X = rng.normal(size=(300, 2)) * [4, 0.5] + np.column_stack([np.zeros(300), 2.2 * truth])
told = sample_constraints(truth, 80, random_state=0)

# %%
# :class:`~conclust.ConstraintKFold` hides whole groups of statements, so that none that is hidden
# follows from those that are told.

methods = [
    COPKMeans(3, random_state=0),
    PCKMeans(3, random_state=0),
    MPCKMeans(3, random_state=0),
    ConstrainedGaussianMixture(3, random_state=0),
]
folds = list(ConstraintKFold(3, random_state=0).split(told))
names = [type(method).__name__ for method in methods]
kept, index = [], []
for method in methods:
    shares = [
        told[hidden].satisfied(method.fit(X, constraints=told[heard]).labels_).mean()
        for heard, hidden in folds
    ]
    kept.append(np.mean(shares))
    index.append(adjusted_rand_score(truth, method.fit(X, constraints=told).labels_))

# %%
# What anyone can measure, and what one would like to know. Here both name the same best method; the
# shares of hidden statements are not the index, as the mixture shows, and this is one data set.

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
place = np.arange(len(methods))
ax.barh(place - 0.2, kept, 0.38, color="#0072b2", label="hidden statements kept: anyone can see")
ax.barh(place + 0.2, index, 0.38, color="#e69f00", label="agreement with the truth: nobody can")
ax.set_yticks(place, names)
ax.invert_yaxis()
ax.set(xlim=(0, 1), title="Hidden statements point to the best method")
ax.legend(loc="upper right", fontsize=9)
plt.show()

# %%
# :class:`~conclust.ConstraintSearchCV` does this over a grid of settings; for the whole choice in
# one call there is :class:`~conclust.AutoCluster`.
