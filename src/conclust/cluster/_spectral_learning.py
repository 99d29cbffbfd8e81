"""SpectralLearning: statements written into the affinity, any clusterer on its eigenvectors."""

from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_random_state

from conclust._any_clusterer import labels_from
from conclust._arrays import Matrix
from conclust._declare import PAIRS, Named, Takes
from conclust._progress import Rounds, progress
from conclust._sklearn import HasMethods, Interval, StrOptions, fit_context
from conclust._summaries import Shown
from conclust._validation import check_inputs
from conclust.constraints import Constraints

# Up to so many rows `n_neighbors="auto"` compares all pairs; beyond, so many neighbours: with
# statements that was better than 20 or all, see `benchmarks/boostcluster.py defaults`.
DENSE_ROWS, NEIGHBORS = 200, 10
# Up to so many rows a sparse affinity is decomposed as a dense one: exact, and as fast.
SMALL_N = 1000
# The width of the affinity is the distance to this neighbour, in the median.
WIDTH_NEIGHBOR = 7
# Where that is 0, this share of the median squared distance between rows that differ.
REPEATED = 0.1
# Relative accuracy of eigenvalues of sparse affinities: labels need no more.
TOL = 1e-4
# Rows looked at together where a copy of a square matrix would take the time.
BLOCK = 256


class Round(NamedTuple):
    """What the one pass did."""

    gap: float  # between the last eigenvalue used and the next
    n_edited: int  # pairs whose affinity was set
    n_violated: int  # pairs broken by the final labels
    seconds: float


class Nodes(NamedTuple):
    """Rows that are equal, taken as one: copies would fill each other's lists of neighbours."""

    of_row: np.ndarray  # (n_samples,) the node of each row, numbered by their first rows
    content: np.ndarray  # (n_nodes,) nodes with the same number are equal, yet said to be apart
    first: np.ndarray  # (n_contents,) the first row of each content


class Embedding(NamedTuple):
    """Eigenvectors of the normalised affinity."""

    vectors: np.ndarray  # (n_samples, n_components)
    values: np.ndarray  # (n_components + 1,), or fewer: largest first


def collapse(X: Matrix, cannot_link: np.ndarray) -> Nodes:
    """Take equal rows as one node, but for those that a statement keeps apart from an equal one."""
    content, first = distinct_rows(X)
    inside = content[cannot_link[:, 0]] == content[cannot_link[:, 1]]
    key = content.copy()
    alone = np.unique(cannot_link[inside])
    key[alone] = len(first) + np.arange(len(alone))
    _, row, node = np.unique(key, return_index=True, return_inverse=True)
    rank = np.empty(len(row), dtype=np.int64)
    rank[np.argsort(row)] = np.arange(len(row))
    return Nodes(rank[node.ravel()], content[np.sort(row)], first)


