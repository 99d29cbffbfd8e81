"""Models on disk: skops with our own list of trusted types, so that loading runs no code."""

import importlib
import zipfile
from pathlib import Path
from typing import Any

from conclust._atomic import atomic_write
from conclust.exceptions import MissingExtraError, ModelFileError

# Types outside skops' own list that scikit-learn's estimators hold, and packages of ours whose
# classes may stand in a file that `load` reads: they hold data, and nothing of theirs runs on
# loading but `__setstate__`. Functions are refused wherever they live.
TRUSTED_TYPES = (
    "numpy.dtype",
    "sklearn.compose._column_transformer._RemainderColsList",  # a list of columns, up to 1.6
)
TRUSTED_PACKAGES = (
    "_preparation",
    "constraints",
    "_placement",
    "_lloyd",
    "_living",
    "cluster",
    "hierarchy",
    "metric_learning",
    "ensemble",
    "model_selection",
    "_guided",
)


def save(model: Any, path: str | Path) -> None:
    """Write a fitted model to a file that :func:`load` reads; needs the extra ``persist``.

    Parameters
    ----------
    model : estimator
        Of conclust or scikit-learn, or a pipeline of them. `labels_` that are lazy on an engine are
        left out.
    path : str or Path
        Usually ends in ``.skops``. The file is whole or not there.

    See Also
    --------
    load : Read it back.

    Examples
    --------
    >>> import conclust, pytest, tempfile, pathlib
    >>> _ = pytest.importorskip("skops")
    >>> folder = tempfile.TemporaryDirectory()
    >>> model = conclust.COPKMeans(n_clusters=2, random_state=0).fit([[0.0], [0.1], [5.0]])
    >>> conclust.save(model, pathlib.Path(folder.name, "model.skops"))
    >>> conclust.load(pathlib.Path(folder.name, "model.skops")).predict([[4.0]]) == model.labels_[2]
    array([ True])
    """
    # More effort takes thrice the time, for a sixth of the size: a model may hold every row.
    content = require_skops().dumps(model, compression=zipfile.ZIP_DEFLATED, compresslevel=1)
    with atomic_write(Path(path), "wb") as file:
        file.write(content)


def load(path: str | Path, *, trusted: tuple[str, ...] = ()) -> Any:
    """Read a model written by :func:`save`.

    Only types known to hold data are made: scikit-learn's, and classes of conclust. A file with
    anything else is refused before any of it is built.

    Parameters
    ----------
    path : str or Path
        A file that `save` wrote.
    trusted : tuple of str, default=()
        Full names of further types to allow, such as ``"mypackage.MyClusterer"``. Allow only what
        you know.

    Returns
    -------
    estimator
        The estimator, fitted as it was saved.

    Raises
    ------
    ModelFileError
        The file is not a model, or holds types that are not trusted; the message names them.

    See Also
    --------
    save : Writes such a file.

    Examples
    --------
    >>> import conclust, pytest, tempfile, pathlib
    >>> _ = pytest.importorskip("skops")
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "model.skops")
    >>> conclust.save(conclust.COPKMeans(n_clusters=2).fit([[0.0], [0.1], [5.0]]), path)
    >>> conclust.load(path)
    COPKMeans(n_clusters=2)
    """
    io = require_skops()
    content = Path(path).read_bytes()
    try:
        unknown = io.get_untrusted_types(data=content)
    except Exception as error:  # a zip file, JSON, our schema: each fails in its own way
        raise ModelFileError(
            f"{Path(path).name} is not a model written by conclust.save ({type(error).__name__})."
        ) from error
    allowed = {*TRUSTED_TYPES, *trusted}
    refused = [name for name in unknown if name not in allowed and not _is_ours(name)]
    if refused:
        raise ModelFileError(
            f"{Path(path).name} holds types that are not trusted: {', '.join(refused[:5])}. "
            "If you know where the file comes from, pass their names in `trusted`."
        )
    return io.loads(content, trusted=unknown)


def _is_ours(name: str) -> bool:
    """Whether a full name is a class of a trusted package of conclust."""
    module, _, attribute = name.rpartition(".")
    if module.split(".")[:1] != ["conclust"] or module.split(".")[1:2] == []:
        return False
    if module.split(".")[1] not in TRUSTED_PACKAGES:
        return False
    try:
        found = getattr(importlib.import_module(module), attribute, None)
    except ImportError:
        return False
    return isinstance(found, type) and found.__module__ == module


def require_skops() -> Any:
    """The module that writes and reads, or the error that says how to get it."""
    try:
        import skops.io
    except ImportError as error:
        raise MissingExtraError(
            "Models are written and read with skops, which is not installed: "
            'pip install "conclust[persist]".'
        ) from error
    return skops.io
