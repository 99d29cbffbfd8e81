import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

from conclust import Constraints, sample_constraints

matplotlib = pytest.importorskip("matplotlib", reason="figures need the extra `plot`")
matplotlib.use("Agg")

from matplotlib.collections import LineCollection, PathCollection  # noqa: E402
from matplotlib.colors import to_hex  # noqa: E402

from conclust.plotting import plot_change, plot_constraints  # noqa: E402
from conclust.plotting._colors import CANNOT, CLUSTERS, MARKERS, MUST, color, marker  # noqa: E402


@pytest.fixture(autouse=True)
def _closed():
    yield
    matplotlib.pyplot.close("all")


def lines(ax):
    """Per kind and whether kept: colour and number of segments."""
    return {
        c.get_label(): (to_hex(c.get_color()[0]), len(c.get_segments()))
        for c in ax.collections
        if isinstance(c, LineCollection) and not c.get_label().startswith("_")
    }


def points(ax, starts="cluster"):
    """Per cluster: places of its points."""
    return {
        c.get_label(): c.get_offsets()
        for c in ax.collections
        if isinstance(c, PathCollection) and str(c.get_label()).startswith(starts)
    }


SQUARE = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.0], [9.0, 9.0]])
LABELS = [0, 0, 1, 1, -1]


def test_statements_are_lines_by_kind_and_whether_kept():
    known = Constraints([(0, 1), (0, 2)], [(1, 2), (2, 3), (0, 4)], [(0, 1, 2)])
    ax = plot_constraints(SQUARE, LABELS, known)
    assert lines(ax) == {
        "must-link, kept (1)": (MUST, 1),
        "must-link, broken (1)": (MUST, 1),
        "cannot-link, kept (2)": (CANNOT, 2),
        "cannot-link, broken (1)": (CANNOT, 1),
        "relative, kept (1)": ("#7b3294", 1),
    }
    assert ax.get_title() == "4 of 6 statements kept"
    legs = [c for c in ax.collections if isinstance(c, LineCollection)][-1].get_segments()
    np.testing.assert_allclose(legs, [[[0, 0.5], [5, 0]]])  # from between a and b to c
    by_name = {c.get_label(): c for c in ax.collections}
    solid, dashed = by_name["must-link, kept (1)"], by_name["must-link, broken (1)"]
    assert solid.get_linestyle()[0][1] is None
    assert dashed.get_linestyle()[0][1] is not None
    assert dashed.get_linewidth()[0] > solid.get_linewidth()[0]
    np.testing.assert_allclose(dashed.get_segments(), [SQUARE[[0, 2]]])


def test_clusters_have_colours_shapes_and_names():
    ax = plot_constraints(SQUARE, ["ann", "ann", "b$b$", "b$b$", None])
    drawn = points(ax)
    assert {name: len(at) for name, at in drawn.items()} == {
        "cluster ann (2)": 2,
        r"cluster b\$b\$ (2)": 2,
    }
    np.testing.assert_allclose(drawn["cluster ann (2)"], SQUARE[:2])  # two columns as they are
    assert list(points(ax, "set aside")) == ["set aside (1)"]
    colors = [to_hex(c.get_facecolor()[0]) for c in ax.collections[:2]]
    assert colors == CLUSTERS[:2]
    assert ax.get_legend() is not None
    assert plot_constraints(SQUARE, LABELS, legend=False).get_legend() is None
    ax.figure.canvas.draw()


def test_sixty_four_clusters_can_be_told_apart():
    looks = {(color(c), marker(c)) for c in range(64)}
    assert len(looks) == 64
    assert len(set(CLUSTERS)) == len(set(MARKERS)) == 8
    assert not {MUST, CANNOT} & set(CLUSTERS)
    ax = plot_constraints(np.eye(9, 2), range(9))
    assert ax.get_legend() is None  # nine names would be a list, not a legend


