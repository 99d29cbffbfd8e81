"""The statements a clustering breaks."""

from typing import TYPE_CHECKING, Any

from conclust.constraints import Constraints

if TYPE_CHECKING:
    import pandas as pd


def violations(constraints: Constraints, labels: Any) -> "pd.DataFrame":
    """List the statements that `labels` breaks.

    Parameters
    ----------
    constraints : Constraints
        The statements to check.
    labels : array-like of shape (n_samples,)
        The cluster of each row.

    Returns
    -------
    DataFrame
        As ``constraints.report(labels).violated``.

    See Also
    --------
    conclust.Constraints.report : The same with counts, and for people.

    Examples
    --------
    >>> from conclust import Constraints
    >>> from conclust.metrics import violations
    >>> violations(Constraints([(0, 1)], [(0, 2)]), [0, 1, 2])
       a  b       type  weight  label_a  label_b
    0  0  1  must-link     1.0        0        1
    """
    return constraints.report(labels).violated
