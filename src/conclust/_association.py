"""Which columns of a table go together, whatever their kind."""

from typing import Any

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

MAX_BINS = 6  # of a column of numbers, equally full
ROWS_PER_BIN = 25
MAX_ROWS = 5000  # more tell nothing new
MANY_VALUES = 50
CLEAR = 3.0  # standard deviations above what chance gives


def bins_of(values: npt.NDArray[Any]) -> IntArray:
    """Numbers as up to six bins that hold about equally many rows; -1 where missing.

    >>> bins_of(np.array([1.0, 1, 2, 2, np.nan])).tolist()
    [0, 0, 1, 1, -1]
    """
    present = ~np.isnan(values)
    there = values[present]
    n_bins = int(np.clip(len(there) // ROWS_PER_BIN, 2, MAX_BINS))
    levels = np.unique(there[:MAX_ROWS])  # those of all are sought where these are few
    if len(levels) <= n_bins:
        levels = np.unique(there)
    if len(levels) > n_bins:
        inner = np.linspace(0, 1, n_bins + 1)[1:-1]
        levels = np.append(there.min(), np.unique(np.quantile(there, inner)))
    return np.where(present, np.searchsorted(levels, values, side="right") - 1, -1)


def associations(columns: list[IntArray]) -> FloatArray:
    """How far each column tells each other one: 0 not at all, or not clearly, 1 entirely.

    Parameters
    ----------
    columns : list of ndarray of shape (n_samples,)
        Values as numbers from 0, -1 where missing.

    Returns
    -------
    ndarray of shape (n_columns, n_columns)
        With zeros on the diagonal.
    """
    import scipy.sparse as sp

    n = len(columns[0]) if columns else 0
    step = max(1, -(-n // MAX_ROWS))
    thinned = [codes[::step] for codes in columns]
    sizes = [int(codes.max(initial=0)) + 1 for codes in thinned]
    stops = np.cumsum(sizes)
    parts = []
    for codes, size in zip(thinned, sizes, strict=True):
        present = np.flatnonzero(codes >= 0)
        ones = np.ones(len(present))
        parts.append(sp.csr_array((ones, (present, codes[present])), (len(codes), size)))
    found = np.zeros((len(columns), len(columns)))
    if len(columns) < 2:
        return found
    indicators = sp.hstack(parts, format="csr")
    counts = (indicators.T @ indicators).toarray()  # the cross tables of all pairs
    for i in range(len(columns)):
        for j in range(i):
            rows, others = (
                slice(stops[i] - sizes[i], stops[i]),
                slice(stops[j] - sizes[j], stops[j]),
            )
            found[i, j] = found[j, i] = association(counts[rows, others])
    return found


def association(counts: FloatArray) -> float:
    """Cramér's V squared of a cross table, without the share that chance gives [1]_.

    References
    ----------
    .. [1] Bergsma (2013), A bias-correction for Cramér's V and Tschuprow's T, Journal of the
       Korean Statistical Society 42, 323-328. https://doi.org/10.1016/j.jkss.2012.10.002

    >>> round(association(np.diag([50.0, 50.0])), 2)
    1.0
    >>> association(np.full((2, 2), 25.0))
    0.0
    """
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    n, freedom = counts.sum(), (counts.shape[0] - 1) * (counts.shape[1] - 1)
    if freedom <= 0 or n < 3:
        return 0.0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / n
    chi2 = float(((counts - expected) ** 2 / expected).sum())
    if chi2 - freedom < CLEAR * np.sqrt(2 * freedom):
        return 0.0
    corrected = [size - (size - 1) ** 2 / (n - 1) for size in counts.shape]
    return float((chi2 / n - freedom / (n - 1)) / max(min(corrected) - 1, 1e-9))


def falls_apart(values: FloatArray) -> bool:
    """Whether numbers lie in two to five separate groups, as far as one column shows them.

    Split at best into k parts, evenly spread numbers keep 1 / k² of their variance, those around a
    mean more. Groups that lie clear of each other keep less than half of that.

    >>> rng = np.random.RandomState(0)
    >>> falls_apart(rng.rand(500)), falls_apart(rng.normal(size=500))
    (False, False)
    >>> falls_apart(rng.normal(size=500) + 7 * rng.randint(3, size=500))
    True
    """
    present = values[~np.isnan(values)]
    present = np.sort(present[:: max(1, -(-len(present) // MAX_ROWS))])
    if len(np.unique(present)) <= MANY_VALUES:
        return False  # a few values are apart by themselves
    whole = present.var()
    return any(_kept_variance(present, k) < 0.5 * whole / k**2 for k in range(2, 6))


def _kept_variance(values: FloatArray, k: int) -> float:
    """The variance inside k parts of sorted numbers, after a few rounds of k-means."""
    centers = np.quantile(values, (np.arange(k) + 0.5) / k)
    best = np.inf
    for _ in range(20):
        cuts = np.searchsorted(values, (centers[1:] + centers[:-1]) / 2)
        parts = [part for part in np.split(values, cuts) if len(part)]
        kept = sum(part.var() * len(part) for part in parts) / len(values)
        if kept >= best:
            break
        best, centers = kept, np.array([part.mean() for part in parts])
    return float(best)
