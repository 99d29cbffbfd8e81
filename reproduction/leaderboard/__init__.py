"""Every method on every small data set of the papers: who ranks where, and which gaps count."""

import time
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import studentized_range
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.preprocessing import StandardScaler

import conclust
from conclust import sample_constraints
from conclust.datasets import load
from conclust.exceptions import ConclustError, ConclustWarning
from reproduction._protocol import Case, Claim, Protocol, Verdict, grid, seed_of
from reproduction.paper000 import DATASETS as PAPER_000
from reproduction.paper000._metric_learners import METRIC_LEARNERS

DATASETS = [*PAPER_000, "vowel", "transfusion", "monks1_full"]
SHARES = [0.01, 0.05, 0.2]  # constraints as a share of the rows ...
PER_ROW = 5  # ... times this: 20 % are one statement per row
NOISE = [0.0, 0.2]

METHODS: dict[str, Callable[[int, int], Any]] = {
    "k-means": lambda k, seed: KMeans(k, n_init=10, random_state=seed),
    "COP": lambda k, seed: conclust.COPKMeans(k, on_infeasible="relax", random_state=seed),
    "CKM": lambda k, seed: conclust.ConstrainedKMeans(k, n_init=10, random_state=seed),
    "PCKMeans": lambda k, seed: conclust.PCKMeans(k, random_state=seed),
    "MPCKMeans": lambda k, seed: conclust.MPCKMeans(k, random_state=seed),
    "Generalized": lambda k, seed: conclust.GeneralizedKMeans(k, random_state=seed),
    "Mixture": lambda k, seed: conclust.ConstrainedGaussianMixture(k, random_state=seed),
    "BCKM": lambda k, seed: conclust.BoostedConstrainedKMeans(k, random_state=seed),
    "RCKM": lambda k, seed: conclust.ConstrainedKMeansEnsemble(
        k, n_estimators=100, reorder="run", random_state=seed
    ),
    "Trust": lambda k, seed: conclust.TrustEnsemble(k, random_state=seed),
    "BoostCluster": lambda k, seed: conclust.BoostCluster(n_clusters=k, random_state=seed),
    "SpectralLearn": lambda k, seed: conclust.SpectralLearning(k, random_state=seed),
    "SSKK": lambda k, seed: conclust.SemiSupervisedKernelKMeans(k, random_state=seed),
    "ITML": METRIC_LEARNERS["ITML"],
}


def cases(quick: bool) -> list[Case]:
    """All methods, three numbers of constraints, clean and with a fifth wrong."""
    return grid(
        dataset=DATASETS[:2] if quick else DATASETS,
        method=["k-means", "COP", "CKM"] if quick else METHODS,
        share=SHARES[1:2] if quick else SHARES,
        noise=NOISE,
        draw=range(1 if quick else 2),
    )


