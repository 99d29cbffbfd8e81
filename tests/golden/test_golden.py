"""The answers of every estimator are those on file."""

import json

import pytest

from tests.golden.golden import CASES, FILE, answers, differences, where

GOLDEN = json.loads(FILE.read_text())


@pytest.mark.skipif(
    where() != GOLDEN["made"],
    reason="the file of answers was made with another processor, BLAS, numpy or scikit-learn",
)
@pytest.mark.parametrize("name", CASES)
def test_answers_are_those_on_file(name):
    # Three of the twenty seeds, one per data set; `python tests/golden/golden.py` compares all.
    assert not differences(dict(answers(3, [name])), GOLDEN["answers"])