def test_of_many_rows_and_statements_some_are_drawn_and_it_is_said():
    y = np.random.RandomState(0).randint(3, size=30_000)
    X = np.eye(3)[y] + np.random.RandomState(1).normal(size=(30_000, 3), scale=0.1)
    known = sample_constraints(y, 500, random_state=0)
    wrong = Constraints(cannot_link=[tuple(np.flatnonzero(y == 0)[:2])])
    ax = plot_constraints(X, y, known + wrong, n=40)
    assert sum(len(at) for at in points(ax).values()) == 20_000
    assert "drawn: 20,000 of 30,000 rows and 40 of 501 statements" in ax.get_xlabel()
    drawn = lines(ax)
    assert drawn["cannot-link, broken (1)"] == (CANNOT, 1)  # broken ones first
    assert sum(n for _, n in drawn.values()) == 40
    drawn_places = np.concatenate(list(points(ax).values()))
    named = np.concatenate(
        [c.get_segments() for c in ax.collections if isinstance(c, LineCollection)]
    ).reshape(-1, 2)
    places = {tuple(place) for place in drawn_places.tolist()}
    assert {tuple(place) for place in named.tolist()} <= places


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, pd.DataFrame])
def test_change_of_many_rows(kind):
    before = np.arange(25_000) % 2
    after = np.where(np.arange(25_000) < 10, 1 - before, before)
    X = np.random.RandomState(0).normal(size=(25_000, 3)) + before[:, None]
    known = Constraints([(0, 1), (24_998, 24_996)])
    left, right = plot_change(kind(X), before, after, known)
    assert "drawn: 20,000 of 25,000 rows" in right.get_xlabel()
    assert list(points(right, "moved")) == ["moved (10)"]
    for ax in (left, right):
        segments = np.concatenate(
            [c.get_segments() for c in ax.collections if isinstance(c, LineCollection)]
        )
        assert np.isfinite(segments).all()


def test_groups_are_drawn_by_their_pairs_unless_they_are_large():
    groups = np.array([0, 0, 0, -1, -1])
    ax = plot_constraints(SQUARE, LABELS, Constraints.from_groups(apart=groups))
    assert lines(ax) == {
        "cannot-link, kept (2)": (CANNOT, 2),
        "cannot-link, broken (1)": (CANNOT, 1),
    }
    large = Constraints.from_groups(apart=np.zeros(10_000))
    X = np.random.RandomState(0).normal(size=(10_000, 2))
    assert lines(plot_constraints(X, np.zeros(10_000), large)) == {}


@pytest.mark.parametrize("n_features", [1, 2, 4])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, pd.DataFrame])
def test_rows_of_any_kind_and_width(n_features, kind):
    X = load_iris().data[:, :n_features]
    ax = plot_constraints(kind(X), np.arange(150) // 50)
    drawn = np.concatenate(list(points(ax).values()))
    assert drawn.shape == (150, 2)
    if n_features == 2:
        np.testing.assert_allclose(drawn, X)
    assert ("of variance" in ax.get_xlabel()) == (n_features == 4)


def test_what_moved_is_ringed():
    before, after = [5, 5, 7, 7, 7], [1, 1, 0, 0, 1]  # the same numbers apart, but for the last
    known = Constraints([(0, 1), (0, 4)])
    left, right = plot_change(SQUARE, before, after, known)
    np.testing.assert_allclose(points(right, "moved")["moved (1)"], SQUARE[4:])
    assert left.get_title() == "before · 1 of 2 kept"
    assert right.get_title() == "after · 1 row moved · 2 of 2 kept"
    assert lines(left)["must-link, broken (1)"] == (MUST, 1)
    colors = [
        {tuple(c.get_offsets()[0]): to_hex(c.get_facecolor()[0]) for c in ax.collections[:2]}
        for ax in (left, right)
    ]
    assert colors[0][0.0, 0.0] == colors[1][0.0, 0.0]  # cluster 1 was cluster 5
    assert left.get_xlim() == right.get_xlim()


def test_new_rows_are_on_the_right_only():
    known = Constraints([(0, 1), (3, 4)], n_samples=5)
    axes = matplotlib.pyplot.subplots(1, 2)[1]
    left, right = plot_change(SQUARE, LABELS[:3], [0, 0, 1, 1, 1], known, axes=axes)
    assert sum(len(at) for at in points(left).values()) == 3
    assert len(points(right, "new")["new (2)"]) == 2
    assert points(right, "moved") == {}
    assert sum(n for _, n in lines(left).values()) == 1
    assert left.get_title() == "before · 1 of 1 kept"


def test_errors_name_the_way_out():
    with pytest.raises(ValueError, match="labels has shape .* pass one label per row"):
        plot_constraints(SQUARE, [0, 1])
    with pytest.raises(TypeError, match="column 'name'.*only rows of numbers"):
        plot_constraints(pd.DataFrame({"name": ["a", "b"]}), [0, 1])
    with pytest.raises(ValueError, match="before has shape \\(9,\\), but X has 5 rows"):
        plot_change(SQUARE, np.zeros(9), np.zeros(5))
    with pytest.raises(ValueError, match="axes has 1 entries; pass two"):
        plot_change(SQUARE, LABELS, LABELS, axes=[None])
