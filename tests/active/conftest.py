"""Three far groups of ten rows."""

import numpy as np
import pytest

CENTERS = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])


@pytest.fixture
def blobs():
    y = np.repeat([0, 1, 2], 10)
    return CENTERS[y] + np.random.RandomState(0).normal(scale=0.5, size=(30, 2)), y
