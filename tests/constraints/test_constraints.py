import copy
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from conclust import Constraints
from conclust.exceptions import InvalidConstraintsError
from conclust.testing import any_constraints, consistent_constraints
from tests.oracles import constraints as oracle


def test_parts_keep_the_order_given():
    # Check that each kind comes back as it was given, and iteration follows the arguments.
    known = Constraints([(3, 1), (0, 2)], [(4, 0)], [(0, 1, 4)], must_link_weight=[2, 3])
    assert known.must_link.tolist() == [[3, 1], [0, 2]]
    assert known.cannot_link.tolist() == [[4, 0]]
    assert known.relative.tolist() == [[0, 1, 4]]
    assert known.must_link_weight.tolist() == [2.0, 3.0]
    assert [s.kind for s in known] == ["must-link", "must-link", "cannot-link", "relative"]
    assert known[1].samples == (0, 2)
    assert len(known) == 4


def test_duplicates_are_kept_once_with_their_weights_added():
    known = Constraints(
        [(0, 1), (2, 3), (1, 0)], [(0, 1)], [(0, 1, 2), (1, 0, 2)], must_link_weight=[1, 2, 3]
    )
    assert known.must_link.tolist() == [[0, 1], [2, 3]]
    assert known.must_link_weight.tolist() == [4.0, 2.0]
    assert known.cannot_link.tolist() == [[0, 1]]
    assert known.relative_weight.tolist() == [2.0]


@given(any_constraints())
def test_duplicates_against_a_dictionary(known):
    # Check merging against adding up weights in a dict, after stating everything twice.
    twice = known + known
    expected = {}
    for s in list(known) + list(known):
        key = (s.kind, tuple(sorted(s.samples)))
        expected[key] = expected.get(key, 0) + s.weight
    found = {(s.kind, tuple(sorted(s.samples))): s.weight for s in twice}
    assert list(found) == list(expected)
    assert found == pytest.approx(expected)


def test_frozen():
    known = Constraints([(0, 1)])
    with pytest.raises(AttributeError, match="frozen"):
        known.n_samples = 3
    with pytest.raises(ValueError, match="read-only"):
        known.weight[0] = 2


def test_the_users_array_is_not_shared():
    rows = np.array([[0, 1]])
    known = Constraints(rows)
    rows[0, 1] = 7
    assert known.must_link.tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"must_link": [(0, 1, 2)]}, r"must_link has shape \(1, 3\).*Triplets go to `relative=`"),
        ({"must_link": [(0, 0)]}, r"must_link: a sample cannot be linked to itself; found row 0: \(0, 0\)"),
        ({"cannot_link": [(1, 2), (0, -1)]}, r"cannot_link: .*negative; found row 1: \(0, -1\)"),
        ({"must_link": [(0, 9)], "n_samples": 5}, r"only 5 samples.*row 0: \(0, 9\)"),
        ({"must_link": [("ann", "bob")]}, r"must_link holds .* such as .*ann.*ids="),
        ({"must_link": [(0, 1.5)]}, r"whole numbers; found row 0: \(0.0, 1.5\)"),
        ({"must_link": [(0, np.nan)]}, r"whole numbers; found row 0: \(0.0, nan\)"),
        ({"must_link": [(0, None)]}, r"row 0: \(0, None\)"),
        ({"must_link": [(0, 1), (2,)]}, r"rows of different lengths, such as \(2,\)"),
        ({"must_link": 7}, "must be an array or a list of rows.*got 7"),
        ({"must_link": "ab"}, "got 'ab'"),
        ({"must_link": [(True, False)]}, "holds bool values"),
        ({"must_link": np.array([[0, 2**63]], dtype=np.uint64)}, r"no table has so many.*row 0: \(0, 9223372036854775808\)"),
        ({"must_link": [(0, 2**63)]}, "no table has so many.*ids="),
        ({"must_link": [(0, 2**70)]}, "no table has so many.*ids="),
        ({"relative": [(0, 1, 1)]}, r"must be different samples; found row 0: \(0, 1, 1\)"),
        ({"relative": [(0, 1, 2), (3, 3, 1)]}, r"different samples; found row 1: \(3, 3, 1\)"),
        ({"relative": [(0, 1)]}, r"relative has shape \(1, 2\)"),
        ({"must_link": [(0, 1)], "must_link_weight": [1, 2]}, r"must_link_weight has shape \(2,\), but there are 1 rows"),
        ({"must_link": [(0, 1)], "must_link_weight": [-1]}, "must_link_weight must be positive.*row 0: -1"),
        ({"must_link": [(0, 1)], "must_link_weight": [np.nan]}, "row 0: nan"),
        ({"must_link": [(0, 1)], "must_link_weight": ["x"]}, "must_link_weight must hold numbers"),
        ({"n_samples": -1}, "n_samples must be a whole number"),
        ({"n_samples": 2.5}, "n_samples must be a whole number"),
        ({"must_link": [(i, i) for i in range(9)]}, "row 4.* and 4 more"),
    ],
)  # fmt: skip
def test_bad_input_is_named(arguments, message):
    with pytest.raises(InvalidConstraintsError, match=message):
        Constraints(**arguments)


