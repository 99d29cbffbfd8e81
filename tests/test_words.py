"""Statements in words."""

from conclust import Constraints
from conclust._words import N_NAMED, note, note_of_row, shortened, violation


def test_notes_of_statements():
    assert note("must-link", ["ann", "bob"]) == "must-link: ann, bob"
    assert note("relative", ["ann", "bob", "cid"]) == "relative: ann, bob | cid"
    assert note("apart", list("abcdefgh")) == "apart: a, b, c, d, e, f, …"


def test_a_row_of_a_frame_without_its_empty_third_sample():
    rows = Constraints([(0, 1)], relative=[(0, 1, 2)]).to_frame().to_dict("records")
    assert [note_of_row(row) for row in rows] == ["must-link: 0, 1", "relative: 0, 1 | 2"]


def test_a_violation_names_the_clusters():
    broken = Constraints([(0, 1)], relative=[(0, 1, 2)]).report([0, 1, 1]).violated
    assert [violation(row) for row in broken.to_dict("records")] == [
        "must-link 0 (cluster 0), 1 (cluster 1)",
        "relative 0 (cluster 0), 1 (cluster 1), | 2 (cluster 1)",
    ]


def test_long_lists_lose_their_middle():
    names = [str(i) for i in range(N_NAMED + 1)]
    assert shortened(names[:-1], " – ") == " – ".join(names[:-1])
    assert shortened(names, ", ") == "0, 1, 2, 3, 4, 5, …, 7, 8, 9, 10, 11, 12"


def test_a_group_in_a_conflict_with_triplets_is_told_as_a_group():
    # Check that a group kept apart is not read as a triplet because it has three members.
    known = Constraints([(0, 1)], relative=[(0, 3, 1)]) + Constraints.from_groups(
        apart=["g", None, "g", "g"]
    )
    (reason,) = map(str, known.conflicts())
    assert "no two of 0, 2, 3 may share a cluster" in reason
