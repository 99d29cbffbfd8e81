"""Several mixtures that doubt statements, judged by statements held out, then averaged.

No single model is best with few statements, with many true ones and with many wrong ones: some
learn the space, some the shapes of clusters, some start better. So all are fitted (`members`),
each is asked what it was not told (`judge`), and their answers are averaged by how well they knew
it (`agree`); the statements have the last word (`believe`).
"""

import time
import warnings
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from scipy.special import rel_entr
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin

from conclust._arrays import FloatArray, IntArray
from conclust._folds import N_FOLDS, deal, left_open
from conclust._lloyd.best import best_of_starts
from conclust._lloyd.start import init_centers, means_of
from conclust._placement.belief import Beliefs, Rates
from conclust._placement.links import link_rows
from conclust.cluster import (
    MULTIPLES,
    Doubted,
    Mixture,
    Scatter,
    average_linkage_start,
    doubting_mixture,
    log_shares,
    pckmeans,
    price_by_regret,
    smooth_over_neighbors,
    softened,
    tally,
    wrong_shares,
)
from conclust.constraints import Constraints, must_link_components
from conclust.metric_learning import ITML
from conclust.model_selection._spaces import Given, Linear, NeighborMap, Space
from conclust.model_selection._votes import View, Voted, Votes, voting

# Starts of plain and of soft k-means.
N_PLAIN, N_SOFT = 5, 3
# Rows of a tree.
MAX_ROWS_TREE = 2_000
# Features whose spreads differ by more than this are also tried with equal spreads.
UNEVEN = 2.0
# Iterations of each EM, sweeps of the metric: both are near their ends by then.
MAX_ITER, TOL, METRIC_SWEEPS = 25, 5e-3, 30
# Starts of each model that are judged: those under which the statements are likeliest.
N_JUDGED = 3
# Likelihoods closer than this, relatively, are those of the same mixture.
SAME = 1e-3
# Rates at which statements held out may be wrong; the likeliest counts, so that being unsure is no
# merit, as if one of ten more were wrong.
RATES = np.array([0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5])
PRIOR_WRONG, PRIOR_RIGHT = 1.0, 9.0
# What a difference of mean scores counts, in its standard errors (about one per √m statements).
TRUST = 3.0
# How starts of the second round are named: by who taught them.
TAUGHT = "believed by "
# What a model is worth goes by this share to all its starts, the rest to those that were judged.
TO_ALL = 0.5


class Problem(NamedTuple):
    """What does not change while statements are held out."""

    X: FloatArray  # (n_samples, n_features)
    n_clusters: int
    plain: dict[str, IntArray]  # starts that know nothing of statements
    models: list[str]  # of `MODELS`, those that suit
    map: NeighborMap
    views: list[View]
    seed: int
    rates: Rates | None  # how often statements are wrong; estimated where None
    n_checked: int = 0  # the answers that tell those rates


class Candidate(NamedTuple):
    """A model and where it starts."""

    model: str
    start: str

    @property
    def is_taught(self) -> bool:
        """Whether it starts from what another member believes: the second round."""
        return self.start.startswith(TAUGHT)


class Member(NamedTuple):
    """A fitted candidate."""

    candidate: Candidate
    voice: "Mixed | Votes"
    found: Doubted | Voted
    seconds: float

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.candidate.model}, {self.candidate.start}"


class Judged(NamedTuple):
    """A member, and what it knew of statements it was not told."""

    member: Member
    held_out: float  # mean log-likelihood of those; NaN where none could be held out
    told: float  # mean log-likelihood of all statements
    weight: float  # its part in the average


# Which covariances a mixture has, and the space it lives in.
MODELS = {
    "shared covariance": ("tied", "given"),
    "own covariances": ("full", "given"),
    "learned metric": ("tied", "learned"),
    "map of neighbors": ("tied", "map"),
}
# No mixture; see `_votes`.
VOTES = "any shape"
# Its start where the statements themselves show as many groups as there are clusters.
GROUPS = "groups told"
# What models are worth before any statement: the one without a shape needs some to speak for it.
WORTH = {VOTES: np.exp(-1.0)}
# Those that are also started from what a first one believes of the statements.
TAUGHT_MODELS = ("shared covariance", "own covariances", "learned metric")
# Where starts are looked for.
SPACES = {
    "soft k-means": "given",
    "soft k-means on the map": "map",
    "metric k-means": "all",
    "metric soft k-means": "all",
}


