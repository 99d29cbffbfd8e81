"""The clustering that people see: fitted again and again, numbers of clusters kept."""

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from conclust import AutoCluster, Constraints
from conclust._arrays import FloatArray, IntArray
from conclust._matching import renumbering
from conclust.active import ExpectedChange, expected_change, moved
from conclust.exceptions import ConclustWarning
from conclust.reporting import profiles
from conclust.studio._data import Data

SUSPECT = 0.5  # a statement more probably wrong than right
MAX_FITS = 500  # whose stability is shown
LOOKED_BACK = 20  # answers, for what the next ones will do


@dataclass(frozen=True)
class Told:
    """What a fit is told."""

    n_events: int
    n_answers: int
    constraints: Constraints
    numbers: list[list[int]]  # the answers behind each statement
    n_clusters: int | None
    error_rate: float
    n_checked: int  # the answers that tell this rate

    def says_as(self, other: "Told") -> bool:
        """Whether a fit to the other would be the same: what was added says nothing."""
        return (
            self.numbers == other.numbers
            and self.n_clusters == other.n_clusters
            and self.error_rate == other.error_rate
            and self.n_checked == other.n_checked
            and np.array_equal(self.constraints.weight, other.constraints.weight)
        )


@dataclass(frozen=True)
class Clustering:
    """One fit, and what it says.

    Attributes
    ----------
    version : int
        Counts the fits.
    told : Told
        What it knows.
    labels : ndarray of shape (n_rows,)
        Clusters keep their numbers from one fit to the next, as far as can be.
    model : AutoCluster
        Fitted; `predict` gives the same numbers.
    doubt : dict of int to float
        For each answer, the probability that it is wrong.
    stability : list of (int, float)
        After each fit: answers so far, and the share of rows that stayed.
    """

    version: int
    told: Told
    labels: IntArray
    model: Any
    names: list[str]
    phrases: list[list[str]]
    confidence: FloatArray
    doubt: dict[int, float]
    kept_share: float | None
    conflicts: list[tuple[str, list[int]]]  # why, and the answers in it
    stability: list[tuple[int, float]] = field(default_factory=list)

    @property
    def n_clusters(self) -> int:
        """How many there are."""
        return len(self.names)

    @property
    def sizes(self) -> list[int]:
        """Rows of each cluster."""
        return np.bincount(self.labels, minlength=self.n_clusters).tolist()

    @property
    def expected(self) -> ExpectedChange:
        """What the next answers will do, by what the last fits did."""
        steps: list[tuple[int, float]] = []
        for (n_before, _), (n, share) in reversed(
            list(zip(self.stability, self.stability[1:], strict=False))
        ):
            if sum(n for n, _ in steps) < LOOKED_BACK and n > n_before:
                steps.append((n - n_before, 1 - share))
        return expected_change(steps)

    def suspects(self, kept: set[int]) -> list[int]:
        """Answers that seem wrong, the most doubtful first, but for those found right."""
        doubted = [n for n, d in self.doubt.items() if d > SUSPECT and n not in kept]
        return sorted(doubted, key=lambda n: -self.doubt[n])


def cluster(data: Data, shown: IntArray, told: Told, seed: int, last: Clustering | None) -> Any:
    """Fit, and say what came of it; clusters are described by the rows shown."""
    if last is not None and told.says_as(last.told):
        return replace(last, told=told)
    constraints = told.constraints
    k = "auto" if told.n_clusters is None else min(told.n_clusters, data.n_rows)
    model = AutoCluster(k, flip_rate=told.error_rate, n_checked=told.n_checked, random_state=seed)
    with warnings.catch_warnings():
        # What a fit breaks or ignores is shown answer by answer.
        warnings.simplefilter("ignore", ConclustWarning)
        model.fit(data.X, constraints=constraints)
    if last is not None:
        keep_numbers(model, last.labels)
    labels = np.asarray(model.labels_, dtype=np.int64)
    profile = _profile(data, shown, labels, model.n_clusters_)
    stayed = 1.0 if last is None else 1 - moved(last.labels, labels)
    return Clustering(
        version=1 if last is None else last.version + 1,
        told=told,
        labels=labels,
        model=model,
        names=[name or f"cluster {c}" for c, name in enumerate(profile.names)],
        phrases=profile.phrases,
        confidence=np.asarray(model.confidence()),
        doubt=_doubt(model.doubt_, told.numbers),
        kept_share=float(model.report_.kept.mean()) if len(constraints) else None,
        conflicts=[
            (str(conflict), sorted({n for i in conflict.index for n in told.numbers[i]}))
            for conflict in constraints.conflicts(told.n_clusters)
        ],
        stability=[*([] if last is None else last.stability), (told.n_answers, stayed)][-MAX_FITS:],
    )


def keep_numbers(model: Any, labels: IntArray) -> None:
    """Give the clusters of a fitted model the numbers they had, those of which there still are."""
    n_clusters = model.n_clusters_
    before = np.where(labels < n_clusters, labels, -1)
    model._renumber(renumbering(model.labels_, before, n_clusters))


def _profile(data: Data, shown: IntArray, labels: IntArray, n_clusters: int) -> Any:
    frame = None if data.used is None else data.used.iloc[shown]
    return profiles(
        data.X[shown],
        labels[shown],
        n_clusters,
        columns=data.features or None,
        frame=frame,
        numbers=data.numbers,
        categories=data.categories,
        texts=data.texts,
    )


def _doubt(doubt: FloatArray, numbers: list[list[int]]) -> dict[int, float]:
    """Of each answer: its most doubtful statement."""
    found: dict[int, float] = {}
    for value, answers in zip(doubt.tolist(), numbers, strict=True):
        for number in answers:
            found[number] = max(found.get(number, 0.0), value)
    return found
