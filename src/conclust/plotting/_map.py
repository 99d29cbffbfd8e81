"""Rows in the plane, and the statements about them as lines."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from conclust._arrays import FloatArray, IntArray
from conclust._drawn import SET_ASIDE, Clusters, check_clusters, check_rows, main_directions
from conclust._matching import match_labels
from conclust.constraints import Constraints
from conclust.plotting._colors import CANNOT, GREY, MUST, RELATIVE, color, marker
from conclust.plotting._matplotlib import new_axes, new_pair_of_axes

MAX_ROWS = 20_000  # drawn; of more a random sample, beside those that statements drawn name
MAX_GROUP = 100  # members of a group whose pairs are drawn
MAX_LEGEND = 8  # clusters named in the legend
KEPT: dict[str, Any] = {"linestyles": "-", "linewidths": 1, "alpha": 0.45, "zorder": 1.5}
BROKEN: dict[str, Any] = {"linestyles": (0, (4, 2)), "linewidths": 2, "alpha": 1, "zorder": 3}
COLORS = {"must-link": MUST, "cannot-link": CANNOT, "relative": RELATIVE}


class Lines(NamedTuple):
    """The statements to be drawn, groups by their pairs."""

    rows: IntArray  # (m, 3) the two ends, and c of a relative statement, else -1
    kind: npt.NDArray[np.str_]  # (m,)
    kept: npt.NDArray[np.bool_]  # (m,)
    totals: dict[tuple[str, bool], int]  # how many there are of each kind, kept or not

    @property
    def named(self) -> IntArray:
        """The rows that they name."""
        return np.unique(self.rows[self.rows >= 0])


def plot_constraints(
    X: Any,
    labels: Any,
    constraints: Constraints | None = None,
    *,
    n: int = 100,
    legend: bool = True,
    random_state: int = 0,
    ax: Any = None,
) -> Any:
    """Draw rows as points in the colours of their clusters, and statements as lines.

    Parameters
    ----------
    X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
        Two columns are drawn as they are, so coordinates of any projection (t-SNE, UMAP) can be
        given; of more the two main directions (PCA) are drawn.
    labels : array-like of shape (n_samples,)
        Of any kind; -1, None and NaN are rows in no cluster, drawn as grey crosses.
    constraints : Constraints, default=None
        Must-links are dark, cannot-links orange; of a relative statement ``ab|c``, purple, the line
        joins a and b and a dotted one leads to c. Statements that the labels keep are thin and
        solid, broken ones thick and dashed.
    n : int, default=100
        How many statements at most: broken ones first, then others at random. The pairs of groups
        of more than 100 mutually apart rows are not drawn.
    legend : bool, default=True
        Clusters (up to eight) and kinds of statement with their numbers, below the axes.
    random_state : int, default=0
        Of what is drawn, where not all is.
    ax : matplotlib Axes, default=None
        A new figure by default.

    Returns
    -------
    matplotlib Axes
        The title says how many statements are kept. Of more than 20 000 rows so many are drawn,
        those that the statements drawn name and others at random; a line below says so.

    See Also
    --------
    plot_change : Two clusterings side by side, and what moved.
    conclust.reporting : The same as a page, with much more.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conclust import PCKMeans, sample_constraints
    >>> from conclust.plotting import plot_constraints
    >>> X, y = load_iris(return_X_y=True)
    >>> known = sample_constraints(y, 40, random_state=0)
    >>> labels = PCKMeans(3, random_state=0).fit(X, constraints=known).labels_
    >>> ax = plot_constraints(X, labels, known)  # doctest: +SKIP
    """
    rng = np.random.RandomState(random_state)
    n_rows = _n_rows(X)
    clusters = check_clusters(labels, n_rows)
    known = (Constraints() if constraints is None else constraints).on_rows_of(X)
    lines = _lines(known, clusters.codes, n, rng)
    rows = _drawn_rows(lines.named, n_rows, rng)
    plane, names = _plane(X, rows, random_state)
    ax = new_axes(ax, width=6.0, height=5.0)
    _draw_points(ax, plane, clusters, rows)
    _draw_named(ax, plane, lines)
    _draw_lines(ax, plane, lines)
    _frame(ax, names)
    if len(known):
        kept = known.satisfied(clusters.codes)
        ax.set_title(f"{int(kept.sum()):,} of {len(kept):,} statements kept", fontsize=10)
    _say_what_is_left_out(ax, len(rows), n_rows, min(n, len(known)), len(known))
    if legend:
        _write_legend(ax, n_rows)
    return ax


def plot_change(
    X: Any,
    before: Any,
    after: Any,
    constraints: Constraints | None = None,
    *,
    titles: tuple[str, str] = ("before", "after"),
    n: int = 50,
    random_state: int = 0,
    axes: Any = None,
) -> Any:
    """Draw two clusterings of the same rows side by side, and mark the rows that moved.

    Parameters
    ----------
    X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
        As in :func:`plot_constraints`.
    before : array-like of shape (n_before,)
        Labels of the first `n_before` rows; those after them are new.
    after : array-like of shape (n_samples,)
        Clusters have the colours of those of `before` that they share most rows with.
    constraints : Constraints, default=None
        Drawn on both sides, on the left those about the rows there are.
    titles : (str, str), default=("before", "after")
        What stands above the two maps.
    n : int, default=50
        How many statements at most.
    random_state : int, default=0
        Of what is drawn, where not all is.
    axes : sequence of two matplotlib Axes, default=None
        A new figure by default.

    Returns
    -------
    ndarray of two matplotlib Axes
        On the right, rows in another cluster have a dark ring and new ones a dotted one; the others
        are pale. Titles count them.

    See Also
    --------
    plot_constraints : One clustering.
    conclust.match_labels : Gives clusters the numbers they had.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conclust import COPKMeans, sample_constraints
    >>> from conclust.plotting import plot_change
    >>> X, y = load_iris(return_X_y=True)
    >>> known = sample_constraints(y, 100, random_state=0)
    >>> model = COPKMeans(3, random_state=0)
    >>> plain = model.fit(X).labels_
    >>> told = model.fit(X, constraints=known).labels_
    >>> left, right = plot_change(X, plain, told, known)  # doctest: +SKIP
    """
    rng = np.random.RandomState(random_state)
    n_rows, n_before = _n_rows(X), len(before)
    first, second = _matched(before, after, n_rows)
    known = (Constraints() if constraints is None else constraints).on_rows_of(X)
    old = known[[max(s.samples) < n_before for s in known]] if n_before < n_rows else known
    lines = [_lines(old, first.codes, n, rng), _lines(known, second.codes, n, rng)]
    rows = _drawn_rows(np.union1d(lines[0].named, lines[1].named), n_rows, rng)
    plane, names = _plane(X, rows, random_state)
    left, right = axes = new_pair_of_axes(axes)
    _draw_points(left, plane, first, rows[rows < n_before])
    moved = np.flatnonzero((first.codes != second.codes)[:n_before])
    _draw_marked(right, plane, second, rows, moved, np.arange(n_before, n_rows))
    counts = ["", f"{len(moved):,} row{'s' * (len(moved) != 1)} moved"]
    for ax, title, count, said, shown, clusters in zip(
        axes, titles, counts, (old, known), lines, (first, second), strict=True
    ):
        _draw_lines(ax, plane, shown)
        holds = said.satisfied(clusters.codes)
        kept = f"{int(holds.sum()):,} of {len(holds):,} kept" if len(holds) else ""
        ax.set_title(" · ".join(filter(None, [title, count, kept])), fontsize=10)
        _frame(ax, names)
        ax.set(xlim=_limits(plane[rows, 0]), ylim=_limits(plane[rows, 1]))
        _say_what_is_left_out(ax, len(rows), n_rows, min(n, len(said)), len(said))
        _write_legend(ax, n_rows)
    return axes


# ---------------------------------------------------------------------- what is drawn


def _n_rows(X: Any) -> int:
    return X.shape[0] if hasattr(X, "shape") else len(X)


def _plane(X: Any, rows: IntArray, seed: int) -> tuple[FloatArray, tuple[str, str] | None]:
    """Two coordinates of each row that is drawn, NaN of the others, and what they are called."""
    n_rows = _n_rows(X)
    if len(rows) < n_rows:  # before anything is copied: X may be a large file
        X = X.tocsr() if issparse(X) else X if hasattr(X, "iloc") else np.asarray(X)
        X = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
    X, columns = check_rows(X)
    names = None if columns is None or len(columns) != 2 else (columns[0], columns[1])
    if X.shape[1] == 2:
        places = X.toarray() if issparse(X) else X
    else:
        places, share = main_directions(X, seed)
        names = (f"main directions, {share:.0%} of variance", "") if X.shape[1] > 2 else None
    plane = np.full((n_rows, 2), np.nan)
    plane[rows] = places
    return plane, names


def _matched(before: Any, after: Any, n_rows: int) -> tuple[Clusters, Clusters]:
    """Both clusterings of all rows, clusters of the later with the numbers of the earlier."""
    if np.ndim(before) != 1 or len(before) > n_rows:
        raise ValueError(
            f"before has shape {np.shape(before)}, but X has {n_rows} rows; pass one label for "
            "each of the first rows of X."
        )
    first, second = check_clusters(before, len(before)), check_clusters(after, n_rows)
    codes = match_labels(second.codes, first.codes)
    numbers = [str(code) for code in range(int(codes.max(initial=-1)) + 1)]
    padded = np.append(first.codes, np.full(n_rows - len(before), SET_ASIDE))
    return Clusters(padded, first.names), Clusters(codes, numbers)


def _lines(constraints: Constraints, codes: IntArray, n: int, rng: np.random.RandomState) -> Lines:
    """At most n lines: those of broken statements first, then others at random."""
    if max(map(len, constraints.apart_groups), default=0) > MAX_GROUP:
        small = [s.kind != "apart" or len(s.samples) <= MAX_GROUP for s in constraints]
        constraints = constraints[small]
    pairs, relative = constraints.pairs(), constraints.relative
    ends = np.column_stack([pairs.pairs, np.full(len(pairs.pairs), -1)])
    rows = np.concatenate([ends, relative])
    kind = np.where(pairs.sign > 0, "must-link", "cannot-link")
    kind = np.append(kind, np.full(len(relative), "relative"))
    holds = constraints.satisfied(codes)[constraints.kinds == "relative"]
    kept = np.append(~pairs.violated(codes), holds).astype(bool)
    totals = {
        (name, is_kept): int(((kind == name) & (kept == is_kept)).sum())
        for name in COLORS
        for is_kept in (True, False)
    }
    chosen = np.sort(np.lexsort((rng.permutation(len(rows)), kept))[: max(n, 0)])
    return Lines(rows[chosen], kind[chosen], kept[chosen], totals)


def _drawn_rows(named: IntArray, n_rows: int, rng: np.random.RandomState) -> IntArray:
    """All rows, or those that lines name and others at random."""
    if n_rows <= MAX_ROWS:
        return np.arange(n_rows)
    others = np.setdiff1d(np.arange(n_rows), named)
    size = max(MAX_ROWS - len(named), 0)
    return np.union1d(named, rng.choice(others, size, replace=False))


# ---------------------------------------------------------------------- drawing


def _draw_points(
    ax: Any,
    plane: FloatArray,
    clusters: Clusters,
    rows: IntArray,
    *,
    alpha: float = 0.9,
    in_legend: bool = True,
) -> None:
    """One collection for each cluster, so that each has its shape and its place in the legend."""
    codes = clusters.codes[rows]
    style: dict[str, Any] = {
        "s": _size(len(clusters.codes)),
        "alpha": alpha,
        "rasterized": len(rows) > 2_000,
    }
    counts = np.bincount(clusters.codes[clusters.codes >= 0], minlength=len(clusters.names))
    is_named = in_legend and len(clusters.names) <= MAX_LEGEND
    for code in np.unique(codes[codes >= 0]).tolist():
        name = f"cluster {clusters.names[code]} ({counts[code]:,})"
        ax.scatter(
            *plane[rows[codes == code]].T,
            color=color(code),
            marker=marker(code),
            linewidths=0,
            label=_literal(name) if is_named else None,
            zorder=2,
            **style,
        )
    if (codes < 0).any():
        aside = rows[codes < 0]
        name = f"set aside ({int((clusters.codes < 0).sum()):,})"
        style["label"] = name if in_legend else None
        ax.scatter(*plane[aside].T, color=GREY, marker="x", linewidths=1, **style)


def _draw_named(ax: Any, plane: FloatArray, lines: Lines) -> None:
    """A thin ring around each row that a statement names."""
    ax.scatter(
        *plane[lines.named].T,
        s=1.6 * _size(len(plane)),
        facecolors="none",
        edgecolors="#222222",
        linewidths=0.6,
        zorder=4,
    )


def _draw_marked(
    ax: Any,
    plane: FloatArray,
    clusters: Clusters,
    rows: IntArray,
    moved: IntArray,
    new: IntArray,
) -> None:
    """Rows that moved or are new with a ring, the others pale."""
    marked = np.union1d(moved, new)
    pale, strong = np.setdiff1d(rows, marked), np.intersect1d(rows, marked)
    _draw_points(ax, plane, clusters, pale, alpha=0.3, in_legend=False)
    _draw_points(ax, plane, clusters, strong, in_legend=False)
    drawn_moved, drawn_new = np.intersect1d(rows, moved), np.intersect1d(rows, new)
    _ring(ax, plane[drawn_moved], len(plane), "-", f"moved ({len(moved):,})")
    _ring(ax, plane[drawn_new], len(plane), ":", f"new ({len(new):,})")


def _ring(ax: Any, places: FloatArray, n_rows: int, style: str, name: str) -> None:
    if not len(places):
        return
    ax.scatter(
        *places.T,
        s=max(12.0, 1.8 * _size(n_rows)),
        facecolors="none",
        edgecolors="#222222",
        linewidths=1 if n_rows < 1_000 else 0.4,
        linestyle=style,
        label=name,
        zorder=4,
    )


def _draw_lines(ax: Any, plane: FloatArray, lines: Lines) -> None:
    """One collection for each kind, kept and broken; relative ones have a dotted leg to c."""
    for (kind, kept), total in lines.totals.items():
        rows = lines.rows[(lines.kind == kind) & (lines.kept == kept)]
        if not len(rows):
            continue
        style = {**(KEPT if kept else BROKEN), "colors": COLORS[kind]}
        name = f"{kind}, {'kept' if kept else 'broken'} ({total:,})"
        ends = plane[rows[:, :2]]
        _draw_segments(ax, ends, label=name, **style)
        if kind == "relative":
            legs = np.stack([ends.mean(axis=1), plane[rows[:, 2]]], axis=1)
            _draw_segments(ax, legs, **{**style, "linestyles": ":"})


def _draw_segments(ax: Any, segments: FloatArray, **style: Any) -> None:
    from matplotlib.collections import LineCollection

    ax.add_collection(LineCollection(list(segments), **style))


def _size(n_rows: int) -> float:
    return float(np.clip(6_000 / max(n_rows, 1), 3, 40))


def _limits(values: npt.NDArray[Any]) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    margin = 0.05 * (high - low) or 1.0
    return low - margin, high + margin


def _frame(ax: Any, names: tuple[str, str] | None) -> None:
    ax.set_xticks([])
    ax.set_yticks([])
    if names is not None:
        ax.set_xlabel(_literal(names[0]), fontsize=8)
        ax.set_ylabel(_literal(names[1]), fontsize=8)


def _literal(text: str) -> str:
    """Names are no formulas."""
    return text.replace("$", r"\$")


def _say_what_is_left_out(ax: Any, rows: int, n_rows: int, n_lines: int, n_known: int) -> None:
    left_out = []
    if rows < n_rows:
        left_out.append(f"{rows:,} of {n_rows:,} rows")
    if n_lines < n_known:
        left_out.append(f"{n_lines:,} of {n_known:,} statements")
    if left_out:
        said = f"drawn: {' and '.join(left_out)}"
        ax.set_xlabel("\n".join(filter(None, [ax.get_xlabel(), said])), fontsize=8)


def _write_legend(ax: Any, n_rows: int) -> None:
    """Below the axes and what is written there."""
    from matplotlib.transforms import ScaledTranslation

    if not ax.get_legend_handles_labels()[0]:
        return
    n_lines = len(ax.get_xlabel().splitlines())
    down = ScaledTranslation(0, -0.06 - 0.17 * n_lines, ax.figure.dpi_scale_trans)
    ax.legend(
        fontsize=8,
        frameon=False,
        markerscale=max(1.0, 5 / np.sqrt(_size(n_rows))),  # points of a large set are tiny
        ncols=2,
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        bbox_transform=ax.transAxes + down,
    )