class Mixed:
    """What a mixture says of rows.

    Parameters
    ----------
    space : Given, Linear or NeighborMap
    mean : ndarray of shape (n_components,)
        Of the rows it was fitted to, there.
    mixture : Mixture
    covariance_type : {"tied", "full"}
    """

    def __init__(self, space: Space, mean: FloatArray, mixture: Mixture, covariance_type: str):
        self.space, self.mean = space, mean
        self.mixture, self.covariance_type = mixture, covariance_type

    def log_prior(self, X: FloatArray) -> FloatArray:
        """Log densities of the clusters, with their weights, up to a constant of each row."""
        return log_shares(self.space.transform(X) - self.mean, self.mixture, self.covariance_type)

    def about(self, mean: FloatArray) -> Mixture:
        """The mixture of rows that stand in the space about another mean."""
        return self.mixture._replace(means=self.mixture.means + (self.mean - mean))


def problem_of(
    X: FloatArray, n_clusters: int, seed: int, rates: Rates | None = None, n_checked: int = 0
) -> Problem:
    """Set the problem up, with the starts that need no statements."""
    plain = {"k-means": plain_kmeans(X, n_clusters, seed)}
    scales = scales_of(X)
    for scale in scales[1:]:
        plain["k-means on equal spreads"] = plain_kmeans(X / scale, n_clusters, seed)
    neighbors = NeighborMap(X, n_clusters, seed)
    leading = neighbors.transform(X)[:, :n_clusters]
    plain["k-means on the map"] = plain_kmeans(leading, n_clusters, seed)
    plain["k-means from a tree"] = kmeans_from_tree(X, n_clusters, seed)
    enough = len(X) >= n_clusters * X.shape[1]
    models = [model for model in MODELS if enough or not has_own(model)]
    views = [View(X, scale, seed) for scale in scales]
    return Problem(X, n_clusters, plain, models, neighbors, views, seed, rates, n_checked)


def scales_of(X: FloatArray) -> list[FloatArray]:
    """Units of the features: as they are, and equal spreads where theirs differ much."""
    scales = [np.ones(X.shape[1])]
    spread = X.std(axis=0)
    varied = spread[spread > 0]
    if len(varied) and varied.max() > UNEVEN * varied.min():
        scales.append(np.where(spread > 0, spread, 1.0))
    return scales


def plain_kmeans(X: FloatArray, n_clusters: int, seed: int) -> IntArray:
    """Labels of k-means, told nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer different rows than clusters
        model = KMeans(n_clusters, n_init=N_PLAIN, random_state=seed).fit(X)
    labels: IntArray = model.labels_.astype(np.int64)
    return labels


def kmeans_from_tree(X: FloatArray, n_clusters: int, seed: int) -> IntArray:
    """Labels of k-means of smoothed rows, begun with a tree; told nothing.

    The start for embeddings with many classes of unequal sizes, where random rows divide the large
    ones and join the small ones.
    """
    rng = np.random.RandomState(seed)
    some = np.sort(rng.permutation(len(X))[:MAX_ROWS_TREE])
    smooth = smooth_over_neighbors(X[some])
    start = average_linkage_start(smooth, n_clusters, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer different rows than clusters
        model = KMeans(n_clusters, init=start, n_init=1).fit(smooth)
    if len(some) == len(X):
        return model.labels_.astype(np.int64)
    mass = np.bincount(model.labels_, minlength=n_clusters)
    centers = means_of(X[some], model.labels_, mass, np.ones(len(some)))
    return pairwise_distances_argmin(X, centers)


def soft_kmeans(X: FloatArray, known: Constraints, n_clusters: int, seed: int) -> IntArray:
    """Labels of soft k-means at a middling price."""
    rng = np.random.RandomState(seed)
    links, weight = link_rows(known), np.ones(len(X))
    X = np.ascontiguousarray(X - X.mean(axis=0))
    first = init_centers(X, n_clusters, "k-means++", weight, rng)
    price = MULTIPLES[1] * price_by_regret(X, first, weight)
    found = best_of_starts(
        lambda number, on_round: pckmeans(
            X,
            links,
            price,
            first if number == 0 else init_centers(X, n_clusters, "k-means++", weight, rng),
        ),
        N_SOFT,
        lambda run: (run.objective,),
    )
    return found.labels.astype(np.int64)


def learned_factor(X: FloatArray, known: Constraints, seed: int) -> FloatArray:
    """A linear map into a space where must-links are short and cannot-links long."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a metric that is nearly there will do
        metric = ITML(max_iter=METRIC_SWEEPS, random_state=seed).fit(X, constraints=known)
    return np.asarray(metric.components_, dtype=np.float64)


