"""Customer segments with business rules
=====================================

A table with numbers and categories, and two rules from sales: branches of one company are one
customer and stay in one segment; the two key accounts have their own people, so they are never in
the same one.
"""

# %%
# Two hundred accounts, made up: small shops, regular buyers, and few that buy much, on the phone.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from conclust import Constraints, COPKMeans
from conclust.plotting import plot_constraints

rng = np.random.RandomState(0)
sort = rng.choice(3, 200, p=[0.5, 0.3, 0.2])
calls = rng.uniform(size=200) < np.array([0.1, 0.2, 0.8])[sort]
accounts = pd.DataFrame(
    {
        "orders": rng.poisson(np.array([4, 18, 9])[sort]),
        "basket": rng.lognormal(np.array([3.5, 4.0, 6.0])[sort], 0.4).round(),
        "returns": rng.beta(np.array([2, 2, 1])[sort], 20).round(3),
        "channel": np.where(calls, "phone", "web"),
    },
    index=[f"A{i:03}" for i in range(200)],
)
accounts.head()

# %%
# The rules as statements. ``company`` names the branches that belong together; the key accounts are
# two that look alike.

company = pd.Series(-1, index=accounts.index)
company[accounts.index[[3, 17, 41, 77]]] = 0
company[accounts.index[[8, 60, 121]]] = 1
key = np.flatnonzero(sort == 2)[:2]
rules = Constraints.from_groups(together=company.to_numpy())
rules = rules + Constraints(cannot_link=[tuple(key)])
rules

# %%
# A pipeline prepares the columns; the statements go to its last step.

prepare = make_column_transformer(
    (StandardScaler(), ["orders", "basket", "returns"]), (OneHotEncoder(), ["channel"])
)
pipeline = make_pipeline(prepare, COPKMeans(3, random_state=0))
segment = pipeline.fit(accounts, copkmeans__constraints=rules)[-1].labels_

# %%
# Who is in which segment, and which rules hold: all of them.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
plot_constraints(prepare.transform(accounts), segment, rules, ax=left)
profile = accounts.groupby(segment).agg(
    orders=("orders", "mean"),
    basket=("basket", "mean"),
    phone=("channel", lambda channel: (channel == "phone").mean()),
)
heat = profile / profile.max()
right.imshow(heat, cmap="Blues", vmin=0, vmax=1.1, aspect="auto")
for (row, column), value in np.ndenumerate(profile.to_numpy()):
    text = f"{value:.0%}" if profile.columns[column] == "phone" else f"{value:.0f}"
    ink = "white" if heat.iloc[row, column] > 0.6 else "black"
    right.text(column, row, text, ha="center", va="center", fontsize=14, color=ink)
right.set_xticks(range(3), ["orders", "basket", "by phone"])
sizes = np.bincount(segment)
right.set_yticks(range(3), [f"segment {i}\n{size} accounts" for i, size in enumerate(sizes)])
right.set_title("What the segments are")
plt.show()
