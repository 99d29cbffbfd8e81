"""Measure one case and print it as a line of JSON: ``…/_one.py CASE SECONDS``.

Runs in any of the environments: of ours nothing is imported before a case asks for it.
"""

import json
import os
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from _measure import peak_above

TURNS = 3
PATIENCE = 4.0  # processor seconds after which no further turn is taken
ITERATIONS = 10
LATE = 75  # what the process says that had not time enough


def blobs(n, d, k):
    rng = np.random.default_rng(0)
    y = rng.integers(k, size=n)
    # As far apart in any dimension, and so near that ten iterations do not come to rest.
    centers = 3.0 / np.sqrt(d) * rng.standard_normal((k, d))
    X = centers[y] + rng.standard_normal((n, d))
    return X, y, X[rng.choice(n, k, replace=False)]


def pairs(y, m):
    """True statements about random pairs: must-links, cannot-links."""
    ends = np.random.default_rng(1).integers(len(y), size=(m, 2))
    ends = ends[ends[:, 0] != ends[:, 1]]
    same = y[ends[:, 0]] == y[ends[:, 1]]
    return ends[same], ends[~same]


def triplets(y, m):
    """True relative statements: a and b of one class, c of another."""
    rng = np.random.default_rng(1)
    first = rng.integers(len(y), size=m)
    order = np.argsort(y, kind="stable")
    begin, end = np.searchsorted(y[order], y[first]), np.searchsorted(y[order], y[first], "right")
    second = order[rng.integers(begin, end)]
    third = rng.integers(len(y), size=m)
    kept = (first != second) & (y[third] != y[first])
    return np.column_stack([first, second, third])[kept]


class Found(NamedTuple):
    labels: Any = None
    iterations: int | None = None


