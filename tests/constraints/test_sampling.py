import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conclust import Constraints, sample_constraints
from conclust._pairs import pair_of

LABELS = st.lists(st.integers(0, 3), min_size=2, max_size=14)


def all_counts(y):
    n = len(y)
    same = sum(y[i] == y[j] for i in range(n) for j in range(i))
    triplets = sum(
        y[i] == y[j] != y[c]
        for i in range(n)
        for j in range(i)
        for c in range(n)
        if c not in (i, j)
    )
    return n * (n - 1) // 2, same, n * (n - 1) // 2 - same, triplets


@given(LABELS, st.data())
def test_what_is_drawn_is_true_and_never_twice(y, data):
    # Check every kind up to all that exist, together in one call.
    n_all, n_same, _, n_triplets = all_counts(y)
    n_pairs = data.draw(st.integers(0, n_all))
    drawn = sample_constraints(y, n_pairs, random_state=0)
    n_must = data.draw(st.integers(0, n_same - len(drawn.must_link)))
    n_relative = data.draw(st.integers(0, n_triplets))
    known = sample_constraints(
        y, n_pairs, n_must_link=n_must, n_relative=n_relative, random_state=0
    )
    assert len(known.must_link) + len(known.cannot_link) == n_pairs + n_must
    assert len(known.relative) == n_relative
    assert known.satisfied(np.array(y)).all()
    pairs = {frozenset(p) for p in known.pairs().pairs.tolist()}
    assert len(pairs) == n_pairs + n_must
    y = np.array(y)
    a, b, c = known.relative.T
    assert ((y[a] == y[b]) & (y[a] != y[c])).all()


@given(LABELS)
def test_everything_can_be_drawn_and_no_more(y):
    n_all, n_same, n_cross, n_triplets = all_counts(y)
    known = sample_constraints(
        y, n_must_link=n_same, n_cannot_link=n_cross, n_relative=n_triplets, random_state=0
    )
    assert len(known) == n_all + n_triplets
    for name, supply in (("n_pairs", n_all), ("n_must_link", n_same),
                         ("n_cannot_link", n_cross), ("n_relative", n_triplets)):  # fmt: skip
        with pytest.raises(ValueError, match=f"{name}={supply + 1}, but there are only {supply} "):
            sample_constraints(y, **{name: supply + 1})


def test_more_than_is_left_beside_n_pairs():
    with pytest.raises(ValueError, match="only 0 true must-links besides the 1 drawn as n_pairs"):
        sample_constraints([0, 0], 1, n_must_link=1)


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.1, 0.5, 1.0])
def test_noise_flips_exactly_that_share(noise):
    y = np.repeat([0, 1, 2], 20)
    known = sample_constraints(y, 130, n_relative=50, noise=noise, random_state=3)
    pairs = known[known.kinds != "relative"]
    wrong = ~pairs.satisfied(y)
    assert wrong.sum() == round(noise * 130)
    a, b, c = known.relative.T
    wrong_triplets = ~((y[a] == y[b]) & (y[a] != y[c]))
    assert wrong_triplets.sum() == round(noise * 50)
    if noise:
        flipped = known.provenance["flipped"]
        np.testing.assert_array_equal(flipped[:130], wrong)
        np.testing.assert_array_equal(flipped[130:], wrong_triplets)
    assert len({frozenset(p) for p in known.pairs().pairs.tolist()}) == 130


def test_pairs_are_uniform():
    # Check with 6 pairs of 4 samples, 6 000 draws: each pair about 1 000 times (5 sigma = 150).
    counts = {}
    for seed in range(6_000):
        pair = frozenset(sample_constraints([0, 0, 1, 1], 1, random_state=seed)[0].samples)
        counts[pair] = counts.get(pair, 0) + 1
    assert len(counts) == 6
    assert all(abs(n - 1000) < 150 for n in counts.values())


@given(st.integers(2, 40))
def test_numbering_of_pairs_is_one_to_one(m):
    pairs = pair_of(np.arange(m * (m - 1) // 2), m)
    assert len({frozenset(p) for p in pairs.tolist()}) == m * (m - 1) // 2
    assert (pairs[:, 0] != pairs[:, 1]).all()


def test_same_seed_same_constraints():
    y = np.arange(50) % 4
    one, two = (sample_constraints(y, 30, n_relative=9, noise=0.1, random_state=5) for _ in "ab")
    assert one == two
    assert one != sample_constraints(y, 30, n_relative=9, noise=0.1, random_state=6)


def test_a_million_pairs_of_ten_million_samples():
    # Check that nothing is quadratic and no product overflows (10^20 triplets exist here).
    y = np.arange(10_000_000) % 2
    known = sample_constraints(y, 1000, n_relative=1000, random_state=0)
    assert len(known) == 2000
    assert known.satisfied(y).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_pairs": -1}, "n_pairs must be a whole number, 0 or more; got -1"),
        ({"n_pairs": 1.5}, "n_pairs must be a whole number"),
        ({"noise": 1.5}, "noise must be a share between 0 and 1; got 1.5"),
        ({"noise": "a"}, "noise must be a share"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        sample_constraints([0, 1], **arguments)
    with pytest.raises(ValueError, match="y holds NaN"):
        sample_constraints([0.0, np.nan], 1)


def test_labels_of_any_kind():
    known = sample_constraints(["x", "y", "x"], 3, random_state=0)
    assert {frozenset(p) for p in known.must_link.tolist()} == {frozenset((0, 2))}
    assert len(sample_constraints([], 0)) == 0
    assert isinstance(sample_constraints([1], 0), Constraints)
