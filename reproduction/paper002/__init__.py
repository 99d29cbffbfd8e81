"""Paper 002: "Generalizations of K-Means Algorithms for Constrained Clustering"."""

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import rand_score

from conclust import (
    ConstrainedGaussianMixture,
    Constraints,
    COPKMeans,
    GeneralizedKMeans,
    sample_constraints,
)
from conclust.datasets import make_monks, make_wedges
from conclust.exceptions import DegenerateClusteringWarning
from reproduction._protocol import Case, Claim, Protocol, Verdict, grid, seed_of

SIZES = [0, 10, 25, 50, 100, 150]
KINDS = ["must", "cannot", "both"]
DATASETS: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "wedges": lambda: make_wedges(random_state=0),
    "monks1": lambda: make_monks(1),
    "monks2": lambda: make_monks(2),
    "monks3": lambda: make_monks(3),
}


def generalized(update: str, **parameters: Any) -> Callable[[int], Any]:
    """λ = 10 unless said otherwise; one random start."""
    settings = {"size_weight": 10, "n_init": 1, "init": "random"} | parameters
    return lambda seed: GeneralizedKMeans(2, update=update, random_state=seed, **settings)


# The four methods of the paper and, below them, variants of ours; each takes a seed.
PAPER: dict[str, Callable[[int], Any]] = {
    "COP": lambda seed: COPKMeans(2, n_init=1, init="random", random_state=seed),
    "EM": lambda seed: ConstrainedGaussianMixture(2, random_state=seed),
    "batch": generalized("batch"),
    "on-line": generalized("online"),
}
OURS: dict[str, Callable[[int], Any]] = {
    "batch, λ=1": generalized("batch", size_weight=1),
    "batch, log det": generalized("batch", log_det=True),
}
METHODS = PAPER | OURS


def cases(quick: bool) -> list[Case]:
    """Figures 2 to 5 (wedges, MONK-1), both kinds mixed, and the other two MONK problems."""
    rest = {"n_constraints": [0, 50, 150] if quick else SIZES, "method": METHODS}
    rest["trials"] = [5 if quick else 100]
    figures = grid(dataset=["wedges", "monks1"], kind=KINDS[:2], **rest)
    mixed = grid(dataset=["wedges", "monks1"], kind=KINDS[2:], **rest)
    others = grid(dataset=["monks2", "monks3"], kind=KINDS[:2], **rest)
    return figures + mixed + others


