"""How many clusters? What statements say of clusters that were told nothing, and what rows say."""

import warnings
from collections.abc import Iterable, Iterator
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import check_random_state

from conclust._arrays import FloatArray, IntArray
from conclust._folds import FEW
from conclust._threads import threads_worth
from conclust.cluster import average_linkage_cuts, few_features, leaves_of, sums_of, unit_rows
from conclust.constraints import Constraints
from conclust.model_selection._choose import as_seed, fewer_rows, with_rows

if TYPE_CHECKING:
    import pandas as pd

NAN = float("nan")
# Rows looked at: all that statements name, and others up to this many; of directions the tree has
# up to the second number, and up to the third say how many they are.
MAX_ROWS, MAX_ROWS_TREE, MAX_ROWS_TOLD = 5_000, 20_000, 3_000
# Without a range: so many are tried where stability alone decides, else up to 2 √n.
MAX_CLUSTERS = 10
MAX_MOST = 200
# Every number up to this one is tried, then steps of 6 %.
EACH_UP_TO, STEP = 30, 1.06
# Starts of k-means for each number.
N_INIT = 3
# Agreements of two clusterings closer than this are the same.
AS_STABLE = 0.01
# Standard errors: a number is not ruled out up to the first, balanced up to the second, and no
# larger ones are tried after the third.
RULED_OUT, BALANCED, FAR_TOO_MANY = 2.0, 0.5, 4.0
# Numbers within this factor of the best are looked at together.
NEAR = 1.5
# Rows of this length, give or take, are directions, as embeddings and tf-idf weights are.
UNIT = 0.01
# Leaves of many rows are drawn, and where a tree is cut hangs on them: the mean of so many trees.
N_TREES = 8
# Clusters of fewer rows than this share of the mean size are crumbs of a tree, and do not count.
CRUMB = 0.1


class KPoint(NamedTuple):
    """One number of clusters tried; `nan` where there was nothing to look at.

    Attributes
    ----------
    n_clusters : int
        The number tried.
    kept : float
        Share of the pairwise statements that clusters told nothing keep.
    must_apart : float
        Must-links that they break, as a share of the statements.
    cannot_together : float
        Cannot-links that they break, likewise.
    rows : float
        What the rows say of this number, the larger the better.
    feasible : bool
        Whether the statements can all hold with so few clusters.
    """

    n_clusters: int
    kept: float
    must_apart: float
    cannot_together: float
    rows: float
    feasible: bool


class KCurve(NamedTuple):
    """All numbers of clusters tried.

    Attributes
    ----------
    points : list of KPoint
        One for each number tried.
    chosen : int
        The number chosen.
    measure : str
        What `rows` of the points is.
    reason : str
        Why it was chosen, in a sentence.
    """

    points: list[KPoint]
    chosen: int
    measure: str
    reason: str

    def frame(self) -> "pd.DataFrame":
        """The points as a table, with a column that marks the number chosen.

        Returns
        -------
        DataFrame
            One row for each number tried.
        """
        import pandas as pd

        frame = pd.DataFrame(self.points, columns=list(KPoint._fields))
        frame["chosen"] = frame["n_clusters"] == self.chosen
        return frame


class Partition(NamedTuple):
    """Clusters found without statements, once or in several trees, and how many of them count."""

    n_clusters: int
    labels: IntArray  # (n_trees, n_samples)


