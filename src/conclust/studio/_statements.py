"""Statements that are no answers to questions: from the map, and from files."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from conclust import Constraints
from conclust.exceptions import SessionError
from conclust.studio import _verbs
from conclust.studio._book import Answer
from conclust.studio._checks import checked_row_list
from conclust.studio._clustering import Clustering
from conclust.studio._data import Data

VERBS = ("link", "apart", "together", "merge", "split")
VERB_WEIGHT = 3.0  # what is said on the map is said of many rows
WORDS = {1: "must-link", -1: "cannot-link"}


class OnMap(NamedTuple):
    """What somebody said on the map."""

    verb: str
    pairs: _verbs.Pairs
    sentence: str
    n_clusters: int | None = None  # how many there are to be from now on
    overruled: Sequence[tuple[int, int, int]] = ()  # of the older ones

    def answers(self, first: int, person: str) -> list[Answer]:
        """The same as answers, numbered from the first."""
        weight = 1.0 if self.verb == "link" else VERB_WEIGHT
        more: dict[str, Any] = {"origin": "map", "why": self.verb, "action": first}
        more |= {"weight": weight, "n_clusters": self.n_clusters}
        return [
            Answer(first + i, "pair", (a, b), WORDS[sign], person, now(), **more)
            for i, (a, b, sign) in enumerate(self.pairs)
        ]


def on_map(
    data: Data, clustering: Clustering | None, verb: Any, older: _verbs.Pairs, **about: Any
) -> OnMap:
    """Few statements that make it so, see `_verbs`; older pairs from the map give way."""
    rows = checked_row_list(about.get("rows") or [], "rows", data.n_rows)
    others = checked_row_list(about.get("with") or [], "with", data.n_rows)
    if not isinstance(verb, str) or verb not in VERBS:
        raise SessionError(f"verb={verb!r:.60} is none of {', '.join(map(repr, VERBS))}.")
    if verb == "link":
        return OnMap(verb, _verbs.link(rows), f"{len(rows)} rows are linked.")
    if verb == "together":
        return OnMap(verb, _verbs.together(data.X, rows), f"These {len(rows)} rows are one.")
    if verb == "apart" and about.get("clusters") is None:
        return OnMap(verb, _verbs.apart(data.X, rows, others), "They stay apart.")
    if clustering is None:
        raise SessionError("There are no clusters yet; they are being made.")
    clusters = _checked_clusters(about.get("clusters"), rows, clustering)
    said = {"apart": _apart, "merge": _merged, "split": _split}[verb]
    return said(data, clustering, clusters, rows, older)


def _apart(
    data: Data, found: Clustering, clusters: list[int], rows: list[int], older: _verbs.Pairs
) -> OnMap:
    pairs = _verbs.clusters_apart(data.X, found.labels, clusters)
    names = " and ".join(found.names[c] for c in clusters)
    overruled = _verbs.between(found.labels, clusters, older, 1)
    return OnMap("apart", pairs, f"{names} stay apart.", None, overruled)


def _merged(
    data: Data, found: Clustering, clusters: list[int], rows: list[int], older: _verbs.Pairs
) -> OnMap:
    pairs = _verbs.merge(data.X, found.labels, clusters)
    names = " and ".join(found.names[c] for c in clusters)
    n_clusters = found.n_clusters - len(clusters) + 1
    overruled = _verbs.between(found.labels, clusters, older, -1)
    return OnMap("merge", pairs, f"{names} are one cluster.", n_clusters, overruled)


def _split(
    data: Data, found: Clustering, clusters: list[int], rows: list[int], older: _verbs.Pairs
) -> OnMap:
    if len(clusters) != 1:
        raise SessionError("split: choose one cluster, or rows of one cluster.")
    pairs, overruled = _verbs.split(data.X, found.labels, clusters[0], rows, older)
    sentence = f"{found.names[clusters[0]]} is two clusters."
    return OnMap("split", pairs, sentence, found.n_clusters + 1, overruled)


def _checked_clusters(clusters: Any, rows: list[int], found: Clustering) -> list[int]:
    if clusters is None and rows:
        clusters = np.unique(found.labels[rows]).tolist()
    if not isinstance(clusters, list) or not all(type(c) is int for c in clusters):
        raise SessionError(f"clusters must be a list of their numbers; got {clusters!r:.60}.")
    gone = next((c for c in clusters if not 0 <= c < found.n_clusters), None)
    if gone is not None:
        raise SessionError(f"There is no cluster {gone}; look at the map again.")
    return list(dict.fromkeys(clusters))


def statements_of(constraints: Constraints) -> Iterator[Answer]:
    """The statements of a file as answers, numbered by nobody yet."""
    who, when = (constraints.provenance.get(name) for name in ("who", "when"))
    for kind, samples, answer, i in _listed(constraints):
        yield Answer(
            0,
            kind,
            samples,
            answer,
            _text(who, i),
            _text(when, i) or now(),
            weight=float(constraints.weight[i]),
            origin="file",
            why="file",
        )


def _listed(constraints: Constraints) -> Iterator[tuple[str, tuple[int, ...], Any, int]]:
    """Kind, rows, answer, and which statement it is."""
    pairs = constraints.pairs()
    for pair, sign, i in zip(
        pairs.pairs.tolist(), pairs.sign.tolist(), pairs.statement.tolist(), strict=True
    ):
        yield "pair", tuple(pair), WORDS[sign], i
    relative = np.flatnonzero(constraints.kinds == "relative").tolist()
    for row, i in zip(constraints.relative.tolist(), relative, strict=True):
        yield "triple", tuple(row), row[2], i


def _text(values: Any, i: int) -> str | None:
    value = None if values is None else values[i]
    return value if isinstance(value, str) and value else None


def now() -> str:
    """The time, as it is kept."""
    return datetime.now(UTC).isoformat(timespec="seconds")
