"""Paper 004: "Clustering with relative constraints" (ReCon)."""

import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans

from conclust import Constraints, ReCon, RelativeMetric, pairwise_f1, sample_constraints
from conclust.datasets import load
from reproduction._protocol import Case, Claim, Protocol, Verdict, grid, seed_of

SMALL = ["iris", "wine", "ionosphere", "transfusion"]
LARGE = ["letters_ijlt", "digits389"]
# 3000 rows of all classes, for the times of Figure 5 alone: name here -> name of the whole set.
MANY_CLASSES = {"letters_3000": "letter", "digits_3000": "pendigits"}
SHARES = [0.0, 0.25, 0.5, 0.75, 1.0]
NOISE = [0.05, 0.1, 0.2]
# Draws: as in the paper where that is cheap; Figures 3 and 5 have more than 2 and 4.
N_DRAWS, N_LARGE, N_SPREAD, N_NOISE, N_MANY = 50, 10, 50, 20, 10

# The schemes of the paper. With no constraints the first is "Hierarchical + Euclidean" and the
# last "K-Means + Euclidean".
PAPER = ["ReCon + Euclidean", "ReCon + SVM-Metric", "K-Means + SVM-Metric"]
OURS = ["ReCon, last merges"]  # the plain cut of the last k - 1 merges
TITLES = {
    "iris": "Iris", "wine": "Wine", "ionosphere": "Ionosphere", "transfusion": "Transfusion",
    "digits389": "Digits-389", "letters_ijlt": "Letters-IJLT", "letters_3000": "Letters-3000",
    "digits_3000": "Digits-3000",
}  # fmt: skip


def cases(quick: bool) -> list[Case]:
    """Figures 2 and 4 (shares of n random, of all informative triplets), 3, 5, wrong triplets."""
    if quick:
        some = [
            grid(dataset=["iris"], method=PAPER + OURS, share=SHARES[::2], **_axes(2, kind))
            for kind in ("random", "informative")
        ]
        return some[0] + some[1] + _wrong(["iris"], [1.0], [0.1], 2)
    found = []
    for names, n_draws, n_spread in ((SMALL, N_DRAWS, N_DRAWS), (LARGE, N_LARGE, N_SPREAD)):
        for kind in ("random", "informative"):
            for method in PAPER + OURS:
                # Figures 3 and 5 are about the first scheme with random triplets.
                n_some = n_spread if method == PAPER[0] and kind == "random" else n_draws
                # Without triplets only k-means has something to draw.
                once = method.startswith("ReCon")
                for share in SHARES:
                    n = 1 if once and share == 0 else n_some
                    found += grid(dataset=names, method=[method], share=[share], **_axes(n, kind))
    for share in SHARES:
        n = N_MANY if share else 1
        found += grid(dataset=MANY_CLASSES, method=PAPER[:1], share=[share], **_axes(n))
    # Clean ones with n triplets stand above already.
    found += grid(dataset=SMALL, method=PAPER[:1], share=[3.0, 5.0], **_axes(N_NOISE))
    return found + _wrong(SMALL, [1.0, 3.0, 5.0], NOISE, N_NOISE)


def _axes(n_draws: int, kind: str = "random") -> dict[str, Any]:
    return {"kind": [kind], "noise": [0.0], "draw": range(n_draws)}


def _wrong(names: list[str], shares: list[float], noise: list[float], n_draws: int) -> list[Case]:
    axes = _axes(n_draws) | {"noise": noise}
    return grid(dataset=names, method=PAPER[:1], share=shares, **axes)


