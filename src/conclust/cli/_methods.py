"""The methods of the command line: one table, in which a method counts once its class exists."""

from dataclasses import dataclass, field
from typing import Any

import conclust

PAIRS = frozenset({"must-link", "cannot-link", "apart"})
RELATIVE = frozenset({"relative"})

# Where one start is the default; the rest of the table starts ten times by itself.
STARTS = {"n_init": 10}

# Rows up to which a method that holds an n × n array is tried unasked: 8 n² = 200 MB.
MAX_ROWS_SQUARE = 5_000


@dataclass(frozen=True)
class Method:
    """One way to cluster, as `--method` names it.

    Attributes
    ----------
    name : str
        For the command line.
    class_name : str
        The public class, looked up in `conclust` when it is needed.
    kinds : frozenset of str
        Kinds of statements it uses; others are ignored with a warning.
    about : str
        Half a sentence for the user.
    hard : bool
        Keeps every statement or fails.
    square : bool
        Holds an array of n_samples × n_samples.
    clusters : str
        The parameter that takes the number of clusters.
    parameters : dict
        Fixed by the name.
    needs : str
        What one table cannot give; such a method is for Python only.
    home : str
        The module of the class.
    """

    name: str
    class_name: str
    kinds: frozenset[str]
    about: str
    hard: bool = False
    square: bool = False
    clusters: str = "n_clusters"
    parameters: dict[str, Any] = field(default_factory=dict)
    needs: str = ""
    home: str = "conclust"

    @property
    def exists(self) -> bool:
        """Whether this version of conclust has the class."""
        return self.home != "conclust" or self.class_name in dir(conclust)

    def make(self, n_clusters: int, seed: int, verbose: bool = False, **settings: Any) -> Any:
        """An estimator; `settings` overrule everything but the number of clusters."""
        import importlib

        estimator = getattr(importlib.import_module(self.home), self.class_name)()
        known = estimator.get_params()
        given = {self.clusters: n_clusters, "random_state": seed, "verbose": int(verbose)}
        estimator.set_params(**{k: v for k, v in given.items() if k in known}, **self.parameters)
        return estimator.set_params(**settings)


METHODS = {
    method.name: method
    for method in (
        Method("cop-kmeans", "COPKMeans", PAIRS, "keeps every statement", hard=True),
        Method("pckmeans", "PCKMeans", PAIRS, "weighs statements against distances"),
        Method("mpckmeans", "MPCKMeans", PAIRS, "the same, and learns which features matter"),
        Method(
            "ckm",
            "ConstrainedKMeans",
            PAIRS,
            "obeys statements by priority, never fails",
            parameters=STARTS,
        ),
        Method("bckm", "BoostedConstrainedKMeans", PAIRS, "learns which statements come first"),
        Method(
            "ensemble", "ConstrainedKMeansEnsemble", PAIRS, "votes over random orders of statements"
        ),
        Method(
            "rckm",
            "ConstrainedKMeansEnsemble",
            PAIRS,
            "votes over random orders, one per member",
            parameters={"reorder": "run"},
        ),
        Method("trust", "TrustEnsemble", PAIRS, "judges which statements to believe, then votes"),
        Method("gkmeans", "GeneralizedKMeans", PAIRS, "clusters of unequal size and shape"),
        Method(
            "gmm",
            "ConstrainedGaussianMixture",
            PAIRS,
            "a Gaussian mixture under statements",
            clusters="n_components",
        ),
        Method("boostcluster", "BoostCluster", PAIRS, "boosts any clusterer by projections"),
        Method("spectral", "SpectralLearning", PAIRS, "a graph edited by statements", square=True),
        Method(
            "sskk", "SemiSupervisedKernelKMeans", PAIRS, "kernel k-means with prices", square=True
        ),
        Method("recon", "ReCon", PAIRS | RELATIVE, "a tree that keeps relative statements"),
        Method("cotraining", "CoTraining", PAIRS, "two views teach each other", needs="two tables"),
        Method(
            "kmeans",
            "KMeans",
            frozenset(),
            "no statements at all",
            parameters=STARTS,
            home="sklearn.cluster",
        ),
    )
}


def available() -> dict[str, Method]:
    """The methods of this version."""
    return {name: method for name, method in METHODS.items() if method.exists}


def method_of(estimator: Any) -> Method:
    """The method that makes this kind of estimator."""
    class_name = type(estimator).__name__
    return next(method for method in METHODS.values() if method.class_name == class_name)


def why_not(method: Method, constraints: Any, n_samples: int) -> str | None:
    """Why a method does not suit these statements and so many rows; None if it does."""
    if not method.exists:
        return f"this version of conclust has no {method.class_name}"
    if method.needs:
        return f"it needs {method.needs}; use conclust.{method.class_name} from Python"
    if constraints and method.kinds and not set(constraints.kinds) & method.kinds:
        said = ", ".join(sorted(set(constraints.kinds.tolist())))
        return f"it uses no {said} statements"
    if method.square and n_samples > MAX_ROWS_SQUARE:
        return f"it holds an array of {n_samples:,} × {n_samples:,}"
    return None
