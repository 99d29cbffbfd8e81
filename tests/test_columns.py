"""Cells as people write them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conclust._columns import has_leading_zeros, read_column, words_of


def numbers(cells, decimal_comma=False):
    """The column as a list, or None where it holds words."""
    found = read_column(pd.Series(cells, dtype=object), decimal_comma)
    return None if found is None else found.values.tolist()


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1.234,50", "3,5", "100"], [1234.5, 3.5, 100]),
        (["1,234.50", "3.5"], [1234.5, 3.5]),
        (["1,234", "5,678"], [1234, 5678]),
        (["5%", "7.5 %"], [5, 7.5]),
        (["$1,000", "-$2"], [1000, -2]),
        (["1 234 €", "5 EUR"], [1234, 5]),
        (["1'000.5", "2"], [1000.5, 2]),
        (["12 kg", "3.5 kg"], [12, 3.5]),
        (["(5)", "5-", "−3", "+1e3"], [-5, -5, -3, 1000]),
        (["9" * 400], [np.inf]),
        (["1.140 €", "512 €"], [1140, 512]),
        (["1.140", "2.5"], [1.14, 2.5]),
        (["1.140", "2.500"], [1.14, 2.5]),
    ],
)
def test_numbers(cells, expected):
    assert numbers(cells) == expected


@pytest.mark.parametrize(
    "cells",
    [["a", "b"], ["01067", "80331"], ["12 kg", "3 m"], ["10115 Berlin", "20095 Hamburg"], ["1.5", "2020-01-01"],
     ["12:30", "9:15"], [""], ["."], ["2020-13-45"], ["31.02.2020"], ["A1", "A2"], [None, None]],
)  # fmt: skip
def test_words_stay_words(cells):
    assert numbers(cells) is None


def test_a_comma_may_stand_for_thousands_or_decimals():
    assert numbers(["1,234", "5,678"], decimal_comma=True) == [1.234, 5.678]
    assert numbers(["1.234", "5.678"], decimal_comma=True) == [1234, 5678]
    assert numbers(["1.2", "5.678"], decimal_comma=True) == [1.2, 5.678]


@pytest.mark.parametrize(
    "cells",
    [
        ["2020-01-31", "2021-07-01T12:00:00Z"],
        ["2020/01/31", "2021/07/01 12:00"],
        ["31.01.2020", "1.7.21 12:00"],
        ["31/01/2020", "01/07/2021 12:00:00"],
        ["01/31/2020", "07/01/2021 12:00"],
        [pd.Timestamp(2020, 1, 31), pd.Timestamp(2021, 7, 1, 12)],
    ],
)
def test_dates_are_years(cells):
    expected = [1970 + (pd.Timestamp(d) - pd.Timestamp(1970, 1, 1)).total_seconds() / 86400 / 365.2425
                for d in ("2020-01-31", "2021-07-01 12:00")]  # fmt: skip
    assert numbers(cells) == pytest.approx(expected, abs=1e-9)
    assert expected[1] == pytest.approx(2021.5, abs=0.005)


def test_dates_with_names_of_months():
    assert numbers(["3 Jan 2020", "Jan 3, 2020", "3. Januar 2020"]) == pytest.approx(
        [2020.0045] * 3, abs=1e-3
    )
    assert numbers(["12-Dez-2020"]) == pytest.approx(numbers(["2020-12-12"]))


def test_a_doubtful_order_of_day_and_month_is_said():
    found = read_column(pd.Series(["1/2/2020", "3/4/2020"]))
    assert found.note.endswith("the month first")
    assert found.values.tolist() == pytest.approx(numbers(["2020-01-02", "2020-03-04"]))


def test_a_few_words_among_numbers_are_missing():
    found = read_column(pd.Series(["1", "2"] * 10 + ["n/a", "?"]))
    assert np.isnan(found.values[20:]).all()
    assert found.note == "'n/a', '?' read as missing (2 cells)"
    assert numbers(["1", "2", "n/a"]) is None  # not so few


def test_zeros_in_front_make_a_code():
    assert has_leading_zeros(pd.Series(["80331", " 01067"]))
    assert not has_leading_zeros(pd.Series(["0", "0.5", "10", None]))


def test_words_are_what_a_person_would_write():
    assert words_of(pd.Series([7.0, 7.5, np.nan])).tolist() == ["7", "7.5", ""]
    assert words_of(pd.Series([True, False])).tolist() == ["True", "False"]
    assert words_of(pd.Series([" a ", None])).tolist() == ["a", ""]


@given(st.lists(st.one_of(st.none(), st.text(max_size=12)), max_size=8), st.booleans())
def test_any_cells_are_read_or_left(cells, comma):
    found = read_column(pd.Series(cells, dtype=object), comma)
    assert found is None or len(found.values) == len(cells)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6))
def test_german_numbers_are_read_back(values):
    cells = [f"{v:,.3f}".translate(str.maketrans(",.", ".,")) for v in values]
    assert numbers(cells, decimal_comma=True) == pytest.approx(values, abs=1e-3)
