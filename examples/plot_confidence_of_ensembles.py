"""Sure is not right: how an ensemble sees each pair
=================================================

An ensemble clusters many times. Where its members agree, a pair is surely together or surely
apart. But members that make the same mistake agree, too: statements can make an ensemble surer, and
they can shake it.
"""

# %%
# Wines of three growers, scaled and as measured; without statements and with 200. Blue: together,
# orange: apart, white: nobody knows.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from conclust import ConstrainedKMeansEnsemble, sample_constraints
from conclust.plotting import plot_confidence

measured, grower = load_wine(return_X_y=True)
tables = {"scaled": StandardScaler().fit_transform(measured), "as measured": measured}
pairs = np.array(np.triu_indices(len(grower), 1)).T

figure, axes = plt.subplots(2, 2, figsize=(11, 9.4), layout="constrained")
for row, (name, X) in zip(axes, tables.items(), strict=True):
    for ax, n_told in zip(row, (0, 200), strict=True):
        told = sample_constraints(grower, n_told, random_state=0)
        model = ConstrainedKMeansEnsemble(3, n_estimators=30, random_state=0)
        plot_confidence(model.fit(X, constraints=told), ax=ax)
        unsure = (np.abs(model.confidence(pairs)) < 0.5).mean()
        index = adjusted_rand_score(grower, model.labels_)
        ax.set_title(f"{name}, told {n_told}: {unsure:.0%} unsure, index {index:.2f}")
plt.show()

# %%
# Scaled, the rows agree with the statements, and both help. As measured, one column drowns the
# others: told nothing, the ensemble is sure of every pair, and often wrong. What it is told
# contradicts the rows, and it says that it does not know. That is the more useful answer: scale the
# columns, or learn the distance.
