"""A fit during which the process of a worker is killed."""

import os
import signal
import threading

import numpy as np

from conclust import ConstrainedKMeans, sample_constraints

MANY = np.random.RandomState(0).normal(size=(100_000, 8))
KNOWN = sample_constraints(np.random.RandomState(1).randint(8, size=len(MANY)), 50, random_state=0)


def first_rows(rows, n_clusters, random_state):
    return rows[:n_clusters]


class KillsAtSecondStart:
    """First rows as centres; shortly after the second start has begun, its sweeps are on, kills."""

    def __init__(self, process):
        self.process, self.n_starts = process, 0

    def __call__(self, rows, n_clusters, random_state):
        self.n_starts += 1
        if self.n_starts == 2:
            threading.Timer(0.02, os.kill, (self.process, signal.SIGKILL)).start()
        return first_rows(rows, n_clusters, random_state)


def fitted(rows, init):
    return ConstrainedKMeans(8, init=init, n_init=2, max_iter=20).fit(rows, constraints=KNOWN)
