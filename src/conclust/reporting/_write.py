"""The report as a file."""

from pathlib import Path
from typing import Any

from conclust._atomic import atomic_write
from conclust.reporting._facts import gather
from conclust.reporting._page import page


def write_report(
    path: str | Path, X: Any, labels: Any, constraints: Any = None, **about: Any
) -> None:
    """Write one self-contained HTML page about a clustering; it opens offline.

    Parameters
    ----------
    path : str or Path
        The file is whole or not there.
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        What was clustered; drawn in the plane.
    labels : array-like of shape (n_samples,)
    constraints : Constraints, default=None
    **about : dict
        Any of: `ids` (names of the rows), `frame` with `numbers`, `categories`, `texts` (the
        user's columns by kind, for the profiles), `title`, `method`, `reasons`, `notes`,
        `conflicts`, `history`, `priorities`, `doubt`, `confidence`, `curve`, `comparison`,
        `projection` ("pca", "tsne" or "umap"), `seed` and `details`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from conclust import PCKMeans, sample_constraints
    >>> from conclust.reporting import write_report
    >>> X, y = load_iris(return_X_y=True)
    >>> known = sample_constraints(y, 50, random_state=0)
    >>> model = PCKMeans(3, random_state=0).fit(X, constraints=known)
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "report.html")
    >>> write_report(path, X, model.labels_, known, history=model.history_)
    >>> path.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    content = page(gather(X, labels, constraints, **about))
    with atomic_write(Path(path)) as file:
        file.write(content)
