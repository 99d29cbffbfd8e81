"""What each estimator takes and promises: said once, on its class, as `_takes`.

The check at the door, scikit-learn's tags, the methods of the command line, the common tests and
the tables of README and guide are made from it, so none of them can say something else.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any

KINDS = ("must-link", "cannot-link", "apart", "relative")
PAIRS = frozenset(KINDS[:3])
RELATIVE = frozenset(KINDS[3:])

# Rows up to which a method that holds an n × n array is tried unasked: 8 n² = 200 MB.
MAX_ROWS_SQUARE = 5_000


@dataclass(frozen=True)
class Named:
    """A name for ``--method``.

    Attributes
    ----------
    name : str
    about : str
        What it does, half a sentence.
    parameters : dict
        Fixed by the name.
    """

    name: str
    about: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Takes:
    """What an estimator takes.

    Attributes
    ----------
    kinds : frozenset of str
        Kinds of statements it uses; others are ignored with a warning.
    how : str
        How binding statements are, for the tables: "hard", "soft", "by vote".
    when : str
        When to use it, half a sentence for the tables.
    weights : str
        What the weights of statements are to it: "weights", "priorities", or nothing.
    hard : bool
        Every statement holds in the result, or `fit` raises.
    sparse : bool
        Takes sparse rows.
    cosine : bool
        Has `metric`, and ``metric="cosine"`` brings its rows to unit length at the door.
    blocks : callable or None
        Takes rows that are read block by block, and this makes such of a collection of an engine:
        `conclust.blocks.open`.
    square : bool
        Holds an array of n_samples × n_samples.
    names : tuple of Named
        Its names on the command line; none for what is no clusterer.
    clusters : str
        The parameter that takes the number of clusters.
    needs : str
        What one table cannot give; such a method is for Python only.
    """

    kinds: frozenset[str]
    how: str
    when: str
    weights: str = ""
    hard: bool = False
    sparse: bool = True
    cosine: bool = False
    blocks: Callable[[Any], Any] | None = None
    square: bool = False
    names: tuple[Named, ...] = ()
    clusters: str = "n_clusters"
    needs: str = ""


@dataclass(frozen=True)
class Method:
    """One way to cluster, as ``--method`` names it: a class and what the name fixes."""

    named: Named
    estimator: Any  # the class
    takes: Takes

    @property
    def name(self) -> str:
        """The name on the command line."""
        return self.named.name

    @property
    def about(self) -> str:
        """What it does, half a sentence."""
        return self.named.about

    @property
    def class_name(self) -> str:
        """The public class."""
        return self.estimator.__name__

    @property
    def kinds(self) -> frozenset[str]:
        """Kinds of statements it uses."""
        return self.takes.kinds

    def make(self, n_clusters: int, seed: int, verbose: bool = False, **settings: Any) -> Any:
        """An estimator; `settings` overrule everything but the number of clusters."""
        estimator = self.estimator()
        known = estimator.get_params()
        given = {self.takes.clusters: n_clusters, "random_state": seed, "verbose": int(verbose)}
        given = {name: value for name, value in given.items() if name in known}
        return estimator.set_params(**given | dict(self.named.parameters)).set_params(**settings)


def why_not(method: Method, constraints: Any, n_samples: int) -> str | None:
    """Why a method does not suit these statements and so many rows; None if it does."""
    takes = method.takes
    if takes.needs:
        return f"it needs {takes.needs}; use conclust.{method.class_name} from Python"
    if constraints and takes.kinds and not set(constraints.kinds) & takes.kinds:
        said = ", ".join(sorted(set(constraints.kinds.tolist())))
        return f"it uses no {said} statements"
    if takes.square and n_samples > MAX_ROWS_SQUARE:
        return f"it holds an array of {n_samples:,} × {n_samples:,}"
    return None


def words_of(kinds: frozenset[str]) -> list[str]:
    """Kinds as the tables name them; groups kept apart are cannot-links of several rows."""
    return [kind for kind in KINDS if kind in kinds and kind != "apart"]


@cache
def estimators() -> Mapping[str, Any]:
    """Every public class that says what it takes, by name, in the order of `conclust`'s list."""
    import conclust

    public = {name: getattr(conclust, name) for name in conclust._HOMES}
    declared = {
        name: value
        for name, value in public.items()
        if isinstance(value, type) and "_takes" in vars(value)
    }
    return MappingProxyType(declared)  # the next caller gets the same one


@cache
def methods() -> Mapping[str, Method]:
    """Every method of the command line by name, and plain k-means to compare with."""
    from sklearn.cluster import KMeans

    found = {
        named.name: Method(named, estimator, estimator._takes)
        for estimator in estimators().values()
        for named in estimator._takes.names
    }
    plain = Named("kmeans", "no statements at all", {"n_init": 10})
    found[plain.name] = Method(plain, KMeans, Takes(frozenset(), "", ""))
    return MappingProxyType(found)


def method(name: str) -> Method:
    """The method of this name."""
    return methods()[name]


def users_of(kinds: frozenset[str], like: Takes) -> list[str]:
    """Estimators that use statements of these kinds: clusterers for a clusterer, else learners."""
    return [
        name
        for name, estimator in estimators().items()
        if kinds <= estimator._takes.kinds and bool(estimator._takes.names) == bool(like.names)
    ]
