"""RelativeMetric: feature weights learned from "a and b are closer to each other than to c"."""

import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from sklearn.base import OneToOneFeatureMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.sparsefuncs import mean_variance_axis

from conclust._declare import RELATIVE, Takes
from conclust._progress import Rounds, progress
from conclust._sklearn import Interval, fit_context
from conclust._validation import check_inputs
from conclust.constraints import Constraints
from conclust.exceptions import ConclustWarning
from conclust.metric_learning._mahalanobis import MahalanobisMixin


class Step(NamedTuple):
    """What one iteration of the solver reached."""

    objective: float  # ½‖w‖² + Σ C max(0, 1 − w·z) at the best weights so far
    gap: float  # how far that is from the optimum, at most
    n_violated: int  # comparisons that do not hold at all: w·z ≤ 0


class Weights(NamedTuple):
    """Learned weights of the features and how they were found."""

    weights: np.ndarray  # (d,) w ≥ 0
    multiplier: np.ndarray  # (m,) α
    history: list[Step]
    converged: bool


def comparisons(X: Any, relative: np.ndarray) -> Any:
    """Two rows per statement ab|c: (a−c)² − (a−b)² and (b−c)² − (a−b)², feature by feature."""
    a, b, c = (X[relative[:, column]].astype(np.float64) for column in range(3))
    square = _square if sp.issparse(a) else np.square
    near = square(a - b)
    rows = [square(a - c) - near, square(b - c) - near]
    return sp.csr_array(sp.vstack(rows)) if sp.issparse(a) else np.concatenate(rows)


def _square(matrix: Any) -> Any:
    return matrix.multiply(matrix).tocsr()


def primal(weights: np.ndarray, margin: np.ndarray, price: np.ndarray) -> float:
    """½‖w‖² + Σ C max(0, 1 − w·z): what is minimised."""
    return float(weights @ weights / 2 + price @ np.maximum(0, 1 - margin))


def dual(Z: Any, alpha: np.ndarray) -> float:
    """Σ α − ½‖max(0, Zᵀα)‖²: at most the minimum, for 0 ≤ α ≤ C."""
    pull = np.maximum(0, Z.T @ alpha)
    return float(alpha.sum() - pull @ pull / 2)


def learn_weights(
    Z: Any,
    price: np.ndarray,
    *,
    max_iter: int = 100,
    tol: float = 1e-6,
    on_step: Callable[[Step], object] | None = None,
) -> Weights:
    """Minimise ½‖w‖² + Σ C_i max(0, 1 − w·z_i) over w ≥ 0, exactly.

    A primal-dual interior-point method with predictor and corrector (Mehrotra): some twenty
    steps, each one solution of a system of min(m, d) equations. L-BFGS-B on the dual stalled where
    features differ in scale.

    Parameters
    ----------
    Z : {ndarray, sparse array} of shape (m, d)
        One row per comparison; it holds when w·z > 0.
    price : ndarray of shape (m,)
        C of each comparison.
    max_iter : int, default=100
    tol : float, default=1e-6
        Stop when the objective is within this share of its optimum, by the duality gap.
    on_step : callable, default=None
        Called with each `Step`.

    Returns
    -------
    Weights
    """
    m, d = Z.shape
    now = _State(np.ones(d), np.ones(d), np.ones(m), price / 2, np.ones(m), price / 2)
    steps = Rounds(Step, on_step)
    best = Weights(np.zeros(d), np.zeros(m), steps.history, False)
    lowest, highest = np.inf, -np.inf
    for _ in range(max_iter):
        weights = np.where(now.weight > now.weight_multiplier, now.weight, 0.0)
        margin = Z @ weights
        value = primal(weights, margin, price)
        if value < lowest:
            lowest, best = value, best._replace(weights=weights, multiplier=now.alpha)
        highest = max(highest, dual(Z, now.alpha))
        steps.note(lowest, lowest - highest, int((margin <= 0).sum()))
        if lowest - highest <= tol * lowest:
            return best._replace(converged=True)
        try:
            now = _next(Z, now)
        except LinAlgError:  # features that differ in scale by 10^8 exhaust the digits
            break
    return best


class _State(NamedTuple):
    """Three pairs of positive arrays; the product of each pair goes to 0.

    w and its multiplier; by how much a comparison exceeds its margin, and α; by how much it falls
    short of it, and C − α.
    """

    weight: np.ndarray
    weight_multiplier: np.ndarray
    surplus: np.ndarray
    alpha: np.ndarray
    lack: np.ndarray
    rest: np.ndarray

    def products(self) -> list[np.ndarray]:
        return [
            self.weight * self.weight_multiplier,
            self.surplus * self.alpha,
            self.lack * self.rest,
        ]

    def moved(self, step: "_State", length: float) -> "_State":
        return _State(*(value + length * change for value, change in zip(self, step, strict=True)))

    def longest(self, step: "_State") -> float:
        """The share of the step, at most 1, up to which everything stays positive."""
        shrink = max(np.max(-change / value) for value, change in zip(self, step, strict=True))
        return float(1 / max(shrink, 1))


