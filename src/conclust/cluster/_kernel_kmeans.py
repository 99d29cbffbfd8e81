"""SemiSupervisedKernelKMeans (SSKK): kernel k-means with rewards and penalties in the kernel."""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils import check_random_state

from conclust._declare import PAIRS, Named, Takes
from conclust._kernels.kernel_moves import move_single_rows
from conclust._lloyd.best import best_of_starts
from conclust._lloyd.fill import fill_empty
from conclust._lloyd.start import plus_plus
from conclust._progress import Rounds
from conclust._sklearn import Interval, StrOptions, fit_context
from conclust._summaries import Shown
from conclust._validation import check_inputs
from conclust.constraints import Constraints

KERNELS = {"linear", "rbf", "poly", "polynomial", "sigmoid", "laplacian", "cosine", "precomputed"}
# Kernels without negative eigenvalues, up to rounding.
DEFINITE = {"linear", "rbf", "laplacian", "cosine"}
# Up to so many rows the smallest eigenvalue is found by a dense decomposition.
SMALL_N = 1000
# `penalty="auto"`, as a share of the variance of a cluster of average size. Chosen from a grid on
# six data sets of 400 rows: with 50 and 200 statements a quarter of it changed little, and four
# times as much was worse, far worse with 20 % wrong statements.
PRICE = 0.1
# A row moves only when the objective falls by more than this share of tr K: rounding must not
# move rows back and forth.
LEAST = 1e-12
# When fewer than one row in so many has changed, sums over clusters are changed, not made anew.
SEVERAL = 4


class Round(NamedTuple):
    """What one iteration did."""

    objective: float  # Σ ‖φ(x) − mean‖², less rewards, plus penalties
    n_changed: int  # rows whose cluster changed
    n_violated: int  # pairs broken
    step: str  # "batch" or "moves"
    seconds: float


class Run(NamedTuple):
    """The result of one start."""

    labels: np.ndarray  # (n_samples,) int32
    objective: float
    converged: bool
    history: list[Round]


def link_matrix(
    pairs: np.ndarray, sign: np.ndarray, price: np.ndarray, n_samples: int
) -> sp.csr_array:
    """W: the price of a pair at (i, j) and (j, i), positive for must-links."""
    i, j = pairs.T
    half = sp.csr_array((sign * price, (i, j)), shape=(n_samples, n_samples))
    return (half + half.T).tocsr()


def least_eigenvalue(links: sp.csr_array) -> float:
    """Smallest eigenvalue of W, or somewhat less; 0 without links."""
    rows = np.unique(links.nonzero()[0])
    if not len(rows):
        return 0.0
    W = links[rows][:, rows]
    if len(rows) <= SMALL_N:
        return float(scipy.linalg.eigvalsh(W.toarray(), subset_by_index=(0, 0))[0])
    try:
        start = np.random.RandomState(0).uniform(-1, 1, len(rows))
        value = eigsh(W, k=1, which="SA", tol=1e-3, v0=start, return_eigenvectors=False)[0]
    except ArpackNoConvergence:
        return -float(abs(W).sum(axis=1).max())  # Gershgorin: none is less
    # Lanczos iterations approach it from above.
    return float(value - 0.01 * abs(value))


def _objective(diagonal: np.ndarray, sums: "Sums") -> float:
    total = diagonal.sum(dtype=np.float64)
    return float(total - (sums.within / np.maximum(sums.sizes, 1)).sum())


