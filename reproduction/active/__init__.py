"""Every strategy of `conclust.active`: how good is the clustering after so many questions?"""

import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.preprocessing import StandardScaler

from conclust import AutoCluster, Constraints, PCKMeans
from conclust.active import STRATEGIES, Labels, Noisy, Session
from conclust.datasets import load
from conclust.exceptions import ConclustWarning
from reproduction._protocol import Case, Claim, Protocol, Verdict, grid, seed_of

DATASETS = ["iris", "wine", "glass", "ionosphere", "segmentation_210", "wdbc"]
DATASETS += ["parkinsons", "sonar", "balance", "vowel"]
QUESTIONS = [10, 25, 50, 100, 200]
# An answer that sorts ten rows tells far more than one about a pair, and takes longer: curves by
# number of answers would compare nothing. `benchmarks/texts.py --ask` counts rows shown as well.
ASKED = [name for name in STRATEGIES if name != "piles"]
# A case takes 5 to 30 seconds, so that only what the aims compare has as many seeds as the rivals.
N_SEEDS, COMPARED = 5, ["auto", "random"]
NOISE = [0.0, 0.15]
TRUSTED = 0.05
QUICK = {"datasets": ["iris", "wine", "parkinsons"], "strategies": ["random", "minmax", "cobras"]}
CLUSTERERS = {"auto": "AutoCluster", "pck": "PCKMeans", "own": "COBRAS itself"}

# Mean adjusted Rand index of two other programs after 25, 50, 100 and 200 questions: standardised
# rows, true answers, five seeds.
RIVALS_AT = [25, 50, 100, 200]
RIVALS = {
    "iris": {"COBRAS": [0.71, 0.80, 0.89, 0.93], "ACDM": [0.81, 0.91, 1.0, 1.0]},
    "wine": {"COBRAS": [0.78, 0.90, 0.92, 0.96], "ACDM": [0.53, 0.82, 1.0, 1.0]},
    "glass": {"COBRAS": [0.19, 0.28, 0.35, 0.52], "ACDM": [0.22, 0.26, 0.35, 0.53]},
    "ionosphere": {"COBRAS": [0.50, 0.56, 0.64, 0.78], "ACDM": [0.07, 0.21, 0.56, 0.78]},
    "segmentation_210": {"COBRAS": [0.14, 0.38, 0.69, 0.78], "ACDM": [0.20, 0.22, 0.41, 0.78]},
    "wdbc": {"COBRAS": [0.67, 0.70, 0.74, 0.81], "ACDM": [0.58, 0.72, 0.91, 0.98]},
    "parkinsons": {"COBRAS": [0.45, 0.52, 0.62, 0.81], "ACDM": [0.35, 0.54, 0.66, 1.0]},
    "sonar": {"COBRAS": [0.10, 0.25, 0.43, 0.68], "ACDM": [0.08, 0.14, 0.38, 0.91]},
    "balance": {"COBRAS": [0.14, 0.26, 0.36, 0.53], "ACDM": [0.12, 0.15, 0.19, 0.32]},
    "vowel": {"COBRAS": [0.18, 0.18, 0.21, 0.28], "ACDM": [0.06, 0.07, 0.08, 0.10]},
}


def cases(quick: bool) -> list[Case]:
    """Every strategy on every set, true answers and wrong ones; some with further seeds."""
    if quick:
        return grid(
            seed=range(1),
            dataset=QUICK["datasets"],
            strategy=QUICK["strategies"],
            noise=NOISE,
            n_questions=[25],
        )
    return [
        case
        for seeds, strategies in ((range(1), ASKED), (range(1, N_SEEDS), COMPARED))
        for case in grid(
            seed=seeds,
            dataset=DATASETS,
            strategy=strategies,
            noise=NOISE,
            n_questions=[QUESTIONS[-1]],
        )
    ]


