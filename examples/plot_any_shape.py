"""Clusters of any shape
=====================

Two moons: k-means cuts them in halves, for its clusters are round. Statements alone do not help it,
its shapes stay what they are. Where neighbours decide, a few statements are enough.
"""

# %%

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from conclust import COPKMeans, SpectralLearning, sample_constraints
from conclust.plotting import plot_constraints

X, moon = make_moons(300, noise=0.12, random_state=0)
told = sample_constraints(moon, 16, random_state=0)

# %%
# :class:`~conclust.COPKMeans` keeps all sixteen statements, and little else.
# :class:`~conclust.SpectralLearning` writes them into the graph of neighbours: a must-link is a
# bridge, a cannot-link takes one away.

methods = {
    "COPKMeans": COPKMeans(2, random_state=0),
    "SpectralLearning": SpectralLearning(2, random_state=0),
}
figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
for ax, (name, model) in zip(axes, methods.items(), strict=True):
    labels = model.fit(X, constraints=told).labels_
    plot_constraints(X, labels, told, ax=ax)
    index = adjusted_rand_score(moon, labels)
    ax.set_title(f"{name}: {told.satisfied(labels).sum()} of 16 kept, index {index:.2f}")
plt.show()
