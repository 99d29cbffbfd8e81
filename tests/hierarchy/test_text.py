import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conclust import Constraints, ReCon, read_constraints, sample_constraints

# What names are like in the wild: quotes, brackets, blanks, other alphabets, nothing at all.
NAME = st.text(
    st.characters(blacklist_categories=("Cs", "Cc")) | st.sampled_from("'\"(),;:[]_ \t\n"),
    max_size=8,
)


def same_tree(first, second):
    """Whether two sets of statements are those of one tree."""
    return {*map(tuple, first.relative)} == {*map(tuple, second.relative)}


@settings(max_examples=60)
@given(names=st.lists(NAME, min_size=2, max_size=12, unique=True), seed=st.integers(0, 10**6))
def test_newick_and_nested_lists_come_back(names, seed):
    X = np.random.RandomState(seed).normal(size=(len(names), 2))
    model = ReCon(1).fit(X)
    for written in (model.to_newick(names), model.to_nested(names)):
        back = Constraints.from_hierarchy(written, ids=names)
        assert len(back) == max(len(names) - 2, 0)
        assert back.satisfied_by(model.children_).all()
    by_position = Constraints.from_hierarchy(model.to_newick())
    assert by_position.satisfied_by(model.children_).all()
    assert model.to_nested() == json.loads(json.dumps(model.to_nested()))


def test_lengths_are_heights_that_do_not_fall():
    model = ReCon(2).fit([[0.0, 0.0], [1.0, 0.0], [0.5, 0.87], [9.0, 9.0]])
    assert model.distances_[1] < model.distances_[0]
    assert model.to_newick("abcd") == "(d:12.1702,(c:1,(a:1,b:1):0):11.1702);"


def test_three_thousand_levels(tmp_path):
    X = np.cumsum(np.arange(3000.0))[:, None]
    model = ReCon(2, linkage="single").fit(X)
    names = [f"item {i}" for i in range(3000)]
    (tmp_path / "tree.nwk").write_text(model.to_newick(names))
    back = read_constraints(tmp_path / "tree.nwk", ids=names)
    assert len(back) == 2998
    assert back.satisfied_by(model.children_).all()
    depth, node = 0, model.to_nested()
    while isinstance(node, list):
        depth, node = depth + 1, max(node, key=lambda part: isinstance(part, list))
    assert depth == 2999


def test_names_by_default_are_those_of_the_statements():
    known = Constraints.from_hierarchy(
        {"x": ["ann", "bob"], "y": ["cid"]}, ids=["ann", "bob", "cid"]
    )
    model = ReCon(2).fit([[0.0], [5.0], [6.0]], constraints=known)
    assert model.to_nested() == ["cid", ["ann", "bob"]]
    assert model.to_newick() == "(cid:5,(ann:5,bob:5):0);"
    assert ReCon(1).fit([[0.0]]).to_newick() == "(0);"
    assert ReCon(1).fit([[0.0]]).to_nested() == [0]
    with pytest.raises(ValueError, match="one name for each of the 3 samples; got 2"):
        model.to_newick(["a", "b"])


@pytest.mark.parametrize("linkage", ["centroid", "ward", "average", "complete", "single"])
def test_a_new_row_goes_with_the_nearest_one(linkage):
    rng = np.random.RandomState(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 2)) + 4 * np.eye(3)[y, :2]
    known = sample_constraints(y, n_relative=60, random_state=0)
    model = ReCon(3, linkage=linkage).fit(X, constraints=known)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    new = rng.normal(size=(20, 2))
    nearest = ((new[:, None] - X) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(model.predict(new), model.labels_[nearest])
    far = ReCon(3, linkage="average", metric="precomputed")
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    far.fit(D, constraints=known)
    np.testing.assert_array_equal(far.predict(D), far.labels_)


def test_no_clusters_to_predict():
    with pytest.raises(ValueError, match="n_clusters=None built the hierarchy only"):
        ReCon(None).fit([[0.0], [1.0]]).predict([[0.0]])
