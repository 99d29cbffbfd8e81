"""From what a person types to an entry of the registry."""

import difflib
import re

from conclust.datasets._registry import ALIASES, DATASETS, Dataset

_LONGEST_SHOWN = 60


def names() -> list[str]:
    """List the names :func:`load` knows.

    Returns
    -------
    names : list of str
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
