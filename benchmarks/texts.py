"""Short texts: what answers add to their embedding, true ones and lopsided ones.

    CONCLUST_DATA=folder python benchmarks/texts.py [tweet89 massive18] [--draws 1] [--rows 3000]
    CONCLUST_DATA=folder python benchmarks/texts.py --ask [tweet89 massive18] [--rows 500] [--piles]

A third as many answers as rows, about random pairs, true or lopsided (35 % of "same" wrong, more
often the farther apart, 0.5 % of "different"; see lopsided.py). Accuracy under the best matching of
clusters and classes, and normalised mutual information, of k-means told nothing, PCKMeans, PCKMeans
on rows averaged over their neighbours, the same begun with average linkage, and AutoCluster.
`--ask` asks instead: v-measure of the clusters after 100 to n answers of `conclust.active`, ten at
a time and one at a time; then, with `--piles` alone, ten rows sorted at each answer (strategy
"piles"): after every twenty answers the rows shown so far, and the v-measure of the clusters of
`AutoCluster` and of the strategy itself; `--wrong 0.1` puts a tenth of the rows into another pile,
`--unknown` does not tell the number of classes.
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score, v_measure_score

from conclust import AutoCluster, PCKMeans, active, sample_constraints
from conclust.cluster import average_linkage_start, smooth_over_neighbors
from lopsided import accuracy, lopsided, texts


def part_of(name, n_rows, seed=0):
    """Embeddings and classes, of a random part of the rows."""
    X, y = texts(name)
    if n_rows and n_rows < len(X):
        kept = np.sort(np.random.RandomState(seed).choice(len(X), size=n_rows, replace=False))
        X, y = X[kept], np.unique(y[kept], return_inverse=True)[1]
    return X, y


def answers(X, y, seed):
    """Kinds of answers: what was said."""
    n = len(X) // 3
    true = sample_constraints(y, n, random_state=seed)
    same = len(true.must_link)
    near = lopsided(X, y, n // 2, n - n // 2, seed)
    return {
        f"true, random pairs ({same} same)": true,
        f"lopsided, half of them same ({len(near.must_link)})": near,
    }


def compare(name, options):
    X, y = part_of(name, options.rows)
    k, smooth = y.max() + 1, smooth_over_neighbors(X)
    print(f"{name}: {len(X)} rows, {k} classes; accuracy, NMI, seconds", flush=True)
    for draw in range(options.draws):
        plain = KMeans(k, n_init=10, random_state=draw)
        said(f"k-means, draw {draw}", y, plain, X)
        start = average_linkage_start(smooth, k, random_state=draw)
        said("k-means, sm., tree", y, KMeans(k, init=start, n_init=1), smooth)
        for what, known in answers(X, y, draw).items():
            print(f"  {what}")
            told = {"constraints": known}
            said("PCKMeans", y, PCKMeans(k, random_state=draw), X, **told)
            said("PCKMeans, smoothed", y, PCKMeans(k, random_state=draw), smooth, **told)
            from_tree = PCKMeans(k, init=start, n_init=1, random_state=draw)
            said("PCKMeans, sm., tree", y, from_tree, smooth, **told)
            said("AutoCluster", y, AutoCluster(k, random_state=draw), X, **told)


def said(what, y, model, X, **told):
    began = time.perf_counter()
    labels = model.fit(X, **told).labels_
    took = time.perf_counter() - began
    nmi = normalized_mutual_info_score(y, labels)
    print(f"    {what:22} {accuracy(y, labels):.3f} {nmi:.3f} {took:6.1f}", flush=True)


def ask(name, options):
    for draw in range(options.draws):
        ask_about(name, *part_of(name, options.rows or 500, draw), options)


def ask_about(name, X, y, options):
    n, k = len(X), y.max() + 1
    print(f"{name}: {n} rows, {k} classes; v-measure after each number of answers", flush=True)
    plain = KMeans(k, n_init=10, random_state=0).fit(X)
    print(f"  told nothing: {v_measure_score(y, plain.labels_):.3f}")
    for batch in () if options.piles else (10, 1):
        began = time.perf_counter()
        session = active.Session(X, n_clusters=k, random_state=0)
        oracle, n_told, line = active.Labels(y), 0, []
        while n_told < n:
            questions = session.ask(min(batch, n - n_told))
            if not questions:
                break
            for question, answer in zip(questions, oracle(questions), strict=True):
                session.tell(question, answer)
            n_told += len(questions)
            if n_told % (n // 5) == 0:
                line.append(f"{n_told}: {v_measure_score(y, session.labels_):.3f}")
                took = time.perf_counter() - began
                print(f"  {batch} at a time, {line[-1]}, {took:.0f} s so far", flush=True)
    sort(X, y, None if options.unknown else k, options.wrong)


def sort(X, y, k, wrong):
    """Ten rows at a time, one question after the other, until nothing is open."""
    oracle = active.Labels(y)
    if wrong:
        oracle = active.Noisy(oracle, wrong, wrong, random_state=0)
    session = active.Session(X, n_clusters=k, strategy="piles", random_state=0)
    own = active.Session(X, n_clusters=k, strategy="piles", estimator="strategy", random_state=0)
    n_cards, waited = 0, 0.0
    while len(session) < len(X):
        began = time.perf_counter()
        questions = session.ask()
        waited += time.perf_counter() - began
        for question, answer in zip(questions, oracle(questions), strict=True):
            session.tell(question, answer)
            own.tell(own.pose(question.samples, question.kind), answer)
            n_cards += len(question.samples)
        if not questions or len(session) % 20 == 0:
            scores = [v_measure_score(y, each.labels_) for each in (session, own)]
            print(
                f"  piles, {len(session)} answers, {n_cards} rows shown: "
                f"{scores[0]:.3f}, own clusters {scores[1]:.3f}, {waited:.1f} s for the questions",
                flush=True,
            )
        if not questions:
            return


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("sets", nargs="*", default=["tweet89", "massive18"])
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--rows", type=int, default=0, help="A random part; all by default.")
    parser.add_argument("--ask", action="store_true")
    parser.add_argument("--piles", action="store_true", help="With --ask: these only.")
    parser.add_argument("--wrong", type=float, default=0.0, help="Share of rows, with --piles.")
    parser.add_argument("--unknown", action="store_true", help="The number of classes is.")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.sets:
        (ask if options.ask else compare)(name, options)


if __name__ == "__main__":
    main()
