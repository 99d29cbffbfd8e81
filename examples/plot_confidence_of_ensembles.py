"""How sure is each pair?
======================

An ensemble clusters many times. Where its members agree, a pair is surely together or surely
apart; where they do not, nobody knows. Statements make it sure.
"""

# %%
# Wines of three growers. Blue squares are clusters, orange is between them; what is pale is unsure.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from conclust import ConstrainedKMeansEnsemble, sample_constraints
from conclust.plotting import plot_confidence

X, grower = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
pairs = np.array(np.triu_indices(len(X), 1)).T

figure, axes = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
for ax, n_told in zip(axes, (0, 60), strict=True):
    told = sample_constraints(grower, n_told, random_state=0)
    model = ConstrainedKMeansEnsemble(3, n_estimators=30, random_state=0).fit(X, constraints=told)
    plot_confidence(model, ax=ax)
    unsure = (np.abs(model.confidence(pairs)) < 0.5).mean()
    index = adjusted_rand_score(grower, model.labels_)
    ax.set_title(f"told {n_told} pairs: {unsure:.1%} of all pairs unsure, index {index:.2f}")
plt.show()

# %%
# The rows that are least sure of their cluster, to ask about next:

everybody = np.stack(np.indices((len(X), len(X))), axis=-1).reshape(-1, 2)
sure = np.abs(model.confidence(everybody)).reshape(len(X), len(X)).mean(axis=1)
print("ask about the wines", np.flatnonzero(sure < 0.9).tolist())