def statements(y: np.ndarray, kind: str, n: int, seed: int) -> Constraints:
    """True statements of one kind, or as many of both."""
    shares = {"must": (n, 0), "cannot": (0, n), "both": (n - n // 2, n // 2)}
    n_must_link, n_cannot_link = shares[kind]
    return sample_constraints(
        y, n_must_link=n_must_link, n_cannot_link=n_cannot_link, random_state=seed
    )


def evaluate(case: Case) -> dict[str, float]:
    """Means over the trials; each draws statements and a start of its own."""
    scores = pd.DataFrame([trial(case, number) for number in range(case["trials"])])
    means = scores.mean()
    means["rand_sd"] = scores.rand.std()
    return {name: round(float(value), 4) for name, value in means.items()}


def trial(case: Case, number: int) -> dict[str, float]:
    """Rand index, whether the clusters collapsed, broken statements, seconds of the fit."""
    X, y = DATASETS[case["dataset"]]()
    where = (case["dataset"], case["kind"], case["n_constraints"], number)
    known = statements(y, case["kind"], case["n_constraints"], seed_of(*where))
    model = METHODS[case["method"]](seed_of("start", *where))
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateClusteringWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, constraints=known)
    return {
        "seconds": time.perf_counter() - began,
        "rand": float(rand_score(y, model.labels_)),
        "collapsed": float(getattr(model, "collapsed_", False)),
        "broken": float(model.report_.n_violated),
    }


# --- claims ------------------------------------------------------------------------------------


def rand_of(table: pd.DataFrame) -> pd.DataFrame:
    """Mean Rand index: rows (dataset, kind, n_constraints), columns methods."""
    return table.pivot_table(
        index=["dataset", "kind", "n_constraints"], columns="method", values="rand"
    )


def first_kind_is_better(first: str, second: str) -> Callable[[pd.DataFrame], Verdict]:
    """One kind of statements against another, as many of each, by method and data set."""

    def check(table: pd.DataFrame) -> Verdict:
        means = rand_of(table[(table.n_constraints > 0)])[list(PAPER)]
        names = [d for d in ("wedges", "monks1") if d in means.index.get_level_values(0)]
        gains = pd.concat(
            {name: means.loc[name].loc[first] - means.loc[name].loc[second] for name in names}
        )
        better = gains > 0
        shown = "; ".join(
            f"{name}: " + ", ".join(f"{m} {gains.loc[name][m].mean():+.2f}" for m in PAPER)
            for name in names
        )
        return Verdict.of(
            better.to_numpy().mean(),
            f"in {int(better.to_numpy().sum())} of {better.size} cells; mean gain in {shown}",
        )

    return check


def generalized_win(table: pd.DataFrame) -> Verdict:
    """Batch and on-line against the better of COP and EM, give or take 0.01."""
    means = rand_of(table[table.n_constraints > 0])
    good, shown = [], []
    for dataset, kind in (("wedges", "cannot"), ("monks1", "must"), ("monks1", "cannot")):
        part = means.loc[dataset].loc[kind]
        wins = part[["batch", "on-line"]].min(axis=1) >= part[["COP", "EM"]].max(axis=1) - 0.01
        good += list(wins)
        shown.append(
            f"{dataset}, {kind}-links, means over sizes: "
            + ", ".join(f"{m} {part[m].mean():.2f}" for m in PAPER)
        )
    return Verdict.of(
        float(np.mean(good)),
        f"better or within 0.01 in {sum(good)} of {len(good)} cells; {'; '.join(shown)}",
    )


def cop_best_on_wedges(table: pd.DataFrame) -> Verdict:
    """COP against the other three on wedges with must-links."""
    part = rand_of(table[table.n_constraints > 0]).loc["wedges"].loc["must"]
    wins = part[["EM", "batch", "on-line"]].max(axis=1) - 0.01 <= part.COP
    shown = ", ".join(f"{m} {part[m].mean():.2f}" for m in PAPER)
    return Verdict.of(
        float(wins.mean()), f"at {wins.sum()} of {len(wins)} sizes; means over sizes: {shown}"
    )


CLAIMS = [
    Claim("cannot-links work better than must-links", first_kind_is_better("cannot", "must")),
    Claim("cannot-links alone are better than a mixture", first_kind_is_better("cannot", "both")),
    Claim(
        "batch and on-line generalized k-means work better than COP k-means and EM, but for "
        "must-links on the artificial data",
        generalized_win,
    ),
    Claim("there, COP k-means seems the best of the four", cop_best_on_wedges),
]


# --- figures -----------------------------------------------------------------------------------


# The paper's colours; variants of ours are dashed.
STYLES: dict[str, dict[str, Any]] = {
    "COP": {"color": "tab:blue", "marker": "o"},
    "EM": {"color": "tab:pink", "marker": "s"},
    "batch": {"color": "tab:red", "marker": "^", "lw": 3, "ms": 7},
    "on-line": {"color": "tab:green", "marker": "v"},
    "batch, λ=1": {"color": "tab:red", "marker": ".", "ls": ":"},
    "batch, log det": {"color": "tab:purple", "marker": ".", "ls": "--"},
}
TITLES = {"wedges": "artificial data", "monks1": "MONK-1", "monks2": "MONK-2", "monks3": "MONK-3"}


def curves(dataset: str, numbers: tuple[int, int] | None = None) -> Callable[[pd.DataFrame], Any]:
    """Rand index by number of statements, a panel for each kind; collapsed runs below."""

    def draw(table: pd.DataFrame) -> Any:
        import matplotlib.pyplot as plt

        chosen = table[(table.dataset == dataset) & table.kind.isin(KINDS[:2])]
        figure, axes = plt.subplots(
            2, 2, figsize=(9, 6), sharex=True, sharey="row", height_ratios=[3, 1],
            layout="constrained",
        )  # fmt: skip
        for column, kind in enumerate(KINDS[:2]):
            part = chosen[chosen.kind == kind]
            for row, score in enumerate(("rand", "collapsed")):
                means = part.pivot_table(index="n_constraints", columns="method", values=score)
                for method, style in STYLES.items():
                    axes[row, column].plot(
                        means[method], **{"lw": 1.5, "ms": 5, "label": method} | style
                    )
            number = f"Figure {numbers[column]}: " if numbers else ""
            axes[0, column].set_title(f"{number}{TITLES[dataset]}, {kind}-links")
            axes[1, column].set_xlabel(f"{kind}-links")
        top = chosen.rand.max()
        axes[0, 0].set(ylabel="Rand index", ylim=(0.48, min(top + 0.05, 1.02)))
        axes[1, 0].set(ylabel="runs collapsed", ylim=(-0.08, 1.08))
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
        return figure

    return draw


NOTES = """
Wedges are ours (60 + 200 points, `make_wedges`), since the paper's points are not published; "MONK"
is read as MONK-1, all 432 rows, features as they are coded. λ = 10. Each of the 100 trials, as many
as in the paper, draws statements and one random start; generalized k-means starts from the clusters
that COP k-means finds from there, EM likewise. `both` draws half of each kind. Covariances are
regularised (3 rows per feature of the overall variance), updates are the corrected ones, and all
placements keep every statement, so that no trial is lost to a failed start.

The criterion D(x, v; S) − λα has no log-determinant: the distances of all rows add up to about n·p
for *any* partition, and only "one big cluster" is left to gain by. A single cannot-link forbids the
collapse; that, more than what the links say, is why cannot-links look better for batch and on-line.
The lower panels show how often runs collapse. With λ = 1 none does; the log-determinant prevents it
on the wedges, but not on MONK with many must-links.

EM stands at 1.00 on the wedges throughout, which the paper does not say; it falls at 150 must-links
because of the single start (with `n_init=10` the first 12 trials all end at 1.00). On MONK, whose
features have few values, must-links let a component flatten onto one value of a feature, where the
likelihood has no bound but `reg_covar`: more starts find more of that, not better clusters.
"""

PROTOCOL = Protocol(
    paper="paper002",
    title="Paper 002: generalizations of k-means algorithms for constrained clustering",
    cases=cases,
    evaluate=evaluate,
    claims=CLAIMS,
    figures={
        "figures-2-3-wedges": curves("wedges", (2, 3)),
        "figures-4-5-monks1": curves("monks1", (4, 5)),
        "monks2": curves("monks2"),
        "monks3": curves("monks3"),
    },
    notes=NOTES,
)
