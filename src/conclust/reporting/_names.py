"""What the clusters are called: as the user says, by known classes, else by their profile."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from conclust._drawn import SET_ASIDE, Clusters

MOST = 0.5  # of the known rows: a class that names a cluster alone


def given_names(clusters: Clusters, names: Any) -> list[str]:
    """The user's name of each cluster, empty where there is none.

    Parameters
    ----------
    clusters : Clusters
    names : mapping of label to name, sequence of names, or None
        A sequence names the clusters in the order of their labels.
    """
    if names is None:
        return [""] * len(clusters.names)
    if not isinstance(names, Mapping):
        if isinstance(names, str) or len(names) != len(clusters.names):
            raise ValueError(
                f"names must be a dict from label to name, or one name for each of the "
                f"{len(clusters.names)} clusters; got {str(names)[:60]!r}."
            )
        return [str(name) for name in names]
    named = {str(label): str(name) for label, name in names.items()}
    unknown = sorted(named.keys() - set(clusters.names))
    if unknown:
        shown = ", ".join(clusters.names[:10]) + (", …" if len(clusters.names) > 10 else "")
        raise ValueError(f"names holds {unknown[0]!r}, which is no cluster; there are {shown}.")
    return [named.get(label, "") for label in clusters.names]


def names_of_classes(clusters: Clusters, classes: Any) -> list[str]:
    """Name each cluster after the class most of its known rows have; two if none has most.

    Parameters
    ----------
    clusters : Clusters
    classes : array-like of shape (n_samples,) or None
        The class of each row; None, NaN, -1 and empty text are not known.
    """
    if classes is None:
        return [""] * len(clusters.names)
    import pandas as pd

    column = pd.Series(list(classes), dtype=object)
    known = column.mask(column.isna() | (column == SET_ASIDE), "").astype(str).str.strip()
    counts: list[Counter[str]] = [Counter() for _ in clusters.names]
    for code, name in zip(clusters.codes.tolist(), known, strict=True):
        if code >= 0 and name:
            counts[code][name] += 1
    return [_called(count) for count in counts]


def _called(count: Counter[str]) -> str:
    most = count.most_common(2)
    if not most:
        return ""
    if most[0][1] > MOST * count.total() or len(most) == 1:
        return most[0][0]
    return f"{most[0][0]} / {most[1][0]}"


def first_of(*choices: Sequence[str]) -> list[str]:
    """For each cluster, the first name there is."""
    return [next(filter(None, names), "") for names in zip(*choices, strict=True)]
