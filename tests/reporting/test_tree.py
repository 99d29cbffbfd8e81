import xml.etree.ElementTree as ET

import numpy as np
import pytest

from conclust import Constraints, ReCon
from conclust.reporting import dendrogram_svg

SVG = "{http://www.w3.org/2000/svg}"


def drawn(model, **options):
    """The drawing as a tree of elements: it is well-formed."""
    svg = dendrogram_svg(model, **options)
    return ET.fromstring(svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1))


def fitted(n=30, **known):
    X = np.random.RandomState(0).normal(size=(n, 2))
    return ReCon(3, on_conflict="repair").fit(X, constraints=Constraints(n_samples=n, **known))


def test_names_statements_and_colours():
    model = fitted(relative=[(0, 1, 2), (3, 4, 5), (0, 2, 1)])
    svg = drawn(model, names=[f"<b>{i}" for i in range(30)])
    assert sorted(t.text for t in svg.iter(f"{SVG}text")) == sorted(f"<b>{i}" for i in range(30))
    titles = [g.find(f"{SVG}title").text for g in svg.findall(f"{SVG}g")]
    assert titles[0].endswith("broken")  # what a repair dropped comes first
    assert len(titles) == 3
    assert "3 of 3 relative statements" in svg.find(f"{SVG}desc").text
    assert len({t.get("fill") for t in svg.iter(f"{SVG}text")}) == 3


def test_many_leaves_are_drawn_as_branches():
    model = fitted(500)
    svg = drawn(model, max_leaves=40)
    names = [t.text for t in svg.iter(f"{SVG}text")]
    assert len(names) == 40
    more = sum(int(name.split(" and ")[1].split()[0]) for name in names if " and " in name)
    assert more + 40 == 500


def test_a_very_deep_hierarchy_and_the_least_one():
    X = np.cumsum(np.arange(3000.0))[:, None]
    assert len(list(drawn(ReCon(2, linkage="single").fit(X)).iter(f"{SVG}text"))) == 200
    assert len(list(drawn(ReCon(1).fit([[0.0]])).iter(f"{SVG}text"))) == 1


def test_names_that_do_not_fit():
    with pytest.raises(ValueError, match="one name for each of the 30 samples; got 2"):
        dendrogram_svg(fitted(), names=["a", "b"])
