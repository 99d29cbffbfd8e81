from itertools import islice

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage

from conclust import Constraints
from conclust.exceptions import InvalidConstraintsError
from tests.oracles import hierarchy as oracle


@pytest.mark.parametrize("n", [3, 4, 5])
def test_the_informative_triplets_imply_all_triplets_of_every_small_tree(n):
    # Check on every rooted tree with n leaves: true in the tree, as many as promised, and every
    # tree that displays them displays every triplet of the tree.
    every = list(oracle.trees(range(n)))
    all_triplets = [oracle.triplets_of(t) for t in every]
    for tree, of_tree in zip(every, all_triplets, strict=True):
        few = {
            (min(a, b), max(a, b), c)
            for a, b, c in Constraints.from_hierarchy(tree).relative.tolist()
        }
        assert few <= of_tree
        assert len(few) == _promised(tree)
        for other in all_triplets:
            if few <= other:
                assert of_tree <= other


def _promised(tree, above=0):
    if not isinstance(tree, tuple):
        return 0
    return (len(tree) - 1) * above + sum(_promised(t, len(tree) - 1) for t in tree)


def test_binary_trees_of_six_need_four():
    for tree in islice(oracle.binary_trees(range(6)), 0, None, 9):
        known = Constraints.from_hierarchy(tree)
        assert len(known) == 4
        for a, b, c in oracle.triplets_of(tree):
            assert known.implies(a, b, c)


def test_the_shapes_of_a_tree():
    nested = Constraints.from_hierarchy([[0, 1], [2, [3, 4]]])
    assert nested == Constraints.from_hierarchy("((0:1,1:2)pair:0.5,(2,(3,4)))[all];")
    assert nested == Constraints.from_hierarchy({"x": [0, 1], "y": {"z": 2, "w": (3, 4)}})
    assert nested == Constraints.from_hierarchy([[[0, 1]], [2, [[3, 4]]]])  # single branches
    ids = ["a", "b", "c d", "d", "e"]
    named = Constraints.from_hierarchy("((a,b),('c d',(d,e)));", ids=ids)
    assert named.relative.tolist() == nested.relative.tolist()
    assert named.ids.tolist() == ids
    assert named.n_samples == 5


def test_linkage_and_labels():
    X = np.random.RandomState(0).normal(size=(30, 2))
    Z = linkage(X, "average")
    known = Constraints.from_hierarchy(Z)
    assert len(known) == 28
    assert known.n_samples == 30
    assert known.satisfied_by(Z).all()
    assert not known.satisfied_by(linkage(X, "single")).all()
    assert Constraints.from_hierarchy(Z[:, :2]) == known
    y = np.array([0, 0, 1, 1, 1, 2, 2, -1])
    known = Constraints.from_hierarchy(y)  # GenerateConstraints without its empty rows
    assert len(known) == (3 - 1) * (7 - 3)
    assert known.implies(3, 4, 6)
    assert known.satisfied(y).all()


def test_deep_and_wide_trees():
    deep = 0
    for i in range(1, 3000):
        deep = [deep, i]
    assert len(Constraints.from_hierarchy(deep)) == 2998
    assert len(Constraints.from_hierarchy([list(range(1000)), 1000])) == 999


@pytest.mark.parametrize(
    ("tree", "match"),
    [
        ([[0, 1], []], "empty branch"),
        ([[0, 1], [1, 2]], "at several: 1"),
        ("((0,1),(2,3);", "1 open bracket"),
        ("((0,1),,3);", "unexpected ','"),
        ("0,1", "starts with '\\('"),
        ([["a", 1], 2], "not a position"),
        (7, "Newick text"),
        (np.array([[0, 1, 0.5, 2], [0, 2, 0.6, 3]]), "joins two earlier clusters"),
    ],
)
def test_bad_trees(tree, match):
    with pytest.raises(InvalidConstraintsError, match=match):
        Constraints.from_hierarchy(tree)


def test_a_hierarchy_without_a_leaf():
    with pytest.raises(InvalidConstraintsError, match="no leaf for 1 samples"):
        Constraints(relative=[(0, 1, 9)]).satisfied_by([[0, 1], 2])