def kernel_kmeans(
    K: np.ndarray,
    labels: np.ndarray,
    n_clusters: int,
    *,
    shift: float = 0.0,
    moves: bool = True,
    max_iter: int = 100,
    n_violated: Callable[[np.ndarray], int] | None = None,
    on_round: Callable[[Round], object] | None = None,
) -> Run:
    """Lower the objective of kernel k-means from given labels.

    Parameters
    ----------
    K : ndarray of shape (n_samples, n_samples)
        Symmetric.
    labels : ndarray of shape (n_samples,)
        To start from; left as they are.
    n_clusters : int
    shift : float, default=0.0
        Added to the diagonal in batch steps; K + shift · I should be positive semi-definite.
    moves : bool, default=True
        When no batch step helps any more, move single rows.
    max_iter : int, default=100
        Batch steps and sweeps of moves together.
    n_violated : callable, default=None
        Counts the pairs that labels break, for the record.
    on_round : callable, default=None

    Returns
    -------
    Run

    Notes
    -----
    The objective never rises. In the feature space of K + σ I a batch step cannot raise its own
    objective, which is larger by σ (n − k) for every partition into k clusters; hence empty
    clusters are filled at once. The same shift makes each row cling to its cluster, by σ (1 / n_a +
    1 / n_b): moves, which need no shift, finish what it holds back.
    """
    labels = np.array(labels, dtype=np.int64)
    diagonal = np.diag(K).astype(np.float64)
    least = LEAST * float(np.abs(diagonal).sum())
    rounds = Rounds(Round, on_round)
    batch = True
    converged = False

    def distances_to_own(labels: np.ndarray) -> np.ndarray:
        sums = sums_of(K, labels, n_clusters)
        return _distances(diagonal, sums, labels, shift)[np.arange(len(labels)), labels]

    # Filled before the first step: an objective with fewer clusters compares with none that follow.
    fill_empty(labels, n_clusters, distances_to_own)
    sums = sums_of(K, labels, n_clusters)
    objective = _objective(diagonal, sums)
    for _ in range(max_iter):
        if batch:
            distances = _distances(diagonal, sums, labels, shift)
            new = distances.argmin(axis=1)
            rows = np.arange(len(labels))
            stays = distances[rows, labels] <= distances[rows, new] + least / len(labels)
            new[stays] = labels[stays]
            fill_empty(new, n_clusters, distances_to_own)
            new_sums = sums_after(K, sums, labels, new)
            reached = _objective(diagonal, new_sums)
            # With too small a shift a step may go up: then it is not taken.
            helps = reached < objective
            n_changed = int((new != labels).sum()) if helps else 0
            if helps:
                labels, sums, objective = new, new_sums, reached
        else:
            n_changed = move_single_rows(K, labels, *sums, least)
            if n_changed:
                sums = sums_of(K, labels, n_clusters)
                objective = _objective(diagonal, sums)
        n_broken = 0 if n_violated is None else n_violated(labels)
        rounds.note(objective, n_changed, n_broken, "batch" if batch else "moves")
        if n_changed == 0:
            converged = not (batch and moves)
            if converged:
                break
            batch = False
    return Run(labels.astype(np.int32), objective, converged, rounds.history)


def draw_start(K: np.ndarray, n_clusters: int, shift: float, random_state: Any) -> np.ndarray:
    """Labels to start from, by k-means++ in the feature space of K + shift · I."""
    diagonal = np.diag(K).astype(np.float64) + shift

    def distances_to_row(row: int) -> np.ndarray:
        distances = np.maximum(diagonal + diagonal[row] - 2 * K[row].astype(np.float64), 0.0)
        distances[row] = 0.0
        return distances

    return plus_plus(np.ones(len(K)), n_clusters, distances_to_row, random_state)


class Sums(NamedTuple):
    """What the objective and the distances to the means are made of."""

    towards: np.ndarray  # (n_samples, n_clusters) sum of K from each row to each cluster
    within: np.ndarray  # (n_clusters,) inside each cluster
    sizes: np.ndarray  # (n_clusters,) rows


def sums_of(K: np.ndarray, labels: np.ndarray, n_clusters: int) -> Sums:
    """Sums of K by cluster: one pass over K."""
    n = len(labels)
    members = sp.csr_array((np.ones(n, K.dtype), (labels, np.arange(n))), shape=(n_clusters, n))
    towards = np.ascontiguousarray((members @ K).T, dtype=np.float64)
    return _completed(towards, labels)


def sums_after(K: np.ndarray, sums: Sums, labels: np.ndarray, new: np.ndarray) -> Sums:
    """The sums of new labels from those of the old: a pass over the rows that changed."""
    changed = np.flatnonzero(labels != new)
    m, n_clusters = len(changed), sums.towards.shape[1]
    if m > len(labels) // SEVERAL:
        return sums_of(K, new, n_clusters)
    at = np.arange(m)
    moves = sp.csr_array(
        (
            np.repeat(np.array([1, -1], K.dtype), m),
            (np.r_[new[changed], labels[changed]], np.r_[at, at]),
        ),
        shape=(n_clusters, m),
    )
    return _completed(sums.towards + (moves @ K[changed]).T, new)


def _completed(towards: np.ndarray, labels: np.ndarray) -> Sums:
    n, n_clusters = towards.shape
    within = np.bincount(labels, towards[np.arange(n), labels], n_clusters)
    return Sums(towards, within, np.bincount(labels, minlength=n_clusters))