def choose_n_clusters(
    X: Any,
    constraints: Constraints,
    *,
    n_clusters_range: tuple[int, int] | None = None,
    random_state: Any = None,
) -> KCurve:
    r"""Try numbers of clusters: statements rule out, and rows or the balance of errors choose.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        With more than 5 000 rows (20 000 directions) those that statements name and a sample of
        the others are used.
    constraints : Constraints
        The statements that counts are judged by.
    n_clusters_range : (int, int), default=None
        The fewest and the most to try; by default 2 to twice the root of the number of rows, at
        most 200, and to 10 where stability alone decides.
    random_state : int, RandomState or None, default=None
        Seed or generator of the random numbers; an int gives the same result each time.

    Returns
    -------
    KCurve
        The `points` tried, the number `chosen`, the `measure` of what rows say and the `reason`, a
        sentence; ``frame()`` is the table.

    See Also
    --------
    AutoCluster : With ``n_clusters="auto"`` it asks this.

    Notes
    -----
    Clusters are found without the statements, so that all of them are held out. Too few clusters
    break cannot-links and too many break must-links; at the right number both are broken equally
    often, since whatever else is wrong with the clusters then cancels out. McNemar's test says how
    sure that is: a number is ruled out where the counts c and b differ by more than two standard
    errors, :math:`(|c - b| - 1) / \sqrt{c + b} > 2`.

    The number that the rows speak for is taken if the statements do not rule it out, else the
    fewest clusters at which the counts differ by half a standard error at most. Fewer than 20
    pairwise statements, or of one kind only, rule out what they make impossible and nothing else.

    Rows that are directions (of unit length) are clustered by average linkage, whose clusters may
    be of very different sizes (more than 3 000 rows in eight trees that begin with small clusters
    drawn anew; c and b are their means), and speak by the Bayesian information criterion of
    spherical clusters; other rows by k-means, and by its stability on random halves (2 to 10
    clusters).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conclust import sample_constraints
    >>> from conclust.model_selection import choose_n_clusters
    >>> X, y = load_iris(return_X_y=True)
    >>> curve = choose_n_clusters(X, sample_constraints(y, 120, random_state=0), random_state=0)
    >>> curve.chosen
    3
    """
    low, high = check_range(n_clusters_range) or (2, None)
    constraints = constraints.on_rows_of(X)
    seed = as_seed(random_state)
    X = with_rows(X)
    directions = are_directions(X)
    most = MAX_ROWS_TREE if directions else MAX_ROWS
    rows, said = fewer_rows(X, constraints, seed, max_rows=most)
    pairs = said.pairwise
    both = {"must-link"} < set(pairs.kinds.tolist()) and len(pairs) >= FEW
    rows = few_features(rows, seed)
    n_samples = rows.shape[0]
    if high is None:
        high = _most(n_samples) if both or directions else MAX_CLUSTERS
    numbers = _numbers(low, min(high, n_samples - 1))
    if not numbers:
        few = min(low, n_samples) if n_clusters_range else 1
        return KCurve([], few, "", f"{few} clusters: there are too few rows to choose.")
    if directions:
        measure = "Bayesian information criterion per row"
        some = fewer_rows(rows, Constraints(n_samples=n_samples), seed, max_rows=MAX_ROWS_TOLD)[0]
        spoken = {k: information(some, k, seed) for k in numbers if k < len(some)}
        partitions: Iterable[Partition] = tree_partitions(rows, low, numbers[-1], seed)
    else:
        measure = "stability (adjusted Rand index)"
        asked = [k for k in numbers if n_clusters_range or k <= MAX_CLUSTERS]
        spoken = {k: stability(rows, k, seed)[0] for k in asked}
        partitions = (Partition(k, kmeans_labels(rows, k, seed)[np.newaxis]) for k in numbers)
    counts = _errors(partitions, pairs) if both else {}
    least = next((k for k in numbers if not pairs or not _too_few(pairs, k)), numbers[-1])
    favorite = _favorite({k: v for k, v in spoken.items() if k >= least}, stable=not directions)
    chosen, why = _decide(counts, favorite, least, measure)
    if n_clusters_range and low == high:
        why = "no other number was to be tried"
    points = [
        KPoint(k, *counts[k].shares if k in counts else (NAN,) * 3, spoken.get(k, NAN), k >= least)
        for k in sorted({*spoken, *counts})
    ]
    return KCurve(points, chosen, measure, f"{chosen} clusters: {why}.")


def check_range(n_clusters_range: Any) -> tuple[int, int] | None:
    """The fewest and the most clusters to try as two numbers, or an error that says what is wrong.

    None, for no range, stays None.
    """
    if n_clusters_range is None:
        return None
    found = list(n_clusters_range) if isinstance(n_clusters_range, tuple | list) else []
    numbers = [int(k) for k in found if isinstance(k, Integral)]
    if len(found) != 2 or len(numbers) != 2 or not 1 <= numbers[0] <= numbers[1]:
        raise ValueError(
            "n_clusters_range takes the fewest and the most clusters to try, such as (2, 30); got "
            f"{n_clusters_range!r}."
        )
    return numbers[0], numbers[1]


