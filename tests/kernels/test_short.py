from types import FunctionType

import numpy as np

from conclust._kernels import _short, agglomerate, cut
from conclust._kernels._short import plain, short


def test_plain_reaches_everything_that_is_called():
    # search is in the same module, stamp in another, root_of in a third.
    names = plain(agglomerate.agglomerate).__globals__
    for name in ("search", "stamp", "root_of"):
        assert type(names[name]) is FunctionType
    assert type(names["stamp"].__globals__["expand"]) is FunctionType
    children, size = np.array([[0, 1], [2, 3]]), np.empty(5, dtype=np.int64)
    plain(cut.cluster_sizes)(children, size)
    assert size.tolist() == [1, 1, 1, 2, 3]


def test_short_work_is_interpreted_until_it_adds_up(monkeypatch):
    monkeypatch.setattr(_short, "_spent", {})
    monkeypatch.setattr(_short, "PATIENCE", 100)
    assert short(cut.pieces, 101) is cut.pieces
    for _ in range(2):
        assert short(cut.pieces, 50).__code__ is cut.pieces.py_func.__code__
    assert short(cut.pieces, 1) is cut.pieces
    assert short(cut.meetings, 100).__code__ is cut.meetings.py_func.__code__  # counted apart
