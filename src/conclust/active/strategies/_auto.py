"""Ours: the row whose cluster is least known, where others are unsure too, beside a typical one."""

import numpy as np

from conclust._arrays import FloatArray, IntArray
from conclust._placement.belief import Rates
from conclust.active._question import Proposal
from conclust.active._state import State
from conclust.active.strategies._strategy import Strategy
from conclust.model_selection import AutoCluster
from conclust.model_selection._stack import believe

GROWTH = 1.4


class Informative(Strategy):
    def __init__(self, explore=0.2, gamma=1.0, npu=True, neighbors=10, temper=1.0):
        self.explore = explore
        self.gamma = gamma
        self.npu = npu
        self.neighbors = neighbors
        self.temper = temper

    def propose(self, state: State, n: int, random_state: np.random.RandomState) -> list[Proposal]:
        P, typical = self._believed(state, random_state)
        P = P**self.temper
        P = P / P.sum(axis=1, keepdims=True)
        entropy = -(P * np.log(np.maximum(P, 1e-12))).sum(axis=1)
        near = state.neighbors(min(self.neighbors, state.n_samples - 1))
        region = (entropy + entropy[near].sum(axis=1)) / (near.shape[1] + 1)
        order = np.sort(P, axis=1)[:, ::-1]
        k = P.shape[1]
        # asking clusters from the likeliest on: the last needs no question
        cost = (order * np.minimum(np.arange(1, k + 1), max(k - 1, 1))).sum(axis=1)
        worth = entropy * region**self.gamma
        if self.npu:
            worth = worth / cost
        found = []
        barred = set()
        rank = np.argsort(-worth, kind="stable")
        if random_state.uniform() < self.explore:
            rank = self._far_first(state, random_state)
        for x in rank:
            if len(found) >= n:
                break
            for c in np.argsort(-P[x], kind="stable")[: max(k - 1, 1)]:
                r = self._representative(state, P, c, x, typical)
                if r is None or r == x:
                    continue
                if state.is_open(x, r) and frozenset((x, r)) not in barred:
                    barred.add(frozenset((x, r)))
                    found.append(Proposal((int(x), int(r)), "least known", float(worth[x])))
                    break
                if state.closure.implied(x, r) > 0:
                    break
        return found

    def _representative(self, state, P, c, x, typical):
        named = typical["named"]
        if len(named):
            best = P[named, c] >= max(0.7, 0.9 * P[named, c].max())
            rows = named[best & (P[named].argmax(axis=1) == c)]
            if len(rows):
                group = state.closure.group[rows]
                size = np.array([len(state.closure.members(g)) for g in group])
                rows = rows[size == size.max()]
                d = ((state.X[rows] - state.X[x]) ** 2).sum(axis=1)
                return int(rows[d.argmin()])
        return int(typical["medoid"][c])

    def _far_first(self, state, random_state):
        named = np.flatnonzero([len(state.closure.members(g)) > 1 or bool(state.closure.apart_from(g)) for g in state.closure.group]) if state.n_told else []
        if not len(named):
            return random_state.permutation(state.n_samples)
        pool = random_state.permutation(state.n_samples)[:100]
        d = ((state.X[pool][:, None] - state.X[named][None]) ** 2).sum(axis=2).min(axis=1)
        return pool[np.argsort(-d)]

    def _believed(self, state: State, random_state):
        memory = state.memory
        if "model" not in memory or state.n_told >= memory["at"] * GROWTH + 3:
            k = state.n_clusters or "auto"
            known = state.constraints
            model = AutoCluster(k, random_state=0).fit(state.X, constraints=known)
            memory["model"], memory["at"] = model, max(state.n_told, 1)
        model = memory["model"]
        prior = np.maximum(model.prior_, 0.02)
        prior = prior / prior.sum(axis=1, keepdims=True)
        pairs = state.constraints.pairwise
        if len(pairs):
            rates = model.flip_rate_
            rates = Rates(*(0.03 if not np.isfinite(r) else r for r in rates))
            found = believe(prior, pairs, rates)
            P = found.probability
        else:
            P = prior
        samples = state.constraints.samples
        if "medoid" not in memory or memory.get("medoid_at") != memory["at"]:
            near = state.neighbors(min(self.neighbors, state.n_samples - 1))
            d = np.sqrt(((state.X[near] - state.X[:, None]) ** 2).sum(axis=2)).mean(axis=1)
            score = P / (d[:, None] + np.median(d))
            memory["medoid"], memory["medoid_at"] = score.argmax(axis=0), memory["at"]
        return P, {"named": samples, "medoid": memory["medoid"]}
