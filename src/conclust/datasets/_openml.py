"""Sets from OpenML, made to look like the stored ones, and checked against the registry."""

from collections import Counter
from http.client import HTTPException
from typing import Any

import numpy as np

from conclust.datasets._content import Content
from conclust.datasets._registry import Dataset
from conclust.exceptions import DatasetNotFoundError


class UnreachableError(Exception):
    """OpenML gave no answer; the message says why."""


def fetch(dataset: Dataset) -> Content:
    """The content of a set as OpenML has it; an error where it is another set.

    Columns that are not numbers (a speaker's name, train/test) are no features and are left out.
    """
    bunch = _download(dataset)
    columns = _numeric_columns(bunch.data)
    labels = np.asarray(bunch.target).astype(str)
    data = np.column_stack([*columns.values()]) if columns else np.empty((len(labels), 0))
    content = Content(data, _our_labels(labels, dataset), list(columns))
    found = differences(content, dataset)
    if found:
        raise DatasetNotFoundError(
            f"OpenML's set {dataset.openml} is not the {dataset.name!r} of the registry: "
            f"{'; '.join(found)}. Nothing was kept. Set CONCLUST_DATA to a folder that holds "
            f"{', '.join(dataset.files)}, or take OpenML's version as it is: "
            f"`sklearn.datasets.fetch_openml(data_id={dataset.openml})`."
        )
    return Content(data.astype(dataset.dtype), content.labels, content.feature_names)


def differences(content: Content, dataset: Dataset) -> list[str]:
    """What speaks against this content being that set, in words; empty where nothing does."""
    sizes, due_sizes = Counter(content.labels.tolist()), dataset.sizes
    if set(sizes) == set(due_sizes):
        by_class = [sizes[label] for label in due_sizes], list(due_sizes.values())
    else:
        by_class = sorted(sizes.values()), sorted(due_sizes.values())
    compared = {
        "rows": (len(content.data), dataset.n),
        "features": (content.data.shape[1], dataset.d),
        "classes": (len(sizes), dataset.classes),
        "class sizes": by_class,
    }
    found = [
        f"{what}: {got} found, {due} expected"
        for what, (got, due) in compared.items()
        if got != due
    ]
    if not np.isfinite(content.data).all():
        found.append("values: some are missing")
    elif not np.array_equal(content.data, content.data.astype(dataset.dtype)):
        found.append(f"values: some do not fit into {dataset.dtype}")
    return found


def _download(dataset: Dataset) -> Any:
    from sklearn.datasets import fetch_openml  # here, not above: slow to import, rarely needed

    try:
        # cache=False: the copy kept is ours, one file in CONCLUST_CACHE.
        return fetch_openml(data_id=dataset.openml, as_frame=True, parser="auto", cache=False)
    except (OSError, ValueError, HTTPException) as error:
        raise UnreachableError(f"{type(error).__name__}: {error}") from error


def _numeric_columns(frame: Any) -> dict[str, np.ndarray]:
    columns = {}
    for name in frame.columns:
        try:
            columns[str(name)] = np.asarray(frame[name]).astype(np.float64)
        except (TypeError, ValueError):
            continue
    return columns


def _our_labels(labels: np.ndarray, dataset: Dataset) -> np.ndarray:
    """OpenML's labels in our spelling, where it is certain which is which; else as they are."""
    theirs = Counter(labels.tolist())
    ours = dataset.sizes
    spelled = {label.casefold(): label for label in ours}
    by_size = {size: label for label, size in ours.items()}
    if set(theirs) == set(ours):
        return labels
    if {label.casefold() for label in theirs} == set(spelled):
        return np.array([spelled[label.casefold()] for label in labels])
    # "1", "2" for "0", "1", or words for codes: sizes that are all different tell them apart.
    if len(by_size) == len(ours) and sorted(theirs.values()) == sorted(by_size):
        return np.array([by_size[theirs[label]] for label in labels])
    return labels