class Case:
    """Rows, true classes, a start, and what is said."""

    def __init__(self, n, d, k, statements, members):
        self.X, self.y, self.init = blobs(n, d, k)
        self.k, self.members, self.statements = k, members, statements
        self.must, self.cannot = pairs(self.y, statements)

    def some(self):
        """A third of the rows, to compile by: small data take another path."""
        part = object.__new__(Case)
        n = max(len(self.X) // 3, min(len(self.X), 3 * self.k))
        part.X, part.y, part.init = self.X[:n], self.y[:n], self.init
        part.k, part.members, part.statements = self.k, self.members, self.statements // 3
        part.must, part.cannot = pairs(part.y, part.statements)
        return part

    def broken(self, labels):
        apart = labels[self.must[:, 0]] != labels[self.must[:, 1]]
        together = labels[self.cannot[:, 0]] == labels[self.cannot[:, 1]]
        return int(apart.sum() + together.sum())

    def inertia(self, labels):
        total = 0.0
        for label in np.unique(labels):
            rows = self.X[labels == label]
            total += float(((rows - rows.mean(axis=0)) ** 2).sum())
        return total


# ---------------------------------------------------------------- ours


def estimator(name, **given):
    """One of our estimators, in as many iterations as the others: one start, ten iterations."""

    def run(case):
        import conclust

        made = getattr(conclust, name)
        takes, known = made._takes, made().get_params(deep=False)
        settings = {
            takes.clusters: case.k,
            "n_init": 1,
            "random_state": 0,
            "n_estimators": case.members,
            "n_rounds": case.members,
        }
        if name in TEN_ITERATIONS:
            settings |= {"max_iter": ITERATIONS, "tol": 0, "init": case.init}
        settings = {key: value for key, value in settings.items() if key in known}
        model = made(**settings | given)
        X = np.hsplit(case.X, 2) if takes.needs else case.X
        model.fit(X, constraints=statements_of(case, takes))
        n_iter = getattr(model, "n_iter_", None)
        return Found(getattr(model, "labels_", None), None if n_iter is None else int(n_iter))

    return run


TEN_ITERATIONS = {"COPKMeans", "ConstrainedKMeans", "PCKMeans", "MPCKMeans"}


def statements_of(case, takes):
    from conclust import Constraints

    if "must-link" not in takes.kinds:
        return Constraints(relative=triplets(case.y, case.statements), n_samples=len(case.y))
    return Constraints(case.must, case.cannot, n_samples=len(case.y))


def our_tree(case):
    from conclust import Constraints, ReCon

    known = Constraints(relative=triplets(case.y, case.statements), n_samples=len(case.y))
    return Found(ReCon(case.k).fit(case.X, constraints=known).labels_)


def our_sizes(case):
    return estimator("COPKMeans", **size_bounds(case))(case)


def our_cobras(case):
    from conclust.active import COBRAS, Labels, ask

    asked = ask(
        case.X, Labels(case.y), budget=case.statements, strategy=COBRAS(), estimator="strategy",
        random_state=0,
    )  # fmt: skip
    return Found(asked.labels_)


# ---------------------------------------------------------------- rivals


def lloyd(case):
    from sklearn.cluster import KMeans

    return _kmeans(KMeans, case)


def intelex(case):
    from sklearnex.cluster import KMeans

    return _kmeans(KMeans, case)


def _kmeans(made, case):
    how = {"n_init": 1, "max_iter": ITERATIONS, "tol": 0, "algorithm": "lloyd"}
    model = made(case.k, init=case.init, **how).fit(case.X)
    return Found(model.labels_, int(model.n_iter_))


def faiss(case):
    import faiss

    faiss.omp_set_num_threads(1)
    X = case.X.astype(np.float32)
    found = faiss.Kmeans(
        X.shape[1], case.k, niter=ITERATIONS, max_points_per_centroid=len(X), seed=0
    )
    found.train(X, init_centroids=case.init.astype(np.float32))
    return Found(found.index.search(X, 1)[1][:, 0], ITERATIONS)


def scipy_tree(case):
    from scipy.cluster.hierarchy import linkage

    linkage(case.X, "centroid")
    return Found()


def fastcluster_tree(case):
    from fastcluster import linkage_vector

    linkage_vector(case.X, "centroid")
    return Found()


def peer_cop(case):
    from active_semi_clustering.semi_supervised.pairwise_constraints import COPKMeans

    return _peer(COPKMeans, case)


def peer_pck(case):
    from active_semi_clustering.semi_supervised.pairwise_constraints import PCKMeans

    return _peer(PCKMeans, case)


def _peer(made, case):
    np.random.seed(0)
    model = made(n_clusters=case.k, max_iter=ITERATIONS)
    links = {"ml": list(map(tuple, case.must)), "cl": list(map(tuple, case.cannot))}
    model.fit(case.X, **links)
    return Found(np.asarray(model.labels_))


def peer_cobras(case):
    from cobras_ts.cobras_kmeans import COBRAS_kmeans
    from cobras_ts.labelquerier import LabelQuerier

    np.random.seed(0)
    clusters = COBRAS_kmeans(case.X, LabelQuerier(case.y), case.statements).cluster()[0]
    return Found(np.asarray(clusters.construct_cluster_labeling()))


def peer_sizes(case):
    from k_means_constrained import KMeansConstrained

    how = {"init": case.init, "n_init": 1, "max_iter": ITERATIONS, "tol": 0}
    model = KMeansConstrained(case.k, **size_bounds(case), **how).fit(case.X)
    return Found(model.labels_, int(model.n_iter_))


def size_bounds(case):
    even = len(case.X) // case.k
    return {"size_min": int(0.9 * even), "size_max": int(1.1 * even) + 1}


RUNS = {
    "PCKMeans, a price given": estimator("PCKMeans", penalty=1.0),
    "ConstrainedGaussianMixture, doubting": estimator(
        "ConstrainedGaussianMixture", flip_rate="auto", covariance_type="tied"
    ),
    "ReCon": our_tree,
    "COPKMeans, sizes": our_sizes,
    "COBRAS": our_cobras,
    "scikit-learn KMeans": lloyd,
    "scikit-learn-intelex KMeans": intelex,
    "faiss Kmeans": faiss,
    "scipy linkage": scipy_tree,
    "fastcluster linkage": fastcluster_tree,
    "active-semi-supervised-clustering COPKMeans": peer_cop,
    "active-semi-supervised-clustering PCKMeans": peer_pck,
    "cobras-ts COBRAS": peer_cobras,
    "k-means-constrained": peer_sizes,
}


def run_of(who):
    return RUNS.get(who) or estimator(who)


def in_turns(runs, case):
    """Least processor seconds of each run, taking turns, and what each gave."""
    best, given = [np.inf] * len(runs), [Found()] * len(runs)
    began = time.process_time()
    for turn in range(TURNS):
        for i, run in enumerate(runs):
            before = time.process_time()
            given[i] = run(case)
            best[i] = min(best[i], time.process_time() - before)
        # The first may have compiled something after all.
        if time.process_time() - began > (PATIENCE if turn else 2 * PATIENCE):
            break
    return best, given


def measure_case(who, n, d, k, statements, members, beside=True):
    """Seconds, ratio to scikit-learn's k-means on the same rows, memory, and what was found."""
    case, run = Case(n, d, k, statements, members), run_of(who)
    for each in [run, lloyd] if beside else [run]:
        each(case.some())  # compile, load
    memory = peak_above(lambda: case, run, ())
    seconds, found = in_turns([run, lloyd] if beside else [run], case)
    row = {"seconds": seconds[0], "iterations": found[0].iterations, "megabytes": memory}
    if beside:
        row |= {"ratio": seconds[0] / seconds[1], "their_iterations": found[1].iterations}
    if found[0].labels is not None:
        labels = found[0].labels
        row |= {"broken": case.broken(labels), "inertia": case.inertia(labels)}
    return row


def leave_after(limit):
    """End this process, once it has used so many seconds of the processor."""

    def watch():
        while time.process_time() < limit:
            time.sleep(0.1)
        os._exit(LATE)

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    leave_after(float(sys.argv[2]))
    print(json.dumps(measure_case(**json.loads(sys.argv[1]))))