def _distances(diagonal: np.ndarray, sums: Sums, labels: np.ndarray, shift: float) -> np.ndarray:
    """Squared distances to the means in the feature space of K + shift · I; inf to empty ones."""
    towards, within, sizes = sums
    size = np.maximum(sizes, 1)
    towards = towards.copy()
    towards[np.arange(len(labels)), labels] += shift
    distances = (diagonal + shift)[:, None] - 2 * towards / size
    distances += (within + shift * sizes) / size**2
    distances[:, sizes == 0] = np.inf
    return distances


class SemiSupervisedKernelKMeans(Shown, ClusterMixin, BaseEstimator):
    """Kernel k-means that finds must-linked rows similar and cannot-linked rows dissimilar (SSKK).

    The price of each statement is added to the kernel, positive for must-links and negative for
    cannot-links; kernel k-means on the sum trades distances against broken statements, and with a
    kernel such as "rbf" finds clusters that no straight line separates.

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters to form.
    kernel : str or callable, default="rbf"
        A kernel of :func:`~sklearn.metrics.pairwise.pairwise_kernels`, or "precomputed": X is the
        kernel then.
    gamma : float, default=None
        Of kernels "rbf", "poly", "sigmoid", "laplacian"; by default 1 / (n_features · variance of
        X).
    degree : float, default=3
        Of kernel "poly".
    coef0 : float, default=1
        Of kernels "poly" and "sigmoid".
    kernel_params : dict, default=None
        Further arguments of a callable kernel.
    penalty : float or "auto", default="auto"
        Price of a statement of weight 1. "auto": 0.1 · n_samples · variance / n_clusters, with the
        mean variance of a row in the feature space, so that a broken statement costs some 0.2
        variances, however many there are. The paper has 1 · … / n_statements, which is far less.
    shift : float or "auto", default="auto"
        Added to the diagonal in batch steps, which need a positive semi-definite kernel; "auto"
        takes as much as that needs. Does not change the objective.
    moves : bool, default=True
        Move single rows after the batch steps; False is the paper's algorithm.
    n_init : int, default=10
        Starts (k-means++ in the feature space); the lowest objective is kept.
    max_iter : int, default=100
        Iterations of one start at most.
    max_samples : int, default=10_000
        More rows than this are refused: the kernel takes 8 · n² bytes.
    verbose : int, default=0
        Show progress on stderr.
    random_state : int, RandomState or None, default=None
        Seed or generator of the random numbers; an int gives the same result each time.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,), int32
    objective_ : float
        Summed squared distances to the means in the feature space, less 2 · price / size for each
        must-link inside a cluster, plus as much for each cannot-link.
    penalty_, shift_ : float
        The values used.
    n_iter_ : int
    converged_ : bool
    history_ : list of Round
    report_ : ConstraintReport
        Which statements the labels keep.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    PCKMeans : The same bargain in the original space, without the n × n kernel.
    SpectralLearning : Edits a sparse affinity: more rows.

    Notes
    -----
    Memory is O(n_samples²), time O(n_samples²) per iteration. Without constraints and with
    ``kernel="linear"`` the objective is that of k-means.

    References
    ----------
    B. Kulis, S. Basu, I. Dhillon and R. Mooney. Semi-supervised graph clustering: a kernel
    approach. ICML 2005.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from conclust import SemiSupervisedKernelKMeans, sample_constraints
    >>> X, y = make_circles(200, factor=0.4, noise=0.05, random_state=0)
    >>> known = sample_constraints(y, 100, random_state=0)
    >>> model = SemiSupervisedKernelKMeans(2, gamma=5.0, random_state=0).fit(X, constraints=known)
    >>> model.report_.share > 0.95
    True
    """

    _takes: ClassVar[Takes] = Takes(
        PAIRS,
        how="soft",
        when="any kernel, some thousand rows",
        weights="weights",
        square=True,
        names=(Named("sskk", "kernel k-means with prices"),),
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "kernel": [StrOptions(KERNELS), callable],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "kernel_params": [dict, None],
        "penalty": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "shift": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "moves": ["boolean"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "max_samples": [Interval(Integral, 1, None, closed="left")],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: Any = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        penalty: Any = "auto",
        shift: Any = "auto",
        moves: bool = True,
        n_init: int = 10,
        max_iter: int = 100,
        max_samples: int = 10_000,
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.penalty = penalty
        self.shift = shift
        self.moves = moves
        self.n_init = n_init
        self.max_iter = max_iter
        self.max_samples = max_samples
        self.verbose = verbose
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: Any = None, *, constraints: Constraints | None = None
    ) -> "SemiSupervisedKernelKMeans":
        """Cluster the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Or the kernel, (n_samples, n_samples), with ``kernel="precomputed"``.
        y : ignored
            Here because scikit-learn's API asks for it.
        constraints : Constraints, default=None
            Must-links and cannot-links.

        Returns
        -------
        self
            The fitted estimator.
        """
        X, constraints = check_inputs(self, X, constraints, n_clusters=self.n_clusters)
        n_samples = X.shape[0]
        if n_samples > self.max_samples:
            raise ValueError(
                f"X has {n_samples} rows, more than max_samples={self.max_samples}: the kernel "
                f"would take {8e-9 * n_samples**2:.3g} GB. Raise max_samples if that fits, or use "
                "PCKMeans, BoostCluster or SpectralLearning(n_neighbors=...), which build none."
            )
        K = self._kernel(X)
        pairs = constraints.pairs()
        self.penalty_ = self._price(K)
        links = link_matrix(pairs.pairs, pairs.sign, self.penalty_ * pairs.weight, n_samples)
        if self.shift == "auto":
            # λ_min(K + W) ≥ λ_min(K) + λ_min(W), and W is small and sparse.
            definite = isinstance(self.kernel, str) and self.kernel in DEFINITE
            least = 0.0 if definite else _least_of_dense(K)
            self.shift_ = max(-least - least_eigenvalue(links), 0.0)
        else:
            self.shift_ = float(self.shift)
        entries = links.tocoo()
        K[entries.row, entries.col] += entries.data.astype(K.dtype)
        random_state = check_random_state(self.random_state)

        def start(number: int, on_round: Any) -> Run:
            return kernel_kmeans(
                K,
                draw_start(K, self.n_clusters, self.shift_, random_state),
                self.n_clusters,
                shift=self.shift_,
                moves=self.moves,
                max_iter=self.max_iter,
                n_violated=lambda labels: int(pairs.violated(labels).sum()),
                on_round=on_round,
            )

        best = best_of_starts(
            start,
            self.n_init,
            lambda run: (run.objective,),
            what=type(self).__name__,
            verbose=self.verbose,
        )
        self.labels_, self.objective_ = best.labels, best.objective
        self.n_iter_, self.converged_ = len(best.history), best.converged
        self.history_ = best.history
        self.report_ = constraints.report(self.labels_)
        return self

    def _kernel(self, X: Any) -> np.ndarray:
        """A kernel that may be written to."""
        if self.kernel == "precomputed":
            K = X.toarray() if sp.issparse(X) else X.copy()
            if K.shape[0] != K.shape[1]:
                raise ValueError(
                    f"X has shape {K.shape}, but kernel='precomputed' needs the square matrix of "
                    "the kernel between all rows. Pass the features with another kernel."
                )
            if not np.allclose(K, K.T, rtol=1e-6, atol=1e-8 * np.abs(K).max(initial=0.0)):
                raise ValueError("X is not symmetric, but a kernel must be; pass (X + X.T) / 2.")
            return K
        if callable(self.kernel):
            K = pairwise_kernels(X, metric=self.kernel, **(self.kernel_params or {}))
        else:
            K = pairwise_kernels(
                X,
                metric=self.kernel,
                filter_params=True,
                gamma=self._gamma(X),
                degree=self.degree,
                coef0=self.coef0,
            )
        K = K.toarray() if sp.issparse(K) else np.array(K, dtype=X.dtype)
        return (K + K.T) / 2

    def _gamma(self, X: Any) -> float:
        if self.gamma is not None:
            return float(self.gamma)
        mean_square = X.multiply(X).mean() if sp.issparse(X) else np.square(X).mean()
        variance = float(mean_square - X.mean() ** 2)
        return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0

    def _price(self, K: np.ndarray) -> float:
        if self.penalty != "auto":
            return float(self.penalty)
        variance = max(float(np.diag(K).mean(dtype=np.float64) - K.mean(dtype=np.float64)), 0.0)
        return PRICE * len(K) * variance / self.n_clusters

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes.sparse
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def _least_of_dense(K: np.ndarray) -> float:
    """Smallest eigenvalue of a kernel that may have negative ones, or somewhat less."""
    if len(K) <= SMALL_N:
        return float(scipy.linalg.eigvalsh(K, subset_by_index=(0, 0))[0])
    # Moved so that it is the largest in magnitude: found soon, to a share of the norm.
    norm = float(np.abs(K).sum(axis=1).max())
    moved = LinearOperator(K.shape, matvec=lambda v: K @ v - norm * v, dtype=np.float64)
    start = np.random.RandomState(0).uniform(-1, 1, len(K))
    value = eigsh(moved, k=1, which="LM", tol=1e-4, v0=start, return_eigenvectors=False)[0]
    return float(value + norm - 1e-4 * norm)
