"""Sets that are no stored file: cut from others, shipped with scikit-learn, or given by a rule."""

import html
import re
from collections.abc import Callable
from functools import partial

import numpy as np
import scipy.sparse as sp

from conclust.datasets._content import Content
from conclust.datasets._generators import make_balance_scale, make_monks

_COMMENT_OR_TAG = re.compile(r"<!--.*?-->|<[^>]*>", re.DOTALL)
_WORD = r"\b[a-z]{2,}\b"


def keep_labels(whole: Content, *, labels: str) -> Content:
    """The rows of some classes, in the order they have."""
    return _rows(whole, np.flatnonzero(np.isin(whole.labels, list(labels))))


def first_per_label(whole: Content, *, n_rows: int) -> Content:
    """The first rows of each class, in the order they have."""
    firsts = [np.flatnonzero(whole.labels == label)[:n_rows] for label in np.unique(whole.labels)]
    return _rows(whole, np.sort(np.concatenate(firsts)))


def with_row_number(whole: Content) -> Content:
    """The row number, from 1, before the first feature."""
    numbers = np.arange(1.0, len(whole.labels) + 1)
    data = np.column_stack([numbers, whole.data])
    return Content(data, whole.labels, ["id", *whole.feature_names])


def side_by_side(*views: Content) -> Content:
    """Tables of the same rows as one multi-view set."""
    first = views[0]
    if any(not np.array_equal(view.labels, first.labels) for view in views):
        raise ValueError("These views do not have the same rows: their labels differ.")
    return Content([v.data for v in views], first.labels, [v.feature_names for v in views])


def weighted_words(pages: Content) -> Content:
    """Texts as tf-idf rows of unit length: tags, symbols and stop words removed."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # slow to import, rarely needed

    data, words = [], []
    for texts in pages.data:
        vectorizer = TfidfVectorizer(
            preprocessor=_plain_text, token_pattern=_WORD, stop_words="english"
        )
        data.append(sp.csr_array(vectorizer.fit_transform(texts)))
        words.append(vectorizer.get_feature_names_out().tolist())
    return Content(data, pages.labels, words, pages.ids)


def _plain_text(page: str) -> str:
    return html.unescape(_COMMENT_OR_TAG.sub(" ", page)).lower()


def _rows(whole: Content, rows: np.ndarray) -> Content:
    return Content(whole.data[rows], whole.labels[rows], whole.feature_names)


RECIPES: dict[str, Callable[..., Content]] = {
    "digits389": partial(keep_labels, labels="389"),
    "pendigits3689": partial(keep_labels, labels="3689"),
    "letters_ijlt": partial(keep_labels, labels="IJLT"),
    "handwrittendigit": partial(first_per_label, n_rows=400),
    "glass_10": with_row_number,
    "mfeat": side_by_side,
    "webkb": weighted_words,
}


def _from_sklearn(loader: str, labels: tuple[str, ...]) -> Content:
    import sklearn.datasets  # here, not above: it is slow to import and rarely needed

    bunch = getattr(sklearn.datasets, loader)()
    names = [_plain(name) for name in bunch.feature_names]
    return Content(bunch.data, np.array(labels)[bunch.target], names)


def _plain(name: str) -> str:
    # "sepal length (cm)" -> "sepal_length", as in the stored files.
    return str(name).removesuffix(" (cm)").replace(" ", "_").replace("/", "_")


def _balance() -> Content:
    X, y = make_balance_scale()
    names = ["left_weight", "left_distance", "right_weight", "right_distance"]
    return Content(X, np.array(["B", "L", "R"])[y], names)


def _monks(problem: int) -> Content:
    X, y = make_monks(problem)
    return Content(X, y.astype(str), [f"a{attribute}" for attribute in range(1, 7)])


SHIPPED: dict[str, Callable[[], Content]] = {
    "iris": partial(_from_sklearn, "load_iris", ("setosa", "versicolor", "virginica")),
    "wine": partial(_from_sklearn, "load_wine", ("1", "2", "3")),
    "wdbc": partial(_from_sklearn, "load_breast_cancer", ("M", "B")),
}

RULES: dict[str, Callable[[], Content]] = {
    "balance": _balance,
    "monks1_full": partial(_monks, 1),
    "monks2_full": partial(_monks, 2),
    "monks3_full": partial(_monks, 3),
}
