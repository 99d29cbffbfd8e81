"""What distinguishes each cluster, in words."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

N_PHRASES = 5
N_TERMS = 8
MAX_TERMS = 5_000
LEAST = 0.3  # standard deviations; less does not distinguish
MAX_LEVELS = 51


class Phrase(NamedTuple):
    """One thing that distinguishes a cluster."""

    strength: float  # difference to all rows in standard deviations
    text: str


def profiles(
    X: Any,
    labels: Any,
    n_clusters: int,
    *,
    columns: Sequence[str] | None = None,
    frame: "pd.DataFrame | None" = None,
    numbers: Sequence[str] = (),
    categories: Sequence[str] = (),
    texts: Sequence[str] = (),
) -> list[list[str]]:
    """The strongest differences between each cluster and all rows.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Used when there is no `frame`.
    labels : ndarray of shape (n_samples,)
    n_clusters : int
    columns : sequence of str, default=None
        Names of the columns of X; x0, x1, … by default.
    frame : DataFrame, default=None
        The columns as the user has them.
    numbers, categories, texts : sequence of str
        Columns of `frame` by kind.

    Returns
    -------
    list of list of str
        For each cluster, strongest first.
    """
    found: list[list[Phrase]] = [[] for _ in range(n_clusters)]
    if frame is None:
        names = [f"x{i}" for i in range(X.shape[1])] if columns is None else list(columns)
        _add_numbers(found, X, names, labels)
    else:
        if numbers:
            values = frame[list(numbers)].to_numpy(dtype=np.float64, na_value=np.nan)
            _add_numbers(found, values, list(numbers), labels)
        for name in categories:
            _add_levels(found, name, frame[name], labels)
    phrases = [
        [p.text for p in sorted(each, key=lambda p: -p.strength)[:N_PHRASES]] for each in found
    ]
    for name in texts:
        assert frame is not None
        for cluster, terms in enumerate(_terms(frame[name], labels, n_clusters)):
            if terms:
                phrases[cluster].append(f"{name}: {', '.join(terms)}")
    return phrases


def means_by_cluster(values: Any, labels: Any, n_clusters: int) -> Any:
    """(n_clusters, n_columns) means of the values present."""
    import scipy.sparse as sp

    member = sp.csr_array(
        (np.ones((labels >= 0).sum()), (labels[labels >= 0], np.flatnonzero(labels >= 0))),
        (n_clusters, len(labels)),
    )
    if sp.issparse(values):
        return np.asarray((member @ values).todense()) / np.maximum(member.sum(axis=1), 1)[:, None]
    present = ~np.isnan(values)
    return (member @ np.nan_to_num(values)) / np.maximum(member @ present.astype(float), 1)


def _add_numbers(found: list[list[Phrase]], values: Any, names: list[str], labels: Any) -> None:
    import scipy.sparse as sp

    if sp.issparse(values):
        overall = np.asarray(values.mean(axis=0)).ravel()
        square = np.asarray(values.multiply(values).mean(axis=0)).ravel()
        spread = np.sqrt(np.maximum(square - overall**2, 0))
    else:
        overall, spread = np.nanmean(values, axis=0), np.nanstd(values, axis=0)
    means = means_by_cluster(values, labels, len(found))
    difference = (means - overall) / np.where(spread > 0, spread, 1)
    for cluster, row in enumerate(difference):
        if not (labels == cluster).any():
            continue
        for i in np.argsort(-np.abs(row), kind="stable")[:N_PHRASES]:
            if abs(row[i]) < LEAST:
                break
            direction = "high" if row[i] > 0 else "low"
            here, everywhere = _short(means[cluster, i]), _short(overall[i])
            found[cluster].append(
                Phrase(
                    abs(float(row[i])),
                    f"{names[i]} {direction}: mean {here}, all {everywhere}",
                )
            )


def _short(value: float) -> str:
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.3g}"


def _add_levels(found: list[list[Phrase]], name: str, column: Any, labels: Any) -> None:
    text = column.astype(object).where(column.notna(), "(missing)").astype(str)
    counts = text.value_counts()
    for level in counts.index[:MAX_LEVELS]:
        is_level = (text == level).to_numpy()
        share = float(is_level.mean())
        spread = np.sqrt(share * (1 - share)) or 1.0
        for cluster in range(len(found)):
            inside = labels == cluster
            if not inside.any():
                continue
            here = float(is_level[inside].mean())
            strength = (here - share) / spread
            if strength >= LEAST:
                found[cluster].append(
                    Phrase(strength, f"{name} = {level}: {here:.0%} of them, {share:.0%} of all")
                )


def _terms(column: Any, labels: Any, n_clusters: int) -> list[list[str]]:
    """Words more usual in each cluster than elsewhere."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(max_features=MAX_TERMS, stop_words="english", sublinear_tf=True)
    try:
        words = column.astype(object).where(column.notna(), "").astype(str)
        weights = vectorizer.fit_transform(words)
    except ValueError:  # only stop words
        return [[] for _ in range(n_clusters)]
    terms = vectorizer.get_feature_names_out()
    means = means_by_cluster(weights, labels, n_clusters)
    overall = np.asarray(weights.mean(axis=0)).ravel()
    chosen = []
    for row in means - overall:
        best = np.argsort(-row, kind="stable")[:N_TERMS]
        chosen.append([str(terms[i]) for i in best if row[i] > 0])
    return chosen
