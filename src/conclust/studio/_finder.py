"""Looks for the next questions: owns the session, which nobody else touches."""

from typing import Any

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from conclust._arrays import IntArray
from conclust.active import Question, Session
from conclust.studio._book import Answer, Book
from conclust.studio._data import Data
from conclust.studio._desk import new_question

# Above so many answers taken back at once a new session is quicker.
MANY = 20
NEAR = 30  # rows around a pair, of which triples and piles are made
PILE = 8  # rows, unless another number is asked for


class Finder:
    """A session over the rows that can be asked about, kept in line with the book."""

    def __init__(self, data: Data, rows: IntArray, seed: int):
        self.data, self.rows, self.seed = data, rows, seed
        self.X = data.X if len(rows) == data.n_rows else data.X[rows]
        self.n_clusters: int | None = None
        self._session: Session | None = None
        self._told: dict[int, tuple[int, float]] = {}  # number there, and weight

    def follow(self, answers: dict[int, Answer], n_clusters: int | None) -> None:
        """Tell the session what it does not know yet, and take back what does not stand."""
        gone = [
            number
            for number, (_, weight) in self._told.items()
            if number not in answers or answers[number].weight != weight
        ]
        if self._session is None or n_clusters != self.n_clusters or len(gone) > MANY:
            self.n_clusters = n_clusters
            self._session = Session(self.X, n_clusters, random_state=self.seed)
            self._told.clear()
            gone = []
        for number in gone:
            self._session.retract(self._told.pop(number)[0])
        for number, answer in answers.items():
            if number not in self._told:
                self._tell(number, answer)

    def _tell(self, number: int, answer: Answer) -> None:
        places = np.searchsorted(self.rows, answer.samples)
        places = np.minimum(places, len(self.rows) - 1)
        if (self.rows[places] != answer.samples).any():
            return  # about rows that are not asked about; the clustering knows it
        assert self._session is not None
        kind: Any = answer.kind
        said = answer.answer
        if kind == "triple" and isinstance(said, int):
            said = int(places[answer.samples.index(said)])
        question = self._session.pose(places.tolist(), kind)
        told = self._session.tell(question, said, answer.weight, answer.by)
        self._told[number] = told.number, answer.weight

    def find(self, n: int) -> list[Question]:
        """The pairs to ask next."""
        assert self._session is not None
        found = self._session.ask(n)
        return [
            new_question("pair", self.rows[list(q.samples)].tolist(), q.why, q.worth) for q in found
        ]

    def around(
        self, pair: Question, kind: str, book: Book, confidence: Any = None, size: int = PILE
    ) -> Question | None:
        """A triple or piles around a pair: rows near its two, the least certain first."""
        places = np.searchsorted(self.rows, pair.samples)
        near = euclidean_distances(self.X[places], self.X)
        n_near = min(NEAR, near.shape[1])
        candidates = np.unique(np.argpartition(near, n_near - 1, axis=1)[:, :n_near])
        rows = self.rows[candidates]
        doubt = near[:, candidates].min(axis=0) if confidence is None else confidence[rows]
        chosen = list(pair.samples)
        groups = {int(book.closure.group[row]) for row in chosen}
        for row in rows[np.argsort(doubt, kind="stable")].tolist():
            group = int(book.closure.group[row])
            if group not in groups:  # of rows that are known to be one, one is asked about
                chosen.append(row)
                groups.add(group)
            if len(chosen) == (3 if kind == "triple" else size):
                break
        if len(chosen) < 3:
            return None
        return new_question(kind, chosen, pair.why, pair.worth)
