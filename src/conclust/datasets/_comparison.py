"""The sizes we have beside those the papers state."""

from typing import TYPE_CHECKING, Any

from conclust.datasets._registry import DATASETS, Dataset, Stated

if TYPE_CHECKING:
    import pandas as pd


def table() -> "pd.DataFrame":
    """Compare every data set with what the papers state about it.

    Returns
    -------
    table : DataFrame
        One row per set and paper that uses it, and one for each set no paper uses: ``name``, ``n``,
        ``d``, ``classes`` as :func:`load` gives them; ``paper`` and ``called``, its name there;
        ``stated_n``, ``stated_d``, ``stated_classes``; ``agrees``, missing where the paper states
        no size; ``remark``. In ``d`` the views of a multi-view set are written as a sum.

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