def test_input_of_many_makes():
    # Check that arrays, frames, generators, sets and floats that are whole give the same set.
    expected = Constraints([(0, 1), (2, 3)])
    for rows in (
        np.array([[0, 1], [2, 3]], dtype=np.uint8),
        np.array([[0.0, 1.0], [2.0, 3.0]]),
        pd.DataFrame({"a": [0, 2], "b": [1, 3]}),
        ((i, i + 1) for i in (0, 2)),
        np.array([[0, 1], [2, 3]], dtype=object),
    ):
        assert Constraints(rows) == expected
    assert Constraints({(0, 1)}) == Constraints([(0, 1)])
    assert len(Constraints()) == 0
    assert len(Constraints([], np.empty((0, 2)), None)) == 0
    assert not Constraints()


def test_pairs_have_no_direction():
    assert Constraints([(0, 1)], [(2, 3)], [(4, 5, 6)]) == Constraints(
        [(1, 0)], [(3, 2)], [(5, 4, 6)]
    )
    assert Constraints(relative=[(4, 5, 6)]) != Constraints(relative=[(4, 6, 5)])
    assert Constraints([(0, 1)]) != Constraints([(0, 1)], must_link_weight=[2])
    groups = [Constraints.from_groups(apart=column) for column in ([1, 1, 1, 2], [2, 2, 2, 1])]
    assert groups[0] == groups[1]
    assert groups[0] != Constraints.from_groups(apart=[1, 1, 2, 1])


@pytest.mark.parametrize("name", ["must_link", "cannot_link", "relative", "weight", "kinds"])
def test_what_is_handed_out_cannot_be_changed(name):
    known = Constraints([(0, 1)], [(0, 2)], [(0, 1, 3)])
    for array in (getattr(known, name), getattr(known, f"{name}_weight", known.weight)):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[-1]


def test_union_checks_what_it_joins():
    both = Constraints([(0, 1)], n_samples=4) + Constraints(cannot_link=[(2, 3)])
    assert both.n_samples == 4
    assert [s.kind for s in both] == ["must-link", "cannot-link"]
    with pytest.raises(InvalidConstraintsError, match="about 4 samples with constraints about 5"):
        Constraints(n_samples=4) + Constraints(n_samples=5)
    with pytest.raises(InvalidConstraintsError, match="X has 3 rows"):
        Constraints(n_samples=3) + Constraints([(0, 3)])
    with pytest.raises(TypeError):
        Constraints() + [(0, 1)]


def test_repr_and_html_can_be_read():
    known = Constraints([(0, 1)], [(1, 2)], [(0, 1, 2)])
    assert repr(known) == "Constraints(1 must-link, 1 cannot-link, 1 relative; 3 samples named)"
    assert repr(Constraints(n_samples=5)) == "Constraints(none; 5 samples)"
    frame = pd.DataFrame({"a": ["<b>"], "b": ["y"], "type": ["ml"]})
    html = Constraints.from_frame(frame, ids=["<b>", "y"])._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<b>, y" not in html


@given(any_constraints())
def test_copies_are_equal(known):
    assert pickle.loads(pickle.dumps(known)) == known
    assert copy.deepcopy(known) == known
    assert known[:] == known
    assert known[np.arange(len(known))] == known


def test_from_labels_by_hand():
    known = Constraints.from_labels([1, -1, 1, 0, 1, 0])
    assert known.must_link.tolist() == [[0, 2], [2, 4], [3, 5]]
    assert known.cannot_link.tolist() == [[0, 3]]
    assert known.n_samples == 6
    assert len(Constraints.from_labels([-1, -1])) == 0
    assert len(Constraints.from_labels([])) == 0
    assert Constraints.from_labels(["x", None, "x"]).must_link.tolist() == [[0, 2]]
    assert Constraints.from_labels(["x", "?", "x"], unlabelled="?").must_link.tolist() == [[0, 2]]
    with pytest.raises(InvalidConstraintsError, match="one-dimensional"):
        Constraints.from_labels([[0], [1]])


