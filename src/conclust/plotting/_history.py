"""What happened along the rounds of a fit, or along the answers of a session."""

import itertools
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from conclust._arrays import IntArray
from conclust._progress import curve_of
from conclust.plotting._colors import color, marker
from conclust.plotting._matplotlib import new_axes


def plot_history(
    model: Any, y: Any = None, *, every: int = 10, label: str | None = None, ax: Any = None
) -> Any:
    """Draw the course of a fit, or of a session that asks.

    Parameters
    ----------
    model : estimator or Session
        A fitted estimator with `history_`, or a :class:`conclust.active.Session`.
    y : array-like of shape (n_samples,), default=None
        True classes, -1 where unknown. Draws the adjusted Rand index of the labels with them, after
        each round (:class:`~conclust.BoostedConstrainedKMeans`) or so many answers (a session).
    every : int, default=10
        Answers between two points; each point is a clustering that is made anew.
    label : str, default=None
        Name of the curve in a legend, for several in one figure.
    ax : matplotlib Axes, default=None
        A new figure by default.

    Returns
    -------
    matplotlib Axes
        Without `y`: of an estimator the number it watches, such as its objective, against rounds;
        of a session the share of rows that the last answers moved, against answers. Where that
        stays near 0, more answers will hardly change anything.

    See Also
    --------
    conclust.active.Session.staged_labels : The labels of each stage.
    conclust.BoostedConstrainedKMeans.staged_labels : The labels of each round.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conclust.active import Labels, ask
    >>> from conclust.plotting import plot_history
    >>> X, y = load_iris(return_X_y=True)
    >>> session = ask(X, Labels(y), budget=40, n_clusters=3, random_state=0)  # doctest: +SKIP
    >>> ax = plot_history(session, y)  # doctest: +SKIP
    """
    curve = _session_curve if hasattr(type(model), "tell") else _fit_curve
    rounds, values, x_name, y_name = curve(model, y, every)
    ax = new_axes(ax)
    number = len(ax.lines)
    ax.plot(rounds, values, marker=marker(number), ms=5, color=color(number), label=label)
    ax.set(xlabel=x_name, ylabel=y_name)
    ax.xaxis.get_major_locator().set_params(integer=True)
    if y is not None:
        ax.set_ylim(top=1.02)
    if label is not None:
        ax.legend(fontsize=8)
    return ax


Curve = tuple[list[int], list[float], str, str]


def _session_curve(session: Any, y: Any, every: int) -> Curve:
    from conclust.active import moved

    stages = list(session.staged_labels(every))
    answers = [min(i * every, len(session)) for i in range(len(stages))]
    if y is not None:
        values = [_index(y, labels) for labels in stages]
        return answers, values, "answers", "adjusted Rand index"
    shares = [moved(earlier, later) for earlier, later in itertools.pairwise(stages)]
    return answers[1:], shares, "answers", f"rows moved by the last {every} answers, share"


def _fit_curve(model: Any, y: Any, every: int) -> Curve:
    name = type(model).__name__
    history = getattr(model, "history_", None)
    if not history or not hasattr(history[0], "_fields") or hasattr(history[0], "candidate"):
        raise TypeError(
            f"{name} has no history of rounds to draw; pass a session, or a fitted estimator with "
            "rounds in `history_`. What AutoCluster has tried is in `candidates_`."
        )
    rounds = list(range(1, len(history) + 1))
    if y is None:
        watched = curve_of(history[0])
        values = [float(getattr(record, watched)) for record in history]
        return rounds, values, "round", watched.replace("_", " ")
    if not hasattr(model, "staged_labels"):
        raise TypeError(
            f"{name} does not keep the labels of its rounds, so y cannot be compared with them; "
            "leave y out, or pass a BoostedConstrainedKMeans or a session."
        )
    stages = [_index(y, labels) for labels in model.staged_labels()]
    return rounds, stages, "round", "adjusted Rand index"


def _index(y: Any, labels: IntArray) -> float:
    y = np.asarray(y)
    if y.shape != labels.shape:
        raise ValueError(
            f"y has shape {y.shape}, but there are {len(labels)} rows; pass one class per row, "
            "-1 where unknown."
        )
    known = y != -1
    return float(adjusted_rand_score(y[known], labels[known]))
