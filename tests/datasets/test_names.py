"""What people type: other spellings, slips, and attempts to leave the registry."""

import contextlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conclust.datasets import load, names
from conclust.datasets._catalog import find


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("scale", "balance"),
        ("balance-scale", "balance"),
        ("Digits-389", "digits389"),
        ("pendigits_389", "digits389"),
        ("pendigits_3689", "pendigits3689"),
        ("Letters-IJLT", "letters_ijlt"),
        ("segmentation210", "segmentation_210"),
        ("handwrittendigit_4000", "handwrittendigit"),
        ("monks1", "monks1_full"),
        ("breast cancer", "wdbc"),
        ("WebKB", "webkb"),
    ],
)
def test_other_names(typed, meant):
    # Check the papers' and the repositories' names.
    assert find(typed).name == meant


def test_names_are_all_different_and_found():
    # Check that each name listed leads to the set of that name.
    assert len(set(names())) == len(names())
    assert [find(name).name for name in names()] == names()


@pytest.mark.parametrize(
    ("typed", "suggested"),
    [
        ("irsi", "'iris'"),
        ("segmentation", "'segmentation_210'"),
        ("segmentation", "'segmentation_2310'"),
        ("pendigit", "'pendigits3689'"),
        ("monk", "'monks1_full'"),
    ],
)
def test_slips_and_ambiguous_names_are_answered_with_suggestions(typed, suggested):
    # Check that a wrong name is never guessed, but helped.
    with pytest.raises(ValueError, match="Did you mean") as error:
        load(typed)
    assert suggested in str(error.value)


@pytest.mark.parametrize(
    "typed", ["", " ", "../../etc/passwd", "../iris", "iris.csv.gz", "iris\0", "/", "x" * 10**6]
)
def test_hostile_names(bare_machine, typed):
    # Check that nothing outside the registry is reached, and that the message stays short.
    with pytest.raises(ValueError, match=r"conclust\.datasets\.names\(\)") as error:
        load(typed)
    assert len(str(error.value)) < 400
    assert not bare_machine.exists()


@given(st.text())
@example("iris")
def test_any_text_is_a_set_or_an_error(typed):
    # Check that no string makes the lookup fail otherwise.
    with contextlib.suppress(ValueError):
        assert find(typed).name in names()


@pytest.mark.parametrize("typed", [None, 3, b"iris", ["iris"]])
def test_name_of_another_type(typed):
    # Check that only strings are names.
    with pytest.raises(TypeError, match="is a string"):
        load(typed)
