"""Draw constraints from true labels, the way the papers do."""

from typing import Any

import numpy as np
import numpy.typing as npt

from conclust._arrays import IntArray
from conclust._pairs import distinct_numbers, pair_of, until_distinct
from conclust.constraints._constraints import Constraints
from conclust.constraints._kinds import CANNOT_LINK, MUST_LINK, RELATIVE


def sample_constraints(
    y: Any,
    n_pairs: int = 0,
    *,
    n_must_link: int = 0,
    n_cannot_link: int = 0,
    n_relative: int = 0,
    noise: float = 0.0,
    random_state: Any = None,
) -> Constraints:
    """Draw random constraints that are true under the labels `y`, up to some noise.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        True labels of any kind.
    n_pairs : int, default=0
        So many random pairs, each a must-link or a cannot-link as the labels say, as Okabe
        & Yamada (2012) draw them: cannot-links are then the more frequent.
    n_must_link, n_cannot_link : int, default=0
        So many of each kind (Liu, Jin & Jain (2007) take equal numbers).
    n_relative : int, default=0
        So many triplets ``ab|c`` with a and b of one class and c of another, as in
        Liu, Zhang & Wang (2011).
    noise : float, default=0.0
        The share of pairs, and of triplets, that is flipped: exactly ``round(noise * number)`` of
        them. A must-link becomes a cannot-link and the reverse; ``ab|c`` becomes ``ac|b`` or
        ``bc|a``. The column `flipped` of `provenance` then tells which.
    random_state : int, RandomState or None, default=None
        Seed or generator of the random numbers; an int gives the same result each time.

    Returns
    -------
    Constraints
        Pairs in random order, then triplets; never the same pair twice.

    See Also
    --------
    Constraints.from_labels : All that labels say, in the fewest links.

    Notes
    -----
    Time and memory are proportional to the number of constraints plus the number of samples.

    Examples
    --------
    >>> from conclust import sample_constraints
    >>> sample_constraints([0, 0, 0, 1, 1], 4, n_relative=2, random_state=0)
    Constraints(3 must-link, 1 cannot-link, 2 relative; 5 samples)
    """
    from sklearn.utils import check_random_state, column_or_1d

    y = column_or_1d(y)
    if y.dtype.kind == "f" and np.isnan(y).any():
        raise ValueError("y holds NaN; sample_constraints needs the true label of every sample.")
    counts = {
        "n_pairs": n_pairs,
        "n_must_link": n_must_link,
        "n_cannot_link": n_cannot_link,
        "n_relative": n_relative,
    }
    for name, value in counts.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
            raise ValueError(f"{name} must be a whole number, 0 or more; got {value!r}.")
    if not (isinstance(noise, int | float | np.number) and 0 <= noise <= 1):
        raise ValueError(f"noise must be a share between 0 and 1; got {noise!r}.")
    random_state = check_random_state(random_state)
    classes = _Classes(y)
    pairs = _draw_pairs(classes, n_pairs, n_must_link, n_cannot_link, random_state)
    triplets = _draw_triplets(classes, n_relative, random_state)
    same = classes.codes[pairs[:, 0]] == classes.codes[pairs[:, 1]]
    sign = np.where(same, MUST_LINK, CANNOT_LINK).astype(np.int8)
    flipped = _choose(len(pairs), noise, random_state)
    sign[flipped] *= -1
    flipped_triplets = _choose(len(triplets), noise, random_state)
    _turn(triplets, flipped_triplets, random_state)
    provenance = {"flipped": np.concatenate([flipped, flipped_triplets])} if noise else {}
    return Constraints._made(
        np.concatenate([sign, np.full(len(triplets), RELATIVE, dtype=np.int8)]),
        np.concatenate([np.column_stack([pairs, np.full(len(pairs), -1)]), triplets]),
        np.ones(len(pairs) + len(triplets)),
        n_samples=len(y),
        provenance=provenance,
    )


class _Classes:
    """Samples sorted by class, and how many pairs and triplets there are."""

    def __init__(self, y: npt.NDArray[Any]):
        _, self.codes = np.unique(y, return_inverse=True)
        self.n = len(y)
        self.order = np.argsort(self.codes, kind="stable")
        self.sizes = np.bincount(self.codes).astype(np.int64)
        self.stops = np.cumsum(self.sizes)
        self.starts = self.stops - self.sizes
        self.inner = self.sizes * (self.sizes - 1) // 2  # pairs inside each class
        self.cross = self.sizes * (self.n - self.stops)  # pairs of each class with later ones

    def must_links(self, index: IntArray) -> IntArray:
        """Decode numbers of pairs inside classes."""
        c, local = _split(index, self.inner)
        pair = pair_of(local, self.sizes[c])
        return self.order[self.starts[c][:, None] + pair]

    def cannot_links(self, index: IntArray) -> IntArray:
        """Decode numbers of pairs across classes."""
        c, local = _split(index, self.cross)
        later = self.n - self.stops[c]
        i = self.starts[c] + local // np.maximum(later, 1)
        j = self.stops[c] + local % np.maximum(later, 1)
        return self.order[np.column_stack([i, j])]


