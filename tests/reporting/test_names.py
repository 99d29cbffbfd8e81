"""What clusters are called."""

import re

import numpy as np
import pandas as pd
import pytest

from conclust.reporting import gather, page

X = np.array([[0.0, 0], [0, 1], [1, 0], [9, 9], [9, 8], [8, 9]])
LABELS = np.array([0, 0, 0, 1, 1, 1])


def titles(labels=LABELS, **about):
    return gather(X, labels, **about).titles


def test_by_their_profile():
    assert titles(features=["age", "money"]) == ["low age, low money", "high age, high money"]
    frame = pd.DataFrame({"text": ["cats purr"] * 3 + ["stocks rise"] * 3})
    assert titles(frame=frame, texts=["text"]) == ["cats, purr", "rise, stocks"]
    frame = pd.DataFrame({"channel": ["web"] * 3 + ["shop"] * 3})
    assert titles(frame=frame, categories=["channel"]) == ["channel web", "channel shop"]


def test_two_that_would_be_called_the_same_say_more():
    rows = np.array([[0.0, 0, 0], [0, 0, 5], [9, 9, 0], [9, 9, 5]])
    found = gather(rows, [0, 1, 2, 3], features=["a", "b", "c"]).titles
    assert len(set(found)) == 4


def test_by_the_user():
    assert titles(names={0: "Loyal"}, features=["a", "b"]) == ["Loyal", "high a, high b"]
    assert titles(names=["Loyal", "New"]) == ["Loyal", "New"]
    content = page(gather(X, LABELS, names={"1": "<b>New</b>"}))
    assert "1 · <bdi>&lt;b&gt;New&lt;/b&gt;</bdi>" in content
    assert '<text class="tag"' in content
    assert re.search(r'class="tag" x="\d+" y="\d+">&lt;b&gt;New', content)


def test_by_known_classes_of_some_rows():
    known = ["old", None, np.nan, "new", "", -1]
    assert titles(classes=known) == ["old", "new"]
    mixed = ["old", "odd", None, None, None, None]
    assert titles(classes=mixed, features=["a", "b"]) == ["old / odd", "high a, high b"]
    assert titles(classes=["old", "old", "odd"] + [""] * 3)[0] == "old"
    assert titles(classes=known, names={1: "fresh"}) == ["old", "fresh"]


def test_labels_that_are_words_are_names_already():
    assert titles(labels=["a", "a", "a", "b", "b", "b"]) == ["", ""]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({7: "x"}, "names holds '7', which is no cluster; there are 0, 1"),
        (["x"], "names must be a dict .* each of the 2 clusters"),
        ("xy", "names must be a dict .* got 'xy'"),
    ],
)
def test_names_that_do_not_fit(names, message):
    with pytest.raises(ValueError, match=message):
        titles(names=names)


def test_classes_of_another_length():
    with pytest.raises(ValueError, match="classes has 2 entries"):
        titles(classes=["a", "b"])
