"""Where the report draws each row, and which statements it draws as lines."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from conclust._drawn import main_directions
from conclust.exceptions import MissingExtraError

WIDTH, HEIGHT, MARGIN = 1000, 700, 24  # the drawing, in its own units
MAX_DRAWN = 20_000  # rows; of more a random sample, so that the page stays below 1 MB
MAX_LINES = 150  # statements drawn of each sort; more would hide the points
MAX_TSNE = 5_000

PROJECTIONS = ("pca", "tsne", "umap")


class Map(NamedTuple):
    """Rows and statements in the coordinates of the drawing."""

    rows: npt.NDArray[np.int64]  # (m,) the rows drawn, ascending
    x: npt.NDArray[np.int64]  # (m,)
    y: npt.NDArray[np.int64]  # (m,)
    kept: npt.NDArray[np.int64]  # (l, 4) x1, y1, x2, y2
    broken: npt.NDArray[np.int64]  # (b, 4)
    n_kept: int  # lines there would be
    n_broken: int
    caption: str


def check_projection(projection: str, n_samples: int) -> None:
    """Say at once what would fail after a long fit."""
    if projection not in PROJECTIONS:
        raise ValueError(f"projection must be one of {PROJECTIONS}; got {projection!r}.")
    if projection == "tsne" and n_samples > MAX_TSNE:
        raise ValueError(
            f"t-SNE of {n_samples:,} rows takes too long here (at most {MAX_TSNE:,}); use pca."
        )
    if projection == "umap":
        try:
            import umap  # noqa: F401
        except ImportError as error:
            raise MissingExtraError(
                "UMAP is not installed: pip install umap-learn, or use pca."
            ) from error


def draw(X: Any, constraints: Any, kept: Any, projection: str, seed: int) -> Map:
    """Project the rows into the plane and pick the statements to draw."""
    check_projection(projection, X.shape[0])
    plane, caption = project(X, projection, seed)
    x = _scaled(plane[:, 0], MARGIN, WIDTH - MARGIN)
    y = _scaled(-plane[:, 1], MARGIN, HEIGHT - MARGIN)
    rng = np.random.RandomState(seed)
    ends, holds = _lines(constraints, kept)
    rows = np.arange(X.shape[0])
    if len(rows) > MAX_DRAWN:
        named = np.unique(ends)[:MAX_DRAWN]
        others = np.setdiff1d(rows, named)
        drawn = rng.choice(others, MAX_DRAWN - len(named), replace=False)
        rows = np.sort(np.concatenate([named, drawn]))
        caption += f" {MAX_DRAWN:,} of {X.shape[0]:,} rows are drawn."
    segments = np.column_stack([x[ends[:, 0]], y[ends[:, 0]], x[ends[:, 1]], y[ends[:, 1]]])
    return Map(
        rows,
        x[rows],
        y[rows],
        _some(segments[holds], rng),
        _some(segments[~holds], rng),
        int(holds.sum()),
        int((~holds).sum()),
        caption,
    )


def project(X: Any, projection: str, seed: int) -> tuple[npt.NDArray[np.float64], str]:
    """Two coordinates per row, and what they are."""
    if projection == "tsne":
        from scipy.sparse import issparse
        from sklearn.manifold import TSNE

        dense = X.toarray() if issparse(X) else np.asarray(X, dtype=np.float64)
        perplexity = min(30.0, max(1.0, (X.shape[0] - 1) / 3))
        model = TSNE(2, init="random", perplexity=perplexity, random_state=seed)
        return model.fit_transform(dense), "t-SNE: near rows are alike, far ones need not differ."
    if projection == "umap":
        import umap

        return umap.UMAP(random_state=seed).fit_transform(X), "UMAP: near rows are alike."
    plane, share = main_directions(X, seed)
    if min(X.shape) < 2:
        return plane, "The only feature, left to right."
    return plane, f"The two main directions of the data; they hold {share:.0%} of its variance."


def _scaled(values: Any, low: int, high: int) -> npt.NDArray[np.int64]:
    values = np.nan_to_num(np.asarray(values, dtype=np.float64))
    span = values.max() - values.min()
    unit = (values - values.min()) / span if span > 0 else np.full(len(values), 0.5)
    return np.rint(low + unit * (high - low)).astype(np.int64)


def _lines(constraints: Any, kept: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Ends of the line of each statement and whether it holds; a group is drawn by its pairs."""
    if not constraints:
        return np.empty((0, 2), np.int64), np.empty(0, bool)
    if constraints.n_group_pairs > 100 * MAX_LINES:
        constraints, kept = (
            constraints[constraints.kinds != "apart"],
            kept[constraints.kinds != "apart"],
        )
    pairs = constraints.pairs()
    relative = np.flatnonzero(constraints.kinds == "relative")
    ends = np.concatenate([pairs.pairs, constraints.relative[:, :2]])
    return ends, kept[np.concatenate([pairs.statement, relative])]


def _some(segments: Any, rng: Any) -> Any:
    if len(segments) <= MAX_LINES:
        return segments
    return segments[np.sort(rng.choice(len(segments), MAX_LINES, replace=False))]
