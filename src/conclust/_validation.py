"""The one door: data, constraints and parameters are checked here, once, at the top of `fit`."""

import warnings
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp

from conclust._arrays import FloatArray, brought_here, engine_of, is_afar, is_source
from conclust._declare import KINDS, estimators, users_of, words_of
from conclust._sklearn import StrOptions, check_sample_weight, validate_data
from conclust.constraints import Constraints
from conclust.exceptions import ConstraintsIgnoredWarning

# What the parameter `metric` of the k-means family may be.
METRICS = [StrOptions({"euclidean", "cosine"})]
# The least length whose square is a normal number.
SHORTEST = 1e-150


def check_inputs(
    estimator: Any,
    X: Any,
    constraints: Any,
    *,
    n_clusters: int | None = None,
) -> tuple[Any, Constraints]:
    """Bring the arguments of `fit` to their normal forms.

    Parameters
    ----------
    estimator : estimator
        Its class says with `_takes` whether sparse rows are refused and which statements ignored,
        with a warning; gets `n_features_in_` and `feature_names_in_`.
    X : array-like, sparse matrix, data frame, Blocks or collection of an engine of shape \
            (n_samples, n_features)
    constraints : Constraints or None
    n_clusters : int, default=None
        Checked against the number of rows when given.

    Returns
    -------
    X : ndarray, CSR matrix or Blocks
        float64, or float32 if it came so; finite; of unit length with ``metric="cosine"``.
    constraints : Constraints
        With `n_samples` set to the rows of X, in their order; an empty set for None.
    """
    X = as_rows(estimator, X)
    refuse_truth_value(estimator)
    if is_source(X):
        rows = X.checked(unit=is_cosine(estimator))
        _note_features(estimator, X)
    else:
        rows = check_rows(estimator, X)
    check_enough_rows(rows.shape[0], n_clusters)
    constraints = as_constraints(constraints, X)
    warn_of_ignored(estimator, constraints)
    return rows, constraints


def check_rows(estimator: Any, X: Any, *, reset: bool = True) -> Any:
    """Rows in memory for `fit`, in their normal form; `reset`: they set how many features."""
    refuse_dates(X)
    rows = validate_data(
        estimator,
        with_small_indices(X),
        reset=reset,
        accept_sparse="csr" if estimator._takes.sparse else False,
        dtype=[np.float64, np.float32],
        order="C",
        accept_large_sparse=False,
    )
    refuse_overflow(rows)
    return in_metric(estimator, rows)


def warn_of_ignored(estimator: Any, constraints: Constraints) -> None:
    """Say how many statements are of a kind the class does not use, and who does."""
    takes = estimator._takes
    kinds = constraints.kinds
    ignored = [kind for kind in KINDS if kind not in takes.kinds and kind in kinds]
    if ignored:
        users = ", ".join(users_of(frozenset(ignored), takes))
        warnings.warn(
            f"{type(estimator).__name__} uses {' and '.join(words_of(takes.kinds))} statements "
            f"only; the {np.isin(kinds, ignored).sum()} {' and '.join(ignored)} statements are "
            "ignored." + (f" They are used by {users}." if users else ""),
            ConstraintsIgnoredWarning,
            # The caller of `fit`, over check_inputs and the wrappers, scikit-learn's and ours.
            stacklevel=5 + getattr(estimator, "_n_wraps", 0),
        )


def check_new_rows(estimator: Any, X: Any, *, dtype: Any) -> Any:
    """Check the rows given to `predict` or `transform` against those of `fit`."""
    X = as_rows(estimator, X)
    if is_source(X):
        _check_features(estimator, X)
        return X.compared(unit=is_cosine(estimator), dtype=dtype)
    rows = validate_data(
        estimator,
        with_small_indices(X),
        reset=False,
        accept_sparse="csr" if estimator._takes.sparse else False,
        dtype=dtype,
        order="C",
        accept_large_sparse=False,
    )
    return in_metric(estimator, rows)