class Errors(NamedTuple):
    """Statements that clusters break which were told nothing; of several trees the mean."""

    must_apart: float
    cannot_together: float
    n_statements: int

    @property
    def shares(self) -> tuple[float, float, float]:
        """Kept, must-links broken, cannot-links broken: shares of all."""
        n = max(self.n_statements, 1)
        broken = self.must_apart / n, self.cannot_together / n
        return 1 - sum(broken), *broken

    @property
    def imbalance(self) -> float:
        """By how many standard errors the two differ; above 0 there are too many clusters.

        McNemar's statistic with its correction for continuity.
        """
        more = self.must_apart - self.cannot_together
        total = self.must_apart + self.cannot_together
        return float(np.sign(more) * max(abs(more) - 1, 0) / np.sqrt(max(total, 1)))


def _errors(partitions: Iterable[Partition], pairs: Constraints) -> dict[int, Errors]:
    """Count what each partition breaks, until there are far too many clusters."""
    ends, sign, _, _ = pairs.pairs()
    must = sign > 0
    found: dict[int, Errors] = {}
    for k, labels in partitions:
        together = (labels[:, ends[:, 0]] == labels[:, ends[:, 1]]).mean(axis=0)
        errors = Errors(float((1 - together[must]).sum()), float(together[~must].sum()), len(must))
        if k not in found or abs(errors.imbalance) < abs(found[k].imbalance):
            found[k] = errors
        if errors.imbalance > FAR_TOO_MANY:
            break
    return found


def _decide(
    counts: dict[int, Errors], favorite: int | None, least: int, measure: str
) -> tuple[int, str]:
    """The number, and why in words."""
    told = {k: errors for k, errors in sorted(counts.items()) if k >= least}
    rows_say = f"the rows speak for it ({measure.split(' (')[0]})"
    if not told:
        return favorite or least, f"{rows_say}; too few statements of both kinds to choose by"
    if favorite is not None:
        near = min(told, key=lambda k: abs(np.log(k / favorite)))
        if abs(told[near].imbalance) <= RULED_OUT:
            return favorite, f"{rows_say}, and the statements do not speak against it"
    balance = {k: abs(errors.imbalance) for k, errors in told.items()}
    best = min(balance, key=balance.__getitem__)
    chosen = next((k for k in balance if balance[k] <= BALANCED), best)
    apart, together = told[chosen].must_apart, told[chosen].cannot_together
    return chosen, (
        "fewer would break more cannot-links and more of them more must-links (clusters told "
        f"nothing break {apart:.0f} must-links and {together:.0f} cannot-links of "
        f"{told[chosen].n_statements} statements)"
    )


def _favorite(spoken: dict[int, float], *, stable: bool) -> int | None:
    """The number the rows speak for most; of equally stable ones the largest.

    Two far groups of groups are stable, too, hence the finest.
    """
    known = {k: value for k, value in spoken.items() if np.isfinite(value)}
    if not known:
        return None
    best = max(known.values())
    if stable:
        return max(k for k, value in known.items() if value >= best - AS_STABLE)
    # k-means of many clusters ends now here, now there: the top of a parabola through neighbours.
    top = max(known, key=known.__getitem__)
    near = [k for k in known if abs(np.log(k / top)) <= np.log(NEAR)]
    if top <= EACH_UP_TO or len(near) <= 3:
        return top
    logs = np.log(near)
    smooth = np.polyval(np.polyfit(logs, [known[k] for k in near], 2), logs)
    return near[int(smooth.argmax())]


def _too_few(pairs: Constraints, n_clusters: int) -> bool:
    return any(c.kind == "too few clusters" for c in pairs.conflicts(n_clusters, max_listed=1))


def _most(n_samples: int) -> int:
    return min(max(MAX_CLUSTERS, int(2 * np.sqrt(n_samples))), MAX_MOST)


def _numbers(low: int, high: int) -> list[int]:
    """Every number while there are few, then some per cent more each time."""
    found = [low] if low <= high else []
    while found and found[-1] < high:
        last = found[-1]
        more = last + 1 if last < EACH_UP_TO else round(last * STEP)
        found.append(min(more, high))
    return found


