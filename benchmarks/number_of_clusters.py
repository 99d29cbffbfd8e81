"""How many clusters are found where nobody says how many there are.

    CONCLUST_DATA=folder python benchmarks/number_of_clusters.py [iris ...] [--draws 10] [--ask]

`--answers 0 30` gives numbers of answers; by default 0, 30, 100 and a tenth of the rows. True
answers about random pairs; columns standardised, embeddings as they are. For each number of
answers: the median of the numbers found, the smallest and largest, how many lie within a tenth of
the truth (or are the truth, where a tenth is less than one), and the seconds of one call. With
`--ask` answers are about pairs that a session asks about, 20 at a time.
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.preprocessing import StandardScaler

from conclust import sample_constraints
from conclust.active import Labels, ask
from conclust.datasets import load
from conclust.model_selection import choose_n_clusters
from lopsided import texts

SETS = ("iris", "wine", "glass", "wdbc", "ionosphere", "segmentation_2310", "semeion", "vowel")
TEXTS = ("tweet89", "massive18")


def rows_of(name):
    """Rows and classes."""
    if name in TEXTS:
        return texts(name)
    if name == "digits":
        from sklearn.datasets import load_digits

        return load_digits(return_X_y=True)
    data = load(name)
    classes = np.unique(data.target, return_inverse=True)[1]
    return StandardScaler().fit_transform(data.data), classes


def number_told(X, y, n_pairs, seed):
    """The number by true answers about random pairs."""
    told = sample_constraints(y, n_pairs, random_state=seed)
    return choose_n_clusters(X, told, random_state=seed).chosen


def number_asked(X, y, n_pairs, seed):
    """The number of a session's model that asked for answers."""
    return ask(X, Labels(y), n_pairs, batch=20, random_state=seed).model_.n_clusters_


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("sets", nargs="*", default=[*TEXTS, "digits", *SETS])
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--answers", type=int, nargs="*", default=None)
    parser.add_argument("--ask", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.sets:
        X, y = rows_of(name)
        k, n = len(set(y)), len(X)
        for n_pairs in options.answers or (0, 30, 100, n // 10):
            began = time.perf_counter()
            draws = range(options.draws if n_pairs else 1)
            number = number_asked if options.ask and n_pairs else number_told
            found = [number(X, y, n_pairs, draw) for draw in draws]
            took = (time.perf_counter() - began) / len(found)
            near = sum(abs(each - k) <= 0.1 * k + 0.2 for each in found)
            print(
                f"{name:18} k={k:<3} {n_pairs:5} answers: {np.median(found):5g} "
                f"({min(found)} to {max(found)}), near {near}/{len(found)}, {took:.1f} s "
                f"{found if options.ask else ''}",
                flush=True,
            )


if __name__ == "__main__":
    main()
