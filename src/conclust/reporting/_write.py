"""The report as a file."""

from pathlib import Path
from typing import Any, Unpack

from conclust._atomic import atomic_write
from conclust.constraints import Constraints
from conclust.reporting._facts import About, gather
from conclust.reporting._page import page


def write_report(
    path: str | Path,
    X: Any,
    labels: Any,
    constraints: Constraints | None = None,
    **about: Unpack[About],
) -> None:
    """Write one self-contained HTML page about a clustering; it opens offline.

    Parameters
    ----------
    path : str or Path
        The file is whole or not there.
    X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
        What was clustered; drawn in the plane. A data frame's columns keep their names.
    labels : array-like of shape (n_samples,)
        Numbers or names of clusters; rows with -1, None or NaN are in none.
    constraints : Constraints, default=None
        What was said of the rows.
    **about : dict
        What else there is to say, such as `ids` (names of the rows), `frame` (columns to show),
        `names` (of the clusters), `warnings`, `history` or `tree` (a fitted hierarchy);
        :class:`conclust.reporting.About` lists all.

    See Also
    --------
    conclust.Constraints.report : The counts alone, for Python.

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
