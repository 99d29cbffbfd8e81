"""Paper 004: "Clustering with relative constraints" (ReCon)."""

import time
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans

from conclust import Constraints, ReCon, RelativeMetric, pairwise_f1, sample_constraints
from conclust.datasets import load
from reproduction._protocol import Case, Claim, Protocol, Verdict, grid, mean_table, seed_of

SMALL = ["iris", "wine", "ionosphere", "transfusion"]
LARGE = ["digits389", "letters_ijlt"]
SHARES = [0.0, 0.25, 0.5, 0.75, 1.0]
NOISE = [0.05, 0.1, 0.2]

# The schemes of the paper. With no constraints the first is "Hierarchical + Euclidean" and the
# last "K-Means + Euclidean".
PAPER = ["ReCon + Euclidean", "ReCon + SVM-Metric", "K-Means + SVM-Metric"]
OURS = ["ReCon, last merges"]  # the plain cut of the last k - 1 merges


def cases(quick: bool) -> list[Case]:
    """Figures 2 and 4 (shares of n random, of all informative triplets), and wrong triplets."""
    shares = [0.0, 1.0] if quick else SHARES
    small, large = (["iris"], []) if quick else (SMALL, LARGE)
    found = []
    for names, n_draws in ((small, 2 if quick else 5), (large, 2)):
        found += grid(
            dataset=names,
            kind=["random", "informative"],
            method=PAPER + OURS,
            share=shares,
            noise=[0.0],
            draw=range(n_draws),
        )
    # Clean ones with n triplets stand above already.
    clean = (
        []
        if quick
        else grid(
            dataset=SMALL,
            kind=["random"],
            method=["ReCon + Euclidean"],
            share=[3.0, 5.0],
            noise=[0.0],
            draw=range(5),
        )
    )
    wrong = grid(
        dataset=small,
        kind=["random"],
        method=["ReCon + Euclidean"],
        share=[1.0] if quick else [1.0, 3.0, 5.0],
        noise=[0.1] if quick else NOISE,
        draw=range(2 if quick else 5),
    )
    return found + clean + wrong


@cache
def data(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Raw features and classes."""
    found = load(name)
    return np.ascontiguousarray(found.data, dtype=float), np.asarray(found.target)


def statements(case: Case) -> Constraints:
    """The constraints of a case: the same for every method."""
    _, y = data(case["dataset"])
    where = (case["dataset"], case["kind"], case["share"], case["noise"], case["draw"])
    seed = seed_of(*where)
    if case["kind"] == "random":
        return sample_constraints(
            y, n_relative=round(case["share"] * len(y)), noise=case["noise"], random_state=seed
        )
    every = Constraints.from_hierarchy(y)
    order = np.random.RandomState(seed).permutation(len(every))
    return every[order[: round(case["share"] * len(every))]]


def evaluate(case: Case) -> dict[str, float]:
    """Pairwise F, share of statements kept by the partition, statements dropped, seconds."""
    X, y = data(case["dataset"])
    k = len(np.unique(y))
    known = statements(case)
    began = time.perf_counter()
    if case["method"].endswith("SVM-Metric") and len(known):
        X = RelativeMetric().fit(X, constraints=known).transform(X)
    n_dropped = 0
    if case["method"].startswith("K-Means"):
        labels = KMeans(k, n_init=10, random_state=seed_of("start", case["draw"])).fit_predict(X)
    else:
        plain = case["method"] == "ReCon, last merges"
        model = ReCon(
            k,
            on_conflict="repair" if case["noise"] else "raise",
            cut_by="order" if plain else "constraints",
            min_branch_size=1 if plain else "auto",
        )
        labels = model.fit(X, constraints=known).labels_
        n_dropped = len(model.dropped_)
    return {
        "f": round(float(pairwise_f1(y, labels)), 4),
        "kept": round(known.report(labels).share, 4),
        "n_statements": len(known),
        "n_dropped": n_dropped,
        "seconds": round(time.perf_counter() - began, 4),
    }


# --- claims ------------------------------------------------------------------------------------


def means(table: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Mean F of true statements: rows (dataset, share up to 1), columns methods."""
    chosen = table[(table.noise == 0) & (table.kind == kind) & (table.share <= 1)]
    return mean_table(chosen, "f", ["dataset", "share"], "method")


def at(table: pd.DataFrame, kind: str, share: float) -> pd.DataFrame:
    """Mean F at one share: rows data sets, columns methods."""
    found = means(table, kind)
    return found[found.index.get_level_values("share") == share].droplevel("share")


def listed(values: pd.Series) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in values.items())


def all_informative(table: pd.DataFrame) -> Verdict:
    found = at(table, "informative", 1.0)["ReCon + Euclidean"]
    return Verdict.of((found >= 0.9995).mean(), listed(found))


def beats_metric(table: pd.DataFrame) -> Verdict:
    found = at(table, "random", 1.0)
    gap = (
        found[["ReCon + Euclidean", "ReCon + SVM-Metric"]].max(axis=1)
        - found["K-Means + SVM-Metric"]
    )
    gap = gap.drop("iris", errors="ignore")
    return Verdict.of((gap > 0).mean(), "ReCon (the better metric) ahead by " + listed(gap))