@cache
def data(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Standardised features and classes."""
    found = load(name)
    return StandardScaler().fit_transform(np.asarray(found.data, dtype=float)), found.target


def evaluate(case: Case) -> dict[str, float]:
    """NMI, adjusted Rand index, share kept; no answer counts as NMI 0 (`answered` is 0)."""
    X, y = data(case["dataset"])
    where = (case["dataset"], case["share"], case["noise"], case["draw"])
    n = max(round(case["share"] * PER_ROW * len(X)), 5)
    known = sample_constraints(y, n, noise=case["noise"], random_state=seed_of(*where))
    model = METHODS[case["method"]](len(set(y)), seed_of("start", *where))
    began = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConclustWarning)
            model.fit(X) if isinstance(model, KMeans) else model.fit(X, constraints=known)
        labels, answered = model.labels_, 1.0
    except ConclustError:  # hard statements that cannot all hold
        labels, answered = np.zeros(len(X), dtype=int), 0.0
    seconds = time.perf_counter() - began
    scores = {
        "nmi": normalized_mutual_info_score(y, labels),
        "ari": adjusted_rand_score(y, labels),
        "kept": known.report(labels).share,
        "answered": answered,
        "seconds": seconds,
    }
    return {name: round(float(value), 4) for name, value in scores.items()}


# --- ranks -------------------------------------------------------------------------------------


def ranks(table: pd.DataFrame) -> pd.DataFrame:
    """Mean rank (1 = best) of each method over the data sets; NMI is averaged over draws first."""
    means = table.pivot_table(index="dataset", columns="method", values="nmi")
    return means.round(3).rank(axis=1, ascending=False).mean().sort_values()


def critical_difference(n_methods: int, n_datasets: int, alpha: float = 0.05) -> float:
    """Smallest difference of mean ranks that Nemenyi's test calls significant."""
    q = studentized_range.ppf(1 - alpha, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


def part(table: pd.DataFrame, share: float, noise: float) -> pd.DataFrame:
    """Return the rows of one panel."""
    return table[(table.share == share) & (table.noise == noise)]


def leader(share: float, noise: float) -> Callable[[pd.DataFrame], Verdict]:
    """The first three of a panel, and who is not significantly worse than the first."""

    def check(table: pd.DataFrame) -> Verdict:
        chosen = part(table, share, noise)
        if not len(chosen):
            return Verdict.of(float("nan"), "")
        order = ranks(chosen)
        gap = critical_difference(len(order), chosen.dataset.nunique())
        near = (order <= order.iloc[0] + gap).sum()
        first = ", ".join(f"{name} {rank:.1f}" for name, rank in order.items())
        means = chosen.groupby("method").nmi.mean()[order.index[:3]]
        best = ", ".join(f"{name} {value:.2f}" for name, value in means.items())
        return Verdict(
            order.index[0],
            f"mean NMI of the first three: {best}; mean ranks {first}; critical difference "
            f"{gap:.1f}, so {near} of {len(order)} are not significantly worse than the first",
        )

    return check


CLAIMS = [
    Claim(
        f"best with {share * PER_ROW:.2g} statements per row, "
        f"{'all true' if noise == 0 else 'a fifth of them wrong'}",
        leader(share, noise),
    )
    for noise in NOISE
    for share in SHARES
]


# --- figures -----------------------------------------------------------------------------------


def diagram(table: pd.DataFrame) -> Any:
    """Critical-difference diagrams: mean ranks, and a bar over those near the best."""
    import matplotlib.pyplot as plt

    shares = list(dict.fromkeys(table.share))
    noises = list(dict.fromkeys(table.noise))
    figure, axes = plt.subplots(
        len(shares),
        len(noises),
        figsize=(5.2 * len(noises), 3.4 * len(shares)),
        squeeze=False,
        layout="constrained",
    )
    for row, share in zip(axes, shares, strict=True):
        for ax, noise in zip(row, noises, strict=True):
            chosen = part(table, share, noise)
            order = ranks(chosen)
            gap = critical_difference(len(order), chosen.dataset.nunique())
            ax.plot(order, range(len(order)), "o", color="#0072b2")
            ax.axvspan(order.iloc[0], order.iloc[0] + gap, color="#0072b2", alpha=0.12, lw=0)
            ax.set_yticks(range(len(order)), order.index, fontsize=8)
            ax.invert_yaxis()
            ax.set(
                title=f"{share * PER_ROW:.2g} statements per row, {noise:.0%} wrong",
                xlabel=f"mean rank (band: critical difference {gap:.1f})",
            )
    return figure


NOTES = """
Standardised features, default settings, two draws of random pairs; the number of statements is 1 %,
5 % or 20 % of five per row. Ranks of the mean NMI per data set, Nemenyi's critical difference at
5 %. A hard method without an answer counts as NMI 0: `COP` is relaxed, `Generalized` and `Mixture`
raise when wrong statements contradict each other. With few data sets and many methods only large
gaps are significant. Some defaults (the prices of `PCKMeans`, `Trust`, `SSKK`, the affinity of
`SpectralLearn`) were chosen by looking at some of these sets.
"""

PROTOCOL = Protocol(
    paper="leaderboard",
    title="Leaderboard: every method on the papers' small data sets",
    cases=cases,
    evaluate=evaluate,
    claims=CLAIMS,
    figures={"ranks": diagram},
    notes=NOTES,
)
