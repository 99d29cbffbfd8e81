"""What there is, by any of its names, and its sizes beside those the papers state."""

import difflib
import re
from typing import TYPE_CHECKING, Any

from conclust.datasets._registry import ALIASES, DATASETS, Dataset, Stated

if TYPE_CHECKING:
    import pandas as pd

_LONGEST_SHOWN = 60


def names() -> list[str]:
    """List the names :func:`load` knows.

    Returns
    -------
    list of str
        Stored sets and the subsets the papers use, in the order of the registry. Upper case,
        hyphens and spaces make no difference to :func:`load`, and usual other names work too
        (``scale``, ``breast_cancer``, ``Digits-389``).

    See Also
    --------
    table : The same names with sizes, and what the papers state.

    Examples
    --------
    >>> from conclust.datasets import names
    >>> names()[:4]
    ['iris', 'iris_uci', 'wine', 'wdbc']
    """
    return list(DATASETS)


def find(name: str) -> Dataset:
    """The entry of a set, under any of its names."""
    if not isinstance(name, str):
        raise TypeError(
            f"The name of a data set is a string, not {type(name).__name__}. "
            "`conclust.datasets.names()` lists them."
        )
    key = _squashed(name)
    if key not in _INDEX:
        raise ValueError(_unknown(name))
    return DATASETS[_INDEX[key]]


def _squashed(name: str) -> str:
    # Only the separators people vary; "../iris" must not become "iris".
    return re.sub(r"[-_ ]", "", name.casefold())


_INDEX = {_squashed(name): name for name in DATASETS}
_INDEX |= {_squashed(alias): name for alias, name in ALIASES.items()}


def _unknown(name: str) -> str:
    shown = name if len(name) <= _LONGEST_SHOWN else name[:_LONGEST_SHOWN] + "…"
    close = difflib.get_close_matches(_squashed(shown), _INDEX, n=4)
    meant = ", ".join(dict.fromkeys(repr(_INDEX[key]) for key in close))
    guess = f" Did you mean {meant}?" if meant else ""
    return f"Unknown data set {shown!r}.{guess} `conclust.datasets.names()` lists all of them."


def table() -> "pd.DataFrame":
    """Compare every data set with what the papers state about it.

    Returns
    -------
    DataFrame
        One row per set and paper that uses it, and one for each set no paper uses: ``name``, ``n``,
        ``d``, ``classes`` as :func:`load` gives them; ``paper`` and ``called``, its name there;
        ``stated_n``, ``stated_d``, ``stated_classes``; ``agrees``, missing where the paper states
        no size; ``remark``. In ``d`` the views of a multi-view set are written as a sum.

    See Also
    --------
    names : The names alone.
    load : One of the sets.

    Examples
    --------
    >>> from conclust.datasets import table
    >>> differing = table().query("agrees == False and paper == 'BCKM'")
    >>> differing[["name", "d", "stated_d"]].to_string(index=False).splitlines()
    ['      name  d  stated_d', 'parkinsons 22        23', '     glass  9        10']
    """
    import pandas as pd  # here, not above: importing the package must not import pandas

    rows = [
        _row(dataset, stated)
        for dataset in DATASETS.values()
        for stated in (dataset.stated or (None,))
    ]
    whole_numbers = ["n", "classes", "stated_n", "stated_d", "stated_classes"]
    types = dict.fromkeys(whole_numbers, "Int64") | {"agrees": "boolean"}
    return pd.DataFrame(rows).astype(types)


def _row(dataset: Dataset, stated: Stated | None) -> dict[str, Any]:
    ours = {"n": dataset.n, "d": dataset.width, "classes": dataset.classes}
    theirs = {key: getattr(stated, key, None) for key in ours}
    said = {key: value for key, value in theirs.items() if value is not None}
    return {
        "name": dataset.name,
        **ours,
        "paper": stated.paper if stated else "",
        "called": stated.called if stated else "",
        **{f"stated_{key}": value for key, value in theirs.items()},
        "agrees": all(str(value) == str(ours[key]) for key, value in said.items())
        if said
        else None,
        "remark": dataset.remark,
    }