@given(st.lists(st.integers(-1, 3), max_size=9))
def test_from_labels_says_it_with_the_fewest_links(y):
    # Check that all pairs of labelled samples follow, and that no link can be left out.
    known = Constraints.from_labels(y)
    together, apart = oracle.closure(known.must_link, known.cannot_link, len(y))
    labeled = [i for i, label in enumerate(y) if label >= 0]
    for n, i in enumerate(labeled):
        for j in labeled[n + 1 :]:
            assert (frozenset((i, j)) in together) == (y[i] == y[j])
            assert (frozenset((i, j)) in apart) == (y[i] != y[j])
    n_classes = len(set(y) - {-1})
    assert len(known) == len(labeled) - n_classes + n_classes * (n_classes - 1) // 2


def test_from_groups_is_compact():
    # Check that 10 000 mutually apart rows cost 10 000 numbers, and still mean all pairs.
    known = Constraints.from_groups(apart=np.zeros(10_000, dtype=int))
    assert len(known) == 1
    assert len(pickle.dumps(known)) < 200_000
    assert known.n_group_pairs == 10_000 * 9_999 // 2
    labels = np.arange(10_000)
    assert known.satisfied(labels).all()
    labels[7] = 8
    assert not known.satisfied(labels).any()
    assert known.closure().implied([(0, 9_999), (5, 5)]).tolist() == [-1, 1]
    with pytest.raises(InvalidConstraintsError, match="49,995,000 pairs"):
        known.pairs()


def test_from_groups_reads_columns():
    known = Constraints.from_groups(
        together=["x", np.nan, "x", "y"], apart=pd.Series([1, 1, -1, 1])
    )
    assert known.must_link.tolist() == [[0, 2]]
    assert [g.tolist() for g in known.apart_groups] == [[0, 1, 3]]
    assert len(known.pairs().pairs) == 4
    with pytest.raises(InvalidConstraintsError, match="together has 2 entries and apart 3"):
        Constraints.from_groups([0, 0], [1, 1, 1])
    with pytest.raises(InvalidConstraintsError, match="needs `together`, `apart` or both"):
        Constraints.from_groups()


def test_groups_survive_taking_and_joining():
    one = Constraints.from_groups(apart=[0, 0, 0, 1, 1, 1])
    two = (
        Constraints([(0, 3)], n_samples=6) + one + Constraints.from_groups(apart=[0, 1, 1, 1, 1, 0])
    )
    assert [g.tolist() for g in two.apart_groups] == [[0, 1, 2], [3, 4, 5], [1, 2, 3, 4]]
    reordered = two[[3, 0, 1]]
    assert [s.samples for s in reordered] == [two[3].samples, two[0].samples, two[1].samples]
    last = two[two.kinds == "apart"][1:]
    assert [g.tolist() for g in last.apart_groups] == [[3, 4, 5], [1, 2, 3, 4]]


def test_from_matrix():
    S = sp.lil_array((4, 4))
    S[0, 1], S[1, 2], S[3, 3] = 2.0, -0.5, 9.0
    known = Constraints.from_matrix(S.tocsr())
    assert known.must_link.tolist() == [[0, 1]]
    assert known.must_link_weight.tolist() == [2.0]
    assert known.cannot_link_weight.tolist() == [0.5]
    assert known.n_samples == 4
    assert Constraints.from_matrix((S + S.T).tocsr()).must_link_weight.tolist() == [2.0]


@pytest.mark.parametrize(
    ("S", "message"),
    [
        (np.zeros((2, 3)), r"shape \(2, 3\); it must be square"),
        ([[0, 1], [2, 0]], r"S\[0, 1\] and S\[1, 0\] differ \(1 and 2\)"),
        ([[0, np.nan], [0, 0]], r"S\[0, 1\] is nan"),
        ([[-1, 0], [0, 0]], r"S\[0, 0\] is negative"),
        ([["a", "b"], ["c", "d"]], "matrix of numbers"),
    ],
)
def test_from_matrix_bad_input(S, message):
    with pytest.raises(InvalidConstraintsError, match=message):
        Constraints.from_matrix(S)


@given(
    consistent_constraints(n_samples=8, max_relative=8),
    st.lists(st.integers(0, 3), min_size=8, max_size=8),
)
def test_satisfied_is_the_definition(case, labels):
    known, truth = case
    known = known + Constraints.from_groups(apart=[0, 0, 0, -1, -1, -1, 1, 1])
    expected = [oracle.holds(s, labels) for s in known]
    assert known.satisfied(labels).tolist() == expected
    assert case[0].satisfied(truth).all()


