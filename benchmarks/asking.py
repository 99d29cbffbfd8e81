"""How long one waits for the next question, and for an answer to be taken.

``python benchmarks/asking.py [--strategy NAME ...] [--rows 100000] [--answers 200]
[--rates] [--change]``.

Rows of 50 numbers around ten centres, true answers; the first question apart, then the median of
fifty after so many answers ("piles" knows 1 000 rows after 120, and goes on with others).
``--rates`` instead compares `flip_rate_` with the true share of wrong answers, with and without
rechecks, on iris, wine and glass; ``--change`` `expected_change_` with what the next ten answers
did (a minute or two each).
"""

import argparse
import time

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix
from sklearn.preprocessing import StandardScaler

from conclust.active import STRATEGIES, Labels, Noisy, Session, ask
from conclust.datasets import load

N_TIMED = 50


def waits(strategy, n_rows, n_answers):
    """Seconds for the first question; medians for a question and an answer later on."""
    rng = np.random.RandomState(0)
    y = rng.randint(10, size=n_rows)
    X = rng.normal(size=(10, 50))[y] + rng.normal(size=(n_rows, 50))
    session, oracle = Session(X, 10, strategy=strategy, random_state=0), Labels(y)
    asking, telling = [], []
    for _ in range(n_answers + N_TIMED):
        began = time.perf_counter()
        questions = session.ask()
        asked = time.perf_counter()
        for question, answer in zip(questions, oracle(questions), strict=True):
            session.tell(question, answer)
        asking.append(asked - began)
        telling.append(time.perf_counter() - asked)
    return asking[0], np.median(asking[-N_TIMED:]), np.median(telling[-N_TIMED:])


def rows_of(name):
    """Standardised rows, and their classes as numbers."""
    data = load(name)
    y = np.unique(data.target, return_inverse=True)[1]
    return StandardScaler().fit_transform(data.data), y


def rates(name, p_must, p_cannot, recheck, n_seeds=6):
    """Mean of the true shares of wrong must- and cannot-links, and of what `flip_rate_` says."""
    X, y = rows_of(name)
    rows = []
    for seed in range(n_seeds):
        oracle = Noisy(Labels(y), p_must, p_cannot, random_state=seed)
        k = len(np.unique(y))
        session = ask(X, oracle, 150, k, "random", random_state=seed, recheck=recheck)
        history = session.history_
        same = np.array([y[a] == y[b] for a, b in history["samples"]])
        said = (history["answer"] == "must-link").to_numpy()
        rows.append([(~same[said]).mean(), same[~said].mean(), *session.flip_rate_])
    return np.mean(rows, axis=0)


def changes(name, n_seeds=2, n_answers=100):
    """Shares of rows that ten answers were expected to move, and moved."""
    X, y = rows_of(name)
    found = []
    for seed in range(n_seeds):
        session = Session(X, len(np.unique(y)), strategy="random", random_state=seed)
        expected, before = None, session.labels_
        for n in range(10, n_answers + 1, 10):
            ask(session, Labels(y), 10)
            if expected is not None:
                found.append((expected, moved(before, session.labels_)))
            before = session.labels_
            expected = session.expected_change_.share if n >= 20 else None
    return found


def moved(before, after):
    """Share of rows that changed cluster, clusters being matched as well as can be."""
    shared = contingency_matrix(before, after)
    return 1 - shared[linear_sum_assignment(shared, maximize=True)].sum() / len(before)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strategy", nargs="*", default=list(STRATEGIES))
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--answers", type=int, default=200)
    parser.add_argument("--rates", action="store_true")
    parser.add_argument("--change", action="store_true")
    given = parser.parse_args()
    if given.rates:
        print("| set | wrong must, cannot | recheck | true shares | flip_rate_ |")
        print("|---|---|---|---|---|")
        for name in ("iris", "wine", "glass"):
            for flips in ((0.0, 0.0), (0.15, 0.15), (0.1, 0.3)):
                for recheck in (0.0, 0.1):
                    a, b, c, d = rates(name, *flips, recheck)
                    print(f"| {name} | {flips} | {recheck} | {a:.2f} {b:.2f} | {c:.2f} {d:.2f} |")
        return
    if given.change:
        found = [changes(name) for name in ("iris", "wine", "glass", "sonar")]
        expected, after = np.concatenate(found).T
        low = expected < 0.01
        print(f"expected {expected.mean():.1%}, moved {after.mean():.1%}")
        print(
            f"hardly any expected in {low.sum()} of {len(low)}: moved {after[low].mean():.1%}, ",
            end="",
        )
        print(f"at most {after[low].max():.1%}")
        return
    print("| strategy | first question, s | next, ms | an answer, ms |\n|---|---|---|---|")
    for strategy in given.strategy:
        first, question, answer = waits(strategy, given.rows, given.answers)
        print(f"| {strategy} | {first:.2f} | {question * 1e3:.1f} | {answer * 1e3:.1f} |")


if __name__ == "__main__":
    main()