class Fitter:
    """Fits candidates to one set of statements; starts and spaces are made when first asked for."""

    def __init__(self, problem: Problem, known: Constraints):
        self.problem, self.known, self.pairs = problem, known, known.pairs()
        self._labels: dict[str, IntArray] = dict(problem.plain)
        self._spaces: dict[str, tuple[Space, Scatter]] = {}
        self._believed: dict[str, Constraints] = {}
        self.members: dict[Candidate, Member] = {}

    def candidates(self) -> list[Candidate]:
        """Everything that may be worth a try in the first round."""
        starts = [
            *self.problem.plain,
            "soft k-means",
            "metric k-means",
            "metric soft k-means",
            "soft k-means on the map",
        ]
        return [Candidate(model, start) for model in self.problem.models for start in starts]

    def second_candidates(self) -> list[Candidate]:
        """What starts from what a first-round member believes: statements, or all rows."""
        own = any(has_own(model) for model in self.problem.models)
        mixtures = [
            Candidate(model, f"{TAUGHT}{teacher}")
            for teacher in (("shared", "own") if own else ("shared",))
            for model in self.problem.models
            if model in TAUGHT_MODELS
        ]
        votes = [Candidate(VOTES, f"{TAUGHT}{model}") for model in self.problem.models]
        if told_groups(self.known, self.problem.n_clusters) is not None:
            votes.append(Candidate(VOTES, GROUPS))
        return mixtures + votes

    def fit(self, candidates: Iterable[Candidate]) -> list[Member]:
        """Fit those not fitted yet; all that were asked for, in order."""
        wanted = list(candidates)
        for candidate in wanted:
            if candidate not in self.members:
                self.members[candidate] = self._fit(candidate)
        return [self.members[candidate] for candidate in wanted]

    def _fit(self, candidate: Candidate) -> Member:
        began = time.perf_counter()
        fit = self._vote if candidate.model == VOTES else self._mix
        voice, found = fit(candidate)
        return Member(candidate, voice, found, time.perf_counter() - began)

    def _mix(self, candidate: Candidate) -> tuple[Mixed, Doubted]:
        covariance_type, space = MODELS[candidate.model]
        start = softened(self._start(candidate.start), self.problem.n_clusters)
        teacher = candidate.start if candidate.is_taught else "all"
        where, rows = self._space(teacher if space == "learned" else space)
        found = doubting_mixture(
            rows,
            self.pairs,
            start,
            covariance_type=covariance_type,
            rates=self.problem.rates,
            max_iter=MAX_ITER,
            tol=TOL,
        )
        return Mixed(where, rows.mean, found.mixture, covariance_type), found

    def _vote(self, candidate: Candidate) -> tuple[Votes, Voted]:
        if candidate.start == GROUPS:
            believed = self._told()
        else:
            believed = self._teacher(candidate.start.removeprefix(TAUGHT)).found.responsibilities
        found = voting(self.problem.views, self.pairs, believed, self.problem.rates)
        return Votes(found.election), found

    def _told(self) -> FloatArray:
        """What the groups told say of their rows, and nothing of others."""
        k = self.problem.n_clusters
        groups = told_groups(self.known, k)
        if groups is None:  # statements held out, and a group with them
            return self._teacher(next(iter(MODELS))).found.responsibilities
        believed = np.full((len(groups), k), 1 / k)
        believed[groups >= 0] = softened(groups[groups >= 0], k)
        return believed

    def _teacher(self, *models: str) -> Member:
        """The first-round member of these models with the likeliest statements."""
        members = self.members.values()
        first = [m for m in members if m.candidate.model in models and not m.candidate.is_taught]
        return max(first, key=lambda m: m.found.log_evidence)

    def _space(self, name: str) -> tuple[Space, Scatter]:
        """The given space, the map, or one learned from all statements or from those believed."""
        if name not in self._spaces:
            X = self.problem.X
            space: Space
            if name == "given":
                space = Given()
            elif name == "map":
                space = self.problem.map
            else:
                known = self.known if name == "all" else self._believe(name)
                space = Linear(learned_factor(X, known, self.problem.seed))
            self._spaces[name] = space, Scatter(space.transform(X))
        return self._spaces[name]

    def _start(self, name: str) -> IntArray:
        if name not in self._labels:
            k, seed = self.problem.n_clusters, self.problem.seed
            space, known = SPACES.get(name, name), self.known
            if name.startswith(TAUGHT):
                known = self._believe(name)
            rows = self._space(space)[1].X
            if space == "map":  # a mixture learns which dimensions count, k-means does not
                rows = rows[:, :k]
            if name == "metric k-means":
                labels = plain_kmeans(rows, k, seed)
            else:
                labels = soft_kmeans(rows, known, k, seed)
            self._labels[name] = labels
        return self._labels[name]

    def _believe(self, name: str) -> Constraints:
        """The statements that the best first-round member of a kind does not doubt."""
        if name not in self._believed:
            own = name.endswith("own")
            teacher = self._teacher(*(model for model in MODELS if has_own(model) == own))
            doubt = np.zeros(len(self.known))
            np.maximum.at(doubt, self.pairs.statement, teacher.found.doubt)
            kept = np.flatnonzero(doubt < 0.5)
            self._believed[name] = reweighted(self.known[kept], 1 - doubt[kept])
        return self._believed[name]


