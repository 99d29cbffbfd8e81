"""Find a set in one of the places it may be, and hand it over as a Bunch."""

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from conclust.datasets._cache import (
    DamagedCopyError,
    cache_folder,
    copy_path,
    read_copy,
    write_copy,
)
from conclust.datasets._catalog import find
from conclust.datasets._content import Content, encoded
from conclust.datasets._files import SHA256, missing_files, read_files
from conclust.datasets._made import RECIPES, RULES, SHIPPED
from conclust.datasets._openml import UnreachableError, differences, fetch
from conclust.datasets._registry import DATASETS, PAPERS, Dataset
from conclust.exceptions import ConclustWarning, DatasetNotFoundError

if TYPE_CHECKING:
    from sklearn.utils import Bunch


def load(name: str) -> "Bunch":
    """Load one of the papers' data sets.

    It is looked for in the folder named by the environment variable ``CONCLUST_DATA``, then in the
    cache (``CONCLUST_CACHE``, by default the folder ``conclust`` in scikit-learn's data home), then
    on OpenML; what OpenML gives is checked and kept in the cache. Sets that come with scikit-learn
    (iris, wine, wdbc) or follow from a rule (balance, monks1 to monks3) need none of the three.

    Parameters
    ----------
    name : str
        One of :func:`names`, or another usual name of it (``balance-scale``, ``Letters-IJLT``).

    Returns
    -------
    sklearn.utils.Bunch
        With these fields.

        data : ndarray of shape (n, d), float64
            ``mnist`` is kept as uint8, ``covtype`` as int16. For multi-view sets a list with one
            table per view (ndarray or CSR array), for ``webkb_course`` one list of texts per view.
        target : ndarray of shape (n,), int64
            Classes 0 to c-1.
        target_names : ndarray of shape (c,)
            The label of each class, sorted: numbers as numbers, text as text.
        feature_names : list
            One list per view for multi-view sets, None where the words are not known.
        name, source, DESCR : str
            The set's name, where it was found, and all that is known about it.
        papers : list of str
            The papers that use it.
        views : list of str
            Multi-view sets only: the name of each view.
        texts : list of list of str
            ``webkb_course`` only: the same as ``data``.
        ids : ndarray of shape (n,)
            Where the set has them: the page or story behind each row.

    Raises
    ------
    ValueError
        No set has that name; the message suggests some that have a similar one.
    DatasetNotFoundError
        The set is in none of the places, a file is damaged (its sha256 is not the one known), or
        OpenML has something else under its id.

    See Also
    --------
    table : Sizes of all sets beside those the papers state.

    Notes
    -----
    A copy from OpenML may have its rows in another order than the stored file, rounded values, and
    other names of features; ``DESCR`` says where the data came from.

    Examples
    --------
    >>> from conclust.datasets import load
    >>> iris = load("iris")
    >>> iris.data.shape, iris.target_names.tolist()
    ((150, 4), ['setosa', 'versicolor', 'virginica'])
    >>> load("Balance-Scale").feature_names
    ['left_weight', 'left_distance', 'right_weight', 'right_distance']
    >>> load("segmentation")
    Traceback (most recent call last):
    ...
    ValueError: Unknown data set 'segmentation'. Did you mean 'segmentation_210', ...
    """
    dataset = find(name)
    content, source = _obtain(dataset, wanted=dataset.name)
    return _as_bunch(dataset, content, source)


def _obtain(dataset: Dataset, *, wanted: str) -> tuple[Content, str]:
    """The content of a set and, in words, where it came from."""
    if dataset.parts:
        parts = [_obtain(DATASETS[part], wanted=wanted) for part in dataset.parts]
        sources = ", ".join(dict.fromkeys(source for _, source in parts))
        content = RECIPES[dataset.name](*(content for content, _ in parts))
        return content, f"made from {', '.join(dataset.parts)}: {sources}"

    tried = []
    for place, folder in _places():
        absent = missing_files(dataset, folder)
        if not absent:
            return read_files(dataset, folder), f"files in {folder}"
        tried.append(f"{place} {folder} does not hold {', '.join(absent)}")
    if dataset.name in SHIPPED:
        return SHIPPED[dataset.name](), "scikit-learn's own copy"
    if dataset.name in RULES:
        return RULES[dataset.name](), "no file: made by its rule"
    if dataset.openml is None:
        raise _not_found(dataset, wanted, tried)
    return _from_openml(dataset, wanted, tried)


