"""The statements that are probably wrong, as bars."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from conclust.plotting._colors import GREY
from conclust.plotting._statement_bars import draw_bars


def plot_doubt(model: Any, *, n: int = 20, ax: Any = None) -> Any:
    """Draw the statements least believed, the most doubtful on top: please look at these again.

    Parameters
    ----------
    model : estimator
        Fitted with constraints, and with `suspects`: :class:`~conclust.AutoCluster`,
        :class:`~conclust.ConstrainedGaussianMixture` and :class:`~conclust.ReCon` with
        ``flip_rate="auto"``, :class:`~conclust.TrustEnsemble` and the other ensembles.
    n : int, default=20
        How many statements.
    ax : matplotlib Axes, default=None
        A new figure by default.

    Returns
    -------
    matplotlib Axes
        Bars are doubts, from 0 to 1; hatched ones are statements that the labels break. Right of
        the dotted line a statement is more probably wrong than right.

    See Also
    --------
    plot_priorities : What was hard to keep, which need not be wrong.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conclust import AutoCluster, sample_constraints
    >>> from conclust.plotting import plot_doubt
    >>> X, y = load_iris(return_X_y=True)
    >>> told = sample_constraints(y, 100, noise=0.1, random_state=0)
    >>> model = AutoCluster(3, random_state=0).fit(X, constraints=told)
    >>> ax = plot_doubt(model, n=12)  # doctest: +SKIP
    """
    check_is_fitted(model)
    if not hasattr(model, "suspects"):
        raise TypeError(
            f"{type(model).__name__} doubts no statement; pass a fitted AutoCluster, "
            "TrustEnsemble or ConstrainedGaussianMixture(flip_rate='auto')."
        )
    table = model.suspects(n)
    kept = np.ones(len(table), dtype=bool)
    if hasattr(model, "report_"):
        kept = model.report_.kept[table["statement"].to_numpy(dtype=np.int64)]
    ax = draw_bars(table, table["doubt"], kept, ax)
    ax.axvline(0.5, color=GREY, lw=1, ls=":")
    ax.set(xlim=(0, 1), xlabel="doubt (1 = surely wrong)", title="Statements least believed")
    return ax