def has_own(model: str) -> bool:
    """Whether clusters have covariances of their own."""
    return MODELS[model][0] == "full"


def told_groups(known: Constraints, n_clusters: int) -> IntArray | None:
    """Labels of rows in as many must-link groups, all said to be apart; -1 elsewhere.

    None where there are fewer such groups than clusters. Larger groups come first.
    """
    group, n_groups = must_link_components(known)
    ends = group[known.cannot_link]
    apart: dict[int, set[int]] = {}
    for a, b in ends.tolist():
        apart.setdefault(a, set()).add(b)
        apart.setdefault(b, set()).add(a)
    sizes = np.bincount(group, minlength=n_groups)
    chosen: list[int] = []
    for one in sorted(apart, key=lambda g: (-sizes[g], g)):
        if apart[one].issuperset(chosen):
            chosen.append(one)
        if len(chosen) == n_clusters:
            label = np.full(n_groups, -1)
            label[chosen] = np.arange(n_clusters)
            return label[group]
    return None


def reweighted(known: Constraints, factor: FloatArray) -> Constraints:
    """The pairwise statements with their weights multiplied."""
    pairs = known.pairs()
    weight = pairs.weight * factor[pairs.statement]
    must = pairs.sign > 0
    return Constraints(
        pairs.pairs[must],
        pairs.pairs[~must],
        must_link_weight=weight[must],
        cannot_link_weight=weight[~must],
        n_samples=known.n_samples,
    )


def members_of(fitter: Fitter) -> list[Member]:
    """The best few of each model, of both rounds."""
    first = fitter.fit(fitter.candidates())
    second = fitter.fit(fitter.second_candidates())
    kept: list[Member] = []
    for model in MODELS:
        kept += different([m for m in first if m.candidate.model == model])[:N_JUDGED]
    return kept + [m for m in second if all(not_same(m, other) for other in kept)]


def different(members: list[Member]) -> list[Member]:
    """Members by falling likelihood of the statements, of those that agree only the first."""
    found: list[Member] = []
    for member in sorted(members, key=lambda m: -m.found.log_evidence):
        if all(not_same(member, other) for other in found):
            found.append(member)
    return found


def not_same(one: Member, other: Member) -> bool:
    """Whether two members are more than the same mixture found from two starts."""
    a, b = (np.array([m.found.log_evidence, m.found.log_likelihood]) for m in (one, other))
    return one.candidate.model != other.candidate.model or not np.allclose(a, b, rtol=SAME)


def rightness(member: Member, asked: Constraints) -> FloatArray:
    """Probability of statements a member was not told, one by one."""
    a, b = asked.pairs().pairs.T
    r = member.found.responsibilities
    same = np.einsum("ij,ij->i", r[a], r[b])
    return np.where(asked.pairs().sign > 0, same, 1 - same)


def log_likelihood(right: FloatArray) -> float:
    """Mean log-likelihood of statements, wrong at the likeliest rate."""
    return float(log_likelihoods(right, 1 - right).max())


def log_likelihoods(right: FloatArray, wrong: FloatArray) -> FloatArray:
    """Mean log-likelihood of what was said at each of `RATES`, with their prior.

    `right` is the probability of what was said if it is right, `wrong` if it is not.
    """
    said = np.log(right * (1 - RATES[:, None]) + wrong * RATES[:, None]).sum(axis=1)
    prior = PRIOR_WRONG * np.log(RATES) + PRIOR_RIGHT * np.log1p(-RATES)
    found: FloatArray = (said + prior) / len(right)
    return found


