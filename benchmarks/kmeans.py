"""Speed and memory of the k-means family against scikit-learn and a peer.

``python benchmarks/kmeans.py [ckm] [cop] [mnist] [--small]``. The peer,
active-semi-supervised-clustering 0.0.1, is measured when it can be imported; MNIST is read from
the folder named by CONCLUST_DATA. Rivals alternate in one process, so that both see the same noise.
"""

import sys
import time

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from _measure import measure, print_table
from conclust import ConstrainedKMeans, Constraints, COPKMeans, sample_constraints

MAX_ITER = 10


def blobs(n, d, k, n_constraints):
    X, y = make_blobs(n, d, centers=k, cluster_std=6.0, random_state=0)
    known = sample_constraints(y, n_constraints, random_state=0)
    init = X[np.random.RandomState(0).choice(n, k, replace=False)]
    # Load or compile the kernels, so that only the work itself is measured; a third of the rows,
    # since small data take another path.
    some = n // 3
    ckm((X[:some], Constraints([(0, 1)]), init))
    kmeans((X[:some], None, init))
    return X, known, init


def alternate(runs, repeats):
    """Seconds per iteration of each run, best of `repeats`, taking turns."""
    best = [np.inf] * len(runs)
    for _ in range(repeats):
        for i, run in enumerate(runs):
            began = time.perf_counter()
            n_iter = run().n_iter_
            best[i] = min(best[i], (time.perf_counter() - began) / n_iter)
    return best


def kmeans(case):
    X, _, init = case
    return KMeans(len(init), init=init, n_init=1, max_iter=MAX_ITER, tol=0, algorithm="lloyd").fit(
        X
    )


def ckm(case):
    X, known, init = case
    return ConstrainedKMeans(len(init), init=init, n_init=1, max_iter=MAX_ITER, tol=0).fit(
        X, constraints=known
    )


def n_iter_of_kmeans(case):
    return kmeans(case).n_iter_


def n_iter_of_ckm(case):
    return ckm(case).n_iter_


def constrained_kmeans_against_scikit_learn(small):
    sizes = [10**5] if small else [10**5, 10**6]
    rows = []
    for n in sizes:
        for d in (16, 128):
            for k in (10, 100):
                case = blobs(n, d, k, 5_000)
                for n_constraints in (5_000, 50_000):
                    args = (n, d, k, n_constraints)
                    X, _, init = case
                    known = blobs(*args)[1] if n_constraints != 5_000 else case[1]
                    began = time.perf_counter()
                    ckm((X[:2000], Constraints([(0, 1)]), init))
                    first = time.perf_counter() - began
                    theirs, ours = alternate(
                        [lambda: kmeans((X, None, init)), lambda: ckm((X, known, init))],  # noqa: B023
                        3 if n > 10**5 else 5,
                    )
                    their_memory = measure(blobs, n_iter_of_kmeans, *args, repeats=0).megabytes
                    our_memory = measure(blobs, n_iter_of_ckm, *args, repeats=0).megabytes
                    rows.append(
                        (n, d, k, n_constraints, f"{theirs * 1e3:.1f}", f"{ours * 1e3:.1f}",
                         f"{ours / theirs:.2f}", f"{our_memory / their_memory:.2f}", f"{first:.1f}")
                    )  # fmt: skip
                    print(rows[-1], file=sys.stderr, flush=True)
    print("\nConstrainedKMeans against KMeans(lloyd): milliseconds per iteration\n")
    print_table(
        (
            "n",
            "d",
            "k",
            "|S|",
            "sklearn",
            "ours",
            "time ratio",
            "peak memory ratio",
            "first call s",
        ),
        rows,
    )


