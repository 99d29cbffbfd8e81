"""What distinguishes each cluster, in words."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

N_PHRASES = 5
N_TERMS = 8
N_NAMING = 2  # phrases in the name of a cluster
N_NAMING_TERMS = 3
MAX_TERMS = 5_000
LEAST = 0.3  # standard deviations; less does not distinguish
MAX_LEVELS = 51
MAX_PART = 24  # characters of each part of a name
ALONE = 0.8  # of the differences between clusters: more than all other columns together, by far


class Phrase(NamedTuple):
    """One thing that distinguishes a cluster."""

    strength: float  # difference to all rows in standard deviations
    column: str
    text: str
    short: str  # as a part of the cluster's name


class Profiles(NamedTuple):
    """What distinguishes the clusters."""

    phrases: list[list[str]]  # for each cluster, strongest first
    names: list[str]  # for each cluster the strongest in short; empty where nothing stands out
    columns: list[str]  # those that distinguish clusters, the strongest first


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
) -> Profiles:
    """The strongest differences between each cluster and all rows.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Used when there is no `frame`.
    labels : ndarray of shape (n_samples,)
        The cluster of each row.
    n_clusters : int
        How many clusters there are.
    columns : sequence of str, default=None
        Names of the columns of X; x0, x1, … by default.
    frame : DataFrame, default=None
        The columns as the user has them.
    numbers, categories, texts : sequence of str
        Columns of `frame` by kind.

    Returns
    -------
    Profiles
    """
    found: list[list[Phrase]] = [[] for _ in range(n_clusters)]
    if frame is None:
        _add_numbers(found, X, named_columns(X, columns), labels)
    else:
        if numbers:
            values = frame[list(numbers)].to_numpy(dtype=np.float64, na_value=np.nan)
            _add_numbers(found, values, list(numbers), labels)
        for name in categories:
            _add_levels(found, name, frame[name], labels)
    found = [sorted(each, key=lambda p: -p.strength) for each in found]
    phrases = [[p.text for p in each[:N_PHRASES]] for each in found]
    parts = [list(dict.fromkeys(p.short for p in each)) for each in found]
    for name in texts:
        assert frame is not None
        for cluster, terms in enumerate(_terms(frame[name], labels, n_clusters)):
            if terms:
                phrases[cluster].append(f"{name}: {', '.join(terms)}")
                parts[cluster][:0] = [", ".join(terms[:N_NAMING_TERMS])]
    return Profiles(phrases, _told_apart(parts), _by_strength(found))


def named_columns(X: Any, columns: Sequence[str] | None) -> list[str]:
    """The names of the columns of X; x0, x1, … where it has none."""
    return [f"x{i}" for i in range(X.shape[1])] if columns is None else list(columns)


def deciding_column(X: Any, labels: Any, names: Sequence[str]) -> str | None:
    """The one column of X in which nearly all the difference between clusters lies, if any.

    Squared distances between clusters' means are sums over columns, so each has its share.
    """
    import scipy.sparse as sp

    if sp.issparse(X) or X.shape[1] < 2 or labels.max(initial=-1) < 1:
        return None
    inside = labels >= 0
    sizes = np.bincount(labels[inside])[:, None]
    means = means_by_cluster(X, labels, len(sizes))
    with np.errstate(over="ignore", invalid="ignore"):
        between = (sizes * (means - X[inside].mean(axis=0)) ** 2).sum(axis=0)
        share = between / between.sum()
    strongest = int(np.argmax(between))
    return names[strongest] if share[strongest] >= ALONE else None


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


def _by_strength(found: list[list[Phrase]]) -> list[str]:
    strength: dict[str, float] = {}
    for each in found:
        strongest = {phrase.column: phrase.strength for phrase in reversed(each)}  # of its levels
        for column, value in strongest.items():
            strength[column] = strength.get(column, 0.0) + value
    return sorted(strength, key=lambda column: -strength[column])


def _told_apart(parts: list[list[str]]) -> list[str]:
    """Join the first parts of each; one more where two clusters would be called the same."""
    names = [", ".join(each[:N_NAMING]) for each in parts]
    return [
        ", ".join(each[: N_NAMING + 1]) if names.count(name) > 1 else name
        for name, each in zip(names, parts, strict=True)
    ]


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
            here, everywhere = shown_number(means[cluster, i]), shown_number(overall[i])
            found[cluster].append(
                Phrase(
                    abs(float(row[i])),
                    names[i],
                    f"{names[i]} {direction}: mean {here}, all {everywhere}",
                    f"{direction} {_part(names[i])}",
                )
            )


def shown_number(value: float) -> str:
    """A number as short as a reader wants it."""
    if 1000 <= abs(value) < 10_000:
        return f"{value:.0f}"  # which may be a year
    return f"{value:,.0f}" if 10_000 <= abs(value) < 1e9 else f"{value:.3g}"


def _add_levels(found: list[list[Phrase]], name: str, column: Any, labels: Any) -> None:
    import pandas as pd

    level, values = pd.factorize(as_words(column, "(missing)"))
    counts = np.zeros((len(values), len(found)))
    inside = labels >= 0
    np.add.at(counts, (level[inside], labels[inside]), 1)
    total = np.bincount(level, minlength=len(values))
    usual = np.argsort(-total, kind="stable")[:MAX_LEVELS]
    share = total[usual, None] / len(level)
    here = counts[usual] / np.maximum(counts.sum(axis=0), 1)
    strength = (here - share) / np.maximum(np.sqrt(share * (1 - share)), 1e-12)
    for i, cluster in np.argwhere(strength >= LEAST).tolist():
        value = values[usual[i]]
        found[cluster].append(
            Phrase(
                float(strength[i, cluster]),
                name,
                f"{name} = {value}: {here[i, cluster]:.0%} of them, {share[i, 0]:.0%} of all",
                f"{_part(name)} {_part(value)}",
            )
        )


def _part(word: str) -> str:
    return word if len(word) <= MAX_PART else word[: MAX_PART - 1] + "…"


def as_words(column: Any, missing: str) -> Any:
    """A column of any kind as text."""
    return column.astype(object).where(column.notna(), missing).astype(str)


def _terms(column: Any, labels: Any, n_clusters: int) -> list[list[str]]:
    """Words more usual in each cluster than elsewhere."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(max_features=MAX_TERMS, stop_words="english", sublinear_tf=True)
    try:
        weights = vectorizer.fit_transform(as_words(column, ""))
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
