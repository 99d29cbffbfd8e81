"""Begin a project, or go on with it."""

from pathlib import Path

from conclust import Constraints
from conclust.exceptions import SessionError
from conclust.studio._data import Data
from conclust.studio._project import Project
from conclust.studio._store import Store


def open_project(
    data: Data,
    path: str | Path,
    *,
    n_clusters: int | None = None,
    constraints: Constraints | None = None,
    seed: int = 0,
) -> Project:
    """Open the project of a table, and make its file if there is none.

    Parameters
    ----------
    data : Data
        The same table each time; another is refused.
    path : str or Path
        One SQLite file, open in one studio at a time.
    n_clusters : int, default=None
        None: as the last time, else not known.
    constraints : Constraints, default=None
        Known beforehand; each statement is taken once, however often the project is opened.
    seed : int, default=0
        Of a new project; one that is there keeps its own, and with it the places on the map.

    Returns
    -------
    Project
        `close` it in the end.

    See Also
    --------
    serve : Shows it in a browser.
    conclust.active.Session : The same questions without a page.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from conclust.studio import Data, open_project
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "flowers.studio")
    >>> project = open_project(Data("flowers", load_iris().data), path, n_clusters=3)
    >>> _ = project.close()
    >>> path.is_file()
    True
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise SessionError(f"{path.parent}: no such folder.")
    store = Store(path)
    try:
        if n_clusters is None:
            n_clusters = store.fact("n_clusters")
        begun = store.fact("seed")
        project = Project(data, store, n_clusters, seed if begun is None else begun)
        store.set_facts(n_clusters=n_clusters, seed=project.seed)
        if constraints is not None:
            project.bring_in(constraints, [])
    except BaseException:
        store.close()
        raise
    return project
