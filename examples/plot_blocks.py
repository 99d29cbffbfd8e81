"""Rows that memory does not hold
==============================

The same estimators read files block by block. Here half a million rows lie in a file; 500
statements are about some of them.
"""

# %%
# Write the file; it is mapped, never loaded as a whole.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

import conclust
from conclust.plotting import plot_constraints

rng = np.random.RandomState(0)
truth = rng.randint(3, size=500_000).astype(np.int8)
centers = np.array([[0, 0, 0, 0], [3, 1, 0, 0], [1, 3, 0, 0]], dtype=np.float32)
folder = tempfile.TemporaryDirectory()
path = Path(folder.name, "rows.npy")
np.save(path, centers[truth] + rng.standard_normal((500_000, 4)).astype(np.float32))
print(f"{path.stat().st_size / 1e6:.0f} MB")

# %%
# ``conclust.blocks.open`` takes Parquet files and dask arrays as well.

rows = conclust.blocks.open(path)
told = conclust.sample_constraints(truth, 500, random_state=0)
model = conclust.ConstrainedKMeans(3, n_init=1, random_state=0).fit(rows, constraints=told)
print(model.report_)

# %%
# Of so many rows 20 000 are drawn, and the picture says so.

ax = plot_constraints(np.load(path, mmap_mode="r"), model.labels_, told, n=30)
ax.set_title(
    f"{len(truth):,} rows from a file: {told.satisfied(model.labels_).sum()} of 500 "
    f"statements kept,\nagreement with the truth {adjusted_rand_score(truth, model.labels_):.2f}"
)
plt.show()
folder.cleanup()