@cache
def data(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Standardised features and classes."""
    found = load(name)
    X = StandardScaler().fit_transform(np.asarray(found.data, dtype=float))
    return X, np.unique(found.target, return_inverse=True)[1]


# --- one run -----------------------------------------------------------------------------------


def evaluate(case: Case) -> dict[str, float]:
    """Both scores of each clusterer at each number of questions, by one run through them all.

    Questions are asked one at a time, in a session that clusters by `AutoCluster`; the answers are
    then given to both clusterers.
    """
    X, y = data(case["dataset"])
    drawn = np.random.RandomState(seed_of(case["dataset"], case["seed"])).permutation(len(y))
    X, y = X[drawn], y[drawn]
    seed = seed_of("session", case["dataset"], case["noise"], case["seed"])
    oracle = Noisy(Labels(y), case["noise"], case["noise"], random_state=seed)
    makes_own = hasattr(STRATEGIES[case["strategy"]], "labels")
    session = Session(
        X,
        len(set(y)),
        strategy=case["strategy"],
        estimator="strategy" if makes_own else None,
        random_state=seed,
    )
    scores: dict[str, float] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConclustWarning)
        for n in (n for n in QUESTIONS if n <= case["n_questions"]):
            go_on(session, oracle, n)
            for clusterer, labels in clusterings(X, session, seed, makes_own).items():
                scores[f"{clusterer}_ari_{n}"] = adjusted_rand_score(y, labels)
                scores[f"{clusterer}_nmi_{n}"] = normalized_mutual_info_score(y, labels)
    scores["asked"] = len(session)
    return {name: round(float(value), 4) for name, value in scores.items()}


def go_on(session: Session, oracle: Callable[[Any], list[Any]], n: int) -> None:
    """Ask until n questions are answered, or nothing is left to ask."""
    while len(session) < n:
        questions = session.ask()
        if not questions:
            return
        session.tell(questions[0], oracle(questions)[0])


def clusterings(
    X: np.ndarray, session: Session, seed: int, makes_own: bool
) -> dict[str, np.ndarray]:
    """Labels by each clusterer that can use the answers."""
    k, known = session.n_clusters, session.constraints_
    found = {}
    if makes_own:
        found["own"] = session.labels_
        model = AutoCluster(k, flip_rate=TRUSTED, random_state=seed)  # as sessions have it
        found["auto"] = model.fit(X, constraints=known).labels_
    else:
        found["auto"] = session.labels_
    pairs: Constraints = known.pairwise
    if len(pairs) == len(known):  # otherwise it would be k-means that is told nothing
        found["pck"] = PCKMeans(k, random_state=seed).fit(X, constraints=pairs).labels_
    return found


# --- from the table ----------------------------------------------------------------------------


def long(table: pd.DataFrame) -> pd.DataFrame:
    """A row for each score: dataset, strategy, noise, seed, clusterer, score, n, value."""
    keys = ["seed", "dataset", "strategy", "noise"]
    columns = [name for name in table if name.split("_")[0] in CLUSTERERS]
    melted = table.melt(keys, columns).dropna(subset="value")
    melted[["clusterer", "score", "n"]] = melted.variable.str.split("_", expand=True)
    return melted.astype({"n": int}).drop(columns="variable")


def curves(
    table: pd.DataFrame, noise: float, clusterer: str = "auto", score: str = "ari"
) -> pd.DataFrame:
    """Mean over seeds by (dataset, n) and strategy; sets that lack a strategy are left out."""
    chosen = long(table)
    own = chosen[(chosen.clusterer == "own")].assign(strategy=CLUSTERERS["own"])
    chosen = pd.concat([chosen[chosen.clusterer == clusterer], own])
    chosen = chosen[(chosen.noise == noise) & (chosen.score == score)]
    means = chosen.pivot_table(index=["dataset", "n"], columns="strategy", values="value")
    return means.dropna()


def mean_curves(means: pd.DataFrame) -> pd.DataFrame:
    """Mean over the sets, (n, strategy), the best at the end first."""
    shown = means.groupby(level="n").mean()
    return shown[shown.iloc[-1].sort_values(ascending=False).index] if len(shown) else shown


def leader(noise: float, n: int) -> Callable[[pd.DataFrame], Verdict]:
    """Who is first after n questions."""

    def check(table: pd.DataFrame) -> Verdict:
        shown = mean_curves(curves(table, noise))
        if n not in shown.index:
            return Verdict.of(float("nan"), "")
        order = shown.loc[n].sort_values(ascending=False)
        numbers = ", ".join(f"{name} {value:.3f}" for name, value in order.items())
        return Verdict(str(order.index[0]), f"mean ARI {numbers}")

    return check


def against_rivals(table: pd.DataFrame) -> Verdict:
    """On how many sets "auto" reaches the better of the two rivals."""
    means = curves(table, 0.0)
    if "auto" not in means or not set(RIVALS_AT) <= set(means.index.get_level_values("n")):
        return Verdict.of(float("nan"), "")
    datasets = means.index.get_level_values("dataset").unique()
    reached = {
        n: sum(
            means.loc[(name, n), "auto"].round(2) >= max(by[i] for by in RIVALS[name].values())
            for name in datasets
        )
        for i, n in enumerate(RIVALS_AT)
    }
    numbers = ", ".join(
        f"{n} questions: {count} of {len(datasets)}" for n, count in reached.items()
    )
    enough = [count >= 0.8 * len(datasets) for count in reached.values()]
    return Verdict.of(float(np.mean(enough)), numbers)


def against_random(table: pd.DataFrame) -> Verdict:
    """How far "auto" falls below pairs at random, at worst."""
    means = curves(table, 0.0)
    if not {"auto", "random"} <= set(means):
        return Verdict.of(float("nan"), "")
    gap = (means["auto"] - means["random"]).sort_values()
    name, n = gap.index[0]
    numbers = f"worst {gap.iloc[0]:.3f} ({name}, {n} questions); mean {gap.mean():+.3f}"
    return Verdict.of(float((gap >= -0.02).mean()), numbers)


def with_wrong_answers(table: pd.DataFrame) -> Verdict:
    """What is left with wrong answers, of the index with true ones, after all questions."""
    true, wrong = (mean_curves(curves(table, noise)) for noise in NOISE)
    if not len(true) or not len(wrong) or "auto" not in true or "auto" not in wrong:
        return Verdict.of(float("nan"), "")
    share = (wrong.iloc[-1] / true.iloc[-1]).sort_values(ascending=False)
    numbers = ", ".join(f"{name} {value:.0%}" for name, value in share.items())
    return Verdict.of(float(share["auto"] >= 0.8), numbers)


def said(noise: float) -> str:
    """How many answers are wrong."""
    return f"{noise:.0%} wrong" if noise else "all true"


CLAIMS = [
    *(
        Claim(
            f"{n} questions, {'all true' if noise == 0 else f'{noise:.0%} wrong'}", leader(noise, n)
        )
        for noise in NOISE
        for n in QUESTIONS
    ),
    Claim(
        "aim: with true answers `auto` reaches the better of two rivals, the programs COBRAS and "
        "ACDM, on eight sets of ten",
        against_rivals,
    ),
    Claim("aim: `auto` is never more than .02 below pairs at random", against_random),
    Claim("aim: with 15 % wrong answers `auto` keeps 80 % of its index", with_wrong_answers),
]


# --- tables ------------------------------------------------------------------------------------


def what_was_run(table: pd.DataFrame) -> pd.DataFrame:
    """How much of the protocol the table holds, set by set."""
    counts = table.groupby("dataset", sort=False)
    seeds = table.groupby(["dataset", "strategy"], sort=False).seed.nunique()
    seeds = seeds.groupby(level="dataset", sort=False).agg(["min", "max"]).astype(str)
    return pd.DataFrame(
        {
            "seeds": seeds["min"].where(
                seeds["min"] == seeds["max"], seeds.agg(" to ".join, axis=1)
            ),
            "strategies": counts.strategy.nunique().map(str),
            "seconds a run": counts.seconds.mean().map("{:.0f}".format),
        }
    )


def by_number(noise: float, clusterer: str, table: pd.DataFrame) -> pd.DataFrame:
    """Mean ARI and NMI by strategy and number of questions; the best in bold."""
    shown = pd.DataFrame()
    for score in ("ari", "nmi"):
        means = mean_curves(curves(table, noise, clusterer, score))
        for n, row in means.iterrows():
            best = row.max()
            texts = row.map(lambda v, best=best: f"**{v:.3f}**" if v == best else f"{v:.3f}")
            shown[f"{score.upper()}, {n}"] = texts
    return shown


# --- figures -----------------------------------------------------------------------------------


def colors(names: Any) -> dict[str, Any]:
    """A color of its own for each strategy, the same in every figure."""
    known = [*ASKED, CLUSTERERS["own"]]
    return {name: f"C{known.index(name) % 10}" for name in names}


def draw(ax: Any, means: pd.DataFrame) -> None:
    """Lines over the number of questions."""
    for name, color in colors(means).items():
        style = {"random": "--", CLUSTERERS["own"]: ":"}.get(name, "-")
        ax.plot(means.index, means[name], style, marker=".", color=color, label=name)
    ax.set(xscale="log", xlabel="questions", xticks=list(means.index))
    ax.set_xticklabels(map(str, means.index))
    ax.minorticks_off()


def on_average(table: pd.DataFrame) -> Any:
    """Mean ARI over all sets: a row by share of wrong answers, a column by clusterer."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        len(NOISE), 2, figsize=(11, 8), sharex=True, sharey=True, layout="constrained"
    )
    for row, noise in zip(axes, NOISE, strict=True):
        for ax, clusterer in zip(row, ("auto", "pck"), strict=True):
            means = mean_curves(curves(table, noise, clusterer))
            if len(means):
                draw(ax, means)
                ax.legend(fontsize=8)
            ax.set(title=f"{CLUSTERERS[clusterer]}, {said(noise)}", ylabel="mean ARI")
    return figure


