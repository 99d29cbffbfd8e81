import pandas as pd
import pytest
from reproduction.leaderboard import cases, critical_difference, groups, ranks


def test_critical_difference_of_demsar():
    # Table 5 of Demsar (2006): q = 2.569 for four methods at 5 %.
    assert critical_difference(4, 14) == pytest.approx(2.569 * (4 * 5 / (6 * 14)) ** 0.5, rel=1e-3)


def test_ties_share_a_rank_and_draws_are_averaged_first():
    rows = [("x", "a", 0.2), ("x", "a", 0.4), ("x", "b", 0.3), ("x", "c", 0.1)]
    found = ranks(pd.DataFrame(rows, columns=["dataset", "method", "nmi"]))
    assert found.to_dict() == {"a": 1.5, "b": 1.5, "c": 3.0}


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ([1.0, 2.0, 3.0], [(0, 1), (1, 2)]),
        ([1.0, 1.5, 2.0, 9.0], [(0, 2)]),
        ([1.0, 5.0, 9.0], []),
    ],
)
def test_groups_are_the_largest_runs_within_the_difference(places, expected):
    assert groups(pd.Series(places), 1.2) == expected


def test_every_case_is_there_once():
    found = [tuple(case.items()) for case in cases(quick=False)]
    assert len(found) == len(set(found))