def cop_against_the_peer():
    n, k, n_constraints = 10**4, 10, 10**4
    X, y = make_blobs(n, 10, centers=k, cluster_std=6.0, random_state=0)
    known = sample_constraints(y, n_constraints, random_state=0)
    COPKMeans(k, n_init=1, max_iter=1, random_state=0).fit(X, constraints=known)  # compile
    began = time.perf_counter()
    model = COPKMeans(k, n_init=1, random_state=0).fit(X, constraints=known)
    ours = time.perf_counter() - began
    rows = [("conclust COPKMeans", f"{ours:.2f}", model.n_iter_, model.report_.n_violated, "")]
    try:
        from active_semi_clustering.semi_supervised.pairwise_constraints import COPKMeans as Peer
    except ImportError as error:
        print(f"the peer is not measured: {error}")
    else:
        links = {
            "ml": [tuple(p) for p in known.must_link],
            "cl": [tuple(p) for p in known.cannot_link],
        }
        for note, settings in (
            ("as many iterations", {"max_iter": model.n_iter_}),
            ("its own stopping rule", {}),
        ):
            np.random.seed(0)
            peer = Peer(n_clusters=k, **settings)
            began = time.perf_counter()
            try:
                peer.fit(X, **links)
                broken = known.report(peer.labels_).n_violated
            except Exception as error:
                broken, note = "", f"{note}, failed: {type(error).__name__}"
            theirs = time.perf_counter() - began
            rows.append(
                ("active-semi-supervised-clustering 0.0.1", f"{theirs:.2f}", "", broken,
                 f"{note}; {theirs / ours:.0f}x our time")
            )  # fmt: skip
    print(f"\nCOPKMeans, n={n}, k={k}, {n_constraints} true constraints, one start\n")
    print_table(("who", "seconds", "iterations", "broken", "note"), rows)


def mnist():
    from conclust.datasets import load

    data = load("mnist")
    X, y = data.data[:60_000].astype(np.float32) / 255, data.target[:60_000]
    rows = []

    def timed(name, model, known):
        began = time.perf_counter()
        model.fit(X, **({} if known is None else {"constraints": known}))
        seconds = time.perf_counter() - began
        broken = 0 if known is None else model.report_.n_violated
        rows.append(
            (name, f"{seconds:.1f}", model.n_iter_, f"{seconds / model.n_iter_:.2f}", broken)
        )
        print(rows[-1], file=sys.stderr, flush=True)
        return seconds

    settings = {"n_init": 1, "random_state": 0, "max_iter": 100}
    known = sample_constraints(y, 1000, random_state=0)
    COPKMeans(10, n_init=1, max_iter=2, random_state=0).fit(X[:5000], constraints=None)
    COPKMeans(10, n_init=1, max_iter=2, random_state=0).fit(X, constraints=known)  # compile
    plain = timed("KMeans, k=10", KMeans(10, **settings), None)
    known = sample_constraints(y, 60_000, random_state=0)
    ours = timed("COPKMeans, k=10, 60 000 true constraints", COPKMeans(10, **settings), known)
    timed("KMeans, k=100", KMeans(100, **settings), None)
    # 2·10^6 cannot-links that a hidden assignment to 100 clusters keeps.
    hidden = np.random.RandomState(0).randint(100, size=len(y))
    known = sample_constraints(hidden, n_cannot_link=2_000_000, random_state=0)
    timed("COPKMeans, k=100, 2·10^6 cannot-links", COPKMeans(100, **settings), known)
    print("\nMNIST, 60 000 x 784, float32, one start\n")
    print_table(("what", "seconds", "iterations", "s per iteration", "broken"), rows)
    print(f"\nk=10: {ours / plain:.1f}x the time of unconstrained k-means")


def main():
    chosen = [a for a in sys.argv[1:] if not a.startswith("-")] or ["ckm", "cop", "mnist"]
    if "cop" in chosen:
        cop_against_the_peer()
    if "mnist" in chosen:
        mnist()
    if "ckm" in chosen:
        constrained_kmeans_against_scikit_learn("--small" in sys.argv)


if __name__ == "__main__":
    main()
