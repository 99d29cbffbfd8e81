"""Where linked rows are likely to be when statements may be wrong, and which are likely wrong."""

from typing import NamedTuple

import numpy as np

from conclust._arrays import FloatArray
from conclust._kernels._short import LITTLE, short
from conclust._kernels.beliefs import breadth_first, conclude, sweep
from conclust._pairs import SignedPairs, connected, graph_of

# Both ways along the graph, at most. Messages are kept between calls, so few more are needed.
MAX_SWEEPS = 4
# Numbers in messages sent by one call, about: a million statements get fewer sweeps each time.
MAX_SENT = 20_000_000
# Messages that change by less have settled.
TOL = 1e-4
# A pull beyond this is certain: exp of it is still a number.
MAX_PULL = 50.0


class Rates(NamedTuple):
    """How often statements are wrong, by what is true: not shares of what was said.

    Of eleven clusters most pairs are in two. Where each statement is wrong with probability 0.2,
    whatever is true, most must-links are wrong and hardly a cannot-link; yet both say as much.
    """

    must: float  # said of a pair in two clusters
    cannot: float  # said of a pair in one


class Believed(NamedTuple):
    """What `Beliefs` finds."""

    probability: FloatArray  # (n_rows, n_clusters) of the rows that statements name
    doubt: FloatArray  # (n_pairs,) probability that each pair was said wrongly
    log_evidence: float  # log probability of all statements, given the rows


class Beliefs:
    r"""Posterior of labels under statements that are wrong at given rates.

    A must-link is said with probability :math:`ε_M` of a pair in two clusters and
    :math:`1 - ε_C` of one in one, a cannot-link with :math:`1 - ε_M` and :math:`ε_C`. So they pull
    with :math:`β_M = \ln((1 - ε_C) / ε_M)` and :math:`β_C = \ln((1 - ε_M) / ε_C)`; a weight
    multiplies β, as if the statement had been made so often.

    Parameters
    ----------
    pairs : SignedPairs
    n_clusters : int

    Attributes
    ----------
    rows : ndarray of shape (n_rows,)
        The rows that statements name, ascending.
    exact : bool
        Whether the graph of statements is a forest.

    Notes
    -----
    Exact on trees after one sweep from the leaves to the root and back. Where there are cycles the
    same sweeps are repeated, damped by one half, until no message changes by 1e-4, at most four
    times; messages are kept, so the next call goes on from there. Statements about the same two
    rows are one edge. O(m k) a sweep.
    """

    def __init__(self, pairs: SignedPairs, n_clusters: int):
        self._given = pairs
        self.rows, local = pairs.named()
        n_rows = len(self.rows)
        ends = np.sort(local, axis=1)
        key = ends[:, 0] * max(n_rows, 1) + ends[:, 1]
        # In the order of their first statement, so that renumbered rows are visited likewise.
        _, first, edge = np.unique(key, return_index=True, return_inverse=True)
        rank = np.argsort(np.argsort(first, kind="stable"), kind="stable")
        self._edge = rank[edge.ravel()]
        edges = local[np.sort(first)]
        self._graph = graph = graph_of(edges, n_rows)
        places = np.argsort(graph.link, kind="stable").reshape(-1, 2)
        self._back = np.empty(2 * len(edges), np.int64)
        self._back[places] = places[:, ::-1]
        component, n_components = connected(edges, n_rows)
        n_edges = np.bincount(component[edges[:, 0]], minlength=n_components)
        is_tree = n_edges < np.bincount(component, minlength=n_components)
        self.exact = bool(is_tree.all())
        # Where the graph has cycles, messages may swing.
        self._damped = ~is_tree[component]
        outward = np.empty(n_rows, np.int64)
        spread = short(breadth_first, 2 * len(edges), LITTLE)
        spread(graph.indptr, graph.neighbor, np.ascontiguousarray(edges).ravel(), outward)
        self._visits = np.concatenate([outward[::-1], outward])
        self._message = np.ones((2 * len(edges), n_clusters))

    def __call__(self, log_prior: FloatArray, rates: Rates) -> Believed:
        """Weigh statements against what the rows themselves say.

        Parameters
        ----------
        log_prior : ndarray of shape (n_rows, n_clusters)
            Log weights of the clusters for each of `rows`, up to a constant of each row.
        rates : Rates
            Between 0 and 1, both exclusive.

        Returns
        -------
        Believed
        """
        _, sign, weight, _ = self._given
        log_own, own = _normalized(log_prior)
        must, cannot = rates
        odds = np.where(
            sign > 0,
            np.log1p(-cannot) - np.log(must),
            np.log1p(-must) - np.log(cannot),
        )
        strength = np.clip(weight * odds, -MAX_PULL, MAX_PULL)
        n_edges = len(self._back) // 2
        pull = np.bincount(self._edge, sign * strength, n_edges)
        pull = np.clip(pull, -MAX_PULL, MAX_PULL)
        gain = (np.sign(pull) * np.expm1(np.abs(pull)))[self._graph.link]
        n_steps = self._message.size
        speak = short(sweep, 2 * n_steps, LITTLE)
        graph, back, message = self._graph, self._back, self._message
        for _ in range(1 if self.exact else min(MAX_SWEEPS, 1 + MAX_SENT // max(n_steps, 1))):
            changed = speak(
                self._visits, graph.indptr, back, gain, self._damped, own, log_own, message
            )
            if changed < TOL:
                break
        probability, together = np.empty_like(own), np.empty(2 * n_edges)
        log_z = short(conclude, 2 * n_steps, LITTLE)(
            graph.indptr,
            graph.neighbor,
            self._back,
            gain,
            own,
            log_own,
            message,
            probability,
            together,
        )
        same = np.empty(n_edges)
        same[graph.link] = together
        same = np.clip(same, 0.0, 1.0)[self._edge]
        # What is said of pairs in two clusters; the pull is for those in one.
        of_two = weight * np.where(sign > 0, np.log(must), np.log1p(-must))
        doubt = np.where(sign > 0, 1 - same, same)
        return Believed(probability, doubt, float(log_z + of_two.sum()))


def _normalized(log_weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Log probabilities, and these, of weights that need not add up to one."""
    log_own = np.array(log_weight, dtype=np.float64, order="C")
    if log_own.size:
        log_own -= log_own.max(axis=1, keepdims=True)
    own = np.exp(log_own)
    total = own.sum(axis=1, keepdims=True)
    log_own -= np.log(total)
    return log_own, np.divide(own, total, out=own)


def is_forest(pairs: SignedPairs) -> bool:
    """Whether statements form no cycle, those about the same two rows taken as one."""
    return Beliefs(pairs, 1).exact
