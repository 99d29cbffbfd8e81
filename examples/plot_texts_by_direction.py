"""Texts: compare directions, not lengths
======================================

A short note and a long report on the same subject have the same words in other numbers. Distances
see their lengths; the angle between them sees the subject.
"""

# %%
# Documents of three subjects, made of subject words and common ones. Some have ten words, some
# three hundred.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import adjusted_rand_score

from conclust import PCKMeans, sample_constraints
from conclust.plotting import plot_constraints

words = {
    "ships": ["anchor", "captain", "cargo", "crew", "deck", "harbour", "hull", "sail", "tide"],
    "bread": ["bake", "crumb", "dough", "flour", "knead", "loaf", "oven", "rye", "yeast"],
    "chess": ["bishop", "board", "castle", "check", "gambit", "king", "knight", "mate", "queen"],
}
common = ["a", "and", "in", "of", "on", "that", "the", "to", "was", "with"]
rng = np.random.RandomState(0)
subject = rng.choice(3, 240)
length = rng.choice([10, 30, 300], 240)
texts = [
    " ".join(rng.choice(list(words.values())[s] + common, n))
    for s, n in zip(subject, length, strict=True)
]
X = CountVectorizer(token_pattern=r"\w+").fit_transform(texts).astype(float)
told = sample_constraints(subject, 20, random_state=0)

# %%
# The same twenty statements, the same method; only ``metric`` differs.

figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for ax, metric in zip(axes, ("euclidean", "cosine"), strict=True):
    labels = PCKMeans(3, metric=metric, random_state=0).fit(X, constraints=told).labels_
    plot_constraints(X, labels, told, ax=ax)
    index = adjusted_rand_score(subject, labels)
    ax.set_title(f'metric="{metric}": agreement with the subjects {index:.2f}')
plt.show()

# %%
# Both pictures show the counts of words, so long texts lie far out, along three rays. By distance
# all short ones are one cluster; by direction each ray is one.
