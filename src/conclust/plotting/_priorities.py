"""The learned priorities of statements as bars."""

from typing import Any

from sklearn.utils.validation import check_is_fitted

from conclust.plotting._colors import GREY
from conclust.plotting._statement_bars import draw_bars


def plot_priorities(model: Any, *, n: int = 20, ax: Any = None) -> Any:
    """Draw the statements that were hardest to keep, the hardest on top.

    Parameters
    ----------
    model : BoostedConstrainedKMeans
        Fitted with constraints.
    n : int, default=20
        How many statements.
    ax : matplotlib Axes, default=None
        A new figure by default.

    Returns
    -------
    matplotlib Axes
        Bars are priorities in multiples of an equal share; hatched ones are statements that the
        final labels break.

    See Also
    --------
    conclust.BoostedConstrainedKMeans : Learns the priorities.
    plot_doubt : Which statements are probably wrong.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conclust import BoostedConstrainedKMeans, sample_constraints
    >>> from conclust.plotting import plot_priorities
    >>> X, y = load_iris(return_X_y=True)
    >>> known = sample_constraints(y, 100, random_state=0)
    >>> model = BoostedConstrainedKMeans(3, n_estimators=20, random_state=0)
    >>> ax = plot_priorities(model.fit(X, constraints=known), n=10)  # doctest: +SKIP
    """
    check_is_fitted(model)
    if not hasattr(model, "priorities"):
        raise TypeError(
            f"{type(model).__name__} learns no priorities; pass a fitted BoostedConstrainedKMeans."
        )
    table = model.priorities(n)
    equal = 1 / max(len(model.constraint_weights_), 1)
    ax = draw_bars(table, table["priority"] / equal, table["kept"], ax)
    ax.axvline(1, color=GREY, lw=1, ls=":")
    ax.set(xlabel="priority (1 = an equal share)", title="Statements that were hardest to keep")
    return ax