def in_metric(estimator: Any, X: Any) -> Any:
    """Rows as the estimator compares them: of unit length where angles count."""
    return unit_rows(X) if is_cosine(estimator) else X


def is_cosine(estimator: Any) -> bool:
    """Whether the estimator compares angles."""
    return bool(estimator._takes.cosine and estimator.metric == "cosine")


def unit_rows(X: Any) -> Any:
    """Rows divided by their lengths; a row of zeros has no direction and is refused."""
    lengths = _lengths(X)
    if not ((lengths > SHORTEST) & (lengths < np.inf)).all():
        # Squares of what is very small or very large are zeros or infinite.
        largest = np.asarray(abs(X).max(axis=1).todense() if sp.issparse(X) else abs(X).max(axis=1))
        X = _divided(X, np.where(largest > 0, largest, 1.0).ravel())
        lengths = _lengths(X)
    without = np.flatnonzero(lengths == 0)
    if len(without):
        first = ", ".join(map(str, without[:5].tolist())) + (", …" if len(without) > 5 else "")
        raise ValueError(
            f"metric='cosine' compares directions, but {len(without)} of the {X.shape[0]} rows of "
            f"X are all zeros and have none: {first}. Leave them out, or use metric='euclidean'."
        )
    return _divided(X, lengths)


def _lengths(X: Any) -> FloatArray:
    """The length of each row; infinite where a square is."""
    with np.errstate(over="ignore"):
        if sp.issparse(X):
            return np.sqrt(np.asarray(X.astype(np.float64).power(2).sum(axis=1)).ravel())
        squares: FloatArray = np.einsum("ij,ij->i", X, X, dtype=np.float64)
        return np.sqrt(squares)


def _divided(X: Any, by: FloatArray) -> Any:
    """Each row divided by a number of its own."""
    if sp.issparse(X):
        divided = X.copy()
        divided.data /= np.repeat(by, np.diff(X.indptr)).astype(X.dtype)
        return divided
    return X / by[:, np.newaxis].astype(X.dtype)


def as_constraints(constraints: Any, X: Any) -> Constraints:
    """The constraints about the rows of X, by name where it names them; None means none."""
    if constraints is None:
        return Constraints().on_rows_of(X)
    if not isinstance(constraints, Constraints):
        raise TypeError(
            f"constraints must be a conclust.Constraints or None; got "
            f"{type(constraints).__name__}. Make one with Constraints(must_link=[(0, 1)], "
            "cannot_link=[(0, 2)]), Constraints.from_labels(y) or read_constraints(path)."
        )
    return constraints.on_rows_of(X)


def weights_of_rows(sample_weight: Any, X: Any) -> Any:
    """One weight per row of X in its dtype, 1 by default; none is negative, some positive."""
    sample_weight = brought_here(sample_weight)
    weight = check_sample_weight(sample_weight, X, dtype=X.dtype, ensure_non_negative=True)
    if not weight.any():
        raise ValueError(
            "sample_weight is 0 for every row; it must contain at least one non-zero number."
        )
    return weight


def check_enough_rows(n_samples: int, n: int | None, argument: str = "n_clusters") -> None:
    """Refuse more clusters, or components, than rows; None means that none are asked for."""
    if n is not None and n > n_samples:
        raise ValueError(
            f"n_samples={n_samples} should be >= {argument}={n}: there cannot be more "
            f"{argument.removeprefix('n_')} than rows."
        )


def with_small_indices(X: Any) -> Any:
    """A CSR matrix with 64-bit indices that need only 32, as scipy often makes them, in 32 bits."""
    if not (sp.issparse(X) and X.format == "csr" and X.indices.dtype == np.int64):
        return X
    if max(*X.shape, X.nnz) >= 2**31:
        return X  # scikit-learn says that this is too large
    indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return type(X)((X.data, indices, indptr), shape=X.shape)


