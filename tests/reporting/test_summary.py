"""What a reader meets first: the result, what became of the statements, what to distrust."""

import re

import numpy as np
import pandas as pd
import pytest

from conclust import Constraints
from conclust.reporting import gather, page
from conclust.reporting._facts import plainly
from conclust.reporting._summary import summary, warnings_of

X = np.r_[np.zeros((5, 2)), np.full((4, 2), 9.0)] + np.arange(18).reshape(9, 2) / 10
LABELS = np.repeat([0, 1], [5, 4])
RIGHT = [(0, 1), (5, 6)]


def first(*args, **about):
    return summary(gather(X, *args, **about))[0]


def test_the_first_sentence_says_what_was_grouped_and_what_came_out():
    assert first(LABELS, source="kunden.csv") == (
        "9 rows of kunden.csv fall into 2 groups (clusters) of 4 to 5 rows."
    )
    assert first(np.arange(9) % 3) == "9 rows fall into 3 groups (clusters) of 3 rows each."
    assert first(np.zeros(9, int)) == "9 rows form one group (cluster)."
    assert first(np.r_[LABELS[:-1], -1]).endswith("of 3 to 5 rows; 1 is in none.")
    assert first(np.full(9, -1)) == "None of the 9 rows is in a cluster."


def test_it_stands_before_the_method():
    content = page(gather(X, LABELS, method="COPKMeans", reasons=["As asked for."]))
    lead = re.search(r'<p class="lead">(.*?)</p>', content)[1]
    assert "fall into 2 groups" in lead
    assert "As asked for" not in lead
    assert "<summary>Which method, and why</summary><p>Method: COPKMeans. As asked for.</p>" in (
        content
    )


@pytest.mark.parametrize(
    ("cannot_link", "doubt", "said"),
    [
        ([], None, "All 2 statements about which rows belong together are kept."),
        ([(0, 2)], None, "together 2 are kept; 1 is broken: wrong, or against what"),
        (
            [(0, 2)],
            [0.1, 0.2, 0.9],
            "Of 3 statements about which rows belong together 2 are kept; 1 is broken and looks wrong.",
        ),
        ([(0, 2), (1, 3)], [0, 0, 0.9, 0.1], "2 are broken, of which 1 looks wrong."),
        # A method that only says which ones it broke has not judged them.
        ([(0, 2)], [0, 0, 1], "1 is broken: wrong, or"),
    ],
)
def test_what_became_of_the_statements(cannot_link, doubt, said):
    about = {} if doubt is None else {"doubt": doubt}
    assert said in summary(gather(X, LABELS, Constraints(RIGHT, cannot_link), **about))[1]


def test_relative_statements_that_clusters_leave_open_are_counted():
    # All three in one cluster count as kept, yet nobody can see it.
    known = Constraints(relative=[(0, 1, 5), (0, 1, 2), (6, 7, 8)])
    said = gather(X, LABELS, known)
    assert summary(said)[1] == (
        "All 3 statements about which rows belong together are kept; of the 3 relative ones these "
        "clusters show 1 and leave 2 open."
    )
    assert "Every statement is kept" not in page(said)


def test_a_column_that_decides_alone_is_told_on_top():
    wide = np.column_stack([X[:, 0], 1000 * LABELS])
    said = gather(wide, LABELS, features=["Alter", "PLZ"])
    assert said.decides == "PLZ"
    assert "Careful: one column, PLZ, decides alone." in summary(said)
    assert warnings_of(said)[0].startswith("PLZ decides alone")
    assert gather(X, LABELS).decides == ""
    # The preparation may have said so already.
    told = "PLZ varies 9 times as much and decides alone."
    known = gather(wide, LABELS, features=["Alter", "PLZ"], warnings=[told])
    assert warnings_of(known) == [told]
    # Columns of X without names mean nothing to the reader of a table.
    assert gather(wide, LABELS, frame=pd.DataFrame({"zip": LABELS})).decides == ""


def test_warnings_stand_above_the_map_without_options_of_the_command_line():
    warning = "PLZ varies 113 times as much as most columns and decides alone; consider --raw."
    content = page(gather(X, LABELS, warnings=[warning]))
    assert content.index("decides alone.") < content.index('id="map-heading"')
    assert "--raw" not in content


def test_only_clauses_with_options_and_calls_go():
    left_out = "Ort is left out: 9 values; name it in --columns to use it."
    assert plainly(left_out) == "Ort is left out: 9 values."
    assert plainly("2 of 9 statements seem wrong; suspects() lists them.") == (
        "2 of 9 statements seem wrong."
    )
    assert plainly("3 columns scaled (--raw: not). Name another with --encoding.") == (
        "3 columns scaled."
    )
    assert plainly("PLZ (2 of 9) varies; use --raw; mind it.") == "PLZ (2 of 9) varies; mind it."
    assert plainly("a; b") == "a; b"
    assert plainly("See --help.") == "See --help."


def test_plain_k_means_is_compared():
    # Statements say that rows belong together which k-means parts.
    known = Constraints([(0, 5)], n_samples=9)
    labels = np.array([0, 1, 1, 1, 1, 0, 0, 0, 0])
    said = gather(X, labels, known)
    assert said.before.n_kept == 0
    assert said.before.n_moved == 1
    assert np.sum(said.before.table) == 9
    assert "would keep 0 of the 1 and place 1 row (11%) elsewhere" in summary(said)[-1]
    assert "Before and after" in page(said)
    same = gather(X, LABELS, Constraints(RIGHT))
    assert "place all rows in the same way" in summary(same)[-1]
    assert gather(X, LABELS).before is None
    assert gather(X, LABELS, Constraints(RIGHT), method="KMeans").before is None


def test_clusters_that_break_much_are_not_to_be_trusted():
    said = gather(X, LABELS, Constraints(RIGHT, [(0, 2)]))
    assert "Careful: clusters and statements disagree." in summary(said)
    believed = gather(X, LABELS, Constraints(RIGHT, [(0, 2)]), doubt=[0.1, 0.1, 0.9])
    assert not any("Careful" in sentence for sentence in summary(believed))


def test_rows_in_no_cluster_are_not_compared():
    said = gather(X, np.r_[LABELS[:-1], -1], Constraints(RIGHT))
    assert np.sum(said.before.table) == 8


def test_the_page_has_a_date_and_says_where_the_labels_are():
    content = page(gather(X, LABELS, date="1 May 2026", labels_in="labels.csv"))
    assert "1 May 2026. The cluster of each row is in labels.csv." in content
