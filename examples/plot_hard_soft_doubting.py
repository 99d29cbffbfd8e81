"""Hard, soft, doubting: three ways to listen
==========================================

What if one statement in ten is wrong? A method that keeps every statement keeps the wrong ones,
too. One that takes statements as wishes gives way where rows speak against them. One that doubts
finds out how often answers are wrong, and which.
"""

# %%
# Wines of three growers, and 120 statements about them, of which twelve or so are wrong.

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from conclust import AutoCluster, COPKMeans, PCKMeans, sample_constraints
from conclust.plotting import plot_constraints

X, grower = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
told = sample_constraints(grower, 120, noise=0.1, random_state=0)

# %%
# The index is the adjusted Rand index with the growers: 1 is perfect. Thick dashed lines are
# statements that a method breaks.

methods = {
    "hard: COPKMeans": COPKMeans(3, random_state=0),
    "soft: PCKMeans": PCKMeans(3, random_state=0),
    "doubting: AutoCluster": AutoCluster(3, random_state=0),
}
figure, axes = plt.subplots(1, 3, figsize=(12, 5), layout="constrained")
for ax, (name, model) in zip(axes, methods.items(), strict=True):
    labels = model.fit(X, constraints=told).labels_
    plot_constraints(X, labels, told, ax=ax, n=40)
    kept, index = told.satisfied(labels).sum(), adjusted_rand_score(grower, labels)
    ax.set_title(f"{name}\n{kept} of 120 kept, index {index:.2f}", fontsize=11)
plt.show()

# %%
# :class:`~conclust.COPKMeans` keeps all it was told, and mixes the growers up. What the other two
# break is nearly all wrong; in real life nobody would know:

for name, model in methods.items():
    broken = told[~told.satisfied(model.labels_)]
    wrong = ~broken.satisfied(grower)
    print(f"{name} breaks {len(broken)} statements, {wrong.sum()} of them wrong")