def _next(Z: Any, now: _State) -> _State:
    """One step: predict how far the products fall, then correct for their curvature."""
    spread = now.lack / now.rest + now.surplus / now.alpha
    solve = _solver(Z, 1 + now.weight_multiplier / now.weight, spread)
    slope = Z.T @ now.alpha + now.weight_multiplier - now.weight
    missing = 1 + now.surplus - now.lack - Z @ now.weight

    def step(changes: list[np.ndarray]) -> _State:
        """The Newton step that changes the products so, and mends what else does not hold."""
        of_weight, of_surplus, of_lack = changes
        right = missing - of_lack / now.rest + of_surplus / now.alpha
        weight = solve(slope + of_weight / now.weight, right)
        alpha = (right - Z @ weight) / spread
        return _State(
            weight,
            (of_weight - now.weight_multiplier * weight) / now.weight,
            (of_surplus - now.surplus * alpha) / now.alpha,
            alpha,
            (of_lack + now.lack * alpha) / now.rest,
            -alpha,
        )

    products = now.products()
    guess = step([-p for p in products])
    total = sum(p.sum() for p in products)
    reached = sum(p.sum() for p in now.moved(guess, now.longest(guess)).products())
    target = (reached / total) ** 3 * total / sum(len(p) for p in products)
    found = step([target - p - q for p, q in zip(products, guess.products(), strict=True)])
    return now.moved(found, 0.995 * now.longest(found))


