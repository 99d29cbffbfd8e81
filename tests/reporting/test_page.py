"""The page as text: what it says, that it is whole, safe and small."""

import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest

from conclust import Constraints
from conclust.model_selection import KCurve, KPoint
from conclust.reporting import check_projection, gather, page, write_report
from conclust.reporting._html import COLORS, SHAPES, clean, scaled, text
from conclust.reporting._map import MAX_DRAWN, MAX_LINES
from conclust.reporting._map_html import _short_names
from conclust.reporting._page import _asset

VOID = {"meta", "input", "path", "circle", "polyline", "img", "br"}


class Reader(HTMLParser):
    """Collects elements; fails on tags that do not match."""

    def __init__(self):
        super().__init__()
        self.open, self.found, self.data = [], [], {}

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.data.setdefault(self.open[-1], []).append(data)


def parse(path):
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    assert reader.open == []
    return reader


def test_names_never_become_markup(small_report):
    reader = parse(small_report)
    scripts = [attrs for tag, attrs in reader.found if tag == "script"]
    assert scripts == [{"id": "map-data", "type": "application/json"}, {}]
    tags = {tag for tag, _ in reader.found}
    assert not tags & {"img", "iframe", "object", "embed", "link", "base", "form", "i"}
    for _, attrs in reader.found:
        assert not [name for name in attrs if name.startswith("on")]


def test_nothing_comes_from_elsewhere(small_report, large_report):
    for path in (small_report, large_report):
        content = path.read_text(encoding="utf-8")
        for tag, attrs in parse(path).found:
            assert not {"src", "href", "xlink:href", "action", "srcset"} & set(attrs), tag
        assert "url(" not in content
        assert "@import" not in content
        assert "default-src 'none'" in content


def test_ten_thousand_rows_stay_below_a_megabyte(large_report):
    assert large_report.stat().st_size < 1_000_000


def test_the_map_is_drawn_as_svg_or_on_a_canvas(small_report, large_report):
    tags = {tag for tag, _ in parse(small_report).found}
    assert "canvas" not in tags
    tags = [tag for tag, _ in parse(large_report).found]
    assert tags.count("canvas") == 1


def test_the_data_block_is_json_of_all_rows(large_report):
    content = large_report.read_text(encoding="utf-8")
    block = re.search(r'<script id="map-data" type="application/json">(.*?)</script>', content)
    data = json.loads(block[1])
    assert len(data["x"]) == len(data["y"]) == len(data["labels"]) == len(data["ids"]) == 10_000
    assert max(data["x"]) <= data["width"]
    assert len(data["kept"]) <= MAX_LINES


def test_headings_go_down_by_one_and_tables_are_labelled(small_report):
    reader = parse(small_report)
    headings = [int(tag[1]) for tag, _ in reader.found if re.fullmatch(r"h\d", tag)]
    assert headings[0] == 1
    assert headings.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(headings))
    tags = [tag for tag, _ in reader.found]
    assert tags.count("caption") == tags.count("table") > 2
    for tag, attrs in reader.found:
        if tag == "svg":
            assert attrs.get("aria-hidden") or attrs.get("role") == "img"
    ids = [attrs["id"] for _, attrs in reader.found if "id" in attrs]
    assert len(ids) == len(set(ids))
    wanted = [attrs["for"] for _, attrs in reader.found if "for" in attrs]
    assert set(wanted) <= set(ids)


