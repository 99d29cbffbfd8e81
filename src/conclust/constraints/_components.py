"""Must-link components, and pairs of them."""

from typing import TYPE_CHECKING

from conclust._arrays import IntArray
from conclust._pairs import connected
from conclust.exceptions import InvalidConstraintsError

if TYPE_CHECKING:
    from conclust.constraints._constraints import Constraints

# A position beyond this without `n_samples` is a mistake (an id taken for a position) rather
# than a data set: components need one number per sample.
MAX_GUESSED_SAMPLES = 1_000_000_000

# Above this many pairs a group of mutually apart samples is not written out pair by pair:
# 2·10^7 pairs are 320 MB.
PAIR_LIMIT = 20_000_000


def check_group_pairs(n_pairs: int, limit: int = PAIR_LIMIT) -> None:
    """Refuse to write out groups of mutually apart samples that stand for too many pairs."""
    if n_pairs > limit:
        raise InvalidConstraintsError(
            f"The groups of samples kept apart stand for {n_pairs:,} pairs, more than the "
            f"{limit:,} that are written out. Use COPKMeans with at least as many clusters as the "
            "largest group has members, or split the groups."
        )


def must_link_components(constraints: "Constraints") -> tuple[IntArray, int]:
    """Number the must-link components; samples without must-links are their own."""
    n = constraints.n_samples
    if n is None:
        named = constraints.samples
        n = int(named[-1]) + 1 if len(named) else 0
        if n > MAX_GUESSED_SAMPLES:
            raise InvalidConstraintsError(
                f"The largest position is {n - 1:,}: an id taken for a position? Read the "
                "constraints with `ids=`, or pass `n_samples`."
            )
    return connected(constraints.must_link, n)