def by_dataset(table: pd.DataFrame, noise: float) -> Any:
    """ARI on each set, clustered by `AutoCluster`, with the rivals."""
    import matplotlib.pyplot as plt

    means = curves(table, noise)
    datasets = [name for name in DATASETS if name in means.index]
    n_columns = min(max(len(datasets), 1), 4)
    n_rows = max(-(-len(datasets) // n_columns), 1)
    figure, axes = plt.subplots(
        n_rows,
        n_columns,
        figsize=(3.6 * n_columns + 1.8, 3.4 * n_rows),
        squeeze=False,
        layout="constrained",
    )
    for ax in axes.ravel()[len(datasets) :]:
        ax.set_axis_off()
    for ax, name in zip(axes.ravel(), datasets, strict=False):
        draw(ax, means.loc[name])
        ax.set(title=name, ylabel="ARI")
        if noise == 0:
            for (program, values), mark in zip(RIVALS[name].items(), "x+", strict=True):
                ax.plot(RIVALS_AT, values, mark, color="k", label=f"rival: {program}")
    if datasets:
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside right center")
    return figure


NOTES = f"""
The whole protocol is ten sets and every strategy, one seed; of {" and ".join(COMPARED)}, which the
aims compare, {N_SEEDS}. "What was run" says how much of it is in the table. Rows are standardised
and shuffled by seed; the number of clusters is known to
all but COBRAS, which does not use it. Questions are asked one at a time, up to {QUESTIONS[-1]}, and
the clustering is looked at after {", ".join(map(str, QUESTIONS[:-1]))} and {QUESTIONS[-1]}. Wrong
answers are those of `Noisy`: each is turned with probability {NOISE[1]:.2f}. Where everything
follows from the answers before the last question, the clustering stays as it is.

Questions are chosen in a session that clusters by `AutoCluster`, and the answers are given to it
and to `PCKMeans`. `npu`, `boundary` and `disagreement` look at quick clusterings by `PCKMeans`
meanwhile. "{CLUSTERERS["own"]}" is the clustering that COBRAS makes of its answers. The answers to
`relative` are about three rows: the odd one out by class, and "unsure" where all classes agree or
differ; `PCKMeans` cannot use them. Rivals are other programs, COBRAS and ACDM, with the clusterings
they make themselves, run beforehand on the same sets (five seeds of their own).

Answers that name each row once and contradict nothing, as those of `explore`, `minmax` and `npu`,
do not tell how many are wrong. Where classes do not look like clusters, true answers are then taken
for wrong ones: on parkinsons, after 150 true answers to `minmax`, `AutoCluster` estimates that a
fifth of the cannot-links is.
"""

PROTOCOL = Protocol(
    paper="active",
    title="Asking: strategies by number of questions",
    cases=cases,
    evaluate=evaluate,
    claims=CLAIMS,
    figures={
        "mean": on_average,
        "sets": partial(by_dataset, noise=NOISE[0]),
        "sets-wrong": partial(by_dataset, noise=NOISE[1]),
    },
    tables=(
        ("What was run", what_was_run),
        *(
            (
                f"{CLUSTERERS[clusterer]}, {said(noise)}: mean by number of questions",
                partial(by_number, noise, clusterer),
            )
            for noise in NOISE
            for clusterer in ("auto", "pck")
        ),
    ),
    notes=NOTES,
)
