"""K-means in batches under statements, slow and obvious: dictionaries of rows, lists of groups."""


def squared(x, c):
    return sum((a - b) ** 2 for a, b in zip(x, c, strict=True))


def taken(pairs, sign, weight):
    """Statements in descending weight, without those that contradict the ones before."""
    groups, apart = {}, []
    for i, j in pairs:
        groups.setdefault(i, {i})
        groups.setdefault(j, {j})
    for n in sorted(range(len(pairs)), key=lambda n: -weight[n]):
        a, b = (groups[row] for row in pairs[n])
        if sign[n] < 0 and a is not b:
            apart.append(tuple(pairs[n]))
        elif sign[n] > 0 and a is not b:
            if any(
                (groups[i] is a and groups[j] is b) or (groups[i] is b and groups[j] is a)
                for i, j in apart
            ):
                continue
            a |= b
            for row in b:
                groups[row] = a
    return groups, apart


def place(seen, weights, centers, pairs, sign, weight):
    """The cluster of each row that statements name and that has been seen."""
    groups, apart = taken(pairs, sign, weight)
    costs, label = {}, {}
    for group in groups.values():
        here = [row for row in sorted(group) if row in seen]
        mass = {row: weights[row] for row in here}
        if not any(mass.values()):
            mass = dict.fromkeys(here, 1.0)
        if here:
            costs[id(group)] = [sum(mass[r] * squared(seen[r], c) for r in here) for c in centers]

    def choice(group):
        held = {
            label.get(id(groups[j if groups[i] is group else i]))
            for i, j in apart
            if groups[i] is group or groups[j] is group
        }
        cost = costs[id(group)]
        free = sorted((cost[c], c) for c in range(len(centers)) if c not in held)
        if not free:
            return cost.index(min(cost)), 0.0
        return free[0][1], (free[1][0] if len(free) > 1 else float("inf")) - free[0][0]

    for i, j in apart:
        two = [g for g in (groups[i], groups[j]) if id(g) in costs and id(g) not in label]
        if len(two) == 2 and choice(two[1])[1] > choice(two[0])[1]:
            two.reverse()
        for group in two:
            label[id(group)] = choice(group)[0]
    for group in groups.values():
        if id(group) in costs and id(group) not in label:
            label[id(group)] = choice(group)[0]
    return {row: label[id(group)] for row, group in groups.items() if row in seen}


class Stream:
    """Centres, how much each has been given, and every row ever seen."""

    def __init__(self, centers):
        self.centers = [list(c) for c in centers]
        self.counts = [0.0] * len(centers)
        self.seen, self.weights = {}, {}
        self.pairs, self.sign, self.weight = [], [], []

    def tell(self, pairs, sign, weight):
        self.pairs += [tuple(pair) for pair in pairs]
        self.sign += list(sign)
        self.weight += list(weight)

    def step(self, X, rows, weights):
        for x, row, w in zip(X, rows, weights, strict=True):
            self.seen.setdefault(row, list(x))
            self.weights.setdefault(row, w)
        placed = place(self.seen, self.weights, self.centers, self.pairs, self.sign, self.weight)
        labels = []
        for x, row in zip(X, rows, strict=True):
            near = [squared(x, c) for c in self.centers]
            labels.append(placed.get(row, near.index(min(near))))
        for c in range(len(self.centers)):
            mine = [(x, w) for x, w, label in zip(X, weights, labels, strict=True) if label == c]
            mass = sum(w for _, w in mine)
            if mass > 0:
                total = self.counts[c] + mass
                self.centers[c] = [
                    (self.counts[c] * old + sum(w * x[f] for x, w in mine)) / total
                    for f, old in enumerate(self.centers[c])
                ]
                self.counts[c] = total
        return labels