def luminance(color):
    """Relative luminance of WCAG 2."""
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, two):
    light, dark = sorted((luminance(one), luminance(two)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_colours_can_be_told_from_the_ground():
    rules = re.findall(r":root {(.*?)}", _asset("page.css"))
    light, dark = (dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", rule)) for rule in rules)
    for named in (light, dark):
        for color in (named["ink"], named["soft"], named["bad"], named["good"], named["accent"]):
            assert contrast(color, named["ground"]) >= 4.5, color
            assert contrast(color, named["wash"]) >= 4.5, color
        for ground in ("mark", "warn", "pressed"):
            assert contrast(named["ink"], named[ground]) >= 4.5, ground
    for color in COLORS:
        assert contrast(color, light["ground"]) >= 4.5, color
        assert contrast(color, light["wash"]) >= 4.5, color
    assert len(set(COLORS)) == len(COLORS)


def test_text_is_escaped_and_seen():
    assert text("<b>\"'&") == "&lt;b&gt;&quot;&#x27;&amp;"
    assert clean("a\x00b\u202ec\ud800") == "a\ufffdb\ufffdc?"
    assert clean("naïve 漢字\u00a0🙂") == "naïve 漢字\u00a0🙂"


def test_long_names_are_cut_to_the_budget():
    assert _short_names(["short", "x" * 60]) == ["short", "x" * 39 + "…"]
    many = _short_names(["<" * 100 + str(i) for i in range(20_000)])
    assert len(json.dumps(many)) < 1_000_000


@pytest.mark.parametrize("shape", SHAPES)
def test_markers_scale(shape):
    assert scaled(shape, 1) == shape
    twice = scaled(shape, 2)
    pick = re.compile(r"-?\d+\.?\d*")
    if "a" not in shape:
        assert [float(v) for v in pick.findall(twice)] == [
            2 * float(v) for v in pick.findall(shape)
        ]
    else:
        assert twice == "m-10,0a10,10 0 1,0 20,0a10,10 0 1,0 -20,0z"


class Record(NamedTuple):
    objective: float
    seconds: float


def facts(n=6, **about):
    X = np.arange(2.0 * n).reshape(n, 2) ** 2
    return gather(X, np.arange(n) % 2, **about)


def test_facts_say_what_is_so():
    known = Constraints([(0, 2), (0, 1)], [(0, 3)], relative=[(0, 2, 1)])
    said = facts(constraints=known, history=[Record(9.0, 0.1), Record(4.0, 0.1)])
    assert said.counts == [("must-link", 2, 1), ("cannot-link", 1, 1), ("relative", 1, 1)]
    assert said.n_violated == 1
    (case,) = said.broken
    assert case.said == "0 and 1 belong together"
    assert [row.name for row in case.rows] == ["0", "1"]
    assert said.sizes == [3, 3]
    assert said.map.n_kept == 3
    assert said.map.n_broken == 1
    (curve,) = said.curves
    assert curve.y == [9.0, 4.0]
    content = page(said)
    assert "History of the fit: objective" in content
    assert '<g class="broken"><path class="halo" d="M' in content


def test_conflicts_are_listed():
    content = page(facts(constraints=Constraints([(0, 1)], [(0, 1)])))
    assert "0 and 1 are both must-linked and cannot-linked." in content


def test_only_priorities_that_stand_out_are_listed():
    known = Constraints([(0, 2), (0, 1)], [(0, 3)])
    said = facts(constraints=known, priorities=[0.1, 0.8, 0.1])
    (case,) = said.suspects
    assert (case.said, case.note, case.kept) == ("0 and 1 belong together", "priority 0.80", False)
    assert facts(constraints=known, priorities=[0.2, 0.2, 0.2]).suspects == []


def test_long_conflicts_are_told_to_the_end():
    sentence = "must-links join them: " + " – ".join(f"row {i}" for i in range(50)) + "."
    assert "row 49.</bdi>" in page(facts(conflicts=[sentence]))


def test_a_page_without_statements_history_or_names():
    content = page(facts())
    assert "No statements were given" in content
    assert "History" not in content
    assert "Conflicts" not in content


@pytest.mark.parametrize("shape", [(2, 1), (3, 1), (2, 2), (5, 3)])
def test_tiny_tables(shape, tmp_path):
    rng = np.random.RandomState(0)
    labels = np.arange(shape[0]) % 2
    write_report(tmp_path / "r.html", rng.normal(size=shape), labels)
    assert (tmp_path / "r.html").stat().st_size > 1000


def test_rows_without_a_cluster(tmp_path):
    X = np.random.RandomState(0).normal(size=(20, 3))
    labels = np.r_[np.zeros(10, int), np.full(10, -1)]
    write_report(tmp_path / "r.html", X, labels)
    content = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert 'data-cluster="0"' in content
    assert "no cluster (10)" in content


def test_of_very_many_rows_a_sample_is_drawn():
    X = np.random.RandomState(0).normal(size=(MAX_DRAWN + 5_000, 2))
    labels = np.arange(len(X)) % 3
    named = len(X) - 1
    said = gather(X, labels, Constraints([(0, named)]))
    assert len(said.map.rows) == MAX_DRAWN
    assert {0, named} <= set(said.map.rows.tolist())
    assert "20,000 of 25,000 rows are drawn" in said.map.caption
    assert len(page(said)) < 1_000_000


def test_sparse_tables_and_text_profiles(tmp_path):
    import pandas as pd
    import scipy.sparse as sp

    frame = pd.DataFrame({"body": ["cats purr", "cats meow", "stocks rise", "stocks fall"]})
    X = sp.csr_array(np.array([[1.0, 0, 0], [1, 0, 0.1], [0, 1, 0], [0, 1, 0.1]]))
    labels = [0, 0, 1, 1]
    said = gather(X, labels, frame=frame, texts=["body"])
    assert any("cats" in p for p in said.phrases[0])
    assert any("stocks" in p for p in said.phrases[1])
    plain = gather(X, labels)
    assert plain.phrases[0][0].startswith("x0 high")


def test_other_maps():
    X = np.random.RandomState(0).normal(size=(40, 4))
    assert "t-SNE" in gather(X, np.arange(40) % 2, projection="tsne").map.caption
    with pytest.raises(ValueError, match="t-SNE of 6,000 rows"):
        check_projection("tsne", 6_000)
    with pytest.raises(ValueError, match="projection must be one of"):
        check_projection("globe", 10)


def test_a_hundred_clusters(tmp_path):
    X = np.random.RandomState(0).normal(size=(300, 3))
    write_report(tmp_path / "r.html", X, np.arange(300) % 100)
    content = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert content.count("(3)</span></button>") == 40
    assert re.search(r'<th scope="row"><svg.*?</svg> 99 · ', content)
    write_report(tmp_path / "r.html", X, np.arange(300))
    assert "… and 100 smaller clusters" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_what_a_report_has_no_place_for_is_refused():
    with pytest.raises(TypeError, match=r"no 'caption'; besides X, labels and constraints .*title"):
        facts(caption="Clusters")


def test_a_report_that_is_known_is_not_made_again(monkeypatch):
    known = Constraints([(0, 2), (0, 1)], n_samples=6)
    report = known.report(np.arange(6) % 2)

    def fail(*arguments):
        raise AssertionError("made again")

    monkeypatch.setattr(Constraints, "report", fail)
    monkeypatch.setattr(Constraints, "conflicts", fail)
    said = facts(constraints=known, report=report, conflicts=["a clash"])
    assert said.n_violated == 1
    assert [case.said for case in said.conflicts] == ["a clash"]


def test_number_of_clusters_is_drawn_with_what_statements_break(tmp_path):
    # Check both lines, the mark and the table of the numbers tried.
    points = [KPoint(k, 0.9, 0.01 * k, 0.1 / k, 0.5, True) for k in (2, 3, 4)]
    curve = KCurve(points, 3, "stability", "3 clusters: because.")
    X, labels = np.arange(12.0).reshape(6, 2), np.array([0, 0, 1, 1, 2, 2])
    path = tmp_path / "page.html"
    write_report(path, X, labels, Constraints(n_samples=6), curve=curve)
    page = path.read_text(encoding="utf-8")
    for words in ("How many clusters?", "stroke-dasharray", "cannot-links broken", "chosen: 3"):
        assert words in page
