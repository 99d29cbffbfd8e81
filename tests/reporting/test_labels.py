"""What a report is given: labels of any kind, frames, lengths that do not match."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from conclust._drawn import check_clusters
from conclust.reporting import gather, page, write_report

X = np.random.RandomState(0).normal(size=(6, 3))


@pytest.mark.parametrize(
    ("labels", "codes", "names"),
    [
        ([0, 5, 10, 5], [0, 1, 2, 1], ["0", "5", "10"]),
        ([-1, 1, -1, 0], [-1, 1, -1, 0], ["0", "1"]),
        (["old", "new", None, "old"], [1, 0, -1, 1], ["new", "old"]),
        ([2.0, np.nan, 10.0, 2.0], [0, -1, 1, 0], ["2", "10"]),
        ([2, "a", 10, "a"], [0, 2, 1, 2], ["2", "10", "a"]),
        (pd.Series([3, 3, 1, 1], index=[9, 8, 7, 6]), [1, 1, 0, 0], ["1", "3"]),
        (pd.Categorical(["b", "a", "b", None]), [1, 0, 1, -1], ["a", "b"]),
        ([True, False, True, True], [1, 0, 1, 1], ["False", "True"]),
        ([-1, -1, -1, -1], [-1, -1, -1, -1], []),
    ],
)
def test_labels_of_any_kind_are_numbered(labels, codes, names):
    clusters = check_clusters(labels, 4)
    assert clusters.codes.tolist() == codes
    assert clusters.names == names
    assert clusters.n_set_aside == codes.count(-1)


def test_clusters_without_rows_are_not_counted():
    # Labels 0, 5, 10 are three clusters, not eleven.
    said = gather(X, [0, 5, 10, 5, 0, 10])
    assert (said.n_clusters, said.sizes, said.names) == (3, [2, 2, 2], ["0", "5", "10"])
    assert re.search(r'<th scope="row"><svg.*?</svg> 10\b', page(said))


def test_rows_in_no_cluster_are_counted():
    said = gather(X, [0, 0, 1, 1, -1, -1])
    assert (said.n_clusters, said.sizes, said.n_set_aside) == (2, [2, 2], 2)
    assert re.search(r"<b>2</b><span>rows in no cluster", page(said))


def test_a_page_of_rows_in_no_cluster(tmp_path):
    write_report(tmp_path / "r.html", X, np.full(6, -1))
    assert "rows in no cluster" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_named_clusters_stay_text():
    content = page(gather(X, ["<b>old</b>", "new"] * 3))
    assert "<b>old" not in content
    assert "&lt;b&gt;old" in content
    data = json.loads(re.search(r'id="map-data"[^>]*>([^<]*)<', content)[1])
    assert data["names"] == ["<b>old</b>", "new"]


def test_a_frame_keeps_the_names_of_its_columns():
    frame = pd.DataFrame({"height": [0.0] * 3 + [9.0] * 3, "width": [1.0] * 6})
    said = gather(frame, [0, 0, 0, 1, 1, 1])
    assert said.phrases[1][0].startswith("height high")


@pytest.mark.parametrize(
    ("labels", "about", "message"),
    [
        ([0, 1], {}, r"labels has shape \(2,\), but X has 6 rows"),
        (np.zeros((6, 2)), {}, r"labels has shape \(6, 2\)"),
        ("abcdef", {}, "labels has shape"),
        ([0] * 6, {"ids": ["a"]}, "ids has 1 entries, but X has 6 rows"),
        ([0] * 6, {"confidence": [1.0]}, "confidence has 1 entries"),
        ([0] * 6, {"frame": pd.DataFrame({"x": [1]})}, "frame has 1 entries"),
    ],
)
def test_lengths_that_do_not_match(labels, about, message):
    with pytest.raises(ValueError, match=message):
        gather(X, labels, **about)


def test_rows_that_are_not_numbers():
    with pytest.raises(TypeError, match="X holds the column 'word', which is not of numbers"):
        gather(pd.DataFrame({"x": [1, 2], "word": ["a", "b"]}), [0, 1])
    with pytest.raises(ValueError, match=r"X has shape \(2,\)"):
        gather([1, 2], [0, 1])