def _places() -> Iterator[tuple[str, Path]]:
    folder = os.environ.get("CONCLUST_DATA")
    if folder:
        yield "the folder CONCLUST_DATA =", Path(folder).expanduser()
    yield "the cache", cache_folder()


def _from_openml(dataset: Dataset, wanted: str, tried: list[str]) -> tuple[Content, str]:
    path = copy_path(dataset)
    source = f"OpenML, data_id={dataset.openml}"
    if path.is_file():
        try:
            content = read_copy(path)
            found = differences(content, dataset)
        except DamagedCopyError as error:
            found = [str(error)]
        if not found:
            return content, f"{source}, kept in {path}"
        tried = [*tried, f"the copy in the cache is of no use: {'; '.join(found)}"]
    try:
        content = fetch(dataset)
    except UnreachableError as error:
        reason = f"OpenML (data_id={dataset.openml}) could not be reached: {error}"
        raise _not_found(dataset, wanted, [*tried, reason]) from error
    _keep(content, path)
    return content, source


def _keep(content: Content, path: Path) -> None:
    try:
        write_copy(content, path)
    except OSError as error:
        warnings.warn(
            f"What was fetched could not be kept in {path.parent} ({error}) and will be fetched "
            "again. Set CONCLUST_CACHE to a folder that can be written.",
            ConclustWarning,
            stacklevel=5,
        )


def _not_found(dataset: Dataset, wanted: str, tried: list[str]) -> DatasetNotFoundError:
    made_from = "" if wanted == dataset.name else f" (needed for {wanted!r})"
    files = ", ".join(dataset.files)
    folder = "" if os.environ.get("CONCLUST_DATA") else "CONCLUST_DATA is not set; "
    fetchable = (
        f"with access to the network, let it be fetched from OpenML (data_id={dataset.openml})"
        if dataset.openml
        else "OpenML is no way here: it has no set known to be this one"
    )
    return DatasetNotFoundError(
        f"Data set {dataset.name!r}{made_from} was not found: {folder}{'; '.join(tried)}. "
        f"Three ways to get it: (1) set CONCLUST_DATA to a folder that holds {files}; "
        f"(2) put {files} into the cache {cache_folder()}, which CONCLUST_CACHE moves; "
        f"(3) {fetchable}."
    )


def _as_bunch(dataset: Dataset, content: Content, source: str) -> "Bunch":
    from sklearn.utils import Bunch  # here, not above: names and tables need no scikit-learn

    target, target_names = encoded(content.labels)
    bunch = Bunch(
        data=content.data,
        target=target,
        target_names=target_names,
        feature_names=content.feature_names,
        name=dataset.name,
        source=source,
        papers=list(dict.fromkeys(PAPERS[stated.paper] for stated in dataset.stated)),
        DESCR=_description(dataset, source),
    )
    if dataset.views:
        bunch["views"] = list(dataset.views)
    if dataset.layout == "texts":
        bunch["texts"] = content.data
    if content.ids is not None:
        bunch["ids"] = content.ids
    return bunch


def _description(dataset: Dataset, source: str) -> str:
    classes = (
        f"{label} ({dataset.meaning[label]}) {size}"
        if label in dataset.meaning
        else f"{label} {size}"
        for label, size in dataset.sizes.items()
    )
    lines = [
        f"{dataset.name}: {dataset.n} rows, {dataset.width} features, {dataset.classes} classes",
        "",
        f"Classes: {', '.join(classes)}",
        f"Origin: {dataset.origin}. Check its terms before passing the data on.",
        f"Read from: {source}",
    ]
    if dataset.openml:
        lines.append(f"OpenML: data_id={dataset.openml}")
    if dataset.remark:
        lines.append(f"Remark: {dataset.remark}")
    lines += [f"Stated by {PAPERS[s.paper]}: {s}" for s in dataset.stated]
    lines += [f"File: {file}, sha256 {SHA256[file]}" for file in dataset.files]
    return "\n".join(lines)
