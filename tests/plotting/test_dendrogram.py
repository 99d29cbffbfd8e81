import numpy as np
import pytest

from conclust import Constraints, ReCon, sample_constraints

matplotlib = pytest.importorskip("matplotlib", reason="figures need the extra `plot`")
matplotlib.use("Agg")

from conclust.plotting import plot_dendrogram  # noqa: E402


def blobs(n=40):
    rng = np.random.RandomState(0)
    y = rng.randint(3, size=n)
    return rng.normal(size=(n, 2)) + 2 * y[:, None], y


def test_satisfied_and_broken_statements_are_counted():
    X, y = blobs()
    known = sample_constraints(y, n_relative=20, random_state=0)
    model = ReCon(3).fit(X, constraints=known)
    ax = plot_dendrogram(model)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["satisfied (20)", "broken (0)"]
    plain = ReCon(3).fit(X)
    holds = known.satisfied_by(plain.linkage_matrix())
    ax = plot_dendrogram(plain, known, n=5)
    texts = [t.get_text() for t in ax.get_legend().get_texts()]
    assert texts == [f"satisfied ({holds.sum()})", f"broken ({(~holds).sum()})"]
    matplotlib.pyplot.close("all")


def test_dropped_statements_show_as_broken():
    X, _ = blobs()
    clash = Constraints(relative=[(0, 1, 2), (0, 2, 1)])
    ax = plot_dendrogram(ReCon(2, on_conflict="repair").fit(X, constraints=clash))
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["satisfied (1)", "broken (1)"]
    matplotlib.pyplot.close("all")


def test_without_statements_or_labels():
    X, _ = blobs(5)
    ax = plot_dendrogram(ReCon(None).fit(X), ax=matplotlib.pyplot.subplots()[1])
    assert ax.get_legend() is None
    with pytest.raises(ValueError, match="nothing to draw"):
        plot_dendrogram(ReCon(1).fit([[0.0]]))
    matplotlib.pyplot.close("all")


def brackets(ax):
    return [np.asarray(path.vertices) for path in ax.collections[0].get_paths()]


def test_no_branch_is_drawn_above_the_whole():
    # Centroids come closer when branches merge: distances fall, heights do not.
    model = ReCon(2).fit([[0.0, 0.0], [1.0, 0.0], [0.5, 0.87], [9.0, 9.0]])
    assert (np.diff(model.distances_) < 0).any()
    for (_, left), (_, top), _, (_, right) in brackets(plot_dendrogram(model)):
        assert top >= max(left, right)
    matplotlib.pyplot.close("all")


def test_leaves_have_names_as_far_as_there_is_room():
    X, _ = blobs(40)
    names = [f"item {i}" for i in range(40)]
    ax = plot_dendrogram(ReCon(3).fit(X), names=names)
    assert sorted(t.get_text() for t in ax.get_xticklabels()) == sorted(names)
    known = Constraints(relative=[(0, 1, 2)]).to_frame()
    ids = Constraints.from_frame(known, ids=range(40))
    ax = plot_dendrogram(ReCon(3).fit(X, constraints=ids))
    assert {t.get_text() for t in ax.get_xticklabels()} == {str(i) for i in range(40)}
    X, _ = blobs(400)
    ax = plot_dendrogram(ReCon(3).fit(X))
    assert 20 < len(ax.get_xticks()) < 120
    assert "of 400 names" in ax.get_xlabel()
    with pytest.raises(ValueError, match="one name for each of the 400 samples; got 1"):
        plot_dendrogram(ReCon(3).fit(X), names=["a"])
    matplotlib.pyplot.close("all")


def test_statements_are_spread_over_the_hierarchy():
    X = np.concatenate([np.linspace(i * 100, i * 100 + i, 20) for i in range(4)])[:, None]
    model = ReCon(4).fit(X)
    inside = [(20 * i + j, 20 * i + j + 1, 20 * i + 19) for i in range(4) for j in range(15)]
    known = Constraints(relative=inside)
    assert known.satisfied_by(model.children_).sum() > 30
    ax = plot_dendrogram(model, known[known.satisfied_by(model.children_)], n=8)
    dots = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
    assert {int(x) // 20 for x in dots} == {0, 1, 2, 3}
    matplotlib.pyplot.close("all")


def test_a_hierarchy_deeper_than_python_nests():
    X = np.cumsum(np.arange(1500.0))[:, None]
    plot_dendrogram(ReCon(2, linkage="single").fit(X))
    matplotlib.pyplot.close("all")