def test_satisfied_checks_the_labels():
    known = Constraints([(0, 3)])
    with pytest.raises(ValueError, match="labels has 3 entries.*4 samples"):
        known.satisfied([0, 1, 2])
    with pytest.raises(ValueError, match="one-dimensional"):
        known.satisfied([[0], [1]])
    with pytest.raises(ValueError, match="labels has 5 entries.*4 samples"):
        Constraints([(0, 3)], n_samples=4).satisfied(range(5))


def test_report_counts_and_lists():
    known = Constraints([(0, 1), (0, 2)], [(0, 3)], [(0, 1, 3)], must_link_weight=[3, 1])
    report = known.report(np.array(["x", "x", "y", "y"]))
    assert report.counts["must-link"] == (2, 1)
    assert report.counts["must-link"].share == 0.5
    assert report.n_violated == 1
    assert report.share == 0.75
    assert report.weighted_share == pytest.approx(5 / 6)
    assert report.violated[["a", "b", "label_a", "label_b"]].to_numpy().tolist() == [
        [0, 2, "x", "y"]
    ]
    assert report.as_dict()["by_kind"]["relative"] == {"given": 1, "kept": 1}
    assert "must-link" in report._repr_html_()
    assert repr(Constraints().report([])) == "ConstraintReport(no statements)"


def test_report_says_what_clusters_make_of_relative_statements():
    known = Constraints(relative=[(0, 1, 2), (0, 1, 3), (0, 2, 4), (0, 4, 1), (2, 3, 0)])
    report = known.report([0, 0, 1, 0, 2])
    assert report.relative == (1, 1, 1, 2)  # shown, together, apart, broken
    assert report.as_dict()["relative"] == {"shown": 1, "together": 1, "apart": 1, "broken": 2}
    assert repr(report).endswith("3 of 5 relative, 1 of these shown)")
    assert "relative" not in Constraints([(0, 1)]).report([0, 0]).as_dict()


def test_report_shows_the_broken_pairs_of_a_group():
    known = Constraints.from_groups(apart=[0] * 5) + Constraints(relative=[(0, 1, 2)])
    violated = known.report([0, 1, 0, 2, 0]).violated
    pairs = violated[violated["type"] == "cannot-link"][["a", "b"]].to_numpy().tolist()
    assert pairs == [[0, 2], [2, 4]]
    assert (violated["type"] == "relative").sum() == 1


def test_on_checks_the_number_of_rows():
    known = Constraints([(0, 4)])
    assert known.on(5).n_samples == 5
    with pytest.raises(
        InvalidConstraintsError, match=r"names the samples \(0, 4\), but X has 4 rows"
    ):
        known.on(4)
    with pytest.raises(InvalidConstraintsError, match="about 5 samples, but X has 6 rows"):
        known.on(5).on(6)


@pytest.mark.parametrize(
    "ids",
    [["ann", "bob", "cid"], ["ann", "b\x00", "c\x00\x00"], [1, "two", 3.0], ["", " ", "ann\n"]],
)
def test_ids_come_back_from_a_file_as_they_were(ids):
    frame = pd.DataFrame({"a": [ids[0]], "b": [ids[2]], "type": ["must-link"]})
    known = Constraints.from_frame(frame, ids=np.array(ids, dtype=object))
    back = pickle.loads(pickle.dumps(known))
    assert back == known
    assert back.ids.tolist() == known.ids.tolist()
    assert back.ids.dtype == known.ids.dtype


def test_statements_about_a_part_of_a_table_are_the_same_about_all_of_it():
    # Check pairs, triplets and groups there and back; -1 marks rows that nothing is said about.
    part = Constraints([(0, 1)], [(1, 2)], [(0, 1, 3)]) + Constraints.from_groups(
        apart=[0, -1, 0, 0]
    )
    rows = np.array([3, 5, 6, 9])
    whole = part.moved(rows, 12)
    assert whole.n_samples == 12
    assert whole.must_link.tolist() == [[3, 5]]
    assert whole.cannot_link.tolist() == [[5, 6]]
    assert whole.relative.tolist() == [[3, 5, 9]]
    assert [group.tolist() for group in whole.apart_groups] == [[3, 6, 9]]
    place = np.full(12, -1)
    place[rows] = np.arange(4)
    back = whole.moved(place, 4, ids=["a", "b", "c", "d"])
    assert back == part.on(4)
    assert back.name(3) == "d"
