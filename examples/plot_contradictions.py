"""Contradictions, explained
=========================

Two people sort the same invoices, and their statements cannot all hold. Which ones clash, and what
is the least to take back?
"""

# %%
# Statements with the names people use. Ann and Bob agree on most; Bob's last line does not go with
# what Ann has said, but only if one follows the links.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from conclust import Constraints
from conclust.plotting import plot_constraints

invoices = ["I-01", "I-02", "I-03", "I-04", "I-05", "I-06", "I-07", "I-08"]
said = pd.DataFrame(
    [
        ("I-01", "I-02", "must-link", "ann"),
        ("I-02", "I-03", "must-link", "ann"),
        ("I-03", "I-04", "must-link", "ann"),
        ("I-05", "I-06", "must-link", "bob"),
        ("I-06", "I-07", "must-link", "bob"),
        ("I-04", "I-05", "cannot-link", "ann"),
        ("I-07", "I-08", "cannot-link", "bob"),
        ("I-01", "I-04", "cannot-link", "bob"),
    ],
    columns=["a", "b", "type", "who"],
)
known = Constraints.from_frame(said, ids=invoices)
known

# %%
# Every conflict is a smallest set of statements that cannot all hold, with the reason in words.

for conflict in known.conflicts():
    print(conflict)

# %%
# ``repaired()`` drops as little as it can. On the left the statements as they were: what must-links
# join has one colour, and the dashed line says that two of one colour are to be apart.

mended = known.repaired()
print("dropped:", mended.dropped.to_frame().to_string(index=False, header=False))

angle = np.pi * np.arange(8) / 4
place = np.column_stack([np.cos(angle), np.sin(angle)])
figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
joined = Constraints(known.must_link, n_samples=8).closure().component
for ax, statements, labels in (
    (axes[0], known, joined),
    (axes[1], mended, mended.closure(8).component),
):
    plot_constraints(place, labels, statements, ax=ax, legend=statements is known)
    for (x, y), name in zip(1.18 * place, invoices, strict=True):
        ax.text(x, y, name, ha="center", va="center")
    ax.set(xlim=(-1.4, 1.4), ylim=(-1.35, 1.35), aspect="equal")
axes[0].set_title("As said: I-01 and I-04 are joined, yet to be apart")
axes[1].set_title("Mended: one statement less, nothing broken")
plt.show()
