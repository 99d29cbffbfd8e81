"""ReCon and statements that may be wrong, or few: ``python benchmarks/recon_doubt.py [part ...]``.

Needs CONCLUST_DATA. Pairwise F-measure; triplets are random and true under the labels, a share of
them then flipped. At most 500 rows of each set, but all of the paper's.

doubt   n triplets of which none, 5 % and 20 % are flipped: obeyed (contradictions repaired), and
        with flip_rate="auto": the share it finds, how many it drops and how many it turns
few     8, n/8, n/4 and n/2 true triplets: none at all, the hierarchy's own clusters, the default

``--sets paper``: the paper's four, ten draws; ``seen``: eight looked at while the method was made,
five draws; ``unseen``: eight not looked at before it was finished, five draws.
"""

import argparse

import numpy as np
from sklearn.datasets import load_digits

from _measure import print_table
from conclust import ReCon, datasets, pairwise_f1, sample_constraints
from conclust.hierarchy import _recon

SETS = {
    "paper": ("iris", "wine", "ionosphere", "transfusion"),
    "seen": (
        "wdbc",
        "glass",
        "balance",
        "digits",
        "parkinsons",
        "sonar",
        "vowel",
        "segmentation_210",
    ),
    "unseen": (
        "pendigits",
        "semeion",
        "usps",
        "mfeat_fou",
        "mfeat_zer",
        "monks1_full",
        "letters_ijlt",
        "covtype",
    ),
}
DRAWS = {"paper": 10, "seen": 5, "unseen": 5}
MOST_ROWS = 500


def table(name, kind):
    bunch = load_digits() if name == "digits" else datasets.load(name)
    X, y = np.asarray(bunch.data, dtype=float), np.asarray(bunch.target)
    if kind != "paper" and len(y) > MOST_ROWS:
        chosen = np.random.RandomState(0).permutation(len(y))[:MOST_ROWS]
        X, y = X[chosen], y[chosen]
    return X, y


def doubt(kind):
    """F before and after, by share of flipped statements."""
    means = []
    for name in SETS[kind]:
        X, y = table(name, kind)
        k, row = len(np.unique(y)), []
        for noise in (0.0, 0.05, 0.2):
            found = []
            for draw in range(DRAWS[kind]):
                known = sample_constraints(y, n_relative=len(y), noise=noise, random_state=draw)
                obeyed = ReCon(k, on_conflict="repair").fit(X, constraints=known)
                model = ReCon(k, flip_rate="auto").fit(X, constraints=known)
                dropped = model.dropped_.provenance.get("flipped", np.zeros(0)).astype(bool)
                a, b, c = y[model.turned_.relative].T
                found.append(
                    (
                        pairwise_f1(y, obeyed.labels_),
                        pairwise_f1(y, model.labels_),
                        model.flip_rate_,
                        len(model.dropped_),
                        dropped.sum(),
                        len(model.turned_),
                        ((a == b) & (a != c)).sum(),
                    )
                )
            row.append(np.mean(found, axis=0))
        means.append(row)
        yield (name, *cells(row))
    yield ("mean", *cells(np.mean(means, axis=0)))


def cells(row):
    for before, after, rate, dropped, flipped, turned, right in row:
        yield f"{before:.2f}"
        yield f"{after:.2f}"
        yield f"{rate:.3f}; {dropped:.1f} ({flipped:.1f}); {turned:.1f} ({right:.1f})"


def few(kind):
    """F with few true statements."""
    means, compared = [], _recon.are_few
    for name in SETS[kind]:
        X, y = table(name, kind)
        k, n = len(np.unique(y)), len(y)
        row = [pairwise_f1(y, ReCon(k).fit(X).labels_)]
        for m in (8, n // 8, n // 4, n // 2):
            found = []
            for draw in range(DRAWS[kind]):
                known = sample_constraints(y, n_relative=m, random_state=draw)
                model = ReCon(k).fit(X, constraints=known)
                _recon.are_few = lambda *_: False
                own = model.cut(k)
                _recon.are_few = compared
                found.append((pairwise_f1(y, own), pairwise_f1(y, model.labels_)))
            row += np.mean(found, axis=0).tolist()
        means.append(row)
        yield (name, *(f"{value:.2f}" for value in row))
    yield ("mean", *(f"{value:.2f}" for value in np.mean(means, axis=0)))


FOUND = "flip_rate_; dropped (flipped); turned (right)"
PARTS = {
    "doubt": (
        doubt,
        ("data", *(f"{s}: {c}" for s in ("0", "5 %", "20 %") for c in ("obeyed", "auto", FOUND))),
    ),
    "few": (
        few,
        ("data", "none", *(f"{m}: {c}" for m in ("8", "n/8", "n/4", "n/2") for c in ("own", "F"))),
    ),
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="*", default=list(PARTS))
    parser.add_argument("--sets", nargs="*", choices=SETS, default=list(SETS))
    arguments = parser.parse_args()
    for part in arguments.parts:
        run, header = PARTS[part]
        for kind in arguments.sets:
            print_table((f"{header[0]} ({kind})", *header[1:]), [])
            for line in run(kind):
                print("| " + " | ".join(line) + " |", flush=True)