@cache
def data(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Raw features and classes; a sample drawn once for the sets of Figure 5."""
    found = load(MANY_CLASSES.get(name, name))
    X, y = np.ascontiguousarray(found.data, dtype=float), np.asarray(found.target)
    if name in MANY_CLASSES:
        rows = np.random.RandomState(seed_of(name)).permutation(len(y))[:3000]
        X, y = X[rows], y[rows]
    return X, y


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
    """Pairwise F, share of statements kept by the partition, statements dropped, CPU seconds."""
    X, y = data(case["dataset"])
    k = len(np.unique(y))
    known = statements(case)
    began = time.process_time()
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
        "seconds": round(time.process_time() - began, 4),
    }


# --- claims ------------------------------------------------------------------------------------


def clean(table: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Rows of Figure 2 ("random") or 4 ("informative"): true statements, up to all of them."""
    names = [*SMALL, *LARGE]
    chosen = (table.noise == 0) & (table.kind == kind) & (table.share <= 1)
    return table[chosen & table.dataset.isin(names)]


def at(
    table: pd.DataFrame, kind: str, share: float, score: str = "f", how: str = "mean"
) -> pd.DataFrame:
    """F (or another score) at one share: rows data sets, columns methods."""
    chosen = clean(table, kind)
    found = chosen[chosen.share == share].pivot_table(
        index="dataset", columns="method", values=score, aggfunc=how
    )
    rows = [name for name in SMALL + LARGE if name in found.index]
    return found.reindex(index=rows, columns=PAPER + OURS)


def listed(values: pd.Series, form: str = ".2f") -> str:
    return ", ".join(f"{TITLES.get(name, name)} {value:{form}}" for name, value in values.items())


def all_informative(table: pd.DataFrame) -> Verdict:
    found = at(table, "informative", 1.0)[PAPER[0]]
    return Verdict.of((found >= 0.9995).mean(), listed(found))


def beats_metric(kind: str, left_out: str = "") -> Callable[[pd.DataFrame], Verdict]:
    """ReCon, with the better of the two metrics, against the metric alone."""

    def check(table: pd.DataFrame) -> Verdict:
        found = at(table, kind, 1.0)
        gap = (found[PAPER[:2]].max(axis=1) - found[PAPER[2]]).drop(left_out, errors="ignore")
        if not len(gap):
            return Verdict.of(float("nan"), "")
        return Verdict.of((gap > 0).mean(), "ReCon (the better metric) ahead by " + listed(gap))

    return check


def euclidean_better(table: pd.DataFrame) -> Verdict:
    found = at(table, "random", 1.0)
    gap = found[PAPER[0]] - found[PAPER[1]]
    return Verdict.of((gap > 0).mean(), "n triplets, ahead by " + listed(gap, "+.2f"))


def metric_helps(table: pd.DataFrame) -> Verdict:
    """In more than half of them by more than 0.02."""
    gap = at(table, "random", 1.0)[PAPER[2]] - at(table, "random", 0.0)[PAPER[2]]
    word = "holds" if (gap > 0.02).mean() > 0.5 else "partly" if (gap > 0.02).any() else "does not"
    return Verdict(word, "n triplets, gain over k-means " + listed(gap, "+.2f"))


def informative_better(table: pd.DataFrame) -> Verdict:
    """As many of each kind as half of the random ones; between two numbers, interpolated."""
    n, drawn = (at(table, "random", 0.5, score)[PAPER[0]] for score in ("n_statements", "f"))
    chosen = clean(table, "informative")
    chosen = chosen[chosen.method == PAPER[0]]
    gap = {}
    for name in drawn.index:
        mean = chosen[chosen.dataset == name].groupby("n_statements").f.mean()
        gap[name] = np.interp(n[name], mean.index, mean) - drawn[name]
    found = pd.Series(gap, dtype=float)
    return Verdict.of(
        (found > 0).mean() if len(found) else float("nan"),
        "n / 2 of each, ahead by " + listed(found, "+.2f"),
    )


def metric_flat(table: pd.DataFrame) -> Verdict:
    some, most = (at(table, "random", share)[PAPER[2]] for share in (0.25, 1.0))
    gap = (most - some).dropna()
    return Verdict.of((gap.abs() < 0.05).mean(), "from n / 4 to n: " + listed(gap, "+.2f"))


def metric_gains_little(table: pd.DataFrame) -> Verdict:
    gap = at(table, "informative", 1.0)[PAPER[2]] - at(table, "informative", 0.0)[PAPER[2]]
    return Verdict.of((gap < 0.1).mean(), "gain over k-means " + listed(gap.dropna(), "+.2f"))


def spread(table: pd.DataFrame, kind: str = "random") -> pd.DataFrame:
    """Standard deviation of F over the draws, mean over the shares between none and all."""
    shares = [share for share in SHARES if 0 < share < 1]
    found = [at(table, kind, share, how="std") for share in shares]
    return pd.concat(found).groupby(level=0).mean()


def draws_differ(table: pd.DataFrame) -> Verdict:
    """More than 0.05 on the two sets of Figure 3, and less with the metric alone."""
    found = spread(table)
    found = found.loc[[name for name in LARGE if name in found.index]]
    if not len(found):
        return Verdict.of(float("nan"), "")
    good = (found[PAPER[0]] > 0.05).astype(int) + (found[PAPER[2]] < found[PAPER[0]])
    return Verdict.of(
        good.mean() / 2,
        f"standard deviation of ReCon {listed(found[PAPER[0]], '.3f')}; of the metric alone "
        f"{listed(found[PAPER[2]], '.3f')}",
    )


def informative_steadier(table: pd.DataFrame) -> Verdict:
    drawn, chosen = spread(table)[PAPER[0]], spread(table, "informative")[PAPER[0]]
    order = [name for name in SMALL + LARGE if name in drawn.index]
    return Verdict.of(
        (chosen < drawn).mean(),
        f"standard deviation {listed(chosen[order], '.3f')}, with random ones "
        f"{listed(drawn[order], '.3f')}",
    )


def quick_enough(table: pd.DataFrame) -> Verdict:
    chosen = table[(table.method == PAPER[0]) & (table.noise == 0) & (table.share <= 1)]
    slowest = chosen.groupby("dataset").seconds.max()
    order = [name for name in TITLES if name in slowest.index]
    return Verdict.of((slowest < 120).mean(), "CPU seconds at most: " + listed(slowest[order]))


CLAIMS = [
    Claim("100 % with the full informative set on all six data sets", all_informative),
    Claim("K-Means + SVM-Metric is better than K-Means + Euclidean in most sets", metric_helps),
    Claim("K-Means + SVM-Metric is flat in the number of constraints", metric_flat),
    Claim(
        "ReCon outperforms K-Means + SVM-Metric on all but Iris (n random)",
        beats_metric("random", "iris"),
    ),
    Claim("ReCon + Euclidean is generally better than ReCon + SVM-Metric", euclidean_better),
    Claim("quality varies considerably between draws, less with SVM-Metric alone", draws_differ),
    Claim(
        "informative: ReCon outperforms K-Means + SVM-Metric on all six",
        beats_metric("informative"),
    ),
    Claim("informative constraints do more than random ones", informative_better),
    Claim("informative constraints vary less between draws", informative_steadier),
    Claim("informative: K-Means + SVM-Metric gains very little", metric_gains_little),
    Claim("a few minutes at most", quick_enough),
]


# --- figures -----------------------------------------------------------------------------------


STYLES: dict[str, dict[str, Any]] = {
    "ReCon + Euclidean": {"color": "C0", "marker": "o"},
    "ReCon + SVM-Metric": {"color": "C1", "marker": "s"},
    "K-Means + SVM-Metric": {"color": "C2", "marker": "^"},
    "ReCon, last merges": {"color": "C3", "marker": ".", "ls": "--", "lw": 1},
}


def curves(kind: str) -> Callable[[pd.DataFrame], Any]:
    """F by number of constraints, one panel per data set; baselines are lines across."""

    def draw(table: pd.DataFrame) -> Any:
        import matplotlib.pyplot as plt

        chosen = clean(table, kind)
        names = [name for name in SMALL + LARGE if name in set(chosen.dataset)]
        figure, axes = plt.subplots(2, 3, figsize=(10, 6.2), squeeze=False, layout="constrained")
        for ax, name in zip(axes.flat, names, strict=False):
            part = chosen[chosen.dataset == name]
            for method, style in STYLES.items():
                mean = part[part.method == method].groupby("n_statements").f.mean()
                ax.plot(mean, ms=4, label=method, **style)
            none = part[part.share == 0].groupby("method").f.mean()
            if len(none):
                lines = (("Hierarchical + Euclidean", 0, ":"), ("K-Means + Euclidean", 2, "-."))
                for label, method, dashes in lines:
                    ax.axhline(none[PAPER[method]], color="0.4", lw=1, ls=dashes, label=label)
            ax.set(title=TITLES[name], xlabel=f"{kind} constraints", ylabel="F", ylim=(0, 1.03))
        figure.legend(
            *axes.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=3
        )
        for ax in axes.flat[len(names) :]:
            ax.set_axis_off()
        return figure

    return draw


def figure_3(table: pd.DataFrame) -> Any:
    """Least, mean and largest F of the draws, and their standard deviation."""
    import matplotlib.pyplot as plt

    chosen = clean(table, "random")
    chosen = chosen[chosen.dataset.isin(LARGE)]
    figure, axes = plt.subplots(2, 2, figsize=(8.5, 5.6), layout="constrained")
    for row, name in zip(axes, LARGE, strict=True):
        part = chosen[chosen.dataset == name]
        first = part[part.method == PAPER[0]].groupby("n_statements").f
        for how, color, marker in (("max", "C2", "^"), ("mean", "C0", "o"), ("min", "C3", "v")):
            row[0].plot(first.agg(how), marker=marker, ms=4, color=color, label=how)
        for method in (PAPER[0], PAPER[2]):
            # One draw where there is nothing to draw.
            sd = part[part.method == method].groupby("n_statements").f.std().fillna(0)
            row[1].plot(sd, ms=4, label=method, **STYLES[method])
        row[0].set(title=f"{TITLES[name]}: {PAPER[0]}", ylabel="F", ylim=(0, 1.03))
        row[1].set(title=f"{TITLES[name]}: over draws", ylabel="standard deviation of F")
        row[1].set_ylim(bottom=0)
        for ax in row:
            ax.set_xlabel("random constraints")
            ax.legend(fontsize=8)
    return figure


def figure_5(table: pd.DataFrame) -> Any:
    """CPU seconds of ReCon + Euclidean by number of constraints."""
    import matplotlib.pyplot as plt

    names = [*LARGE, *MANY_CLASSES]
    chosen = table[
        (table.method == PAPER[0]) & (table.kind == "random") & (table.noise == 0)
        & table.dataset.isin(names)
    ]  # fmt: skip
    figure, axes = plt.subplots(2, 2, figsize=(8.5, 5.6), layout="constrained")
    for ax, name in zip(axes.flat, names, strict=True):
        drawn = chosen[chosen.dataset == name].groupby("n_statements").seconds
        mean = drawn.mean()
        ax.fill_between(mean.index, drawn.min(), drawn.max(), alpha=0.2, lw=0, label="min to max")
        ax.plot(mean, marker="o", ms=4, label="mean")
        ax.set(title=TITLES[name], xlabel="random constraints", ylabel="CPU seconds")
        ax.set_ylim(bottom=0)
    axes[0, 0].legend(fontsize=8)
    return figure


def noise(table: pd.DataFrame) -> Any:
    """F by share of wrong triplets, repaired, for n, 3 n and 5 n random triplets."""
    import matplotlib.pyplot as plt

    chosen = table[
        (table.method == PAPER[0]) & (table.kind == "random") & table.dataset.isin(SMALL)
        & table.share.isin([1.0, 3.0, 5.0])
    ]  # fmt: skip
    names = [name for name in SMALL if name in set(chosen.dataset)]
    figure, axes = plt.subplots(
        1, len(names), figsize=(2.6 * len(names), 3), squeeze=False, layout="constrained"
    )
    for ax, name in zip(axes.flat, names, strict=True):
        for share, part in chosen[chosen.dataset == name].groupby("share"):
            drawn = part.groupby("noise").f
            ax.errorbar(
                drawn.mean().index, drawn.mean(), drawn.std(), marker="o", ms=3, capsize=2, lw=1,
                label=f"{share:g} n triplets",
            )  # fmt: skip
        ax.set(title=TITLES[name], xlabel="share of wrong triplets", ylabel="F", ylim=(0, 1.08))
    axes.flat[0].legend(fontsize=7, loc="lower left")
    return figure


NOTES = f"""
Features are raw; sizes are those of Table 1, but that Transfusion has 4 features (5 with the
class). Figure 2 has up to n random triplets, Figure 4 shares of the (k − 1)(n − k) informative
ones. Draws: {N_DRAWS} on the four small sets as in the paper; on Letters-IJLT and Digits-389
{N_DRAWS} of ReCon + Euclidean with random triplets (Figures 3 and 5) and {N_LARGE} of all else,
{N_MANY} on the two sets of 3000 rows and all classes: more would only take time. The paper's
average of "multiple runs" in Figure 4 is not a number. Without triplets ReCon has nothing to draw
and is run once. ReCon cuts by constraints with `min_branch_size="auto"`; "ReCon, last merges" is
the plain cut of the last k − 1 merges. The paper does not give its branch size. SVM-Metric is
`RelativeMetric` (C = 1, A = I). Noise is ours: flipped triplets, `on_conflict="repair"`, {N_NOISE}
draws, bars of one standard deviation; `n_dropped` in the table is what the repair left out. With n
triplets nothing can be repaired, since wrong ones contradict nothing. Times are CPU seconds of one
core of a busy machine (the paper: 2.6 GHz, 50 runs).
"""

PROTOCOL = Protocol(
    paper="paper004",
    title="Paper 004: clustering with relative constraints",
    cases=cases,
    evaluate=evaluate,
    claims=CLAIMS,
    figures={
        "figure-2": curves("random"),
        "figure-3": figure_3,
        "figure-4": curves("informative"),
        "figure-5": figure_5,
        "noise": noise,
    },
    notes=NOTES,
)
