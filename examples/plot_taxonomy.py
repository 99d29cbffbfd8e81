"""A taxonomy from odd ones out
============================

"A whale is more like a dog than like a shark": which is the odd one out? People can say such
things where they could not name clusters. A hierarchy that listens puts the whale where it belongs,
and with it those that nobody spoke of.
"""

# %%
# Sixteen animals by what one sees of them. Whales and dolphins look like fish, bats like birds.

import matplotlib.pyplot as plt
import pandas as pd

from conclust import Constraints, ReCon
from conclust.plotting import plot_dendrogram

animals = pd.DataFrame(
    {  # lives in water, has fins, flies, legs / 4, length on a scale
        "dog": [0, 0, 0, 1, 0.4],
        "wolf": [0, 0, 0, 1, 0.5],
        "horse": [0, 0, 0, 1, 0.7],
        "elephant": [0, 0, 0, 1, 0.9],
        "bat": [0, 0, 1, 0.5, 0.1],
        "whale": [1, 1, 0, 0, 1.0],
        "dolphin": [1, 1, 0, 0, 0.7],
        "shark": [1, 1, 0, 0, 0.8],
        "tuna": [1, 1, 0, 0, 0.6],
        "herring": [1, 1, 0, 0, 0.2],
        "salmon": [1, 1, 0, 0, 0.4],
        "eagle": [0, 0, 1, 0.5, 0.4],
        "sparrow": [0, 0, 1, 0.5, 0.1],
        "owl": [0, 0, 1, 0.5, 0.3],
        "goose": [0.5, 0, 1, 0.5, 0.4],
        "penguin": [0.8, 0.5, 0, 0.5, 0.4],
    }
).T
names = list(animals.index)

# %%
# Somebody has sorted nine of them. ``ab|c`` says that a and b are closer to each other than either
# is to c; a taxonomy is a dozen such statements.

sorted_ones = [
    ["dog", "whale", "dolphin", "bat"],
    ["shark", "tuna"],
    ["eagle", "sparrow", "penguin"],
]
told = Constraints.from_hierarchy(sorted_ones, ids=names)
told

# %%
# Below each hierarchy the statements are arcs from a to b, with a line to c: dashed where the
# hierarchy breaks them.

figure, axes = plt.subplots(2, 1, figsize=(9, 8), layout="constrained")
looks = ReCon(3, linkage="average").fit(animals.to_numpy())
listens = ReCon(3, linkage="average").fit(animals.to_numpy(), constraints=told)
plot_dendrogram(looks, told, names=names, ax=axes[0])
axes[0].set_title("By looks alone: the whale is a fish, the bat a bird")
plot_dendrogram(listens, names=names, ax=axes[1])
axes[1].set_title("Told a dozen statements: mammals, fish and birds")
for ax in axes:
    ax.tick_params(axis="x", labelsize=10)
plt.show()

# %%
# The hierarchy for other programs:

print(listens.to_newick(names))
