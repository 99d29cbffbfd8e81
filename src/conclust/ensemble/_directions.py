"""Directions in which broken must-links are short and broken cannot-links long.

They are the leading eigenvectors of X T Xᵀ, eqs (10), (15) of BoostCluster: T is zero but for
constrained pairs, so only the rows X̃ that constraints name count. Three routes to the same answer.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from conclust._arrays import Matrix

# Up to so many features the d × d matrix is formed and solved directly.
SMALL_D = 1000
# Up to so many constrained rows the m × m problem of eq. (17) is cheaper than Lanczos iterations.
SMALL_M = 400
# Eigenvalues of the Gram matrix below this share of the largest are rounding errors.
RANK = 1e-10
# Accuracy of Lanczos iterations, and vectors kept between their restarts.
TOL, N_LANCZOS = 1e-6, 40
# Eigenvalues of X T Xᵀ below this share of its norm are zeros.
ZERO = 1e-9


class Directions(NamedTuple):
    """Eigenpairs of X T Xᵀ with positive eigenvalues, largest first."""

    values: np.ndarray  # (s,)
    vectors: np.ndarray  # (n_features, s), orthonormal


class CenteredRows:
    """Rows moved by a vector; a sparse matrix stays sparse.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n, d)
    shift : ndarray of shape (d,) or None
        Subtracted from each row. None: nothing is.
    """

    def __init__(self, X: Matrix, shift: np.ndarray | None):
        self.X, self.shift = X, shift

    def dot(self, V: np.ndarray) -> np.ndarray:
        """(X − 1 shiftᵀ) V."""
        product = self.X @ V
        return product if self.shift is None else product - self.shift @ V

    def transposed_dot(self, U: np.ndarray) -> np.ndarray:
        """(X − 1 shiftᵀ)ᵀ U."""
        product = self.X.T @ U
        if self.shift is None:
            return product
        return product - np.multiply.outer(self.shift, U.sum(axis=0))

    def gram(self) -> np.ndarray:
        """Inner products of the rows, (n, n)."""
        product = self.X @ self.X.T
        if sp.issparse(product):
            product = product.toarray()
        if self.shift is None:
            return product
        along = self.X @ self.shift
        return product - along[:, None] - along + self.shift @ self.shift

    def squared_norms(self) -> np.ndarray:
        """Squared length of each row."""
        if not sp.issparse(self.X):
            return np.einsum("ij,ij->i", self.X, self.X)
        norms = np.asarray(self.X.multiply(self.X).sum(axis=1)).ravel()
        if self.shift is None:
            return norms
        return np.maximum(norms - 2 * (self.X @ self.shift) + self.shift @ self.shift, 0.0)

    def toarray(self) -> np.ndarray:
        """The moved rows written out."""
        rows = self.X.toarray() if sp.issparse(self.X) else self.X
        return rows if self.shift is None else rows - self.shift


def discrepancy(
    must: np.ndarray, cannot: np.ndarray, p: np.ndarray, q: np.ndarray, n_rows: int
) -> sp.csr_array:
    """T_ij = p_ij / Σp − q_ij / Σq, symmetric (between eqs (8) and (9)); p and q sum to 1.

    Each unordered pair stands at (i, j) and (j, i) with half its value, so that tr(T Δᵀ) is the
    weight of the must-links that Δ keeps minus that of the cannot-links it breaks.
    """
    i, j = np.concatenate([must, cannot]).T
    value = np.concatenate([p, -q]) / 2
    half = sp.csr_array((value, (i, j)), shape=(n_rows, n_rows))
    return (half + half.T).tocsr()


def solve_features(rows: np.ndarray, T: sp.csr_array, n_components: int) -> Any:
    """Eigenpairs of the d × d matrix X̃ᵀ T X̃ (our rows are samples), largest first."""
    matrix = rows.T @ (T @ rows)
    d = len(matrix)
    first = max(d - n_components, 0)
    values, vectors = scipy.linalg.eigh((matrix + matrix.T) / 2, subset_by_index=(first, d - 1))
    return values[::-1], vectors[:, ::-1]


class GramFactor(NamedTuple):
    """X̃ X̃ᵀ = F Fᵀ with as many columns as the Gram matrix has rank."""

    factor: np.ndarray  # (m, r): U g^{1/2}, the rows in an orthonormal basis of their span
    back: np.ndarray  # (m, r): U g^{−1/2}; X̃ᵀ back is that basis


def factor_gram(gram: np.ndarray) -> GramFactor:
    """Split the Gram matrix, truncated to its numerical rank."""
    g, U = scipy.linalg.eigh(gram)
    kept = g > RANK * max(g[-1], 0.0)
    root = np.sqrt(g[kept])
    return GramFactor(U[:, kept] * root, U[:, kept] / root)


def solve_samples(
    rows: CenteredRows, split: GramFactor, T: sp.csr_array, n_components: int
) -> tuple[np.ndarray, np.ndarray]:
    """Eq. (17), an m × m problem: g^{1/2}Uᵀ T U g^{1/2} z = λ z, v = X̃ᵀ U g^{−1/2} z.

    As printed the equation divides by the Gram matrix, which is singular whenever rows repeat or
    are centred among themselves; in the basis of its range nothing is divided.
    """
    if not split.factor.shape[1]:
        return np.empty(0), np.empty((rows.X.shape[1], 0))
    values, z = solve_features(split.factor, T, n_components)
    return values, rows.transposed_dot(split.back @ z)


def solve_operator(
    rows: CenteredRows, T: sp.csr_array, n_components: int, start: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Lanczos iterations on v → X̃ᵀ T X̃ v; neither d × d nor m × m is formed."""
    d = len(start)
    operator = LinearOperator(
        (d, d),
        matvec=lambda v: rows.transposed_dot(T @ rows.dot(v.ravel())),
        dtype=np.float64,
    )
    try:
        values, vectors = eigsh(
            operator,
            k=n_components,
            which="LA",
            v0=start,
            tol=TOL,
            ncv=min(d, max(2 * n_components + 1, N_LANCZOS)),
        )
    except ArpackNoConvergence as stopped:
        values, vectors = stopped.eigenvalues, stopped.eigenvectors
    order = np.argsort(-values, kind="stable")
    return values[order], vectors[:, order]