# ---------------------------------------------------------------------- rows


def are_directions(X: Any) -> bool:
    """Whether all rows have length one, as embeddings and tf-idf weights do."""
    if X.shape[1] < 3:
        return False
    squares = X.multiply(X).sum(axis=1) if sp.issparse(X) else np.einsum("ij,ij->i", X, X)
    return bool((np.abs(np.asarray(squares, dtype=np.float64) - 1) < UNIT).all())


def kmeans_labels(X: FloatArray, n_clusters: int, seed: int) -> IntArray:
    """Plain k-means."""
    model = KMeans(n_clusters, n_init=N_INIT, random_state=seed)
    with warnings.catch_warnings(), threads_worth(X):
        warnings.simplefilter("ignore")  # fewer different rows than clusters
        return model.fit(X).labels_


def information(X: FloatArray, n_clusters: int, seed: int) -> float:
    """Bayesian information criterion per row of k-means as a mixture, the larger the better.

    Spherical clusters of one variance and shares of their own: with the sum W of squares within
    clusters, ``-(n d log(W / n d) - 2 Σ n_c log(n_c / n) + k d log n) / 2 n``.
    """
    n_samples, n_features = X.shape
    labels = kmeans_labels(X, n_clusters, seed)
    sizes = np.bincount(labels, minlength=n_clusters)
    sums = sums_of(X, labels, n_clusters)
    within = (X**2).sum() - ((sums**2).sum(axis=1) / np.maximum(sizes, 1)).sum()
    total = n_samples * n_features
    sizes = sizes[sizes > 0]
    cost = total * np.log(max(within, np.finfo(float).tiny) / total)
    cost -= 2 * (sizes * np.log(sizes / n_samples)).sum()
    cost += n_clusters * n_features * np.log(n_samples)
    return float(-cost / (2 * n_samples))


def stability(X: Any, n_clusters: int, random_state: Any, n_pairs: int = 5) -> tuple[float, float]:
    """Mean and spread of the agreement of k-means on pairs of random halves of the rows.

    Each half gives centres; both sets of centres label all rows.
    """
    rng = check_random_state(random_state)
    half = max(n_clusters, X.shape[0] // 2)
    agreement = []
    for _ in range(n_pairs):
        labels = []
        for _ in range(2):
            rows = rng.choice(X.shape[0], size=half, replace=False)
            model = KMeans(n_clusters, n_init=5, random_state=rng.randint(2**31 - 1))
            with warnings.catch_warnings(), threads_worth(X):
                warnings.simplefilter("ignore")  # fewer different rows than clusters
                model.fit(X[rows])
            labels.append(model.predict(X))
        agreement.append(adjusted_rand_score(*labels))
    return float(np.mean(agreement)), float(np.std(agreement))


# ---------------------------------------------------------------------- trees of directions


def tree_partitions(X: FloatArray, low: int, high: int, seed: int) -> Iterator[Partition]:
    """Cuts of trees of average linkage with `low` to `high` clusters that are no crumbs."""
    X = unit_rows(X)
    leaves = leaves_of_trees(X, seed)
    cuts = _numbers(low, min(2 * high, *(leaf.max() + 1 for leaf in leaves)))
    trees = [average_linkage_cuts(X, leaf, cuts) for leaf in leaves]
    for n_cut, *of_leaves in zip(cuts, *trees, strict=True):
        labels = np.stack([of[leaf] for of, leaf in zip(of_leaves, leaves, strict=True)])
        count = [(np.bincount(each) >= CRUMB * len(X) / n_cut).sum() for each in labels]
        n_clusters = round(float(np.mean(count)))
        if low <= n_clusters <= high:
            yield Partition(n_clusters, labels)


def leaves_of_trees(X: FloatArray, seed: int) -> list[IntArray]:
    """The leaf of each row in several trees; in one where each row is a leaf of its own."""
    first, *others = check_random_state(seed).randint(2**31 - 1, size=N_TREES)
    leaf = leaves_of(X, int(first))
    if leaf.max() + 1 == len(X):
        return [leaf]
    return [leaf, *(leaves_of(X, int(other)) for other in others)]
