"""From columns to numbers in which distances make sense."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats.contingency import association as scipy_association
from scipy.stats.contingency import crosstab
from sklearn.base import clone

from conclust._association import association, associations, bins_of, falls_apart
from conclust._preparation import TablePreparation, is_better_as_logarithm, skewness, stand_ins

rng = np.random.RandomState(0)
Y = rng.randint(3, size=400)
FRAME = pd.DataFrame(
    {
        "a": Y * 3 + rng.normal(size=400),
        "b": 1000 * (Y == 1) + 100 * rng.normal(size=400),
        "money": np.exp(Y + rng.normal(size=400)),
        "noise": rng.rand(400),
        "kind": np.array(["x", "y", "z"])[
            np.where(rng.rand(400) < 0.8, Y, rng.randint(3, size=400))
        ],
        "coin": rng.choice(["heads", "tails"], 400),
    }
)


def test_columns_count_alike_but_those_that_go_with_none():
    made = TablePreparation(["a", "b", "noise"]).fit(FRAME)
    variance = dict(zip("abn", made.transform(FRAME).var(axis=0), strict=True))
    assert made.weights_["a"] == made.weights_["b"] == 1
    assert made.weights_["noise"] == pytest.approx(0.1)
    assert variance["n"] < 0.2 < variance["a"]
    whole = TablePreparation(["a", "b", "noise"], in_full=["noise"]).fit_transform(FRAME)
    assert whole.var(axis=0).mean() == pytest.approx(1)


def test_a_category_has_a_quarter_of_the_variance_of_a_number():
    made = TablePreparation(["a", "b"], ["kind"]).fit(FRAME)
    made.directions_ = None  # before turning
    X = made.transform(FRAME)
    assert X[:, :2].var(axis=0).mean() == pytest.approx(1)
    assert X[:, 2:].var(axis=0).sum() == pytest.approx(0.25)


def test_turning_keeps_what_columns_share_and_hides_the_values_of_a_category():
    made = TablePreparation(["a", "b"], ["kind", "coin"])
    X = made.fit_transform(FRAME)
    assert X.shape[1] < 2 + 3 + 2
    assert (X.var(axis=0) > 0.25 / 2).all()
    # Check that no direction takes as few values as a category does.
    assert all(len(np.unique(column.round(9))) > 100 for column in X.T)
    assert made.get_feature_names_out().tolist() == [
        f"direction {i + 1}" for i in range(X.shape[1])
    ]


def test_without_scaling_numbers_stay_and_words_are_zeros_and_ones():
    made = TablePreparation(["a"], ["kind", "coin"], scale=False)
    X = made.fit_transform(FRAME)
    assert (X[:, 0] == FRAME["a"]).all()
    assert set(np.unique(X[:, 1:])) == {0.0, 1.0}
    assert made.get_feature_names_out().tolist() == [
        "a",
        "kind = x",
        "kind = y",
        "kind = z",
        "coin = tails",
    ]


def test_the_unit_of_a_column_does_not_matter():
    # Check with powers of two, which numbers of a computer take exactly.
    names = ["a", "b", "money"]
    X = TablePreparation(names).fit_transform(FRAME)
    other = FRAME.assign(a=FRAME["a"] * 1024 + 64, money=FRAME["money"] / 4)
    assert TablePreparation(names).fit_transform(other) == pytest.approx(X)


def test_skewed_numbers_by_the_logarithm_and_few_far_ones_drawn_in():
    frame = FRAME.assign(a=FRAME["a"].where(FRAME.index > 1, 1e6))
    made = TablePreparation(["a", "money"], in_full=["a", "money"]).fit(frame)
    assert made.logarithms_ == ["money"]
    assert made.clipped_ == {"a": 2}
    X = made.transform(frame)
    assert X[:2, 0] == pytest.approx(X[2:, 0].max())
    # Nothing, less than nothing and a lot more are no trouble in new rows.
    new = pd.DataFrame({"a": [0.0, 0, 0], "money": [0, -5, 1e9]})
    assert np.isfinite(made.transform(new)).all()


def test_missing_and_new_values():
    made = TablePreparation(["a", "b"], ["kind"]).fit(FRAME)
    with pytest.warns(
        UserWarning, match=r"kind: 1 rows hold a value the model has not seen \('q'\)"
    ):
        new = made.transform(pd.DataFrame({"a": [np.nan], "b": [0.0], "kind": ["q"]}))
    row = pd.DataFrame({"a": [FRAME["a"].median()], "b": [0.0], "kind": [None]})
    assert made.transform(row) == pytest.approx(new)  # a missing word tells as little as a new one


def test_text_in_a_column_of_numbers_is_named():
    made = TablePreparation(["a"]).fit(FRAME)
    assert made.transform(pd.DataFrame({"a": ["1,5", "2,5"]})).shape == (2, 1)
    with pytest.raises(ValueError, match="the column 'a' must hold numbers; it holds 'many'"):
        made.transform(pd.DataFrame({"a": ["many"]}))
    with pytest.raises(ValueError, match="a is infinite in row 1"):
        made.transform(pd.DataFrame({"a": [1.0, np.inf]}))


def test_rare_values_share_a_column():
    words = [f"w{i}" for i in range(80)] + ["often"] * 20
    made = TablePreparation([], ["w"]).fit(pd.DataFrame({"w": words}))
    assert len(made.levels_[0]) == 51
    assert "often" in made.levels_[0]


def test_it_can_be_cloned_and_tells_its_columns():
    made = clone(TablePreparation(["a"], ["kind"], id_col="key")).fit(FRAME)
    assert made.feature_names_in_.tolist() == ["a", "kind"]
    assert made.n_features_in_ == 2


# ---------------------------------------------------------------------- what goes together


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=40, max_size=80))
def test_association_is_cramers_v_without_chance(pairs):
    # Check against scipy's uncorrected V: never above it, and zero where it is not clear.
    one, other = np.array(pairs).T
    counts = crosstab(one, other).count
    if min(counts.shape) < 2:
        assert association(counts.astype(float)) == 0
        return
    found, plain = (
        association(counts.astype(float)),
        scipy_association(counts, method="cramer") ** 2,
    )
    assert 0 <= found <= plain + 0.05


def test_associations_of_all_pairs():
    numbers = np.where(np.arange(400) % 10 == 0, np.nan, FRAME["a"])
    codes = [
        bins_of(numbers),
        np.unique(FRAME["kind"], return_inverse=True)[1],
        bins_of(FRAME["noise"].to_numpy()),
    ]
    found = associations(codes)
    assert (found == found.T).all()
    assert (np.diag(found) == 0).all()
    assert found[0, 1] > 0.2
    assert found[0, 2] == found[1, 2] == 0
    assert associations([]).shape == (0, 0)


def test_bins_hold_equally_many_rows():
    bins = bins_of(np.append(rng.normal(size=600), np.nan))
    assert np.bincount(bins[:-1]).tolist() == [100] * 6
    assert bins[-1] == -1


def test_columns_that_fall_apart():
    assert falls_apart(rng.normal(size=900) + 8 * rng.randint(4, size=900))
    assert not falls_apart(rng.normal(size=900))
    assert not falls_apart(rng.rand(900))
    assert not falls_apart(rng.randint(4, size=900).astype(float))  # codes


def test_skewness():
    assert skewness(np.array([1.0, 1, 1])) == 0
    assert skewness(np.array([1.0, 2, 3])) == pytest.approx(0)
    assert is_better_as_logarithm(np.exp(rng.normal(size=500)))
    assert not is_better_as_logarithm(rng.normal(size=500))
    assert not is_better_as_logarithm(-np.exp(rng.normal(size=500)))


def test_numbers_that_stand_for_missing_ones():
    frame = FRAME.assign(a=FRAME["a"].where(FRAME.index % 20 > 0, -999))
    made = TablePreparation(["a", "b"]).fit(frame)
    assert made.unknown_ == {"a": [-999.0]}
    same = TablePreparation(["a", "b"]).fit(FRAME.assign(a=FRAME["a"].where(FRAME.index % 20 > 0)))
    assert made.transform(frame) == pytest.approx(same.transform(frame.replace(-999, np.nan)))
    assert stand_ins(np.array([1.0, 2, 9, 9, 95, 99, 99])) == []  # among its like


def test_values_of_a_category_differ_by_more_than_capitals():
    made = TablePreparation([], ["w"]).fit(
        pd.DataFrame({"w": ["Berlin", "BERLIN ", "berlin", "Bonn"]})
    )
    assert made.levels_[0].tolist() == ["berlin", "bonn"]


@pytest.mark.parametrize("n_few", [0, 5500, 6000])
def test_bins_of_a_long_column(n_few):
    # Check the first bin and the sizes where few values come first, as where they are mixed.
    rng = np.random.RandomState(0)
    values = np.append(rng.randint(3, size=n_few) + 0.5, rng.normal(size=6000 - n_few))
    expected = bins_of(rng.permutation(values))
    assert (np.bincount(bins_of(values)) == np.bincount(expected)).all()
    assert bins_of(values)[values.argmin()] == 0