class Projector:
    """Finds directions for one set of constrained rows, round after round, and projects X.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
    rows : ndarray of shape (m,)
        Rows that constraints name.
    n_components : int
        Directions wanted.
    solver : {"auto", "features", "samples", "operator"}, default="auto"
        d × d, m × m of eq. (17), or matrix-free.

    Notes
    -----
    X is centred: for dense X in a copy, for sparse X in the products only. What depends on the
    rows alone is computed once; a round costs O(|S| d + m d²) on the first route, O(|S| m + m³) on
    the second, O(nnz(X̃) + |S|) per iteration on the third, and O(n d s) for the projection.
    """

    def __init__(self, X: Matrix, rows: np.ndarray, n_components: int, *, solver: str = "auto"):
        n_features = X.shape[1]
        self.n_components = min(n_components, n_features)
        mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
        if sp.issparse(X):
            self.data = CenteredRows(X, mean)
            chosen = sp.csr_array(X[rows], dtype=np.float64)
            self.constrained = CenteredRows(chosen, mean)
        else:
            self.data = CenteredRows(X - mean.astype(X.dtype), None)
            self.constrained = CenteredRows(X[rows].astype(np.float64) - mean, None)
        self.norms = np.sqrt(self.constrained.squared_norms())
        # Rows that are all alike are this far from their mean, or less: it is rounded.
        self.rounding = 16 * np.finfo(X.dtype).eps * float(np.linalg.norm(mean))
        if solver == "auto":
            if n_features <= SMALL_D:
                solver = "features"
            else:
                solver = "samples" if len(rows) <= SMALL_M else "operator"
        if solver == "operator" and self.n_components >= n_features:
            solver = "features"  # Lanczos iterations cannot find all eigenvectors
        self.solver = solver
        if self.solver == "features":
            self._rows = self.constrained.toarray()
        elif self.solver == "samples":
            self._split = factor_gram(self.constrained.gram())

    def directions(self, T: sp.csr_array, random_state: np.random.RandomState) -> Directions:
        """Leading eigenpairs of X T Xᵀ; those with eigenvalues ≤ 0 are left out."""
        if self.solver == "features":
            values, vectors = solve_features(self._rows, T, self.n_components)
        elif self.solver == "samples":
            values, vectors = solve_samples(self.constrained, self._split, T, self.n_components)
        else:
            start = self.constrained.transposed_dot(random_state.standard_normal(len(self.norms)))
            if not start.any():
                return Directions(np.empty(0), np.empty((len(start), 0)))
            values, vectors = solve_operator(self.constrained, T, self.n_components, start)
        # ‖X T Xᵀ‖ ≤ Σ |T_ij| ‖x_i‖ ‖x_j‖, whichever way it is decomposed.
        bound = float(self.norms @ (abs(T) @ self.norms))
        positive = values > ZERO * bound + self.rounding**2 * float(abs(T).sum())
        vectors = vectors[:, positive]
        largest = np.abs(vectors).argmax(axis=0)
        sign = np.sign(vectors[largest, np.arange(vectors.shape[1])])
        return Directions(values[positive], vectors * sign)

    def project(self, directions: Directions) -> np.ndarray:
        """X P with P = (√λ_1 v_1, …), eq. (11), scaled to unit maximum."""
        P = directions.vectors * np.sqrt(directions.values / directions.values[0])
        dtype = self.data.X.dtype
        projected = np.asarray(self.data.dot(P.astype(dtype)), dtype=dtype)
        largest = np.abs(projected).max(initial=0.0)
        return projected / largest if largest > 0 else projected