def refuse_dates(X: Any) -> None:
    """Name the columns of a data frame that hold dates or durations."""
    dtypes: Any = getattr(X, "dtypes", None)
    if not hasattr(dtypes, "items"):
        return
    dates = [str(name) for name, dtype in dtypes.items() if getattr(dtype, "kind", "") in "mM"]
    if dates:
        raise TypeError(
            f"X holds dates or durations in {', '.join(map(repr, dates[:5]))}; rows are compared "
            "as numbers. Turn them into numbers that mean something here, such as days since a "
            "date, or leave them out."
        )


def refuse_truth_value(estimator: Any) -> None:
    """True counts as the number 1 in Python, but nobody means that."""
    name = estimator._takes.clusters
    if isinstance(getattr(estimator, name, None), bool | np.bool_):
        raise ValueError(
            f"{name}={getattr(estimator, name)} is a truth value; pass a number of clusters."
        )


def refuse_overflow(X: Any) -> None:
    """Values whose squared distances, summed over all rows, would be infinite."""
    values = X.data if sp.issparse(X) else X
    largest = max(float(values.max(initial=0)), -float(values.min(initial=0)))
    refuse_large(largest, X.shape, X.dtype)


def refuse_large(largest: float, shape: tuple[int, ...], dtype: Any, name: str = "X") -> None:
    """`refuse_overflow`, where the largest magnitude is known."""
    # Sums over rows are taken in float64, whatever the rows are.
    n_summed = shape[1] * (shape[0] if dtype == np.float64 else 1)
    if largest > np.sqrt(float(np.finfo(dtype).max) / (4 * n_summed)):
        raise ValueError(
            f"{name} holds values up to {largest:.2g}: distances between rows would overflow when "
            "squared and added up. Scale X first, for example with StandardScaler, or divide it "
            "by its largest value."
        )


def as_rows(estimator: Any, X: Any) -> Any:
    """A collection or a tensor afar opened, where the estimator reads block by block; else X.

    Where it needs all rows at once, collections and blocks are refused: nothing is loaded unasked.
    """
    engine = engine_of(X)
    if estimator._takes.blocks:
        if engine is not None:
            return estimator._takes.blocks(X).lazily()
        return estimator._takes.blocks(X) if is_afar(X) else X
    if is_afar(X):
        refuse_parts(estimator, f"a tensor on {X.device}", "X.cpu()")
    if engine is not None:
        way_out = "X.compute()" if engine == "dask" else "X.to_pandas()"
        refuse_parts(estimator, f"a {engine} {type(X).__name__}", way_out)
    if is_source(X):
        refuse_parts(estimator, repr(X), "X.to_numpy()")
    return X


def refuse_parts(estimator: Any, what: str, way_out: str) -> NoReturn:
    """Name the estimators that read block by block, where this one needs all rows at once."""
    others = ", ".join(name for name, each in estimators().items() if each._takes.blocks)
    raise TypeError(
        f"X is {what}, and {type(estimator).__name__} needs all rows at once; {others} read block "
        f"by block, where the rows are. If these fit into memory, pass {way_out}."
    )


def _note_features(estimator: Any, X: Any) -> None:
    estimator.n_features_in_ = X.shape[1]
    if X.columns is not None:
        estimator.feature_names_in_ = np.array(X.columns, dtype=object)
    else:
        vars(estimator).pop("feature_names_in_", None)


def _check_features(estimator: Any, X: Any) -> None:
    name, names = type(estimator).__name__, getattr(estimator, "feature_names_in_", None)
    if X.n_features != estimator.n_features_in_:
        raise ValueError(
            f"{X.name} has {X.n_features} features, but {name} was fitted to "
            f"{estimator.n_features_in_}."
        )
    if names is not None and X.columns is not None and X.columns != names.tolist():
        raise ValueError(
            f"{X.name} has the columns {', '.join(map(repr, X.columns[:5]))}, but {name} was "
            f"fitted to {', '.join(map(repr, names[:5]))}, in this order; choose them with "
            "columns=."
        )
