"""COBRAS: super-instances that are split and merged by answers, without a number of clusters."""

import warnings
from collections.abc import Callable, Generator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from conclust._arrays import FloatArray, IntArray
from conclust.active._question import Proposal
from conclust.active._state import State
from conclust.active.strategies._filling import filled
from conclust.active.strategies._strategy import Strategy

# Steps that are gone on with supposed answers, for each question wanted beyond the next.
MAX_SUPPOSED = 20


class SuperInstance(NamedTuple):
    """Rows that are taken to belong together, and the row that is asked about for all."""

    rows: IntArray
    medoid: int


Clusters = list[list[SuperInstance]]
# What is known about rows, broadcast: +1 together, -1 apart, 0 open.
Known = Callable[[Any, Any], npt.NDArray[np.int8]]
# A super-instance in so many parts, or one where it cannot be parted.
Split = Callable[[SuperInstance, int], list[SuperInstance]]


class Step(NamedTuple):
    """A question, and the clustering to show meanwhile: the last that was complete.

    In the first round, which has none before it, the one that is being merged.
    """

    pair: tuple[int, int]
    why: str
    clusters: Clusters


class COBRAS(Strategy):
    """Split the largest super-instance, merge the parts with what they belong to, and so on.

    A super-instance is a set of rows taken to belong together; its medoid is asked about for all.
    There is one at first. The largest is parted by k-means, in two if the medoids of its halves
    belong together, else in twice as many as often as medoids of halves, of the smaller half and
    so on, do not. Each part is then a cluster, and the closest clusters that are not known to be
    apart are asked about, and merged, until all are. No number of clusters is needed.

    Parameters
    ----------
    random_state : int, default=0
        Seed of k-means: the strategy takes the same way again when an answer is taken back.

    See Also
    --------
    NPU : Keeps to the clusters of an estimator.

    Notes
    -----
    It makes a clustering of its own: ``Session(X, strategy="cobras", estimator="strategy")`` takes
    that. "Unsure" between halves means that they
    are not split further, and between clusters that they are not merged. For several questions at
    once those after the first suppose that the answers to the ones before are "cannot-link"; there
    may be fewer than wanted.

    References
    ----------
    T. Van Craenendonck, S. Dumančić, E. Van Wolputte and H. Blockeel (2018). COBRAS: interactive
    clustering with pairwise queries. IDA.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conclust.active import Labels, ask
    >>> X, y = load_iris(return_X_y=True)
    >>> session = ask(X, Labels(y), 50, strategy="cobras", estimator="strategy")
    >>> len(set(session.labels_.tolist()))  # nobody said that there are three
    3
    """

    def __init__(self, *, random_state: int = 0):
        self.random_state = random_state

    def propose(self, state: State, n: int, random_state: np.random.RandomState) -> list[Proposal]:
        """See :meth:`Strategy.propose`."""
        step = self._go_on(state).step
        if n == 1 and step is not None and bool(state.is_open(*step.pair)):
            return [_proposal(step)]
        return self._supposing(state, n) or filled([], state, n, random_state)

    def labels(self, state: State) -> IntArray:
        """The clustering of its own after the last round of splitting and merging, or in the first.

        Parameters
        ----------
        state : State
            What is known so far.

        Returns
        -------
        ndarray of shape (n_samples,)
            The cluster of each row.
        """
        labels = np.empty(state.n_samples, dtype=np.int64)
        for number, cluster in enumerate(self._go_on(state).clusters):
            for instance in cluster:
                labels[instance.rows] = number
        return labels

    def _begin(self, state: State) -> "Run":
        def split(instance: SuperInstance, n_parts: int) -> list[SuperInstance]:
            # The same super-instance is split again whenever the way is gone from its beginning.
            key = ("cobras", self.random_state, instance.rows.tobytes(), n_parts)
            if key not in state.memory:
                state.memory[key] = split_rows(state.X, instance.rows, n_parts, self.random_state)
            parts: list[SuperInstance] = state.memory[key]
            return parts

        whole = SuperInstance(np.arange(state.n_samples), _medoid(state.X, slice(None)))
        return Run(cobras(state.X, whole, split, state.closure.implied), [[whole]])

    def _go_on(self, state: State) -> "Run":
        """Up to the first question without an answer."""
        key = ("cobras", self.random_state)
        if key not in state.memory:
            state.memory[key] = self._begin(state)
        run: Run = state.memory[key]
        while run.step is not None:
            answer = int(state.closure.implied(*run.step.pair))
            if not answer and frozenset(run.step.pair) not in state.asked:
                break
            run.tell(answer)
        return run

    def _supposing(self, state: State, n: int) -> list[Proposal]:
        """The next questions if those without an answer are answered "cannot-link"."""
        run = self._begin(state)
        found: list[Proposal] = []
        n_supposed = 0
        while run.step is not None and len(found) < n and n_supposed < MAX_SUPPOSED * n:
            answer = int(state.closure.implied(*run.step.pair))
            if not answer and frozenset(run.step.pair) not in state.asked:
                n_supposed += 1
                answer = -1
                if bool(state.is_open(*run.step.pair)):
                    found.append(_proposal(run.step))
            run.tell(answer)
        return list({frozenset(proposal.samples): proposal for proposal in found}.values())


