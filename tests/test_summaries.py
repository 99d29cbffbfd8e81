"""What notebooks show of statements and fitted models."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import ClusterMixin

from conclust import AutoCluster, Constraints, COPKMeans, Guided, PCKMeans, sample_constraints
from conclust._declare import estimators
from conclust._summaries import Shown, model_html

HOSTILE = "<script>alert('x')</script>&\"'"


class Tags(HTMLParser):
    """Names of all tags, and that each is closed."""

    def __init__(self, text):
        super().__init__()
        self.names, self.open = [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def blobs(n=60):
    rng = np.random.RandomState(0)
    y = np.arange(n) % 3
    return rng.normal(size=(n, 2)) + 6 * np.column_stack([y == 1, y == 2]), y


def test_no_head_of_a_table_is_empty():
    # Check what a screen reader would read out as a column without a name.
    X, y = blobs()
    known = sample_constraints(y, 20, random_state=0)
    model = PCKMeans(3, random_state=0).fit(X, constraints=known)
    assert '<th scope="col"></th>' not in model_html(model) + known._repr_html_()


def text_of(html):
    return re.sub(r"<[^>]*>", " ", html.split("</style>")[-1])


def test_statements_are_counted_by_kind_with_groups_and_contradictions():
    known = Constraints([(0, 1), (1, 2), (5, 6)], [(0, 2), (3, 4)], must_link_weight=[1, 1, 3])
    html = known._repr_html_()
    assert "Must-links join 5 rows to 2 groups, the largest of 3." in html
    assert "1 conflict: statements that cannot all hold" in html
    assert "0 and 2 may not share a cluster, yet must-links join them: 0 – 1 – 2." in html
    assert "1 to 3" in html
    assert re.search(r"must-link\s+3\s+5\s", text_of(html))
    Tags(html)


def test_first_statements_only_and_small():
    y = np.random.RandomState(0).randint(4, size=5000)
    known = sample_constraints(y, 4000, random_state=0)
    html = known._repr_html_()
    assert html.count("<tr>") == 1 + 2 + 1 + 5  # two kinds, five statements, and two headers
    assert "No contradictions." in html
    assert len(html) < 4000
    assert "conflicts() looks" in sample_constraints(y, 30_000, random_state=0)._repr_html_()
    assert "conflicts() looks" in sample_constraints(y, n_relative=300)._repr_html_()


@pytest.mark.parametrize("known", [Constraints(), Constraints(n_samples=3)])
def test_no_statements(known):
    assert "none" in known._repr_html_()
    assert "no statements" in known.report(np.zeros(3))._repr_html_()


def test_hostile_names_are_escaped_everywhere():
    names = [HOSTILE, f"{HOSTILE}2", "c", "d"]
    frame = pd.DataFrame(
        {
            "a": names[:2] + names[:1],
            "b": names[1:3] + ["c"],
            "type": ["must-link", "must-link", "cannot-link"],
            HOSTILE: [HOSTILE] * 3,
        }
    )
    known = Constraints.from_frame(frame, ids=names)
    X = pd.DataFrame({HOSTILE: [0.0, 5.0, 9.0, 9.5]}, index=names)
    model = PCKMeans(2, random_state=0).fit(X, [HOSTILE, -1, -1, "c"], constraints=known)
    for html in (
        known._repr_html_(),
        model.report_._repr_html_(),
        model_html(model),
    ):
        assert "<script" not in html
        assert "&lt;script&gt;" in html
        assert "script" not in Tags(html).names


def test_a_fitted_model_shows_clusters_and_statements_below_the_diagram():
    X, y = blobs()
    X = np.vstack([X, [[80.0, 80.0]]])
    known = sample_constraints(y, 40, random_state=0).extended(61)
    known = known + Constraints([(0, 3)], [(0, 3)])  # one of the two must break
    model = PCKMeans(3, outliers=1 / 61, random_state=0)
    assert "conclust" not in model._repr_html_().split("sk-container")[-1]
    model.fit(X, constraints=known)
    html = model._repr_html_()
    assert "sk-container" in html
    words = text_of(html)
    assert "3 clusters of 61 rows · 41 of 42 statements kept" in words
    assert "set aside" in words
    assert "1 broken" in words
    assert "0 and 3 are both must-linked and cannot-linked." in words
    Tags(model_html(model))
    assert model._repr_mimebundle_()["text/html"].endswith(model_html(model))
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert "text/html" not in model._repr_mimebundle_()


def test_suspects_and_reasons_of_a_model_that_doubts():
    X, y = blobs(120)
    known = sample_constraints(y, 80, noise=0.1, random_state=0)
    model = AutoCluster(3, random_state=0).fit(X, constraints=known)
    html = model_html(model)
    assert f"{(model.doubt_ > 0.5).sum()} probably wrong" in html
    assert all(word in html for word in ("why this result", "seem wrong"))


def test_classes_name_clusters_and_many_are_cut():
    X, y = blobs()
    partly = np.where(np.arange(60) < 6, np.array(["red", "tan", "sky"], object)[y], None)
    model = COPKMeans(3, random_state=0).fit(X, partly)
    assert "0: red" in model_html(model) or "1: red" in model_html(model)
    assert "… and 18 smaller ones" in model_html(COPKMeans(30, random_state=0).fit(X))


def test_every_clusterer_is_shown():
    clusterers = [e for e in estimators().values() if issubclass(e, ClusterMixin)]
    assert len(clusterers) > 10
    for estimator in [*clusterers, Guided]:
        assert issubclass(estimator, Shown), estimator.__name__
    guided = Guided(PCKMeans(2, random_state=0), Constraints([(0, 1)]))
    assert model_html(guided) == ""
    assert "1 of 1 statements kept" in model_html(guided.fit([[0.0], [1.0], [9.0]]))
