"""Teams of bounded sizes, with wishes
===================================

Ninety people are to be grouped into three workshops by what they are interested in. A room holds
32, a workshop needs 28; couples come together, and those who cannot stand each other do not.
"""

# %%
# Most people like the same things, so plain clusters would fill one room with half of them.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from conclust import Constraints, COPKMeans
from conclust.plotting import plot_constraints

interests, _ = make_blobs([55, 20, 15], centers=[(0, 0), (4, 2), (4, -2)], random_state=1)
wishes = Constraints(must_link=[(0, 60), (1, 80), (3, 85)], cannot_link=[(8, 9), (70, 71)])

# %%
# :class:`~conclust.COPKMeans` keeps wishes and sizes both, or says why it cannot.

free = COPKMeans(3, random_state=0).fit(interests)
bounded = COPKMeans(3, size_min=28, size_max=32, random_state=0).fit(interests, constraints=wishes)

figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for ax, model, name in zip(axes, (free, bounded), ("free", "28 to 32 each"), strict=True):
    plot_constraints(interests, model.labels_, wishes, ax=ax)
    sizes = sorted(np.bincount(model.labels_).tolist())
    kept = wishes.satisfied(model.labels_).sum()
    ax.set_title(f"{name}: sizes {sizes}, {kept} of 5 wishes kept")
plt.show()