def euclidean_better(table: pd.DataFrame) -> Verdict:
    found = at(table, "random", 1.0)
    gap = found["ReCon + Euclidean"] - found["ReCon + SVM-Metric"]
    return Verdict.of((gap > 0).mean(), "ahead by " + listed(gap))


def informative_better(table: pd.DataFrame) -> Verdict:
    gap = (
        at(table, "informative", 0.5)["ReCon + Euclidean"]
        - at(table, "random", 0.5)["ReCon + Euclidean"]
    )
    return Verdict.of((gap > 0).mean(), "half of each, ahead by " + listed(gap))


def metric_flat(table: pd.DataFrame) -> Verdict:
    some = at(table, "random", 0.25)["K-Means + SVM-Metric"]
    most = at(table, "random", 1.0)["K-Means + SVM-Metric"]
    gap = (most - some).dropna()
    return Verdict.of((gap.abs() < 0.05).mean(), "from a quarter to all: " + listed(gap))


def quick_enough(table: pd.DataFrame) -> Verdict:
    chosen = table[(table.method == "ReCon + Euclidean") & (table.noise == 0) & (table.share == 1)]
    slowest = chosen.groupby("dataset").seconds.max()
    return Verdict.of((slowest < 120).mean(), "seconds at most: " + listed(slowest))


CLAIMS = [
    Claim("100 % with the full informative set on all six data sets", all_informative),
    Claim("ReCon outperforms K-Means + SVM-Metric on all but iris (n random)", beats_metric),
    Claim("ReCon + Euclidean is generally better than ReCon + SVM-Metric", euclidean_better),
    Claim("informative constraints do more than random ones", informative_better),
    Claim("K-Means + SVM-Metric is flat in the number of constraints", metric_flat),
    Claim("a few minutes at most", quick_enough),
]


# --- figures -----------------------------------------------------------------------------------


def curves(table: pd.DataFrame, kind: str) -> Any:
    """F by share of the constraints, one panel per data set."""
    import matplotlib.pyplot as plt

    found = means(table, kind)
    names = [name for name in SMALL + LARGE if name in found.index]
    figure, axes = plt.subplots(2, 3, figsize=(10, 5.6), squeeze=False, layout="constrained")
    for ax, name in zip(axes.flat, names, strict=False):
        for method in PAPER + OURS:
            style = {"lw": 2} if method in PAPER else {"lw": 1, "ls": "--"}
            found.loc[name][method].plot(ax=ax, marker="o", ms=3, label=method, **style)
        ax.set(title=name, xlabel=f"share of the {kind} constraints", ylabel="F", ylim=(0, 1.02))
    axes.flat[0].legend(fontsize=7)
    for ax in axes.flat[len(names) :]:
        ax.set_axis_off()
    return figure


def noise(table: pd.DataFrame) -> Any:
    """F by share of wrong triplets, repaired, for n, 3 n and 5 n random triplets."""
    import matplotlib.pyplot as plt

    chosen = table[
        (table.method == "ReCon + Euclidean")
        & (table.kind == "random")
        & table.dataset.isin(SMALL)
        & table.share.isin([1.0, 3.0, 5.0])
    ]
    names = [name for name in SMALL if name in set(chosen.dataset)]
    figure, axes = plt.subplots(
        1, len(names), figsize=(2.6 * len(names), 2.8), squeeze=False, layout="constrained"
    )
    for ax, name in zip(axes.flat, names, strict=True):
        mean = chosen[chosen.dataset == name].pivot_table(
            index="noise", columns="share", values="f"
        )
        mean.plot(ax=ax, marker="o", ms=3)
        ax.set(title=name, xlabel="share of wrong triplets", ylabel="F", ylim=(0, 1.02))
        ax.legend([f"{s:g} n triplets" for s in mean.columns], fontsize=7)
    return figure


NOTES = """
Features are raw. Figure 2 draws n random triplets, Figure 4 shares of the (k − 1)(n − k)
informative ones; five draws on the small sets and two on the large ones, where the paper has
fifty. ReCon cuts by constraints with `min_branch_size="auto"`; "ReCon, last merges" is the plain
cut of the last k − 1 merges. The paper does not give its branch size. SVM-Metric is
`RelativeMetric` (C = 1, A = I). Noise is ours: flipped triplets, `on_conflict="repair"`, five
draws; `n_dropped` in the table is what the repair left out. With n triplets nothing can be
repaired, since wrong ones contradict nothing. Times are of one core of a busy machine.
"""

PROTOCOL = Protocol(
    paper="paper004",
    title="Paper 004: clustering with relative constraints",
    cases=cases,
    evaluate=evaluate,
    claims=CLAIMS,
    figures={
        "figure-2": lambda table: curves(table, "random"),
        "figure-4": lambda table: curves(table, "informative"),
        "noise": noise,
    },
    notes=NOTES,
)
