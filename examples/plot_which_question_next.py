"""Which question next?
====================

People answer a few dozen questions, not thousands. Which pairs they are asked about makes a
difference: any two rows, or rows that bring something new.
"""

# %%
# Handwritten digits, 0 to 5. Two at random are mostly different ones, and "different" says
# little. "explore" asks about the row farthest from all groups known so far, and about the
# nearest group first; "minmax" about the row least like any that was asked about.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from conclust import COPKMeans
from conclust.active import Labels, ask
from conclust.plotting import plot_history

X, digit = load_digits(n_class=6, return_X_y=True)
X, digit = X[:400] / 16, digit[:400]
sessions = {
    strategy: ask(X, Labels(digit), 120, 6, strategy, random_state=1, estimator=COPKMeans(n_init=3))
    for strategy in ("random", "explore", "minmax")
}

# %%
# After each twenty answers the rows are clustered anew.

figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
for strategy, session in sessions.items():
    plot_history(session, digit, every=20, label=f'strategy="{strategy}"', ax=ax)
ax.set(title="120 questions, three ways to choose them", ylim=(0.75, 0.95))
plt.show()

# %%
# Why: answers that say "same" are rare among random pairs.

for strategy, session in sessions.items():
    same = (session.history_["answer"] == "must-link").sum()
    print(f"{strategy}: {same} of 120 answers are 'same'")

# %%
# This is one seed and one data set, and three of ten strategies. All that ask about two or
# three rows, on more data, with wrong answers, too: ``python -m reproduction active``.