def _split(index: IntArray, counts: IntArray) -> tuple[IntArray, IntArray]:
    """Which block each index falls into when blocks of `counts` entries are laid in a row."""
    stops = np.cumsum(counts)
    block = np.searchsorted(stops, index, side="right")
    return block, index - (stops - counts)[block]


def _draw_pairs(
    classes: _Classes, n_pairs: int, n_must: int, n_cannot: int, random_state: Any
) -> IntArray:
    n, n_inner, n_cross = classes.n, int(classes.inner.sum()), int(classes.cross.sum())
    _check_supply("n_pairs", n_pairs, n * (n - 1) // 2, f"pairs among {n} samples")
    pairs = pair_of(distinct_numbers(n * (n - 1) // 2, n_pairs, random_state), max(n, 1))
    taken = np.sort(pairs, axis=1)
    is_must = classes.codes[pairs[:, 0]] == classes.codes[pairs[:, 1]]
    for name, size, supply, used, decode in (
        ("n_must_link", n_must, n_inner, taken[is_must], classes.must_links),
        ("n_cannot_link", n_cannot, n_cross, taken[~is_must], classes.cannot_links),
    ):
        if not size:
            continue
        kind = name[2:].replace("_", "-")
        beside = f" besides the {len(used)} drawn as n_pairs" if len(used) else ""
        _check_supply(name, size, supply - len(used), f"true {kind}s{beside}")
        # Draw enough that `size` are left when those drawn above are taken out.
        drawn = decode(distinct_numbers(supply, size + len(used), random_state))
        if len(used):
            key = used[:, 0] * n + used[:, 1]
            drawn_key = drawn.min(axis=1) * n + drawn.max(axis=1)
            drawn = drawn[~np.isin(drawn_key, key)]
        pairs = np.concatenate([pairs, drawn[:size]])
    return pairs[random_state.permutation(len(pairs))]


def _draw_triplets(classes: _Classes, size: int, random_state: Any) -> IntArray:
    inner = classes.inner.astype(object)  # Python integers: the product overflows 64 bits
    rest = classes.n - classes.sizes
    supply = int((inner * rest).sum())
    _check_supply("n_relative", size, supply, "triplets with a, b of one class and c of another")
    if not size:
        return np.empty((0, 3), dtype=np.int64)

    def decode(c: IntArray, pair: IntArray, other: IntArray) -> IntArray:
        ab = np.sort(classes.starts[c][:, None] + pair_of(pair, classes.sizes[c]), axis=1)
        other = np.where(other >= classes.starts[c], other + classes.sizes[c], other)
        return classes.order[np.column_stack([ab, other])]

    if supply <= 2 * size:
        c, local = _split(np.arange(supply), (inner * rest).astype(np.int64))
        every = decode(c, local // rest[c], local % rest[c])
        return every[random_state.permutation(supply)[:size]]
    share = np.array(inner * rest / supply, dtype=np.float64)

    def draw(n: int) -> IntArray:
        c = random_state.choice(len(share), size=n, p=share / share.sum())
        return decode(
            c,
            random_state.randint(0, classes.inner[c], dtype=np.int64),
            random_state.randint(0, rest[c], dtype=np.int64),
        )

    return until_distinct(draw, size)


def _choose(n: int, share: float, random_state: Any) -> npt.NDArray[np.bool_]:
    chosen = np.zeros(n, dtype=bool)
    chosen[random_state.permutation(n)[: round(share * n)]] = True
    return chosen


def _turn(triplets: IntArray, which: npt.NDArray[np.bool_], random_state: Any) -> None:
    """Make 'ab|c' wrong in place: exchange c with a or with b."""
    at = np.flatnonzero(which)
    column = random_state.randint(0, 2, size=len(at))
    far = triplets[at, 2].copy()
    triplets[at, 2] = triplets[at, column]
    triplets[at, column] = far


def _check_supply(name: str, asked: int, supply: int, of_what: str) -> None:
    if asked > supply:
        raise ValueError(f"{name}={asked}, but there are only {supply} {of_what}.")
