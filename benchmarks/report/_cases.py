"""What is measured: estimators along each axis, the cells of k-means, and rivals by task."""

from conclust._declare import estimators

D, K, STATEMENTS, MEMBERS = 16, 10, 1_000, 10
TIMES = 4  # by how much d, k, statements and members grow
LARGE, MIDDLE, SMALL = 100_000, 10_000, 2_000  # the most rows of the small version
FULL = 10  # as many times more rows has the full version

MOST_ROWS = {
    "ConstrainedKMeans": LARGE,
    "COPKMeans": LARGE,
    "PCKMeans, a price given": LARGE,
    "ConstrainedGaussianMixture": LARGE,
    "BoostedConstrainedKMeans": 3 * MIDDLE,
    "ConstrainedKMeansEnsemble": 3 * MIDDLE,
    "ITML": LARGE,
    "RelativeMetric": LARGE,
    "SemiSupervisedKernelKMeans": SMALL,
    "CoTraining": SMALL,
}
VARIANTS = ["PCKMeans, a price given", "ConstrainedGaussianMixture, doubting"]
# Memory of n × n, or rounds of whole ensembles: ten times the rows would take too long.
NEVER_MORE = {"SemiSupervisedKernelKMeans", "CoTraining"}

RIVALS = {  # environment: what pip installs
    "scikit-learn-intelex": ["scikit-learn-intelex"],
    "faiss-cpu": ["faiss-cpu"],
    "fastcluster": ["fastcluster", "scipy"],
    "active-semi-supervised-clustering": ["active-semi-supervised-clustering"],
    # It uses names that numpy 1.24 took away, and imports its page for drawing.
    "cobras-ts": [
        "cobras-ts", "numpy<1.24", "scikit-learn<1.3", "scipy<1.11", "pandas<2.1", "bokeh<3.3",
        "tornado", "datashader",
    ],
    "k-means-constrained": ["k-means-constrained"],
}  # fmt: skip
ENVIRONMENT = {
    "scikit-learn-intelex KMeans": "scikit-learn-intelex",
    "faiss Kmeans": "faiss-cpu",
    "fastcluster linkage": "fastcluster",
    "active-semi-supervised-clustering COPKMeans": "active-semi-supervised-clustering",
    "active-semi-supervised-clustering PCKMeans": "active-semi-supervised-clustering",
    "cobras-ts COBRAS": "cobras-ts",
    "k-means-constrained": "k-means-constrained",
}
# Task: who does it, and rows, features, clusters and statements of the small version.
TASKS = {
    "K-means, ten iterations from the same rows": (
        ["ConstrainedKMeans", "scikit-learn KMeans", "scikit-learn-intelex KMeans", "faiss Kmeans"],
        [(100_000, 16, 10, 0), (100_000, 128, 100, 0)],
    ),
    "A hierarchy by centroids": (
        ["ReCon", "scipy linkage", "fastcluster linkage"],
        [(3_000, 16, 10, 0), (10_000, 16, 10, 0)],
    ),
    "Statements that must hold, ten iterations": (
        ["COPKMeans", "active-semi-supervised-clustering COPKMeans"],
        [(1_000, 16, 10, 300), (3_000, 16, 10, 1_000)],
    ),
    "Statements with a price, ten iterations": (
        ["PCKMeans, a price given", "active-semi-supervised-clustering PCKMeans"],
        [(1_000, 16, 10, 300), (3_000, 16, 10, 1_000)],
    ),
    "As many questions as statements are named": (
        ["COBRAS", "cobras-ts COBRAS"],
        [(1_000, 16, 10, 100), (3_000, 16, 10, 100)],
    ),
    "Sizes within a tenth of even ones, ten iterations": (
        ["COPKMeans, sizes", "k-means-constrained"],
        [(1_000, 16, 10, 0), (10_000, 16, 10, 0)],
    ),
}


def names():
    return sorted([*estimators(), *VARIANTS], key=lambda name: -MOST_ROWS.get(name, MIDDLE))


def rows_of(name, quick):
    most = MOST_ROWS.get(name, MIDDLE)
    rows = [most // 10, 3 * most // 10, most]
    return rows if quick or name in NEVER_MORE else [*rows, 3 * most, FULL * most]


def has_members(name):
    made = estimators()[name.split(",")[0]]
    return bool({"n_estimators", "n_rounds"} & set(made().get_params(deep=False)))


def axes(name, quick):
    """Cases of an estimator by what grows in them; the first one of each axis is shared."""
    rows = rows_of(name, quick)
    grown = {"d": D, "k": K, "statements": STATEMENTS}
    if has_members(name):
        grown["members"] = MEMBERS
    middle = case_of(name, rows[1])
    return {"n": [case_of(name, n) for n in rows]} | {
        axis: [middle, middle | {axis: TIMES * value}] for axis, value in grown.items()
    }


def cells(quick):
    """The k-means cells: rows, features and clusters crossed."""
    return [
        case_of("ConstrainedKMeans", n, d, k, 5_000)
        for n in ([LARGE] if quick else [LARGE, FULL * LARGE])
        for d in (16, 128)
        for k in (10, 100)
    ]


def tasks(quick):
    """Cases of each task. The full version has three times as many rows."""
    return {
        task: [
            [case_of(who, n if quick else 3 * n, d, k, m) for who in whos] for n, d, k, m in sizes
        ]
        for task, (whos, sizes) in TASKS.items()
    }


def case_of(who, n, d=D, k=K, statements=STATEMENTS, members=MEMBERS):
    return {"who": who, "n": n, "d": d, "k": k, "statements": statements, "members": members}


def all_cases(quick, only=()):
    """Every case once, the estimators first."""
    found = cells(quick)
    for name in names():
        found += [case for axis in axes(name, quick).values() for case in axis]
    found += [case for rows in tasks(quick).values() for row in rows for case in row]
    if only:
        found = [case for case in found if case["who"] in only]
    return list({tuple(case.values()): case for case in found}.values())