def _solver(
    Z: Any, diagonal: np.ndarray, spread: np.ndarray
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Solve (diag + Zᵀ spread⁻¹ Z) x = first + Zᵀ spread⁻¹ second, as d or as m equations."""
    m, d = Z.shape
    if d <= m:
        scaled = _rows_times(Z, 1 / spread)
        system = _dense(Z.T @ scaled)
        system[np.diag_indices(d)] += diagonal
        factor = cho_factor(system, overwrite_a=True, check_finite=False)
        return lambda first, second: cho_solve(
            factor, first + scaled.T @ second, check_finite=False
        )
    scaled = _rows_times(Z.T, 1 / diagonal)  # diag⁻¹ Zᵀ
    system = _dense(Z @ scaled)
    system[np.diag_indices(m)] += spread
    factor = cho_factor(system, overwrite_a=True, check_finite=False)

    def solve(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        alone = first / diagonal
        return alone + scaled @ cho_solve(factor, second - Z @ alone, check_finite=False)

    return solve


def _rows_times(matrix: Any, scale: np.ndarray) -> Any:
    return sp.diags_array(scale) @ matrix if sp.issparse(matrix) else scale[:, np.newaxis] * matrix


def _dense(matrix: Any) -> np.ndarray:
    return matrix.toarray() if sp.issparse(matrix) else matrix


class RelativeMetric(OneToOneFeatureMixin, MahalanobisMixin):
    """Feature weights learned from relative statements, as a support vector machine (SVM-Metric).

    Each statement ab|c asks that c be farther from a, and from b, than the two are from each
    other, by a margin. The smallest weights that do so are kept, with a price for what they miss,
    so contradictory statements do no harm. Put it before any clusterer.

    Parameters
    ----------
    C : float, default=1.0
        The price of missing a comparison, times the weight of the statement.
    max_iter : int, default=100
        Iterations of the solver at most.
    tol : float, default=1e-6
        Stop when the objective is within this share of its optimum.
    verbose : int, default=0
        Show progress on stderr.

    Attributes
    ----------
    feature_weights_ : ndarray of shape (n_features,)
        w ≥ 0 of d²(x, y) = Σ w_f (x_f − y_f)². Features that do not help have weight 0.
    components_ : ndarray of shape (n_features, n_features)
        The diagonal matrix of √w; made when asked for.
    mahalanobis_matrix_ : ndarray of shape (n_features, n_features)
        The diagonal matrix of w.
    scale_ : float
        The unit of squared distance: the median squared distance of a row from the mean, per
        feature. Without it C would mean something else for each data set.
    multipliers_ : ndarray of shape (len(constraints),)
        How hard each statement pulls at the metric; at its price where it is missed.
    n_iter_ : int
    history_ : list of Step
        Objective, duality gap and comparisons that do not hold, after each iteration.
    converged_ : bool
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    ITML : Learns a full metric, from must-links and cannot-links.

    Notes
    -----
    Minimises ½‖w‖² + C Σ_c v_c [max(0, 1 − w·z_ac) + max(0, 1 − w·z_bc)] over w ≥ 0, where v_c
    is the weight of statement c and z_ac = ((x_a − x_c)² − (x_a − x_b)²) / `scale_`: [1]_ with
    A = I. An iteration costs O(m d min(m, d)) for m statements, memory is O(m d + min(m, d)²).
    Without statements the weights are 1.

    References
    ----------
    .. [1] M. Schultz and T. Joachims. Learning a distance metric from relative comparisons.
       NIPS 2003.

    Examples
    --------
    >>> from conclust import Constraints, RelativeMetric
    >>> X = [[0, 0], [0.1, 5], [3, 0.2], [3, 5]]
    >>> known = Constraints(relative=[(0, 1, 2), (2, 3, 1)])  # 0 and 1 belong together, not with 2
    >>> RelativeMetric().fit(X, constraints=known).feature_weights_.round(2).tolist()
    [0.12, 0.0]
    """

    _takes: ClassVar[Takes] = Takes(
        RELATIVE,
        how="soft, weights of features",
        when="before any clusterer; which features matter?",
        weights="weights",
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "verbose": ["verbose"],
    }

    def __init__(self, *, C: float = 1.0, max_iter: int = 100, tol: float = 1e-6, verbose: int = 0):
        self.C = C
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: Any = None, *, constraints: Constraints | None = None
    ) -> "RelativeMetric":
        """Learn the weights.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored
            Here because scikit-learn's API asks for it.
        constraints : Constraints, default=None
            Relative statements; pairwise ones are ignored, with a warning.

        Returns
        -------
        self
            The fitted estimator.
        """
        X, constraints = check_inputs(self, X, constraints)
        relative = constraints.relative
        self.scale_ = typical_squared_deviation(X)
        self.history_, self.converged_ = [], True
        self.multipliers_ = np.zeros(len(constraints))
        weights = np.ones(X.shape[1])
        if len(relative):
            price = self.C * np.tile(constraints.relative_weight, 2)
            with progress(self.verbose, type(self).__name__, self.max_iter) as show:
                found = learn_weights(
                    comparisons(X, relative) / self.scale_,
                    price,
                    max_iter=self.max_iter,
                    tol=self.tol,
                    on_step=lambda record: show(record, advance=1),
                )
            self.history_, self.converged_ = found.history, found.converged
            self.multipliers_[constraints.kinds == "relative"] = found.multiplier.reshape(
                2, -1
            ).sum(axis=0)
            weights = self._usable(found)
        self.feature_weights_ = weights.astype(X.dtype)
        self.n_iter_ = max(1, len(self.history_))
        return self

    def _usable(self, found: Weights) -> np.ndarray:
        """The weights in units of X; 1 where all are 0, which would make all rows equal."""
        if not found.converged:
            last = found.history[-1]
            warnings.warn(
                f"RelativeMetric stopped {last.gap:.2g} above the optimum at most (objective "
                f"{last.objective:.2g}). Raise max_iter={self.max_iter} or tol, or scale X.",
                ConvergenceWarning,
                stacklevel=4,
            )
        elif not found.weights.any():
            warnings.warn(
                "No weighting of the features keeps more of the relative statements than weights "
                "of 0 do, which would make all rows equal; distances are left as they are. Check "
                "the order of the columns: (a, b, c) says that a and b belong together.",
                ConclustWarning,
                stacklevel=4,
            )
        return found.weights / self.scale_ if found.weights.any() else np.ones_like(found.weights)

    @property
    def components_(self) -> np.ndarray:  # type: ignore[override]
        """The diagonal matrix of the square roots of the weights."""
        return np.diag(np.sqrt(self.feature_weights_))

    def _map(self, rows: Any) -> Any:
        scale = np.sqrt(self.feature_weights_)
        return rows.multiply(scale).tocsr() if sp.issparse(rows) else rows * scale


def typical_squared_deviation(X: Any) -> float:
    """Median over the rows of the squared distance from the mean, per feature; 1 if that is 0."""
    if sp.issparse(X):
        mean = mean_variance_axis(sp.csr_matrix(X), axis=0)[0]
        squared = X.multiply(X).sum(axis=1) - 2 * (X @ mean) + mean @ mean
    else:
        squared = ((X - X.mean(axis=0, dtype=np.float64)) ** 2).sum(axis=1)
    typical = float(np.median(np.asarray(squared))) / X.shape[1]
    return typical if typical > 0 else 1.0
