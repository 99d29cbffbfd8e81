"""A wrong answer, and who finds it
================================

Somebody clicked "same" where "different" was right. Nobody knows, and every later answer has to
live with it. A model that takes answers as evidence points at it.
"""

# %%
# Sixty answers about iris, and one of them is turned around.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from conclust import ConstrainedGaussianMixture, Constraints, COPKMeans, sample_constraints
from conclust.plotting import plot_constraints, plot_doubt

X, species = load_iris(return_X_y=True)
answers = sample_constraints(species, 60, random_state=1)
mistake = (7, 77)  # a setosa and a versicolor
answers = answers + Constraints(must_link=[mistake])

# %%
# A method that keeps every statement puts the setosa where it does not belong.

hard = COPKMeans(3, random_state=0).fit(X, constraints=answers)

# %%
# The mixture with ``flip_rate="auto"`` estimates how often answers are wrong, and how far each of
# them is to be doubted.

doubting = ConstrainedGaussianMixture(3, flip_rate="auto", random_state=0)
doubting.fit(X, constraints=answers)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
plot_constraints(X, doubting.labels_, answers, ax=left)
left.set_title("The one statement that the doubting mixture breaks")
plot_doubt(doubting, n=10, ax=right)
for text in right.get_yticklabels():
    if text.get_text() == f"{mistake[0]} – {mistake[1]}":
        text.set_fontweight("bold")
right.set_title("Please look at these again (the wrong one is bold)")
plt.show()

# %%
# The list for a person to go through, and what became of the setosas:

print(doubting.suspects(3)[["a", "b", "type", "doubt"]].to_string(index=False))
print("setosas outside their cluster, hard:", 50 - np.bincount(hard.labels_[:50]).max())
print("setosas outside their cluster, doubting:", 50 - np.bincount(doubting.labels_[:50]).max())
