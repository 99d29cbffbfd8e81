"""The learned priorities of statements as bars."""

from typing import Any

from sklearn.utils.validation import check_is_fitted

from conclust.plotting._matplotlib import new_axes

# Told apart by colour-blind eyes, and on paper.
COLORS = {"must-link": "#0072b2", "cannot-link": "#d55e00"}
OTHER = "#666666"
BROKEN = "////"


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
    ax = new_axes(ax, height=1.2 + 0.24 * len(table))
    equal = 1 / max(len(model.constraint_weights_), 1)
    kinds = list(table["type"])
    bars = ax.barh(
        range(len(table)),
        table["priority"] / equal,
        color=[COLORS.get(kind, OTHER) for kind in kinds],
        edgecolor="white",
    )
    for bar, kept in zip(bars, table["kept"], strict=True):
        bar.set_hatch("" if kept else BROKEN)
    names = [f"{a} – {b}" for a, b in zip(table["a"], table["b"], strict=True)]
    ax.set_yticks(range(len(table)), names, fontsize=8)
    ax.invert_yaxis()
    ax.axvline(1, color="#666666", lw=1, ls=":")
    ax.set(xlabel="priority (1 = an equal share)", title="Statements that were hardest to keep")
    for kind in dict.fromkeys(kinds):
        ax.barh([0], [0], color=COLORS.get(kind, OTHER), label=kind)
    if not table["kept"].all():
        ax.barh([0], [0], color="#bbbbbb", hatch=BROKEN, label="broken", edgecolor="white")
    if kinds:
        ax.legend(fontsize=8, loc="lower right")
    return ax