def distinct_rows(X: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """Number the different rows in the order they first appear: (n,) numbers, and first rows."""
    if sp.issparse(X):
        X = X.copy()
        X.eliminate_zeros()
        X.sort_indices()
        starts = zip(X.indptr[:-1], X.indptr[1:], strict=True)
        keys = [X.indices[s:e].tobytes() + X.data[s:e].tobytes() for s, e in starts]
        number: dict[bytes, int] = {}
        content = np.array([number.setdefault(key, len(number)) for key in keys])
        return content, np.unique(content, return_index=True)[1]
    rows = np.ascontiguousarray(X + 0.0)  # -0 is 0
    _, first, content = np.unique(
        rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel(),
        return_index=True,
        return_inverse=True,
    )
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[content.ravel()], np.sort(first)


def neighbors_of_nodes(
    X: Matrix, nodes: Nodes, n_neighbors: int, gamma: float | None
) -> sp.csr_array:
    """Affinities of nodes: those of what they hold, and 1 where that is the same."""
    distinct = X[nodes.first]
    if len(nodes.first) == 1:
        affinity = sp.csr_array((1, 1))
    else:
        affinity = neighbor_affinities(distinct, n_neighbors, gamma)
    if len(nodes.content) == len(nodes.first):
        return affinity
    same = affinity + sp.eye_array(len(nodes.first), format="csr")
    among = same[nodes.content][:, nodes.content].tolil()
    among.setdiag(0.0)
    return among.tocsr()


def all_affinities(X: Matrix, gamma: float | None) -> np.ndarray:
    """A_ij = exp(−γ ‖x_i − x_j‖²) for all pairs, zero on the diagonal."""
    squared = euclidean_distances(X, squared=True)
    if gamma is None:
        at = min(WIDTH_NEIGHBOR, len(squared) - 1)
        near = np.concatenate(
            [
                np.partition(squared[i : i + BLOCK], at, axis=1)[:, at]
                for i in range(0, len(squared), BLOCK)
            ]
        )
        gamma = _width(near, squared)
    affinity = squared  # in place: a matrix of this size is not copied lightly
    affinity *= -gamma
    np.exp(affinity, out=affinity)
    np.fill_diagonal(affinity, 0.0)
    return affinity


def neighbor_affinities(X: Matrix, n_neighbors: int, gamma: float | None) -> sp.csr_array:
    """The same for pairs of which one is among the other's nearest neighbours; else zero."""
    n_neighbors = min(n_neighbors, X.shape[0] - 1)
    distances, found = NearestNeighbors(n_neighbors=n_neighbors).fit(X).kneighbors()
    squared = distances.astype(np.float64) ** 2
    if gamma is None:
        gamma = _width(squared[:, min(WIDTH_NEIGHBOR, n_neighbors) - 1], squared)
    rows = np.repeat(np.arange(len(found)), n_neighbors)
    directed = sp.csr_array(
        (np.exp(-gamma * squared).ravel(), (rows, found.ravel())), shape=(len(found),) * 2
    )
    return directed.maximum(directed.T).tocsr()


def _width(near: np.ndarray, squared: np.ndarray) -> float:
    """1 / (2 σ²) with σ the median of near distances; where most rows repeat, of all others."""
    middle = float(np.median(near))
    if middle == 0:
        apart = squared[squared > 0]
        middle = REPEATED * float(np.median(apart)) if len(apart) else 0.5
    return 1.0 / (2 * middle)


def edit(affinity: Any, pairs: np.ndarray, sign: np.ndarray, weight: np.ndarray) -> Any:
    """Set must-linked pairs to 1 (times their weight) and cannot-linked pairs to 0.

    A pair stated both ways is what it is on balance; evenly balanced it stays as it was.
    """
    if not len(pairs):
        return affinity
    n = affinity.shape[0]
    key, first = np.unique(np.sort(pairs, axis=1) @ np.array([n, 1]), return_inverse=True)
    net = np.bincount(first.ravel(), sign * weight, len(key))
    i, j = (part[net != 0] for part in (key // n, key % n))
    value = np.maximum(net[net != 0], 0.0)
    if not sp.issparse(affinity):
        affinity = affinity.copy()
        affinity[i, j] = affinity[j, i] = value
        return affinity
    chosen = sp.csr_array((np.ones(2 * len(i)), (np.r_[i, j], np.r_[j, i])), shape=(n, n))
    edits = sp.csr_array((np.r_[value, value], (np.r_[i, j], np.r_[j, i])), shape=(n, n))
    edited = (affinity - affinity.multiply(chosen) + edits).tocsr()
    edited.eliminate_zeros()
    return edited


class Normalized(NamedTuple):
    """The normalised affinity N + r rᵀ; r comes from the constant added to all affinities."""

    N: Any  # (n, n), dense or sparse
    r: np.ndarray  # (n,)
    first: np.ndarray  # (n,) its eigenvector of eigenvalue 1, up to length

    def dot(self, v: np.ndarray) -> np.ndarray:
        """(N + r rᵀ) v."""
        return self.N @ v + self.r * (self.r @ v)

    def toarray(self) -> np.ndarray:
        """The matrix written out."""
        N = self.N.toarray() if sp.issparse(self.N) else self.N
        return N + np.multiply.outer(self.r, self.r)


def normalize(affinity: Any, normalization: str, regularization: float = 0.0) -> Normalized:
    """Additive: (A + d_max I − D) / d_max; symmetric: D^{−½} A D^{−½}.

    Before, regularization · mean degree / n is added to every affinity.
    """
    n = affinity.shape[0]
    degree = np.asarray(affinity.sum(axis=1), dtype=np.float64).ravel()
    constant = regularization * degree.mean() / n
    degree = degree + n * constant
    if normalization == "additive":
        largest = degree.max(initial=0.0) or 1.0
        rest = (largest - degree) / largest
        r = np.full(n, np.sqrt(constant / largest))
        if sp.issparse(affinity):
            return Normalized((affinity / largest + sp.diags_array(rest)).tocsr(), r, np.ones(n))
        N = affinity / largest
        N[np.diag_indices_from(N)] += rest
        return Normalized(N, r, np.ones(n))
    root = 1 / np.sqrt(np.where(degree > 0, degree, 1.0))
    if sp.issparse(affinity):
        N = (sp.diags_array(root) @ affinity @ sp.diags_array(root)).tocsr()
    else:
        N = affinity * root[:, None]
        N *= root
    return Normalized(N, np.sqrt(constant) * root, np.sqrt(degree))


def component_vectors(affinity: sp.csr_array, first: np.ndarray, most: int) -> np.ndarray:
    """Split `first` by connected component: eigenvectors of eigenvalue 1, largest ones first."""
    _, component = connected_components(affinity, directed=False)
    size = np.bincount(component)
    chosen = np.argsort(-size, kind="stable")[:most]
    rank = np.full(len(size), -1)
    rank[chosen] = np.arange(len(chosen))
    rows = np.flatnonzero(rank[component] >= 0)
    vectors = np.zeros((len(component), len(chosen)))
    vectors[rows, rank[component[rows]]] = first[rows]
    length = np.sqrt((vectors**2).sum(axis=0))
    return vectors[:, length > 0] / length[length > 0]  # a row without affinities has none


def leading_vectors(
    affinity: Any,
    n_components: int,
    normalization: str,
    random_state: np.random.RandomState,
    *,
    regularization: float = 0.0,
) -> Embedding:
    """Eigenvectors of the normalised affinity's largest eigenvalues, and those with the next one.

    On a sparse affinity the eigenvectors of eigenvalue 1 are known from the connected components,
    and with regularization there is one; Lanczos iterations look for the rest.
    """
    matrix = normalize(affinity, normalization, regularization)
    n = affinity.shape[0]
    wanted = min(n_components + 1, n)
    # Where all pairs count but none is lifted by the constant, eigenvalues crowd at 1: no Lanczos.
    dense = not sp.issparse(affinity) and not matrix.r.any()
    if dense or n <= max(SMALL_N, 3 * wanted):
        values, vectors = scipy.linalg.eigh(matrix.toarray(), subset_by_index=(n - wanted, n - 1))
    else:
        if matrix.r.any():  # one component: everything is connected
            known = (matrix.first / np.linalg.norm(matrix.first))[:, None]
        else:
            known = component_vectors(affinity, matrix.first, wanted)
        values, vectors = np.ones(known.shape[1]), known
        if known.shape[1] < wanted:
            # Eigenvalues lie between −1 and 1: take away 2, and the known ones are the least.
            rest = LinearOperator(
                (n, n),
                matvec=lambda v: matrix.dot(v.ravel()) - 2 * (known @ (known.T @ v.ravel())),
                dtype=np.float64,
            )
            start = random_state.uniform(-1, 1, n)
            more, others = eigsh(rest, k=wanted - known.shape[1], which="LA", v0=start, tol=TOL)
            values, vectors = np.r_[values, more], np.hstack([known, others])
    order = np.argsort(-values, kind="stable")
    vectors = vectors[:, order[:n_components]]
    vectors *= np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
    return Embedding(vectors, values[order])


def unit_rows(vectors: np.ndarray) -> np.ndarray:
    """Each row divided by its length; a zero row stays."""
    length = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return vectors / np.where(length > 0, length, 1.0)[:, None]


class SpectralLearning(Shown, ClusterMixin, BaseEstimator):
    """Spectral clustering on an affinity into which must-links and cannot-links are written.

    Must-linked pairs get affinity 1, cannot-linked pairs 0; the leading eigenvectors of the
    normalised affinity are a new representation of the rows, in which any clusterer finds the
    clusters.

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters to form.
    estimator : clusterer, default=None
        What clusters the embedding: anything with `fit_predict`. Cloned; its seed and its number of
        clusters are set where it has such parameters. None: ``KMeans(n_init=10)``.
    n_components : int, default=None
        Eigenvectors used; `n_clusters` by default.
    affinity : {"rbf", "precomputed"}, default="rbf"
        exp(−γ ‖x − y‖²), or X is a symmetric affinity, dense or sparse, not negative.
    gamma : float, default=None
        The γ of the affinity; by default 1 / (2 σ²) with σ the median distance of a row to its 7th
        neighbour.
    n_neighbors : int, "auto" or None, default="auto"
        Keep only affinities between nearest neighbours, in a sparse matrix. None: all pairs, 8 ·
        n² bytes. "auto": all pairs up to 200 rows, 10 neighbours beyond.
    normalization : {"symmetric", "additive"}, default="symmetric"
        D^{−½} A D^{−½} as in common spectral clustering, or (A + d_max I − D) / d_max as in the
        paper, which often cuts off single rows.
    regularization : float, default=0.01
        This share of the mean degree, spread over all rows, is added to the affinities, so that
        a few stray rows are not cut off as a cluster; 0 as in the paper.
    verbose : int, default=0
        Show progress on stderr.
    random_state : int, RandomState or None, default=None
        Seed or generator of the random numbers; an int gives the same result each time.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,), int32
    embedding_ : ndarray of shape (n_samples, n_components)
        Rows of unit length.
    eigenvalues_ : ndarray
        Of the normalised affinity, largest first, one more than are used.
    n_iter_ : int
        1: there is one pass.
    converged_ : bool
        True.
    history_ : list of Round
    report_ : ConstraintReport
        Which statements the labels keep.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    BoostCluster : Chooses representations by what the clusterer makes of them.
    SemiSupervisedKernelKMeans : Prices in the kernel instead of edits.

    Notes
    -----
    A pair stated both ways is edited on balance; a must-link of weight w gets affinity w. With
    neighbours, rows that are equal are one vertex of the graph, unless a statement keeps them
    apart, and memory is O(n_samples · n_neighbors). ``n_neighbors=None,
    normalization="additive", regularization=0`` is the paper's algorithm.

    References
    ----------
    S. D. Kamvar, D. Klein and C. D. Manning. Spectral learning. IJCAI 2003.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from conclust import SpectralLearning, sample_constraints
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> known = sample_constraints(y, 60, random_state=0)
    >>> SpectralLearning(2, random_state=0).fit(X, constraints=known).report_.share > 0.95
    True
    """

    _takes: ClassVar[Takes] = Takes(
        PAIRS,
        how="edits the affinity",
        when="clusters of any shape; any clusterer on the embedding",
        weights="weights",
        names=(Named("spectral", "a graph edited by statements"),),
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "estimator": [HasMethods("fit_predict"), None],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "affinity": [StrOptions({"rbf", "precomputed"})],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
        "normalization": [StrOptions({"additive", "symmetric"})],
        "regularization": [Interval(Real, 0, None, closed="left")],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        estimator: Any = None,
        n_components: int | None = None,
        affinity: Literal["rbf", "precomputed"] = "rbf",
        gamma: float | None = None,
        n_neighbors: Any = "auto",
        normalization: Literal["symmetric", "additive"] = "symmetric",
        regularization: float = 0.01,
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.n_clusters = n_clusters
        self.estimator = estimator
        self.n_components = n_components
        self.affinity = affinity
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.normalization = normalization
        self.regularization = regularization
        self.verbose = verbose
        self.random_state = random_state

    # The clusterer checks its own parameters: they are the user's too.
    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self, X: Any, y: Any = None, *, constraints: Constraints | None = None
    ) -> "SpectralLearning":
        """Cluster the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Or the affinity, (n_samples, n_samples), with ``affinity="precomputed"``.
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
        random_state = check_random_state(self.random_state)
        seed = random_state.randint(2**31 - 1)
        pairs = constraints.pairs()
        with progress(self.verbose, type(self).__name__, 1) as show:
            rounds = Rounds(Round, lambda record: show(record, advance=1))
            A, node = self._affinities(X, pairs.pairs[pairs.sign < 0])
            between = node[pairs.pairs]
            told = between[:, 0] != between[:, 1]
            A = edit(A, between[told], pairs.sign[told], pairs.weight[told])
            n_components = min(int(self.n_components or self.n_clusters), A.shape[0])
            found = leading_vectors(
                A,
                n_components,
                self.normalization,
                random_state,
                regularization=self.regularization,
            )
            self.embedding_ = unit_rows(found.vectors)[node]
            self.eigenvalues_ = found.values
            base = KMeans(n_init=10) if self.estimator is None else self.estimator
            self.labels_ = labels_from(base, self.embedding_, self.n_clusters, seed)
            self.report_ = constraints.report(self.labels_)
            last = found.values[n_components - 1 :][:2]
            gap = float(last[0] - last[1]) if len(last) == 2 else 0.0
            rounds.note(gap, len(pairs.pairs), self.report_.n_violated)
        self.history_, self.n_iter_, self.converged_ = rounds.history, 1, True
        return self

    def _affinities(self, X: Matrix, cannot_link: np.ndarray) -> tuple[Any, np.ndarray]:
        """Affinities between nodes, and the node of each row."""
        rows = np.arange(X.shape[0])
        if self.affinity == "precomputed":
            return _checked(X), rows
        n_neighbors = self.n_neighbors
        if n_neighbors == "auto":
            n_neighbors = None if X.shape[0] <= DENSE_ROWS else NEIGHBORS
        if n_neighbors is None or X.shape[0] == 1:
            return all_affinities(X, self.gamma), rows
        nodes = collapse(X, cannot_link)
        return neighbors_of_nodes(X, nodes, n_neighbors, self.gamma), nodes.of_row

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes.sparse
        tags.input_tags.pairwise = self.affinity == "precomputed"
        return tags


def _checked(A: Matrix) -> Matrix:
    if A.shape[0] != A.shape[1]:
        raise ValueError(
            f"X has shape {A.shape}, but affinity='precomputed' needs the square matrix of the "
            "affinities between all rows. Pass the features with affinity='rbf'."
        )
    scale = abs(A).max() if A.shape[0] else 0.0
    if abs(A - A.T).max() > 1e-6 * scale:
        raise ValueError("X is not symmetric, but an affinity must be; pass (X + X.T) / 2.")
    if A.min() < 0:
        raise ValueError(
            f"X holds the affinity {A.min():.3g}; affinities must not be negative. A distance "
            "becomes one by exp(-gamma * distance**2)."
        )
    return A
