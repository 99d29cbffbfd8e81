"""Rows to look at: those of statements in question, and typical ones."""

import re

import numpy as np
import pandas as pd
import scipy.sparse as sp

from conclust import Constraints
from conclust.reporting import gather, page
from conclust.reporting._map_html import HEIGHT, WIDTH, moved_apart

FRAME = pd.DataFrame(
    {
        "age": [20.0, 21, 22, 60, 61, np.nan],
        "channel": ["web", "web", "shop", "shop", "shop", "shop"],
        "note": ["calls", "writes <b>", "visits", "sleeps", "eats", "reads"],
        "land": ["jp"] * 6,
    }
)
X = np.array([[20.0, 0], [21, 0], [22, 1], [60, 1], [61, 1], [60, 1]])
LABELS = np.array([0, 0, 0, 1, 1, 1])
ABOUT = {
    "frame": FRAME,
    "numbers": ["age"],
    "categories": ["channel"],
    "ids": [f"C{i}" for i in range(6)],
}


def test_a_broken_statement_shows_its_rows_and_where_they_differ():
    said = gather(X, LABELS, Constraints([(1, 3)]), **ABOUT)
    assert said.columns == ["age", "channel", "note"]  # `land` is the same everywhere
    (case,) = said.broken
    assert (case.said, case.found) == (
        "C1 and C3 belong together",
        "They are in different clusters.",
    )
    one, other = case.rows
    assert [c.text for c in one.cells] == ["21", "web", "writes <b>"]
    assert [c.differs for c in one.cells] == [True, True, False]  # notes nearly always differ
    assert (other.name, other.cluster) == ("C3", 1)
    content = page(said)
    assert "<mark><bdi>21</bdi></mark>" in content
    assert "writes &lt;b&gt;" in content
    assert "Is this right?" in content


def test_near_numbers_and_equal_words_are_not_marked():
    (case,) = gather(X, LABELS, cl((3, 4)), **ABOUT).broken
    assert [c.differs for c in case.rows[0].cells] == [False, False, False]
    (case,) = gather(X, LABELS, cl((3, 5)), **ABOUT).broken
    assert case.rows[1].cells[0] == ("", True)  # a missing value


def cl(*pairs):
    return Constraints(cannot_link=pairs)


def test_each_kind_says_how_it_came_out():
    known = Constraints(relative=[(0, 3, 1)])
    (case,) = gather(X, LABELS, known, **ABOUT).broken
    assert case.said == "C0 and C3 are closer to each other than to C1"
    assert case.found == "C1 shares a cluster with C0, not with C3."
    assert len(case.rows) == 3
    group = Constraints.from_groups(apart=[0, 0, -1, 0, -1, -1])
    (case,) = gather(X, LABELS, group, **ABOUT).broken
    assert [row.name for row in case.rows] == ["C0", "C1"]  # those that clash
    (case,) = gather(X, LABELS, cl((0, 1)), **ABOUT).broken
    assert case.found == "They share a cluster."


def test_what_looks_wrong_comes_first_and_what_is_kept_but_doubted_after():
    known = Constraints([(0, 3), (0, 4), (0, 1)])
    said = gather(X, LABELS, known, doubt=[0.3, 0.9, 0.4], **ABOUT)
    assert [case.note for case in said.broken] == ["doubt 0.90", "doubt 0.30"]
    (kept,) = said.suspects
    assert (kept.said, kept.found) == ("C0 and C1 belong together", "It is so.")
    assert gather(X, LABELS, known, doubt=[0.3, 0.9, 0.05], **ABOUT).suspects == []


def test_conflicts_show_their_rows_and_no_parameter():
    known = Constraints(cannot_link=[(0, 1), (1, 2), (0, 2)])
    said = gather(X, LABELS, known, conflicts=known.conflicts(2), **ABOUT)
    (case,) = said.conflicts
    assert "n_clusters" not in case.said
    assert [row.name for row in case.rows] == ["C0", "C1", "C2"]
    assert "cannot all hold" in page(said)


def test_typical_rows_are_the_nearest_to_the_mean_and_look_different():
    said = gather(X, LABELS, **ABOUT)
    assert said.typical[0][0].name == "C1"
    assert "Typical rows" in page(said)
    repeated = gather(
        np.r_[X[:3], np.tile(X[3], (9, 1))],
        np.repeat([0, 1], [3, 9]),
        frame=pd.concat([FRAME[:3], *[FRAME[3:4]] * 9]),
        numbers=["age"],
    )
    assert len(repeated.typical[1]) == 1


def test_rows_without_a_frame_show_the_columns_of_x():
    said = gather(X, LABELS, Constraints([(0, 3)]), features=["age", "shop"])
    assert said.columns == ["age", "shop"]
    assert [c.text for c in said.broken[0].rows[0].cells] == ["20", "0"]
    sparse = gather(sp.coo_array(X), LABELS, Constraints([(0, 3)]))
    assert sparse.columns == []
    assert [row.name for row in sparse.typical[0]] == ["1", "0", "2"]
    assert "Is this right?" in page(sparse)


def test_columns_of_a_frame_are_known_by_what_they_hold():
    frame = FRAME.assign(since=pd.to_datetime(["2020-05-01"] * 5 + ["2021-01-02"]))
    said = gather(X, LABELS, frame=frame)
    assert said.columns[:2] == ["age", "channel"]
    assert said.phrases[0][0].startswith("age low")
    shown = gather(X, LABELS, frame=frame, numbers=["age"], categories=["channel"])
    assert [c.text for c in shown.typical[0][0].cells] == ["21", "web", "writes <b>", "2020-05-01"]


def test_statements_with_ids_name_their_rows():
    # Without `ids` the report takes the names that the statements know.
    known = Constraints.from_frame(
        pd.DataFrame({"a": ["ann"], "b": ["dan"], "type": ["must-link"]}), ids=list(NAMES)
    )
    said = gather(X, LABELS, known)
    assert said.broken[0].said == "ann and dan belong together"
    assert said.ids == list(NAMES)


NAMES = ("ann", "bob", "cid", "dan", "eve", "fay")


def test_tags_of_clusters_do_not_overlap():
    rng = np.random.RandomState(0)
    for n in (2, 12, 50):
        centers = np.full((n, 2), 300.0) + rng.normal(size=(n, 2))
        halves = np.column_stack([rng.uniform(15, 60, n), np.full(n, 19.0)])
        at = moved_apart(centers, halves)
        assert (at - halves >= -1e-9).all()
        assert at[0].tolist() == centers[0].tolist()
        assert (at + halves <= [WIDTH + 1e-9, HEIGHT + 1e-9]).all()
        gap = np.abs(at[:, None] - at[None]) - (halves[:, None] + halves[None])
        overlap = (gap < -1e-9).all(axis=2)
        assert not overlap[~np.eye(n, dtype=bool)].any(), n


def test_history_method_and_notes_are_folded_away():
    from tests.reporting.test_page import Record

    history = [Record(9.0, 0.1), Record(4.0, 0.1)]
    content = page(gather(X, LABELS, history=history, notes=["a note"], method="COPKMeans"))
    for summary in ("History of the fit: objective", "What was done to the table"):
        assert re.search(rf"<details><summary>{summary}</summary>", content)
    assert "<details open" not in content