def judge(
    problem: Problem,
    known: Constraints,
    members: list[Member],
    *,
    on_fold: Callable[[], bool] = lambda: True,
) -> list[Judged]:
    """Fit each member again without a quarter of the statements, four times, and ask for those.

    Parameters
    ----------
    problem : Problem
    known : Constraints
        Pairwise.
    members : list of Member
        Told all statements.
    on_fold : callable
        Called before each fold; no more are made once it returns False.

    Returns
    -------
    list of Judged
        Whatever was learned from statements is learned anew without those held out, and only
        those that neither follow from nor contradict what was told are asked for.
    """
    rng = np.random.RandomState(problem.seed)
    fold = deal(np.arange(len(known)), N_FOLDS, rng)
    candidates = [member.candidate for member in members]
    right: list[list[FloatArray]] = [[] for _ in members]
    for number in range(N_FOLDS if len(known) >= N_FOLDS else 0):
        told = fold != number
        asked = known[np.flatnonzero(left_open(known, told))]
        if not len(asked):
            continue
        if not on_fold():
            break
        fitter = Fitter(problem, known[np.flatnonzero(told)])
        # Starts of the second round are taught by members of the first.
        fitter.fit(c for c in candidates if not c.is_taught)
        for known_of, member in zip(right, fitter.fit(candidates), strict=True):
            known_of.append(rightness(member, asked))
    n_pairs = len(known.pairs().sign)
    told_all = np.array([member.found.log_evidence for member in members]) / n_pairs
    held_out = np.array([log_likelihood(np.concatenate(one)) if one else np.nan for one in right])
    score = told_all if np.isnan(held_out).any() else held_out
    log_weight = sureness(n_pairs) * score
    log_weight -= [misfit(member, known, problem) for member in members]
    weight = np.exp(log_weight - log_weight.max())
    models = [candidate.model for candidate in candidates]
    # Models, not starts, begin as equals.
    weight *= [WORTH.get(model, 1.0) / models.count(model) for model in models]
    return [
        Judged(*values)
        for values in zip(
            members,
            held_out.tolist(),
            told_all.tolist(),
            (weight / weight.sum()).tolist(),
            strict=True,
        )
    ]


def share_out(
    judged: list[Judged], members: Iterable[Member], known: Constraints, problem: Problem
) -> list[Judged]:
    """Let all starts have a part, not only those that were judged: many say more than few.

    Half of what a model is worth goes to all its starts, by how likely they make the statements.
    """
    n_pairs = len(known.pairs().sign)
    by_candidate = {one.member.candidate: one for one in judged}
    worth: dict[str, float] = {}
    for one in judged:
        model = one.member.candidate.model
        worth[model] = worth.get(model, 0.0) + one.weight
    found = []
    for model, part in worth.items():
        starts = [member for member in members if member.candidate.model == model]
        told = np.array([member.found.log_evidence for member in starts]) / n_pairs
        log_share = sureness(n_pairs) * told
        log_share -= [misfit(member, known, problem) for member in starts]
        share = np.exp(log_share - log_share.max())
        share *= TO_ALL * part / share.sum()
        for member, more, likely in zip(starts, share.tolist(), told.tolist(), strict=True):
            one = by_candidate.get(member.candidate, Judged(member, float("nan"), likely, 0.0))
            found.append(one._replace(weight=(1 - TO_ALL) * one.weight + more))
    return found


def misfit(member: Member, known: Constraints, problem: Problem) -> float:
    """Nats against rates of wrong statements as high as a member believes in.

    Those of so many answers as were checked: what the rates given rest on.
    """
    if problem.rates is None:
        return 0.0
    pairs = known.pairs()
    wrong, of = tally(member.found.doubt, pairs)
    given = np.array(problem.rates)
    found = np.clip(np.divide(wrong, of, out=np.zeros(2), where=of > 0), given, 1.0)
    against = rel_entr(found, given) + rel_entr(1 - found, 1 - given)
    return min(problem.n_checked, len(pairs.sign)) * float(of @ against / of.sum())


def sureness(n_pairs: int) -> float:
    """How far a difference of scores is trusted: few statements hardly choose, many do."""
    return TRUST * float(np.sqrt(n_pairs))


class Believed(NamedTuple):
    """What all members and all statements together say."""

    probability: FloatArray  # (n_samples, n_clusters)
    shares: tuple[float, float]  # of must-links and of cannot-links that are wrong
    doubt: FloatArray  # (n_pairs,)


def believe(prior: FloatArray, known: Constraints, rates: Rates) -> Believed:
    """Let the statements have the last word."""
    pairs = known.pairs()
    beliefs = Beliefs(pairs, prior.shape[1])
    log_prior = np.log(prior[beliefs.rows])
    for _ in range(3):
        found = beliefs(log_prior, rates)
    probability = prior.copy()
    probability[beliefs.rows] = found.probability
    return Believed(probability, wrong_shares(found.doubt, pairs), found.doubt)
