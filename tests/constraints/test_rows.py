"""Statements read with ids follow the rows of a data frame, or refuse it; they are never misread."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from conclust import Constraints, constraint_quality
from conclust._validation import as_constraints
from conclust.exceptions import InvalidConstraintsError
from conclust.reporting import gather
from conclust.testing import all_estimators

NAMES = [f"flower-{i}" for i in range(6)]
TABLE = pd.DataFrame({"x": np.arange(6.0), "key": NAMES})
LINKS = pd.DataFrame(
    {
        "a": ["flower-0", "flower-0", "flower-1"],
        "b": ["flower-4", "flower-1", "flower-2"],
        "c": [None, None, "flower-5"],
        "type": ["same", "different", "relative"],
    }
)
ORDER = [3, 5, 0, 2, 1, 4]


def named(known, table):
    """The statements by the names that the rows of a table have."""
    names = table["key"].tolist()
    return [(s.kind, *(names[i] for i in s.samples)) for s in known.on_rows_of(table)]


SAID = [
    ("must-link", "flower-0", "flower-4"),
    ("cannot-link", "flower-0", "flower-1"),
    ("relative", "flower-1", "flower-2", "flower-5"),
]


def test_a_frame_in_another_order_is_followed():
    table = TABLE.set_index("key", drop=False)
    known = Constraints.from_frame(LINKS, ids=table.index)
    assert named(known, table) == SAID
    moved = known.on_rows_of(table.iloc[ORDER])
    assert named(known, table.iloc[ORDER]) == SAID
    assert moved.ids.tolist() == table.index[ORDER].tolist()
    assert moved.to_frame().equals(known.to_frame())
    assert moved.on_rows_of(table.iloc[ORDER]) == moved
    assert named(moved, table) == SAID


def test_groups_and_their_members_are_followed():
    table = TABLE.set_index("key", drop=False)
    known = Constraints.from_frame(LINKS, ids=table.index)
    known = known + Constraints.from_groups(apart=[1, -1, 1, -1, -1, 1])
    kind, *members = named(known, table.iloc[ORDER])[-1]
    assert (kind, sorted(members)) == ("apart", ["flower-0", "flower-2", "flower-5"])


def test_ids_from_a_column_follow_the_index_that_came_with_them():
    table = TABLE.set_index(pd.Index([10, 11, 12, 13, 14, 15]))
    known = Constraints.from_frame(LINKS, ids=table["key"])
    for some in (known, known[[0, 1, 2]], pickle.loads(pickle.dumps(known))):
        assert named(some, table) == SAID
        assert named(some, table.iloc[ORDER]) == SAID


def test_rows_that_are_only_counted_have_no_names():
    # A frame with the index 0, 1, 2, …, an array and a list are taken as they stand.
    known = Constraints.from_frame(LINKS, ids=TABLE["key"])
    assert named(known, TABLE) == SAID
    for X in (TABLE[["x"]].to_numpy(), [[0.0]] * 6):
        assert known.on_rows_of(X).must_link.tolist() == [[0, 4]]
    numbered = Constraints.from_frame(
        LINKS.replace("flower-", "", regex=True), ids=[5, 4, 3, 2, 1, 0]
    )
    assert numbered.on_rows_of(TABLE).must_link.tolist() == [[5, 1]]


def test_numbers_and_texts_are_the_same_name():
    links = pd.DataFrame({"a": ["10"], "b": ["12"], "type": ["same"]})
    known = Constraints.from_frame(links, ids=["10", "11", "12"])
    X = pd.DataFrame({"x": [1.0, 2.0, 3.0]}, index=[12, 11, 10])
    assert known.on_rows_of(X).must_link.tolist() == [[2, 0]]


@pytest.mark.parametrize(
    "index",
    [
        ["flower-0", "flower-1", "flower-2", "flower-3", "flower-4", "flower-6"],
        ["flower-0", "flower-0", "flower-2", "flower-3", "flower-4", "flower-5"],
        ORDER,  # shuffled, or ids of a table that was: nobody can tell
    ],
)
@pytest.mark.parametrize("ids", [NAMES, TABLE["key"]])
def test_other_names_are_refused(index, ids):
    known = Constraints.from_frame(LINKS, ids=ids)
    X = pd.DataFrame({"x": np.arange(6.0)}, index=index)
    with pytest.raises(InvalidConstraintsError, match=r"Row \d of X is called .*ids=X.index"):
        known.on_rows_of(X)


@pytest.fixture(scope="module")
def iris():
    X, _ = load_iris(return_X_y=True, as_frame=True)
    X = X.iloc[::3].rename(index=lambda i: f"flower-{i}")
    links = {"a": ["flower-0", "flower-0"], "b": ["flower-102", "flower-3"], "c": [None, None]}
    frame = pd.DataFrame({**links, "type": ["same", "different"]})
    return X, Constraints.from_frame(frame, ids=X.index)


@pytest.mark.parametrize("name", [name for name, _ in all_estimators()])
def test_every_estimator_asks_the_same_door(name, iris):
    # Check by the refusal, which nothing but the door says; its answer is tested above.
    X, known = iris
    estimator = dict(all_estimators())[name]()
    renamed = X.rename(index=lambda i: f"{i}!")
    with pytest.raises(InvalidConstraintsError, match="Row 0 of X is called 'flower-0!'"):
        estimator.fit(renamed, constraints=known)


def test_a_sorted_frame_is_clustered_as_said(iris):
    from conclust import COPKMeans

    X, known = iris
    model = COPKMeans(3, random_state=0).fit(X.sample(frac=1, random_state=1), constraints=known)
    labels = pd.Series(model.labels_, index=X.sample(frac=1, random_state=1).index)
    assert labels["flower-0"] == labels["flower-102"] != labels["flower-3"]


def test_other_doors(iris):
    X, known = iris
    shuffled = X.sample(frac=1, random_state=1)
    place = {name: i for i, name in enumerate(shuffled.index)}
    assert gather(shuffled, np.arange(50) % 2, known).map.rows is not None
    assert as_constraints(known, shuffled).must_link.tolist() == [
        [place["flower-0"], place["flower-102"]]
    ]
    renamed = X.rename(index=str.upper)
    with pytest.raises(InvalidConstraintsError, match="FLOWER-0"):
        constraint_quality(renamed, known, n_clusters=3)