class Run:
    """COBRAS on its way: the question it waits at, and the last complete clustering."""

    def __init__(self, steps: Generator[Step, int, Clusters], clusters: Clusters):
        self._steps = steps
        self.clusters = clusters
        self.step: Step | None = None
        self.tell(None)

    def tell(self, answer: int | None) -> None:
        """Go on to the next question; at the end there is none."""
        try:
            self.step = self._steps.send(answer)  # type: ignore[arg-type]
            self.clusters = self.step.clusters
        except StopIteration as end:
            self.step, self.clusters = None, end.value


def _proposal(step: Step) -> Proposal:
    return Proposal(step.pair, step.why, float(len(step.clusters)))


# ---------------------------------------------------------------------- the algorithm


def cobras(
    X: FloatArray, whole: SuperInstance, split: Split, known: Known
) -> Generator[Step, int, Clusters]:
    """Yield questions that `known` does not answer, and be sent +1, -1, or 0 for none."""
    clusters: Clusters = [[whole]]
    final: set[int] = set()  # medoids of super-instances that cannot be split
    while True:
        instances = [each for cluster in clusters for each in cluster if each.medoid not in final]
        largest = max(instances, key=lambda each: len(each.rows), default=None)
        if largest is None:
            return clusters
        level = yield from _split_level(largest, split, known, clusters)
        parts = split(largest, min(2**level, len(largest.rows)))
        if len(parts) == 1:
            final.add(largest.medoid)
            continue
        rest = [[each for each in cluster if each is not largest] for cluster in clusters]
        new = [cluster for cluster in rest if cluster] + [[part] for part in parts]
        clusters = yield from _merged(X, new, known, clusters if len(instances) > 1 else None)


def _split_level(
    instance: SuperInstance, split: Split, known: Known, clusters: Clusters
) -> Generator[Step, int, int]:
    """How often, at least once, the instance, its smaller half, and so on fall in two."""
    level = 0
    while True:
        parts = split(instance, 2)
        if len(parts) == 1:
            break
        first, second = parts
        answer = int(known(first.medoid, second.medoid))
        if not answer:
            pair = first.medoid, second.medoid
            answer = yield Step(pair, "the middles of two halves: one group?", clusters)
        if answer >= 0:
            break
        level += 1
        divisible = [part for part in parts if len(part.rows) >= 2]
        if not divisible:
            break
        instance = min(divisible, key=lambda part: len(part.rows))
    return max(level, 1)


def _merged(
    X: FloatArray, clusters: Clusters, known: Known, before: Clusters | None
) -> Generator[Step, int, Clusters]:
    """Merge the closest clusters that belong together until all are known to be apart."""
    instances = [each for cluster in clusters for each in cluster]
    medoids = np.array([each.medoid for each in instances])
    cluster_of = np.repeat(np.arange(len(clusters)), [len(cluster) for cluster in clusters])
    distance = cdist(X[medoids], X[medoids])
    refused = np.zeros(distance.shape, dtype=bool)

    def merged_so_far() -> Clusters:
        numbers = np.unique(cluster_of)
        return [[instances[i] for i in np.flatnonzero(cluster_of == n)] for n in numbers]

    while True:
        apart = refused | (known(medoids[:, np.newaxis], medoids) < 0)
        pair = _closest(distance, apart, cluster_of)
        if pair is None:
            return merged_so_far()
        i, j = pair
        answer = int(known(medoids[i], medoids[j]))
        if not answer:
            asked = int(medoids[i]), int(medoids[j])
            shown = merged_so_far() if before is None else before
            answer = yield Step(asked, "the closest of two clusters: one group?", shown)
        if answer > 0:
            cluster_of[cluster_of == cluster_of[j]] = cluster_of[i]
        else:
            refused[i, j] = refused[j, i] = True


def _closest(
    distance: FloatArray, apart: npt.NDArray[np.bool_], cluster_of: IntArray
) -> tuple[int, int] | None:
    """The closest super-instances of two clusters none of whose super-instances are apart."""
    numbers, place = np.unique(cluster_of, return_inverse=True)
    members = np.eye(len(numbers))[place]
    clusters_apart = members.T @ apart @ members > 0
    barred = clusters_apart[place][:, place] | (place[:, np.newaxis] == place)
    if barred.all():
        return None
    i, j = np.unravel_index(np.where(barred, np.inf, distance).argmin(), distance.shape)
    return int(i), int(j)


def split_rows(X: FloatArray, rows: IntArray, n_parts: int, seed: int) -> list[SuperInstance]:
    """Rows parted by k-means; in fewer parts, or one, where rows are equal."""
    if len(rows) < 2 or not np.ptp(X[rows], axis=0).any():
        return [SuperInstance(rows, int(rows[0]))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different rows than parts
        labels = KMeans(n_parts, n_init=10, random_state=seed).fit(X[rows]).labels_
    parts = [rows[labels == number] for number in np.unique(labels)]
    return [SuperInstance(part, int(part[_medoid(X, part)])) for part in parts]


def _medoid(X: FloatArray, rows: Any) -> int:
    """Which of the rows is nearest to their mean."""
    return int(((X[rows] - X[rows].mean(axis=0)) ** 2).sum(axis=1).argmin())
